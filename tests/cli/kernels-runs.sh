# Runs on the GPU's kernels, by the execution model: images that do not fit, checkpoints of another device, principal
# components, names of devices. What learners measure there: kernels-train.
model=${KERNELS:-$(dirname "$TAPER")/tests/taper_model} # KERNELS: a program with a GPU (tests/gpu.sh)
export TAPER_MODEL_ORDERS=1
"$SAMPLES" small set --count 24 --format png

# images that do not fit are streamed, to the same model: memory grows until a training has enough
if [ -z "${KERNELS:-}" ]; then
    fitting="train-bits -f -v --device cuda --code units --epochs 1 --batch 500 -w 4 --units 4"
    "$model" $fitting -o kept.tpm set/png >out 2>&1
    grep -q 'do not fit' out && exit 1
    bytes=1700000
    until TAPER_MODEL_BYTES=$bytes "$model" $fitting -o streamed.tpm set/png >out 2>&1; do
        grep -q 'taper train-bits: .*memory' out || { cat out; exit 1; }
        bytes=$((bytes + 20000))
    done
    grep -q '^taper train-bits: cuda:0: 0.0707 MB of images do not fit: streamed$' out || { cat out; exit 1; }
    cmp kept.tpm streamed.tpm
fi

# a checkpoint that one device has left is another's
run() { # device, options...
    device=$1 program=$TAPER
    [ "$device" = cpu ] || program=$model
    shift
    "$program" train-bits -q -f --device "$device" -o "$device.tpm" --checkpoint run.check \
        --epochs 2 --batch 16 -w whole --units 12 --hidden 16 --code units --seed 5 "$@" set/png
}
run cpu
run cuda --resume
cmp cpu.tpm cuda.tpm

# the covariance of bytes is exact: principal components of windows that do not lap are one file
"$TAPER" train -q -f --device cpu -o cpu.tpm --window 8 --lap 0 --units 20 set/png
"$model" train -q -f --device cuda -o cuda.tpm --window 8 --lap 0 --units 20 set/png
cmp cpu.tpm cuda.tpm

# what is no GPU, and what is not there
"$model" train -q -f -o x.tpm --device cuda:9 set/png 2>err && exit 1
grep -q '^taper train: cuda:9: there is no cuda:9; the last is cuda:[0-9]' err || { cat err; exit 1; }
"$model" train -f -v --window 8 -o x.tpm set/png 2>err >out
cat out err | grep -q 'on cuda:0' || { cat err; exit 1; }
"$model" --version -v | grep -q '^cuda:0: .*, compute capability [0-9]*.[0-9], [0-9.]* GiB$'
