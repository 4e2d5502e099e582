# Photographs in Display P3 and Adobe RGB, as PNG and JPEG, look as before in a viewer that applies profiles: compared in
# CIELAB by lcms2, beside the same photographs in sRGB. Other programs read profile, EXIF and place back.
. "$ROOT/tests/cli_helpers.sh"
for python in python3 /usr/bin/python3 none; do
    $python -c 'import numpy; from PIL import Image, ImageCms' 2>/dev/null && break
done
[ $python != none ] || { echo "SKIP no python3 with numpy and PIL with lcms2 (python3-numpy, python3-pil)"; exit 0; }
mkdir in
cat >pictures.py <<'END'
import io, struct, sys
import numpy as np
from PIL import Image, ImageCms
PRIMARIES = {"p3": ((0.680, 0.320), (0.265, 0.690), (0.150, 0.060)), "adobe": ((0.640, 0.330), (0.210, 0.710), (0.150, 0.060))}
def profile(name):
    """A profile of these primaries and D65, adapted to D50, with gamma 2.2."""
    xyz = np.array([[x / y, 1, (1 - x - y) / y] for x, y in PRIMARIES[name]]).T
    white = np.array([0.3127 / 0.3290, 1, (1 - 0.3127 - 0.3290) / 0.3290])
    xyz *= np.linalg.solve(xyz, white)
    cone = np.array([[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]])
    d50 = np.array([0.9642, 1, 0.8249])
    columns = np.linalg.inv(cone) @ np.diag(cone @ d50 / (cone @ white)) @ cone @ xyz
    def number(x):
        return struct.pack(">i", round(float(x) * 65536))
    def text(kind, words):
        return kind + bytes(4) + words
    words = name.encode() + b"\0"
    tags = [(b"desc", text(b"desc", struct.pack(">I", len(words)) + words + bytes(78))), (b"cprt", text(b"text", b"none\0")),
            (b"wtpt", b"XYZ " + bytes(4) + b"".join(map(number, d50)))]
    tags += [(kind, b"XYZ " + bytes(4) + b"".join(map(number, columns[:, i]))) for i, kind in enumerate((b"rXYZ", b"gXYZ", b"bXYZ"))]
    tags += [(kind, b"curv" + bytes(4) + struct.pack(">IH", 1, 563)) for kind in (b"rTRC", b"gTRC", b"bTRC")]
    table, data, at = b"", b"", 132 + 12 * len(tags)
    for kind, content in tags:
        content += bytes(-len(content) % 4)
        table += kind + struct.pack(">II", at + len(data), len(content))
        data += content
    head = b"lcms" + bytes((2, 0x10, 0, 0)) + b"mntrRGB XYZ " + struct.pack(">6H", 2020, 1, 1, 0, 0, 0) + b"acsp" + bytes(28)
    rest = head + b"".join(map(number, d50)) + bytes(48) + struct.pack(">I", len(tags)) + table + data
    return struct.pack(">I", len(rest) + 4) + rest
def lab(path):
    image = Image.open(path)
    own = image.info.get("icc_profile")
    from_ = ImageCms.ImageCmsProfile(io.BytesIO(own)) if own else ImageCms.createProfile("sRGB")
    to_lab = ImageCms.buildTransform(from_, ImageCms.createProfile("LAB"), "RGB", "LAB", 1)
    seen = np.frombuffer(ImageCms.applyTransform(image.convert("RGB"), to_lab).tobytes(), np.uint8).reshape(-1, 3)
    return np.dstack([seen[:, 0] * (100 / 255), *(seen[:, 1:].view(np.int8).astype(float).T)])[0]
def apart(a, b):
    return np.sqrt(((lab(a) - lab(b)) ** 2).sum(1)).mean()
END
$python - <<'END'
from pictures import *
y, x = np.mgrid[0:192, 0:256] / 32.0
wave = [0.5 + 0.45 * np.sin(x * (1 + k / 3) + y * (k - 1) + k * 2) * np.cos(y / 2 + k) for k in range(3)]
photo = Image.fromarray((255 * np.dstack(wave)).astype("u1"))
for name in "p3", "adobe":
    photo.save("in/%s.png" % name, icc_profile=profile(name))
    exif = Image.Exif()
    exif[0x010F], exif[0x0110], exif[0x0112], exif[0x0132] = "Maker", "Camera", 6, "2021:07:07 12:00:00"
    exif[0x8825] = {1: "N", 2: (47.0, 22.0, 36.5), 3: "E", 4: (8.0, 32.0, 30.25)}
    photo.save("in/%s-photo.jpg" % name, quality=95, icc_profile=profile(name), exif=exif, dpi=(300, 300))
photo.save("in/srgb.png")
photo.rotate(-90, expand=True).save("in/srgb-photo.jpg", quality=95)
END
"$TAPER" encode -q --psnr 42 -o plain.taper in/srgb*
"$TAPER" encode -q --best -o all.taper in
"$TAPER" encode -q --best --strip -o strip.taper in
for way in all strip; do "$TAPER" decode -q -o $way $way.taper; done
"$TAPER" truncate -q -b 40000 -o cut.taper all.taper
"$TAPER" decode -q -o cut cut.taper
$python - <<'END'
from pictures import *
for way, most in ("all", 1.0), ("cut", 4.0):
    for kind in ".png", "-photo":
        end = kind if kind == ".png" else kind + ".png"
        def of(name):
            source = "in/%s%s" % (name, kind if kind == ".png" else kind + ".jpg")
            if kind == ".png":
                return apart(source, "%s/%s%s" % (way, name, end))
            upright = Image.open(source)
            turned = upright if name == "srgb" else upright.transpose(Image.ROTATE_270)
            turned.save("turned.png", icc_profile=upright.info.get("icc_profile"))
            return apart("turned.png", "%s/%s%s" % (way, name, end))
        plain = of("srgb")
        for name in "p3", "adobe":
            d = of(name)
            assert d < most and d < 1.6 * plain + 0.2, (way, kind, name, d, plain)
            if way == "all":  # without its profile it looks otherwise
                lost = apart("all/%s%s" % (name, end), "strip/%s%s" % (name, end))
                assert lost > 4 * d, (name, lost, d)
    if way == "all":
        for name in "p3", "adobe":
            image = Image.open("all/%s-photo.png" % name)
            seen, place = image.getexif(), image.getexif().get_ifd(0x8825)
            assert image.info["icc_profile"] == profile(name) and image.size == (192, 256)
            assert (seen[0x010F], seen[0x0112], seen[0x0132]) == ("Maker", 1, "2021:07:07 12:00:00")
            assert [float(v) for v in place[2]] == [47.0, 22.0, 36.5] and place[3] == "E"
            assert [round(v) for v in image.info["dpi"]] == [300, 300]
END
command -v exiftool >/dev/null || exit 0
exiftool -s3 -Make -GPSLatitude -DateTimeOriginal -ModifyDate -ProfileDescription -Orientation -XResolution all/p3-photo.png >told
grep -q '^Maker$' told
grep -q "^47 deg 22' 36.50\" N" told
grep -q '^p3$' told
grep -q '^Horizontal (normal)$' told
exiftool -warning -error all/p3-photo.png | not grep -i "warning\|error"
