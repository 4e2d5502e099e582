#!/bin/sh
# run.sh -- the tables and figures of the papers on codes whose nearest neighbours share their label.
#
#   TAPER_DATA=FOLDER sh bench/paper-embedding/run.sh BUILD_DIR      `make paper-embedding` calls this
#
# FOLDER holds mnist/ (train-images-idx3-ubyte and the three others, plain or .gz; nested and bits want .gz) and usps/
# (usps-images-idx3-ubyte, usps-labels-idx1-ubyte). A part whose files are not there is skipped, with words.
#
# Writes bench/results/embedding/: a .jsonl for each part, pictures of codes of
# two numbers as SVG and PNG, index.html. A cell of a table is one run; one that has its lines there is not run
# again, and the page shows those that have none as not run, with their price and command. What is learned
# is kept in build/paper-embedding: a run that was stopped goes on, and pretrained layers are learned once for
# all cells of a set, seed and split.
#
# Settings, from the environment:
#   PARTS="mnist usps circles speed"   some of these, or nested, an hour (bench/nested_units.sh), or bits, a quarter
#               (bench/nested_labels.sh); the page is always made anew
#   CELLS="mnist-dt-nca-d-1-30-*"      shell patterns of the cells that are run; CELLS='*': all. By default
#               those below. `BUILD_DIR/bench/paper_embedding list` names all with their price
#   SEED=1      of all cells
#   DEVICE=cpu  or cuda, which learns then
#   SET="epochs=10"                    added to every recipe (bench/paper-embedding/recipes.h)
#   QUICK=1     less than a minute: drawn digits, small networks, to see that all runs; into OUT, build/paper-embedding-quick
#   PAPER_THREADS=2
set -eu
[ $# -eq 1 ] && [ -d "$1" ] || { echo "usage: sh bench/paper-embedding/run.sh BUILD_DIR" >&2; exit 2; }
B=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
program=$B/bench/paper_embedding
TAPER_COMMIT=$(git describe --always --dirty 2>/dev/null || echo unknown)
OPENBLAS_NUM_THREADS=${PAPER_THREADS:-2}
export TAPER_COMMIT OPENBLAS_NUM_THREADS
case ${DEVICE:-cpu} in
cuda*)
    : "${TAPER_MACHINE:=$("$B/taper" --version -v | sed -n 's/^cuda:0: //p')}"
    export TAPER_MACHINE
    ;;
esac
say() { echo "paper-embedding: $*" >&2; }

parts=${PARTS:-mnist usps circles speed}
if [ -n "${QUICK:-}" ]; then
    out=${OUT:-build/paper-embedding-quick} quick=--quick
    work=$out/work
    cells=${CELLS:-mnist-pixels-* mnist-pca-* mnist-lda-* mnist-linear-nca-* mnist-d*-2-* mnist-d?-*a-30-* \
mnist-d?-mcml-30-* mnist-d?-*-d-1-30-* mnist-d?-*-learned-30-* mnist-*-moved-30-* mnist-dg-nca-few10* \
usps-*-split[12]-* circles-*}
    more=${SET:-epochs=20 batch=200 rate=0.01 widths=40-30 pretrain-epochs=10}
    say "QUICK: drawn digits, small networks and few epochs; the figures say nothing about the methods"
    rm -rf "$out/work" "$out"/*.jsonl "$out"/*.svg "$out"/*.png "$out/index.html"
else
    out=bench/results/embedding work=build/paper-embedding quick=
    cells=${CELLS:-mnist-pixels-* mnist-pca-* mnist-lda-* mnist-linear-nca-* mnist-dt-nca-d-1-* \
mnist-dt-mcml-d-1-2-* mnist-dg-nca-30-* mnist-dg-nca-few* mnist-dt-nca-d-1-split-* usps-dt-nca-d-1-30-* usps-dt-mcml-d-1-2-* circles-*}
    more=${SET:-}
fi
mkdir -p "$out" "$work"

run() {
    # shellcheck disable=SC2086
    "$program" "$1" --out "$out" --work "$work" --threads "${PAPER_THREADS:-2}" --seed "${SEED:-1}" \
        --device "${DEVICE:-cpu}" --cells "$cells" --set "$more" $quick
}

is_there() { # of a part that is a script of its own
    [ -z "$quick" ] && [ -f "$TAPER_DATA/mnist/train-images-idx3-ubyte.gz" ] && return 0
    say "SKIP $1: it takes too long for QUICK, and wants mnist/train-images-idx3-ubyte.gz"
    return 1
}

for name in $parts; do
    case $name in
    mnist | usps | circles)
        say "$name"
        run "$name"
        ;;
    speed) # its lines appear all or not at all
        say speed
        run speed >"$work/speed.jsonl.part"
        [ ! -s "$work/speed.jsonl.part" ] || mv "$work/speed.jsonl.part" "$out/speed.jsonl"
        ;;
    bits) # a quarter of an hour on one core
        say bits
        is_there bits || continue
        OUT=$work/bits BENCH_THREADS=${PAPER_THREADS:-2} sh bench/nested_labels.sh "$B" "$TAPER_DATA/mnist" >"$work/bits.jsonl.part"
        mv "$work/bits.jsonl.part" "$out/bits.jsonl"
        ;;
    nested) # an hour on one core
        say nested
        is_there nested || continue
        OUT=$work/nested THREADS=${PAPER_THREADS:-2} sh bench/nested_units.sh "$B" "$TAPER_DATA/mnist" >"$work/nested.jsonl.part"
        mv "$work/nested.jsonl.part" "$out/nested.jsonl"
        ;;
    *)
        say "no part $name; there are mnist usps circles speed nested bits"
        exit 2
        ;;
    esac
done
run page
say "$out/index.html"
