#!/bin/sh
# deep_nested.sh -- the paper's retrieval network, 3072-2048-1024-512-1024-2048-3072, at its size.
#
#   TRAIN="data_batch_1.bin ..." TEST=test_batch.bin sh bench/gpu/deep_nested.sh BUILD_DIR
#
# Binary and real-valued codes (CODES), EPOCHS (60) of CIFAR-10 each, then their rate and distortion on the test
# set as JSON lines. Price: 16 M weights, 7.2 TFLOP an epoch: about a minute an epoch on one AVX-512 core, an
# hour for each kind of code. Checkpointed: run it again after an interruption and it goes on.
#
# All lengths are drawn in every step: with unit sweeping short codes get worse from epoch to epoch, as the layers
# below frozen units go on learning (bench/results/README.md).
set -eu
B=$1
OUT=${OUT:-build/deep}
mkdir -p "$OUT"
for code in ${CODES:-binary units}; do
    # shellcheck disable=SC2086
    [ -f "$OUT/$code.tpm" ] || "$B/taper" train-bits -o "$OUT/$code.tpm" --code $code --untied \
        --hidden 2048,1024 -k 512 -w whole -e "${EPOCHS:-60}" --truncation log-uniform:0.5 --rate 0.001 \
        --checkpoint "$OUT/$code.chk" --resume --log "$OUT/$code.jsonl" --plot "$OUT/$code" $TRAIN
    "$B/taper" compare --json -r none -m "$OUT/$code.tpm" "$TEST"
done
