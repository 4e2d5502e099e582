# Rectangles of images are those of the whole images; a large picture is written row by row.
. "$ROOT/tests/cli_helpers.sh"
small_set 60
"$TAPER" encode -q -m model.tpm -o set.taper set/png
decode() { "$TAPER" decode -q "$@"; }

cat >cut.py <<'PY'
import sys
def read(path):
    with open(path, 'rb') as f:
        lines = [f.readline() for _ in range(3)]
        if lines[1].startswith(b'#'):
            lines[1:] = [lines[2], f.readline()]
        width, height = map(int, lines[1].split())
        return width, height, 3 if lines[0] == b'P6\n' else 1, f.read()
whole, part, x, y, w, h = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
width, height, channels, pixels = read(whole)
assert read(part) == (w, h, channels, b''.join(
    pixels[((y + k) * width + x) * channels:((y + k) * width + x + w) * channels] for k in range(h)))
PY

# small images
decode -m model.tpm --format pnm -o whole set.taper
decode -m model.tpm --format pnm --crop 3,1,9,7 -o part set.taper
test "$(find part -name '*.p?m' | wc -l)" -eq 60
for i in $(ls whole/ring | head -n 2 | sed "s/[.].*//"); do
    python3 cut.py whole/ring/$i.p?m part/ring/$i.p?m 3 1 9 7
done
decode -m model.tpm -i 31 --scale 1/2 -o half.ppm set.taper
decode -m model.tpm -i 31 --scale 1/2 --crop 5,2,6,3 -o part.ppm set.taper
python3 cut.py half.ppm part.ppm 2 1 4 2

# a picture of 36 MB
python3 - <<'PY'
w, h = 6000, 2000
row = bytes((x * (c + 1) // 40 + (x * x // 7) % 23) & 255 for x in range(w + h) for c in range(3))
with open('large.ppm', 'wb') as f:
    f.write(b'P6\n%d %d\n255\n' % (w, h))
    for y in range(h):
        f.write(row[3 * y:3 * (y + w)])
PY
"$TAPER" encode -q --quick --bpp 0.1 -o large.taper large.ppm
decode -o whole.ppm large.taper
decode --max-memory 60M -o strips.ppm large.taper
cmp whole.ppm strips.ppm
for crop in 0,0,1,1 5999,1999,1,1 1234,777,300,200 0,1000,6000,3; do
    decode --crop $crop -o part.ppm -f large.taper
    python3 cut.py whole.ppm part.ppm $(echo $crop | tr , ' ')
done

# a folder: the file has the mark of one that decode wrote
decode -o folder large.taper
decode -f -o folder large.taper
decode -f --crop 0,0,40,30 -o folder large.taper
decode -f -o folder large.taper
"$TAPER" encode -q --quick --bpp 0.1 -o again.taper folder/large.png
printf x >>folder/large.png
not decode -f -o folder large.taper 2>changed
grep -q 'not as' changed

# what cannot be
not decode --crop 5990,0,11,1 -o no.ppm large.taper 2>outside
grep -q 'not within the image of 6000 x 2000' outside
test ! -e no.ppm
for bad in 1,2,3 1,2,3,4,5 a,1,1,1 1,2,0,4 -1,0,1,1 1,1,1,99999999999; do
    not decode --crop=$bad -o no.ppm large.taper 2>words
    grep -q 'X,Y,WIDTH,HEIGHT' words
done
not decode --max-memory 20M -o no.ppm large.taper 2>limit
grep -q -e '--max-memory' limit
