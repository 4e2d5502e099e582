#!/bin/sh
# mnist_dense.sh -- family dense against pca on MNIST: fewer bytes at 18 to 24 dB.
#
#   TRAIN=train-images-idx3-ubyte.gz TEST=t10k-images-idx3-ubyte.gz sh bench/mnist_dense.sh BUILD_DIR
#
# Price: 110 epochs of 56,250 images through 2.4 M weights, about 90 TFLOP, 37 of decoder tuning, 60 of
# the network that predicts bits: 17 minutes on two quiet AVX-512 cores, twice as long on busy ones.
# Checkpointed: run it again after an interruption and it goes on.
set -eu
B=$1
OUT=${OUT:-build/mnist}
mkdir -p "$OUT"
TAPER_COMMIT=$(git describe --always --dirty 2>/dev/null || echo unknown)
export TAPER_COMMIT
[ -f "$OUT/pca.tpm" ] || "$B/taper" train -o "$OUT/pca.tpm" --window whole "$TRAIN"
[ -f "$OUT/dense.tpm" ] || "$B/taper" train -o "$OUT/dense.tpm" --family dense --window whole -k 72 \
    --hidden 784,512 --epochs 110 --quality 14.5,24.5 --jitter 0.25 --conditional 64 \
    --predict-epochs 60 --seed 1 --checkpoint "$OUT/dense.chk" --resume --log "$OUT/dense.jsonl" \
    --plot "$OUT/dense" "$TRAIN"
for model in pca dense; do
    "$B/bench/bench_rates" "$TRAIN" -- "$TEST" --model "$OUT/$model.tpm" --qualities 18,20,22,24
done
