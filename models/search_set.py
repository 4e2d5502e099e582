#!/usr/bin/env python3
"""search_set.py -- the pictures besides CIFAR-10 from which the model `search` learns: windows of photographs, drawn scenes,
icons and tiles, each of 32 x 32 pixels, in the binary format of CIFAR-10 (with class 0).

    python3 models/search_set.py MAKE_SAMPLES PHOTOGRAPHS WORK OUT.bin

MAKE_SAMPLES is the program of that name, PHOTOGRAPHS a folder of PNG, WORK a folder for drawn scenes. A window is scaled to the
mean of the area that each pixel covers, as `taper index` scales images. Needs python3-pil.
"""
import glob
import os
import subprocess
import sys

from PIL import Image

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))
import drawings  # noqa: E402

SIDE, SEED = 32, 21
WINDOWS, SCENES, OF_A_SCENE, ICONS, TILES = 60, 1000, 4, 2000, 1000  # windows of a photograph, of a scene


def window(r, image):
    """A square of at least an eighth of the shorter side; one in eight is the whole image."""
    width, height = image.size
    if r.below(8) == 0:
        return (0, 0, width, height)
    most = min(width, height)
    side = r.between(max(SIDE, most // 8), most) if most > SIDE else most
    left, top = r.between(0, width - side), r.between(0, height - side)
    return (left, top, left + side, top + side)


def scaled(r, image):
    small = image.resize((SIDE, SIDE), Image.BOX, box=window(r, image))
    return small.transpose(Image.FLIP_LEFT_RIGHT) if r.below(2) else small


def windows(r, folder, n):
    """n of each image of the folder; images of 16 bits are left out."""
    for path in sorted(glob.glob(os.path.join(folder, "*.png"))):
        image = Image.open(path)
        if image.mode in ("L", "RGB", "RGBA"):
            image = image.convert("RGB")
            yield from (scaled(r, image) for _ in range(n))


def of_rows(r, rows):
    """Pixels of drawings.py; where they are transparent, on white, black or a colour."""
    image = Image.new("RGBA", (len(rows[0]), len(rows)))
    image.putdata([tuple(p) for row in rows for p in row])
    behind = Image.new("RGBA", image.size, ((255, 255, 255), (0, 0, 0), r.colour(), (255, 255, 255))[r.below(4)])
    return Image.alpha_composite(behind, image).convert("RGB").resize((SIDE, SIDE), Image.BOX)


def drawn(r):
    for i in range(ICONS):
        rows = drawings.icon(r, i % 4 == 0)
        yield of_rows(r, drawings.with_shadow(rows) if i % 8 == 0 else rows)
    for _ in range(TILES):
        n, palette = r.between(4, 16), [r.colour() + (255,) for _ in range(16)]
        kinds = (drawings.sprite, drawings.bricks, drawings.grass, drawings.ball, drawings.boxes)
        rows = kinds[r.below(len(kinds))](r, n)
        yield of_rows(r, [[palette[v] for v in row] for row in rows])


def main(samples, photographs, work, out):
    r, scenes = drawings.Numbers(SEED), os.path.join(work, "scenes")
    subprocess.run([samples, "scenes", scenes, "--count", str(SCENES), "--seed", str(SEED)], check=True,
                   stdout=subprocess.DEVNULL)
    with open(out, "wb") as file:
        for images in (windows(r, photographs, WINDOWS), windows(r, scenes, OF_A_SCENE), drawn(r)):
            for image in images:
                file.write(b"\0" + b"".join(image.getchannel(c).tobytes() for c in "RGB"))


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    main(*sys.argv[1:])
