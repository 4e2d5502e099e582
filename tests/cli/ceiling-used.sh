# A ceiling is used where using it helps: --bpp of pictures plainer than those of the model, alone and in sets,
# --bytes-per-image of a file of many images, both layouts.
python3 - <<'END'
import random, struct
random.seed(3)
def plain(name, side):
    with open(name, "wb") as f:
        f.write(b"P6\n%d %d\n255\n" % (side, side))
        for y in range(side):
            for x in range(side):
                for base in (90, 120, 150):
                    f.write(bytes([int(base + x * 40 / side + y * 20 / side + 7 * random.random())]))
for i in range(3):
    plain(f"plain{i}.ppm", 128)
with open("images.idx", "wb") as f: # 200 ramps of 16 x 16
    f.write(bytes([0, 0, 8, 3]) + struct.pack(">III", 200, 16, 16))
    for i in range(200):
        for y in range(16):
            f.write(bytes(int(60 + i / 4 + 4 * y + x + 14 * random.random()) for x in range(16)))
END
used() { # ceiling in bytes, options and inputs: at most the ceiling and at least 98 % of it
    most=$1
    shift
    "$TAPER" encode -q -f -o out.taper "$@"
    size=$(wc -c <out.taper)
    [ "$size" -le "$most" ] && [ $((size * 100)) -ge $((most * 98)) ] ||
        { echo "$size of $most bytes: encode $*"; exit 1; }
}
pixels=$((128 * 128))
used $((pixels / 8)) --quick --bpp 1 plain0.ppm
used $((pixels / 4)) --quick --bpp 2 plain1.ppm
used $((pixels / 8 * 3)) --bpp 1 plain0.ppm plain1.ppm plain2.ppm
used $((pixels / 8 * 3)) --bpp 1 --layout image plain0.ppm plain1.ppm plain2.ppm
used $((200 * 60)) -m tiny --bytes-per-image 60 images.idx
used $((200 * 60)) -m tiny --bytes-per-image 60 --layout image images.idx
# the same file as when everything is coded and then cut
"$TAPER" encode -q -f --quick -o bytes.taper -b $((pixels / 4)) plain1.ppm
"$TAPER" encode -q -f --quick -o bpp.taper --bpp 2 plain1.ppm
cmp bytes.taper bpp.taper
# said under -v; inputs that fail are told once, and those that have alpha are taken
echo "no image" >bad.png
cp "$ROOT/tests/fuzz/corpus/png/rgba8.png" alpha.png
code=0
"$TAPER" encode -f -v --quick -o out.taper --bpp 1 plain1.ppm bad.png alpha.png 2>said || code=$?
[ $code -eq 1 ]
grep -q 'the limit allows more: all passes are coded' said
[ "$(grep -c 'bad.png' said)" -eq 1 ]
[ "$(grep -c 'alpha.png' said)" -eq 0 ]
"$TAPER" ls out.taper | grep -qx alpha.png
