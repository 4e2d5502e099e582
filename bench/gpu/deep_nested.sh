#!/bin/sh
# deep_nested.sh -- the paper's retrieval network, 3072-2048-1024-512-1024-2048-3072, at its size.
#
#   TRAIN="data_batch_1.bin ..." TEST=test_batch.bin sh bench/gpu/deep_nested.sh BUILD_DIR
#
# Binary and real-valued codes, 60 epochs of CIFAR-10 each, then their rate and distortion on the test
# set as JSON lines. Price: 8.9 M weights, 5.3 TFLOP an epoch: about a minute an epoch on two AVX-512
# cores (two hours in all), minutes on a GPU once there is a CUDA backend. Checkpointed: run it again
# after an interruption and it goes on.
set -eu
B=$1
OUT=${OUT:-build/deep}
mkdir -p "$OUT"
for code in binary units; do
    # shellcheck disable=SC2086
    [ -f "$OUT/$code.tpm" ] || "$B/taper" train -o "$OUT/$code.tpm" --preset paper --code $code \
        --hidden 2048,1024 -k 512 -w whole -e "${EPOCHS:-60}" --rate 0.001 --invariance 0.01 \
        --checkpoint "$OUT/$code.chk" --resume --log "$OUT/$code.jsonl" --plot "$OUT/$code" $TRAIN
    "$B/taper" compare --json -m "$OUT/$code.tpm" "$TEST"
done
