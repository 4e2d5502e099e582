#!/bin/sh
# run.sh -- search in a million codes of augmented CIFAR-10: what it takes and what it finds.
#
#   TAPER_DATA=FOLDER sh bench/retrieval/run.sh BUILD_DIR      `make paper-retrieval` calls this
#
# FOLDER/cifar10 holds data_batch_1.bin .. data_batch_5.bin and test_batch.bin. On two cores: models of 1,024 and 2,048
# bits 5 and 10 minutes, codes 4 and 5, true neighbours 5, then 10 for the parts, but for `lengths`, half an hour. 1 GB
# of memory; build/retrieval/ keeps models and codes (0.5 GB), which are not made again.
#
# Writes bench/results/retrieval/PART.jsonl. Settings, from the environment:
#   PARTS="scan recall query-time shortlist build growth"    or lengths, figure 3 of the nested-dropout paper
#   OUT=bench/results/retrieval
# The rivals are apart: rivals_faiss.sh, rivals_usearch.mjs.
set -eu
[ $# -eq 1 ] && [ -d "$1" ] || { echo "usage: sh bench/retrieval/run.sh BUILD_DIR" >&2; exit 2; }
B=$(cd "$1" && pwd)
cd "$(dirname "$0")/../.."
program=$B/bench/bench_retrieval
data=${TAPER_DATA:-build/data}/cifar10
out=${OUT:-bench/results/retrieval}
work=build/retrieval
TAPER_COMMIT=$(git describe --always --dirty 2>/dev/null || echo unknown)
export TAPER_COMMIT
[ -f "$data/test_batch.bin" ] || { echo "SKIP paper-retrieval: CIFAR-10 is not in $data (TAPER_DATA)"; exit 0; }
mkdir -p "$work" "$out"

for bits in 1024 2048; do
    model=$work/bits-$bits.tpm
    [ -f "$model" ] || "$B/taper" train --family dense --code binary -w whole -k $bits --untied --independent \
        -e 10 --rate 0.006 --truncation log-uniform:0.5 --seed 1 -o "$model" "$data"/data_batch_[1-5].bin
    [ -f "$work/$bits/codes.bits" ] || "$program" codes --data "$data" --model "$model" --out "$work/$bits"
done
real=$work/components.tpm # Euclidean distance of 1,024 principal components
[ -f "$real" ] || "$B/taper" train --fast -w whole -k 1024 --basis principal -o "$real" "$data"/data_batch_[1-5].bin
[ -f "$work/1024/truth-real.u32" ] || "$program" truth --data "$data" --real "$real" --out "$work/1024"
for part in ${PARTS:-scan recall query-time shortlist build growth}; do
    echo "paper-retrieval: $part" >&2
    case $part in
    query-time | lengths)
        for bits in 2048 1024; do "$program" $part --out "$work/$bits" --truth "$work/1024"; done >"$out/$part.jsonl"
        ;;
    *) "$program" "$part" --out "$work/1024" >"$out/$part.jsonl" ;;
    esac
done
