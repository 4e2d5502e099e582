#!/bin/sh
# run.sh -- the figures of the nested-dropout paper, one command.
#
#   TAPER_DATA=FOLDER sh bench/paper/run.sh BUILD_DIR      `make paper-nested-dropout` calls this
#
# FOLDER holds CIFAR-10 as it is published: data_batch_1.bin .. data_batch_5.bin and test_batch.bin,
# or these in a folder cifar10 below it. Without them generated samples take their place, which the
# page and every JSON line say.
#
# Writes bench/results/nested-dropout/: every figure as SVG and PNG with its CSV (and gnuplot script),
# a .jsonl for each part, index.html. Networks are kept in build/paper (up to 75 MB each, 3 GB in
# all); a network that is finished is not trained again, one that was interrupted goes on.
#
# What is measured on a network is kept there too (*.curve): a run that was stopped goes on where it was, and
# says what it trains and what was kept.
#
# Price on 2 cores (AVX-512), when they have nothing else to do: baselines 7 minutes a seed with feedback, 5 for
# independent ones (3 without networks for each length) and 4 for what has no networks, an hour in all; fig5a and
# fig5b then a few minutes, broadcast 15, the others half an hour; 3 GB of memory.
#
# Settings, from the environment:
#   QUICK=1     some minutes: few images and epochs, to see that all runs; into build/paper-quick
#   PARTS="fig1 fig2 baselines fig5 adaptive invariance broadcast theory"   some of these (fig5 is fig5a and fig5b)
#   KINDS="untied-feedback untied tied"   kinds of networks in baselines and fig5 (there is tied-feedback too); the
#               first is that of fig5a; broadcast has those untied. Some kinds or seeds first and all of
#               them later is fine: what is there is not made again
#   DEDICATED="untied-feedback untied"    of these, those with a network of their own for each length
#   SEEDS="1 2 3"
#   PAPER_THREADS=2
set -eu
[ $# -eq 1 ] && [ -d "$1" ] || { echo "usage: sh bench/paper/run.sh BUILD_DIR" >&2; exit 2; }
B=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
program=$B/bench/nested_dropout
TAPER_COMMIT=$(git describe --always --dirty 2>/dev/null || echo unknown)
OPENBLAS_NUM_THREADS=${PAPER_THREADS:-2}
export TAPER_COMMIT OPENBLAS_NUM_THREADS
say() { echo "paper: $*" >&2; }

parts=${PARTS:-fig1 fig2 baselines fig5 adaptive invariance broadcast theory}
kinds=${KINDS:-untied-feedback untied tied}
if [ -n "${QUICK:-}" ]; then
    out=build/paper-quick work=build/paper-quick/work quick=--quick
    SEEDS=${SEEDS:-1 2}
else
    out=bench/results/nested-dropout work=build/paper quick=
fi
mkdir -p "$out" "$work"

data=${TAPER_DATA:-}
[ ! -f "$data/cifar10/test_batch.bin" ] || data=$data/cifar10
if [ -z "$data" ] || [ ! -f "$data/test_batch.bin" ]; then
    say "no test_batch.bin in TAPER_DATA (${data:-not set}): generated samples take the place of" \
        "CIFAR-10; figures are of another kind then"
    data=build/bench/samples/cifar
    mkdir -p build/bench
    [ -f $data/test.bin ] || "$B/make_samples" small build/bench/samples --format cifar >&2
fi
TAPER_DATA=$(cd "$data" && pwd)
export TAPER_DATA

# One part into OUT/PART.jsonl, which appears whole or not at all.
part() {
    say "$1"
    # shellcheck disable=SC2086
    "$program" "$1" --out "$out" --work "$work" --threads "${PAPER_THREADS:-2}" --kinds "$kinds" \
        --dedicated "${DEDICATED:-untied-feedback untied}" --seeds "${SEEDS:-1 2 3}" $quick \
        >"$work/$1.jsonl.part"
    mv "$work/$1.jsonl.part" "$out/$1.jsonl"
}

failed=
for name in $parts; do
    case $name in
    fig1 | fig2 | invariance | baselines | fig5a | fig5b | adaptive | broadcast) part "$name" ;;
    fig5)
        part fig5a
        part fig5b
        ;;
    theory)
        if [ -x "$B/tests/test_theory" ]; then
            if TAPER_LONG=1 "$B/tests/test_theory" >"$work/theory.txt" 2>"$work/theory.err"; then
                part theory <"$work/theory.txt"
            else
                say "test_theory failed; its words are in $work/theory.txt and theory.err"
                failed=1
            fi
        else
            say "SKIP theory: $B/tests/test_theory is not built"
        fi
        ;;
    *)
        say "no part $name; there are fig1 fig2 baselines fig5 adaptive invariance broadcast theory"
        exit 2
        ;;
    esac
done
"$program" page --out "$out" --work "$work" $quick
say "$out/index.html"
[ -z "$failed" ]
