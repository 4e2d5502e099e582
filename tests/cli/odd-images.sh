# A sweep over odd image files: every orientation from every source, kinds, ends, damage, names, links. Each comes
# back equal in look, or is named with a remedy; refused files end the run with the exit code that says why.
. "$ROOT/tests/cli_helpers.sh"
python3 "$ROOT/tests/odd_images.py" draw . "$ROOT/tests/fuzz/corpus"
expect 1 '*inputs failed and were left out' \
    "$TAPER" encode -v -m tiny --best --alpha white -o set.taper in
cp expect.err told
"$TAPER" decode -q -m tiny -o out set.taper
python3 "$ROOT/tests/odd_images.py" check . told

# alone, each refused file gives the exit code of its kind
tab=$(printf '\t')
while IFS=$tab read -r name what code word; do
    [ "$what" = refused ] || continue
    expect "$code" "*$word*" "$TAPER" encode -m tiny -o none.taper "in/$name"
    [ ! -e none.taper ]
done <expected

# what is passed over or not used is said, once
expect 1 '*4 hidden files or system folders were passed over (the first: in/names/.git)*' \
    "$TAPER" encode -m tiny --alpha white -f -o set.taper in
mkdir two
for k in 1 2; do cp in/turn/exif3.jpg two/$k.jpg; done
python3 - two/1.jpg <<'END'
import sys
data = open(sys.argv[1], "rb").read()
other = data[2:2 + 2 + int.from_bytes(data[4:6], "big")]
open(sys.argv[1], "wb").write(data[:2] + other + other.replace(b"\3\0\0\0\0\0\0\0", b"\6\0\0\0\0\0\0\0") + data[2:])
END
expect 0 '*warning: 1 image has an orientation in EXIF or XMP that is not used, *(two/1.jpg)*' \
    "$TAPER" encode -m tiny -o two.taper two
nothing_left
