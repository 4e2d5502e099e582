# `taper sheet`: small versions of all images or of some, in a PNG or in a page, in order and of the right size.
. "$ROOT/tests/cli_helpers.sh"
"$SAMPLES" scenes photos --count 5 >/dev/null
"$TAPER" encode -q -o set.taper photos

# width and height of a PNG
sheet_size() { # FILE.png
    od -An -tu1 -j16 -N8 "$1" | awk '{ print (($1*256+$2)*256+$3)*256+$4, (($5*256+$6)*256+$7)*256+$8 }'
}
"$TAPER" sheet -o all.png set.taper 2>note
grep -q '^taper sheet: 5 images in all.png$' note
test "$(sheet_size all.png)" = "512 344" # 3 x 2 tiles of 160 with gaps of 8
"$TAPER" sheet -q --tile 32 --columns 5 -o row.png set.taper
test "$(sheet_size row.png)" = "208 48"
"$TAPER" sheet -q --side 128 -o thumb.png set.taper # four of them
test "$(sheet_size thumb.png)" = "128 128"
"$TAPER" sheet -q --side 128 -i 2 -o one.png set.taper
test "$(sheet_size one.png)" = "128 128"

# any number of threads, the same bytes; a cut, and a container on standard input
"$TAPER" sheet -q -T 1 -o one-thread.png set.taper
cmp all.png one-thread.png
head -c 3000 set.taper | "$TAPER" sheet -q -o cut.png -
test "$(sheet_size cut.png)" = "512 344"
"$TAPER" sheet -q -o - set.taper | cmp - all.png

# a sheet of one tile as large as its image is that image, as decode writes it: each tile is where it belongs
"$TAPER" sheet -q --tile 640 --columns 1 -i 3 -o third.png set.taper
"$TAPER" decode -q -i 3 -o decoded.png set.taper
"$TAPER" encode -q -o third.taper third.png
"$TAPER" encode -q -o decoded.taper decoded.png
"$TAPER" decode -q -o third.pnm third.taper
"$TAPER" decode -q -o decoded.pnm decoded.taper
python3 - <<'PY'
def read(path):
    data = open(path, "rb").read().split(b"\n", 3)
    w, h = map(int, data[1].split())
    return w, h, data[3]
w, h, small = read("decoded.pnm")
W, H, sheet = read("third.pnm")
side = 640
assert (W, H) == (side + 16, side + 16), (W, H)
left, top = 8 + (side - w) // 2, 8 + (side - h) // 2
error = 0
for y in range(h):
    row = sheet[((top + y) * W + left) * 3:][: w * 3]
    error += sum((a - b) ** 2 for a, b in zip(row, small[y * w * 3:][: w * 3]))
assert error / (w * h * 3) < 10, error / (w * h * 3)
PY

# a page: one file, which names each image and loads nothing
"$TAPER" sheet -q -o all.html set.taper
test "$(grep -o '<figure' all.html | wc -l)" -eq 5
for name in photos/*; do grep -q "${name#photos/}" all.html; done
grep -qE '(src|href)="?(http|//|[a-z0-9_-]+\.)' all.html && exit 1

# some images, mistakes
"$TAPER" sheet -q -i 2,4-5 -o some.html set.taper
test "$(grep -o '<figure' some.html | wc -l)" -eq 3
for wrong in "-i nothing*.png -o x.png" "" "--side 64 -o x.html"; do
    code=0
    # shellcheck disable=SC2086
    "$TAPER" sheet $wrong set.taper 2>message || code=$?
    test $code -eq 2 && test -s message && test ! -e x.png && test ! -e x.html
done
code=0
"$TAPER" sheet -o all.png set.taper 2>message || code=$?
test $code -eq 5 && grep -q "all.png" message
# damage: the images before it are drawn as before
size=$(wc -c <set.taper)
cp set.taper bad.taper
printf '\377\000\377\000' | dd of=bad.taper bs=1 seek=$((size - 400)) conv=notrunc 2>/dev/null
code=0
"$TAPER" sheet -q --tile 640 -o bad.png bad.taper 2>message || code=$?
test $code -eq 3 && test -s bad.png && grep -q 'checksum' message
