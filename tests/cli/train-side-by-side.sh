# `--window auto` with `dense` on a device that takes several models at once (the shadow two, a GPU more): the models,
# words and learning curves of one after the other; ^C and --resume; less memory.
. "$ROOT/tests/cli_helpers.sh"
"$SAMPLES" small set --count 48 --format png
train() { # program, device, output, verb, options...
    program=$1 device=$2 output=$3
    verb=$4
    shift 4
    "$program" "$verb" -vv -f --device "$device" --units 6 --epochs 2 --batch 64 --set-images 1000000 \
        --log "$device.log" -o "$output" "$@" set/png
}
words() { grep -v ' at a time on \|^taper train[a-z-]*: [^ ]*\.tpm: \| s, .* of processor' "$1"; }
curve() { sed 's/,"[a-z_]*second[a-z_]*":[^,}]*//g' "$1"; }
for options in 'train --family dense --hidden 8' 'train-bits --hidden 8 --code units' train-bits; do
    for device in cpu shadow; do
        # shellcheck disable=SC2086
        train "$TAPER" $device $device.tpm $options 2>$device.err
        words $device.err >$device.words
        curve $device.log >$device.curve
    done
    cmp cpu.tpm shadow.tpm
    cmp cpu.words shadow.words
    cmp cpu.curve shadow.curve
    grep -q '^taper train[a-z-]*: 2 models at a time on shadow$' shadow.err
    test "$(grep -c '^taper train[a-z-]*: window ' shadow.err)" -eq 3
done

# in the middle: nothing half-written, and the checkpoints go on to the same bytes
if env --default-signal=INT true 2>/dev/null; then
    train "$TAPER" cpu whole.tpm train-bits --code units --epochs 40 2>err
    env --default-signal=INT "$TAPER" train-bits -q --device shadow --units 6 --batch 64 --set-images 1000000 \
        --code units --epochs 40 --checkpoint part -o part.tpm set/png >out 2>&1 &
    running=$!
    while [ ! -e part.8x8 ] && kill -0 $running 2>/dev/null; do sleep 0.02; done
    kill -INT $running
    code=0
    wait $running || code=$?
    test $code -eq 130
    test ! -e part.tpm
    nothing_left
    train "$TAPER" shadow part.tpm train-bits --code units --epochs 40 --checkpoint part --resume 2>err
    cmp whole.tpm part.tpm
fi

# a GPU without memory for three at once: two, and the same bytes
kernels=$(dirname "$TAPER")/tests/taper_model # on the execution model
export TAPER_MODEL_ORDERS=1
rm -rf set
"$SAMPLES" small set --count 6 --format png
train "$kernels" cuda whole.tpm train-bits --code units --epochs 1 2>err
grep -q '^taper train-bits: 3 models at a time on cuda:0$' err
TAPER_MODEL_FAIL=allocation:12 train "$kernels" cuda part.tpm train-bits --code units --epochs 1 2>err || { cat err; exit 1; }
grep -q '^taper train-bits: cuda:0: warning: memory for [12] models* at a time, not 3$' err || { cat err; exit 1; }
cmp whole.tpm part.tpm
