# Verbs that code take --device, and run on the processor: another one is refused in one sentence, and nothing is written.
. "$ROOT/tests/cli_helpers.sh"
small_set 16
"$TAPER" encode -q -m model.tpm -o set.taper set/png
run() { # verb, options...
    verb=$1
    shift
    case $verb in
    encode) "$TAPER" encode -m model.tpm -o out "$@" set/png ;;
    decode) "$TAPER" decode -m model.tpm -o out "$@" set.taper ;;
    compare) "$TAPER" compare -r none -m model.tpm -o out "$@" set/png ;;
    esac
}
for verb in encode decode compare; do
    for device in cuda cuda:1; do
        expect 2 "taper $verb: encoding and decoding run on the processor only; omit --device $device *" \
            run $verb --device $device
    done
    for device in gpu shadow cuda:x ''; do
        expect 2 "taper $verb: --device is auto or cpu, not '$device' *" run $verb --device "$device"
        test "$(wc -l <expect.err)" -eq 1
    done
    test ! -e out
    expect 0 "taper $verb: on the processor, as no GPU has been measured to be faster at coding" run $verb -v
    expect 0 "taper $verb: on the processor, as no GPU *" run $verb -f -v --device auto
    expect 0 "taper $verb: on the processor, as asked" run $verb -f -v --device cpu
    rm -r out
done
