#!/bin/sh
# run.sh -- search in a million codes of augmented CIFAR-10: what it takes and what it finds.
#
#   TAPER_DATA=FOLDER sh bench/retrieval/run.sh BUILD_DIR      `make paper-retrieval` calls this
#
# FOLDER/cifar10 holds data_batch_1.bin .. data_batch_5.bin and test_batch.bin. On two cores: models of 1,024 and 2,048
# bits 5 and 10 minutes, codes 4 and 5, true neighbours 5, then 10 for the parts, but for `lengths`, half an hour, and
# `precision`, 7 and, where FOLDER/mnist is, 7 more. 1 GB of memory; build/retrieval/ keeps models and codes (0.5 GB),
# which are not made again.
#
# Writes bench/results/retrieval/: PART.jsonl of each part, plots of all that are there, index.html. neighbourhoods.png
# and .svg hold images of CIFAR-10: git ignores them, and a page is committed without them. Settings, from the
# environment:
#   PARTS="scan recall query-time shortlist margins build growth lengths multi-index precision neighbourhoods classify"    or some
#   of these; classify wants FOLDER/mnist, and 40 minutes
#   OUT=bench/results/retrieval
#   QUICK=1     a minute: few images, short codes, to see that all runs; into build/retrieval-quick
# The rivals are apart: rivals_faiss.sh, rivals_usearch.mjs.
set -eu
[ $# -eq 1 ] && [ -d "$1" ] || { echo "usage: sh bench/retrieval/run.sh BUILD_DIR" >&2; exit 2; }
B=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
program=$B/bench/bench_retrieval
data=${TAPER_DATA:-build/data}/cifar10
if [ -n "${QUICK:-}" ]; then
    work=${OUT:-build/retrieval-quick}/work out=${OUT:-build/retrieval-quick}
    short=64 long=128 epochs=1 sizes="--images 20000 --queries 40" front=
    seen="--queries 40" precision="--queries 40 --bits 64"
else
    work=build/retrieval out=${OUT:-bench/results/retrieval}
    short=1024 long=2048 epochs=10 sizes= front="--bits 256" # of short codes ten million fit
    seen="--queries 1000" precision="--queries 10000"
fi
TAPER_COMMIT=$(git describe --always --dirty 2>/dev/null || echo unknown)
export TAPER_COMMIT
[ -f "$data/test_batch.bin" ] || { echo "SKIP paper-retrieval: CIFAR-10 is not in $data (TAPER_DATA)"; exit 0; }
mkdir -p "$work" "$out"

for bits in $short $long; do
    model=$work/bits-$bits.tpm
    [ -f "$model" ] || "$B/taper" train-bits -w whole -k $bits --untied --independent \
        -e $epochs --rate 0.006 --truncation log-uniform:0.5 --seed 1 -o "$model" "$data"/data_batch_[1-5].bin
    # shellcheck disable=SC2086
    [ -f "$work/$bits/codes.bits" ] ||
        "$program" codes --data "$data" --model "$model" $sizes --out "$work/$bits"
done
real=$work/components.tpm # Euclidean distance of as many principal components
[ -f "$real" ] || "$B/taper" train --fast -w whole -k $short --basis principal -o "$real" "$data"/data_batch_[1-5].bin
# shellcheck disable=SC2086
[ -f "$work/$short/truth-real.u32" ] ||
    "$program" truth --data "$data" --real "$real" $sizes --out "$work/$short"

# One part; into OUT/PART.jsonl, which appears whole or not at all.
# shellcheck disable=SC2086
part() {
    case $1 in
    query-time) for bits in $long $short; do "$program" "$1" --out "$work/$bits" --truth "$work/$short"; done ;;
    lengths) "$program" "$1" --out "$work/$long" --truth "$work/$short" ;;
    growth) "$program" "$1" --out "$work/$short" $front ;;
    margins) "$program" "$1" --data "$data" --model "$work/bits-$short.tpm" --out "$work/$short" ;;
    precision) precision ;;
    classify) classify ;;
    neighbourhoods) "$program" "$1" --data "$data" --model "$work/bits-$short.tpm" $seen --out "$out" ;;
    *) "$program" "$1" --out "$work/$short" ;;
    esac
}

# Of CIFAR-10 and, where it is there, of MNIST with a model of its own.
precision() {
    # shellcheck disable=SC2086
    "$program" precision --data "$data" --model "$work/bits-$short.tpm" $precision --out "$work/$short"
    mnist=${TAPER_DATA:-build/data}/mnist model=$work/mnist.tpm images=
    for file in "$mnist/train-images-idx3-ubyte" "$mnist/train-images-idx3-ubyte.gz"; do
        [ ! -f "$file" ] || images=$file
    done
    [ -n "$images" ] || { echo "SKIP precision of MNIST: it is not in $mnist (TAPER_DATA)" >&2; return 0; }
    [ -f "$model" ] || "$B/taper" train-bits -w whole -k 256 --untied --independent \
        -e $epochs --rate 0.006 --truncation log-uniform:0.5 --seed 1 -o "$model" "$images" >&2
    # shellcheck disable=SC2086
    "$program" precision --data "$mnist" --model "$model" $precision --out "$work/$short"
}

classify() {
    from=${TAPER_DATA:-build/data}/mnist seeds="1 2"
    [ -z "${QUICK:-}" ] || from=$data seeds=1
    [ -n "${QUICK:-}" ] || [ -f "$from/train-images-idx3-ubyte.gz" ] ||
        { echo "SKIP classify: MNIST's .gz are not in $from (TAPER_DATA)" >&2; return 0; }
    SEEDS=${SEEDS:-$seeds} sh bench/retrieval/classify.sh "$B" "$work" "$from"
}

for name in ${PARTS:-scan recall query-time shortlist margins build growth lengths multi-index precision neighbourhoods classify}; do
    echo "paper-retrieval: $name" >&2
    part "$name" >"$work/$name.part"
    mv "$work/$name.part" "$out/$name.jsonl"
done
"$program" page --out "$out"
echo "paper-retrieval: $out/index.html" >&2
