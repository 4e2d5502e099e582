# `decode --format original`: each file has its own name, and the format of its suffix; formats that are not written
# become PNG, which is told once.
. "$ROOT/tests/cli_helpers.sh"
for python in python3 /usr/bin/python3 none; do
    $python -c 'import numpy; from PIL import Image, features; assert features.check("webp")' 2>/dev/null && break
done
[ $python != none ] || { echo "SKIP no python3 with numpy and PIL (python3-numpy, python3-pil)"; exit 0; }
mkdir -p in/sub
$python - <<'P'
import numpy as np
from PIL import Image
y, x = np.mgrid[0:40, 0:56]
rgb = np.stack([x * 4 % 256, y * 6 % 256, (x + y) * 2 % 256], -1).astype("u1")
colour, grey = Image.fromarray(rgb), Image.fromarray(rgb[..., 0])
for name in "a.png", "a.jpg", "sub/b.JPEG", "c.webp", "d.tif", "sub/d.tiff", "e.ppm", "f.bmp", "g.gif", "h.jfif":
    colour.save("in/" + name, **({"format": "JPEG"} if name[-4:] in ("JPEG", "jfif") else {}))
grey.save("in/k.pgm")
Image.fromarray(rgb[..., 0] > 100).save("in/m.pbm")
Image.fromarray(rgb[..., 0].astype("u2") * 251 + 7).save("in/deep.tif")
P
printf 'P7\nWIDTH 2\nHEIGHT 2\nDEPTH 3\nMAXVAL 255\nTUPLTYPE RGB\nENDHDR\n\1\2\3\4\5\6\7\10\11\12\13\14' >in/n.pam
touch -d '2001-02-03 04:05:06 UTC' in/*.* in/sub/*
"$TAPER" encode -q --best -o set.taper in
expect 0 'taper decode: 3 files have the suffix of the format that is written: f.bmp is f.png, ...; *' \
    "$TAPER" decode --format original -o out set.taper
(cd in && find . -type f | sed 's/\.\(bmp\|gif\|pbm\)$/.png/') | LC_ALL=C sort >want
(cd out && find . -type f) | LC_ALL=C sort | cmp - want
test "$(find out -type f -newermt '2001-02-03 04:05:05 UTC' ! -newermt '2001-02-03 04:05:07 UTC' | wc -l)" -eq "$(wc -l <want)"
"$TAPER" decode -q -o png set.taper
cat >check.py <<'P'
import numpy as np
from PIL import Image
def read(path):
    image = Image.open(path)
    return image.format, np.asarray(image).astype(float)
formats = {"jpg": "JPEG", "jpeg": "JPEG", "jfif": "JPEG", "webp": "WEBP", "tif": "TIFF", "tiff": "TIFF", "ppm": "PPM",
           "pgm": "PPM", "png": "PNG"}
for name in open("want").read().split():
    suffix = name.rsplit(".", 1)[1].lower()
    if suffix == "pam":
        continue
    form, got = read("out/" + name)
    if name[2] in "fgm":
        continue
    own, want = read("in/" + name)
    assert form == formats[suffix] and got.shape == want.shape, name
    most = 65535 if "deep" in name else 255
    assert 10 * np.log10(most ** 2 / max(1e-9, ((got - want) ** 2).mean())) > (27 if form in ("JPEG", "WEBP") else 38), name
P
$python check.py
head -c 3 out/n.pam | grep -q P7
head -c 2 out/e.ppm | grep -q P6
head -c 2 out/k.pgm | grep -q P5
cmp out/a.png png/a.png

# -f replaces what decode wrote, and nothing else; some images, with extract, arriving, in folders of classes
"$TAPER" decode -q -f --format original -o out set.taper
for name in a.jpg c.webp d.tif e.ppm n.pam; do
    cp out/$name kept
    printf x >>out/$name
    expect 5 "taper decode: out/$name: exists, and is not as*" "$TAPER" decode -f --format original -o out set.taper
    mv kept out/$name
done
"$TAPER" extract -q --format original -o some set.taper '*.jpg' 'sub/*'
(cd some && find . -type f) | LC_ALL=C sort >names
grep -E 'jpg$|/sub/' want | cmp - names
cat set.taper | "$TAPER" decode -q --progressive --format original -o arrived -
diff -r out arrived
"$TAPER" decode -q --quality 20 --format original -i a.jpg -o low set.taper
test "$(wc -c <low/a.jpg)" -lt "$(wc -c <out/a.jpg)"

# one file is named by -o
expect 2 '*--format original is for files under their own names*' \
    "$TAPER" decode --format original -i a.jpg -o x.jpg set.taper
expect 2 '*--format original is for files under their own names*' "$TAPER" decode --format original -i a.jpg -o - set.taper
"$TAPER" decode -q -i a.png -o one.pam set.taper
head -c 3 one.pam | grep -q P7
"$TAPER" decode -q -i a.png -o one.ppm set.taper
head -c 2 one.ppm | grep -q P6
nothing_left
