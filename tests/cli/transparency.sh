# Alpha and drawings through encode, decode, truncate, repack, merge and verify; and with the teaching decoder.
. "$ROOT/tests/cli_helpers.sh"
mkdir set photos

# a mask, soft alpha, grey with alpha at 16 bits, a drawing with and without alpha, an image without either
python3 - <<'PY'
def pam(name, width, height, kind, depth, pixel):
    channels = {"GRAYSCALE": 1, "GRAYSCALE_ALPHA": 2, "RGB": 3, "RGB_ALPHA": 4}[kind]
    head = "P7\nWIDTH %d\nHEIGHT %d\nDEPTH %d\nMAXVAL %d\nTUPLTYPE %s\nENDHDR\n" % (
        width, height, channels, (1 << depth) - 1, kind)
    body = b"".join(v.to_bytes(depth // 8, "big") for y in range(height) for x in range(width) for v in pixel(x, y))
    open(name, "wb").write(head.encode() + body)
def noise(x, y, n): return (x * 7919 + y * 104729 + x * y * 31) % n
pam("set/mask.pam", 40, 32, "RGB_ALPHA", 8, lambda x, y: (x * 5, y * 7, noise(x, y, 90), 255 * ((x - 20) ** 2 + (y - 16) ** 2 < 150)))
pam("set/soft.pam", 48, 40, "RGB_ALPHA", 8, lambda x, y: (x * 5, y * 6, noise(x, y, 60), (x * 4 + y + noise(x, y, 4)) % 256))
pam("set/deep.pam", 40, 32, "GRAYSCALE_ALPHA", 16, lambda x, y: (x * 1500 + noise(x, y, 900), x * 1000 + y * 700 + noise(x, y, 99)))
pam("set/tile.pam", 32, 32, "RGB", 8, lambda x, y: ((200, 30, 40), (20, 20, 90), (250, 240, 10))[(x // 4 + y // 8) % 3])
pam("set/icon.pam", 32, 32, "RGB_ALPHA", 8, lambda x, y: (0, 0, 0, 0) if x < 9 else (30, 90, 200, 255 if y < 20 else 128))
pam("photos/plain.pam", 48, 40, "RGB", 8, lambda x, y: (x * 5, y * 6, noise(x, y, 60)))
PY
cp photos/plain.pam set

# alphas A B: the same alpha in all images of two folders, and the same drawings
cat >alphas.py <<'PY'
import os, sys
def read(path):
    data = open(path, "rb").read()
    end = data.index(b"ENDHDR\n") + 7
    head = dict(line.split() for line in data[:end].decode("latin1").split("\n") if line[:1].isupper() and " " in line)
    return int(head["DEPTH"]), 2 if int(head["MAXVAL"]) > 255 else 1, data[end:]
for name in sys.argv[3:]:
    a, b = (next(os.path.join(d, name + s) for s in (".pam", ".pnm") if os.path.exists(os.path.join(d, name + s)))
            for d in sys.argv[1:3])
    (n, size, x), (m, _, y) = read(a), read(b)
    assert n == m and len(x) == len(y), name
    if name in ("tile", "icon"):
        assert x == y, name
    else:
        each = n * size
        assert all(x[i + each - size:i + each] == y[i + each - size:i + each] for i in range(0, len(x), each)), name
PY
all="mask soft deep icon"
"$TAPER" encode -q --best -o set.taper set 2>/dev/null
"$TAPER" verify -q set.taper
"$TAPER" decode -q --format pnm -o out set.taper
python3 alphas.py set out $all
"$TAPER" info set.taper | grep -q '4 with transparency'
"$TAPER" info set.taper | grep -q '2 drawings, kept exactly'
"$TAPER" decode -q -o png set.taper
[ "$(od -An -tu1 -j25 -N1 png/soft.png)" -eq 6 ]
[ "$(od -An -tu1 -j25 -N1 png/deep.png)" -eq 4 ]

# every other form of the same; alpha stays exact
for layout in image gallery; do
    "$TAPER" repack -q --layout $layout -o $layout.taper set.taper
    "$TAPER" decode -q --format pnm -o "out-$layout" $layout.taper
    python3 alphas.py set "out-$layout" $all
done
"$TAPER" encode -q --best --allocation mean -o mean.taper set 2>/dev/null
"$TAPER" decode -q --format pnm -o out-mean mean.taper
python3 alphas.py set out-mean $all
"$TAPER" encode -q --best -o photos.taper photos 2>/dev/null
"$TAPER" merge -q -o joined.taper photos.taper set.taper
"$TAPER" verify -q joined.taper
"$TAPER" decode -q --format pnm -o out-joined joined.taper
python3 alphas.py set out-joined $all
"$TAPER" merge -q -o twice.taper set.taper image.taper 2>/dev/null && exit 1 # other layouts

# any cut decodes
size=$(wc -c <set.taper)
front=$("$TAPER" info --json set.taper | sed 's/.*"front_bytes": *\([0-9]*\).*/\1/')
for part in 0 3 11 29 47 71 93; do
    head -c $((front + (size - front) * part / 100)) set.taper >cut.taper
    "$TAPER" decode -q -f -o cut cut.taper
    [ "$(find cut -name '*.png' | wc -l)" -eq 6 ]
    "$TAPER" truncate -q -f --bytes $((front + (size - front) * part / 100)) -o short.taper set.taper
    "$TAPER" verify -q short.taper
    "$TAPER" decode -q -f -o short short.taper
    [ "$(find short -name '*.png' | wc -l)" -eq 6 ]
done
"$TAPER" decode -q --scale 1/4 -o small set.taper

# drawings alone, of several groups: to little more than the front matter, and to a part of the only layer
mkdir drawn
for i in 1 2 3 4 5 6; do cp set/tile.pam drawn/tile$i.pam && cp set/icon.pam drawn/icon$i.pam; done
for layout in set image gallery; do
    "$TAPER" encode -q -f --layout $layout --group 3 -o drawn.taper drawn
    size=$(wc -c <drawn.taper)
    front=$("$TAPER" info --json drawn.taper | sed 's/.*"front_bytes": *\([0-9]*\).*/\1/')
    for bytes in $((front + 8)) $((front + (size - front) * 3 / 10)) $((front + (size - front) * 8 / 10)) "$size"; do
        "$TAPER" truncate -q -f --bytes "$bytes" -o short.taper drawn.taper
        [ "$(wc -c <short.taper)" -le "$bytes" ]
        "$TAPER" verify -q short.taper
        rm -rf short
        "$TAPER" decode -q -o short short.taper
        [ "$(find short -name '*.png' | wc -l)" -eq 12 ]
        [ "$layout" = set ] || continue
        head -c "$bytes" drawn.taper >cut.taper
        rm -rf cut
        "$TAPER" decode -q -o cut cut.taper
    done
done
cmp short/tile1.png png/tile.png

# what the options say
"$TAPER" encode -q -f --alpha white -o white.taper set 2>/dev/null
if "$TAPER" info white.taper | grep -q transparency; then exit 1; fi
"$TAPER" encode -q -f --alpha refuse -o refused.taper set 2>refused && exit 1
grep -q -- '--alpha white' refused
"$TAPER" encode -q -f --drawings lossy -o lossy.taper set 2>/dev/null
if "$TAPER" info lossy.taper | grep -q drawing; then exit 1; fi
"$TAPER" encode -q -o icon.taper set/icon.pam 2>/dev/null
"$TAPER" decode -q -o icon.idx icon.taper 2>refused && exit 1
grep -q 'transparency' refused

# photographs pay nothing: no bit of the required features is set
[ "$(od -An -tu1 -j12 -N1 photos.taper)" -eq 0 ]

# the teaching decoder agrees, whole and cut
"$TAPER" encode -q -m tiny --best -o tiny.taper set 2>/dev/null
python3 -B "$ROOT/formats/teaching_decoder.py" -m "$ROOT/models/tiny.tpm" -o taught tiny.taper
"$TAPER" decode -q -o ours tiny.taper
python3 "$ROOT/tests/same_pixels.py" ours taught

# smooth pages are drawings where exact copies are asked for, or all are exact; not where they cost far more
mkdir smooth
/usr/bin/python3 - <<'END'
from PIL import Image, ImageDraw
page = Image.new("RGB", (480, 480))
page.putdata([((x + 2 * y) // 9, (2 * x + y) // 11, 200 - (x + y) // 13) for y in range(480) for x in range(480)])
page.save("smooth/page.png")
chart = Image.new("RGB", (480, 480), "white")
for i in range(40):
    ImageDraw.Draw(chart).text((10 + 90 * (i % 5), 10 + 58 * (i // 5)), "value %d" % i, fill="black")
chart.save("smooth/chart.png")
END
told() { # drawings, option of encode
    "$TAPER" encode -q -f -m tiny -o smooth.taper smooth $2
    [ "$("$TAPER" info smooth.taper | sed -n 's/^ *\([0-9]*\) drawings*, kept exactly/\1/p')" -eq "$1" ]
}
told 1 ''
auto=$(wc -c <smooth.taper)
told 2 '--drawings exact'
[ "$(wc -c <smooth.taper)" -gt $((auto * 2)) ]
told 2 --lossless
