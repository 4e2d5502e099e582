# decode --format jpeg, webp and tiff: other programs read the same pixels and the metadata, -f replaces what decode
# wrote and nothing else, and one file is named by its suffix.
. "$ROOT/tests/cli_helpers.sh"
for python in python3 /usr/bin/python3 none; do
    $python -c 'import numpy; from PIL import Image' 2>/dev/null && break
done
[ $python != none ] || { echo "SKIP no python3 with numpy and PIL (python3-numpy, python3-pil)"; exit 0; }
mkdir in
$python - <<'P'
import numpy as np
from PIL import Image, ImageCms
y, x = np.mgrid[0:60, 0:83]
rgb = np.stack([x * 3 % 256, y * 4 % 256, (x + y) * 2 % 256], -1).astype("u1")
profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
exif = Image.Exif()
exif[0x010F] = "Maker"
exif[0x0112] = 6
Image.fromarray(rgb).save("in/colour.png", icc_profile=profile, exif=exif, dpi=(300, 300))
Image.fromarray(rgb[..., 0]).save("in/grey.png")
Image.fromarray((rgb[..., 0].astype("u2") * 251 + 7)).save("in/deep.png")
alpha = np.dstack([rgb, (x * 3).clip(0, 255).astype("u1")])
Image.fromarray(alpha).save("in/alpha.png")
Image.fromarray(rgb[:1, :1]).save("in/dot.png")
P
"$TAPER" encode -q --best -o set.taper in
"$TAPER" decode -q -o png set.taper
for format in jpeg webp tiff; do "$TAPER" decode -q --format $format -o $format set.taper 2>>messages; done
"$TAPER" decode -q --format webp --quality 100 -o lossless set.taper
"$TAPER" decode -q --format jpeg --quality 30 -o low set.taper
cat >check.py <<'P'
import os, sys
import numpy as np
from PIL import Image
def read(path):
    image = Image.open(path)
    return image, np.asarray(image).astype(float)
def psnr(a, b, most=255):
    return 10 * np.log10(most ** 2 / max(1e-9, ((a - b) ** 2).mean()))
for name in "colour grey deep alpha dot".split():
    own, want = read("png/%s.png" % name)
    image, got = read("tiff/%s.tif" % name)
    assert got.shape == want.shape and (got == want).all(), ("tiff", name)
    eight = np.floor((want + 128) / 257) if name == "deep" else want
    colours = eight if eight.ndim == 3 else np.repeat(eight[..., None], 3, 2)
    image, got = read("lossless/%s.webp" % name)
    assert image.format == "WEBP"
    shown = got[..., 3] > 0 if name == "alpha" else np.ones(got.shape[:2], bool)
    assert (got[shown] == colours[shown]).all(), ("webp", name)
    image, got = read("webp/%s.webp" % name)
    assert psnr(got[shown][:, :3], colours[shown][:, :3]) > 27, ("lossy webp", name)
    image, got = read("jpeg/%s.jpg" % name)
    if name == "alpha":
        a = want[..., 3:] / 255
        eight = want[..., :3] * a + 255 * (1 - a)
    assert image.format == "JPEG" and got.shape == eight.shape and psnr(got, eight) > 27, ("jpeg", name)
    if name != "dot":
        assert os.path.getsize("low/%s.jpg" % name) < os.path.getsize("jpeg/%s.jpg" % name), name
for path in "jpeg/colour.jpg", "webp/colour.webp":
    image = Image.open(path)
    assert image.getexif()[0x010F] == "Maker" and image.getexif().get(0x0112, 1) == 1, path
for path in "jpeg/colour.jpg", "webp/colour.webp", "tiff/colour.tif":
    assert Image.open(path).info["icc_profile"] == Image.open("png/colour.png").info["icc_profile"], path
assert abs(Image.open("jpeg/colour.jpg").info["dpi"][0] - 300) < 1
assert abs(Image.open("tiff/colour.tif").info["dpi"][0] - 300) < 1
P
$python check.py

# -f replaces what is as decode wrote it
for format in jpeg webp tiff; do
    "$TAPER" decode -q -f --format $format -o $format set.taper
    for file in $format/colour.*; do printf x >>"$file"; done
    expect 5 '*colour.*exists, and is not as `taper decode` wrote it*' "$TAPER" decode -f --format $format -o $format set.taper
done
# one file, by its name
for name in one.jpg one.webp one.tif; do "$TAPER" decode -q -i colour.png -o $name set.taper; done
$python -c 'from PIL import Image
for name, kind in ("one.jpg", "JPEG"), ("one.webp", "WEBP"), ("one.tif", "TIFF"):
    assert Image.open(name).format == kind and Image.open(name).size == (60, 83)'
expect 2 '*from 1 to 100*' "$TAPER" decode --format jpeg --quality 0 -o none set.taper
# larger than the format allows
$python -c 'from PIL import Image
Image.new("L", (16384, 1), 77).save("wide.png")'
"$TAPER" encode -q -o wide.taper wide.png
expect 1 '*16384 x 1 pixels are more than WebP has, 16383 a side; write PNG*' "$TAPER" decode --format webp -o wide wide.taper
