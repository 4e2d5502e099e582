# ^C and TERM in the middle: exit codes 130 and 143, and no file is left, whole or in part.
. "$ROOT/tests/cli_helpers.sh"
env --default-signal=INT true 2>/dev/null || { echo "SKIP env cannot restore the default of a signal"; exit 0; }
small_set 120
for i in $(seq 400); do echo set/cifar/train.bin; done >list

interrupt() { # signal, exit code, command: end it as soon as its temporary file is there
    signal=$1 want=$2
    shift 2
    env --default-signal=INT "$@" >/dev/null 2>&1 &
    pid=$!
    for i in $(seq 200); do
        [ -z "$(find . -name '.taper-*.tmp')" ] || break
        sleep 0.05
    done
    sleep 0.2
    kill "-$signal" $pid || { echo "it ended before it was interrupted"; exit 1; }
    code=0
    wait $pid || code=$?
    [ "$code" -eq "$want" ] || { echo "exit code $code instead of $want"; exit 1; }
    nothing_left
}
interrupt INT 130 "$TAPER" encode -m model.tpm -o out.taper --filelist list
test ! -e out.taper
interrupt TERM 143 "$TAPER" encode -m model.tpm -o out.taper --filelist list
test ! -e out.taper
# an existing file stays as it was
echo precious >out.taper
interrupt INT 130 "$TAPER" encode -f -m model.tpm -o out.taper --filelist list
echo precious | cmp - out.taper
# a container that images are added to, or removed from, stays as it was
"$TAPER" encode -q -m model.tpm -o kept.taper set/png
cp kept.taper before.taper
interrupt INT 130 "$TAPER" add -m model.tpm kept.taper --filelist list
cmp kept.taper before.taper
interrupt TERM 143 "$TAPER" add -m model.tpm kept.taper --filelist list
cmp kept.taper before.taper
