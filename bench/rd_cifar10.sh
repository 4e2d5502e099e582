#!/bin/sh
# rd_cifar10.sh -- windows of 8x8 with a network that predicts bits and one that refines what is
# decoded, against contexts alone: CIFAR-10 test set, bytes an image at 25 to 32.5 dB.
#
#   TRAIN="data_batch_1.bin ..." TEST=test_batch.bin sh bench/rd_cifar10.sh BUILD_DIR
#
# Price: 15 minutes on two AVX-512 cores. Checkpointed: run it again after an interruption.
set -eu
B=$1
OUT=${OUT:-build/rd}
mkdir -p "$OUT"
TAPER_COMMIT=$(git describe --always --dirty 2>/dev/null || echo unknown)
export TAPER_COMMIT
# shellcheck disable=SC2086
[ -f "$OUT/both.tpm" ] || "$B/taper" train -o "$OUT/both.tpm" --window 8 --conditional 64 --head 64 \
    --predict-epochs 24 --checkpoint "$OUT/both.chk" --resume --log "$OUT/both.jsonl" $TRAIN
# shellcheck disable=SC2086
"$B/bench/bench_rates" $TRAIN -- "$TEST" --model "$OUT/both.tpm" --qualities 25,27.5,30,32.5
