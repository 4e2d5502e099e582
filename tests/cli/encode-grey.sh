# A grey model refuses colour, image by image; a colour model takes grey. Grey and RGB mix in one set.
. "$ROOT/tests/cli_helpers.sh"
small_set 100
"$SAMPLES" scenes scenes --count 12
"$TAPER" encode -q -m model.tpm -o both.taper scenes
"$TAPER" info both.taper | grep -q 'images    12, .*RGB and grey, 16 bits among them'
"$TAPER" decode -q -m model.tpm -o out both.taper
test "$(count_png out)" -eq 12
for name in $(cd scenes && ls); do # each keeps its size, colour and depth (bytes 16 to 25 of a PNG)
    dd if="scenes/$name" bs=1 skip=16 count=10 of=a 2>/dev/null
    dd if="out/$name" bs=1 skip=16 count=10 of=b 2>/dev/null
    cmp a b
done

# a model of the grey ones alone
mkdir grey
"$TAPER" info -v both.taper | sed -n 's/.*grey  *8 bits  *//p' >names
while read -r name; do cp "scenes/$name" grey/; done <names
test "$(count_png grey)" -ge 1
"$TAPER" train -q --window 8 -o grey.tpm grey
"$TAPER" info grey.tpm | grep -q 'for grey images'
expect 1 '*in colour but the model is for grey images*' "$TAPER" encode -m grey.tpm -o some.taper scenes
"$TAPER" info some.taper | grep -q ', grey'
expect 2 '*no input could be used*' "$TAPER" encode -m grey.tpm -o none.taper set/png/arrow/0001.png
test ! -e none.taper
nothing_left
