# Kernels where cuBLASLt has no algorithm with an epilogue: biases, activations and sums are then kernels of ours.
build=$(dirname "$TAPER")
export TAPER_MODEL_LT=plain TAPER_MODEL_ORDERS=1
for part in products units; do
    "$build/tests/test_kernels_$part" >said 2>&1 || { cat said; exit 1; }
done
