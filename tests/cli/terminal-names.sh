# Names that could steer a terminal (C1 controls, bidirectional overrides, bytes that are no UTF-8) are
# shown as \xNN or \uNNNN by all that prints them, and are files all the same.
. "$ROOT/tests/cli_helpers.sh"
small_set 60
bad=$(printf 'x\302\2332J\342\200\256gnp.\233')
mkdir "$bad"
cp set/png/arrow/0001.png "$bad/$bad.png"
cp set/png/bolt/0001.png "$bad/2.png"
"$TAPER" encode -q -m model.tpm -o "$bad.taper" "$bad"
shown='x\xc2\x9b2J\xe2\x80\xaegnp.\x9b'

plain() { # file: none of it is there as it is, and it is there as it is shown
    if LC_ALL=C grep -q "$(printf '\302\233\|\342\200\256\|\233')" "$1"; then
        echo "it reached the terminal:"
        od -c "$1"
        exit 1
    fi
    grep -qF "$2" "$1" || { echo "no $2 in:"; cat "$1"; exit 1; }
}
"$TAPER" info -v "$bad.taper" >said
plain said "$shown.taper: container"
grep '^ *names ' said | grep -qF '2.png'
grep 'RGB .* bits' said | grep -qF "$shown.png"
"$TAPER" verify "$bad.taper" >said
plain said "$shown.taper: whole"
"$TAPER" info -v --json "$bad.taper" >said
plain said 'x\u009b2J\u202egnp.\ufffd.png'
cp model.tpm "$bad.tpm"
"$TAPER" info "$bad.tpm" >said
plain said "$shown.tpm: model"
"$TAPER" verify "$bad.tpm" >said
plain said "$shown.tpm: whole"
"$TAPER" decode -m model.tpm -o "out-$bad" "$bad.taper" 2>said
plain said "out-$shown"
test -s "out-$bad/$bad.png"
expect 5 '*exists already*' "$TAPER" decode -m model.tpm -o "out-$bad" "$bad.taper"
plain expect.err "out-$shown/"
expect 2 '*there is no image*' "$TAPER" decode -m model.tpm -i "$bad" -o none "$bad.taper"
plain expect.err "'$shown'"
