#!/usr/bin/env python3
"""copies_set.py -- draws a set of images with copies of eleven kinds, and with images that only look alike.

    python3 bench/copies_set.py OUT PHOTOGRAPHS... [--originals 100] [--seed 1]

OUT/images/ gets the images, and OUT/truth.csv a line `image,copy,kind` for each copy. Copies are made of photographs, of drawn
pages of text and of drawn charts. Hard negatives: views of one scene that overlap by two thirds, as a burst has them (`view`);
further pages and charts; flat images of one colour, and of two. Needs python3-pil and python3-numpy.

Kinds: half (scaled to half a side), quarter, jpeg (quality 30), lighter, grey, crop (a tenth of each side is cut off), caption (a
line of text over the lower edge), border (a frame of a twentieth), soft (blurred), noisy, and turned by 2 degrees and cut (tilt).
"""
import argparse
import csv
import io
import os

import numpy
from PIL import Image, ImageDraw, ImageEnhance, ImageFilter, ImageFont, ImageOps

SIDE = 512
WORDS = ("the of and a to in is you that it he was for on are as with his they I at be this have from or one had by word but "
         "not what all were we when your can said there use an each which she do how their if will up other about out many").split()


def font(size):
    for name in ("DejaVuSerif.ttf", "DejaVuSans.ttf", "LiberationSerif-Regular.ttf"):
        try:
            return ImageFont.truetype(name, size)
        except OSError:
            pass
    return ImageFont.load_default()


def page(draw):
    """A page of text."""
    image = Image.new("RGB", (SIDE, SIDE), (255, 255, 252))
    pen, letters, y = ImageDraw.Draw(image), font(15), 36
    if draw.random() < 0.5:
        pen.text((36, y), " ".join(draw.choice(WORDS, 3)).title(), fill=(20, 20, 20), font=font(24))
        y += 44
    while y < SIDE - 50:
        words, width = [], draw.integers(36, 60) if draw.random() < 0.15 else 60
        while sum(map(len, words)) + len(words) < width:
            words.append(str(draw.choice(WORDS)))
        pen.text((36, y), " ".join(words), fill=(30, 30, 30), font=letters)
        y += 20
    return image


def chart(draw):
    """A chart of bars or lines on the same axes."""
    image = Image.new("RGB", (SIDE, SIDE), "white")
    pen, n = ImageDraw.Draw(image), int(draw.integers(5, 12))
    pen.line([(60, 40), (60, 450), (480, 450)], fill="black", width=2)
    for k in range(1, 8):
        pen.line([(60, 450 - 50 * k), (480, 450 - 50 * k)], fill=(210, 210, 210))
        pen.text((30, 442 - 50 * k), str(10 * k), fill="black", font=font(13))
    height, colour = draw.integers(20, 380, n), ("#1f77b4", "#d62728", "#2ca02c")[int(draw.integers(3))]
    x = [60 + (420 * k + 210) // n for k in range(n)]
    if draw.random() < 0.5:
        for k in range(n):
            pen.rectangle([x[k] - 140 // n, 450 - int(height[k]), x[k] + 140 // n, 449], fill=colour)
    else:
        pen.line([(x[k], 450 - int(height[k])) for k in range(n)], fill=colour, width=3)
    return image


def flat(draw):
    """One colour, or two."""
    image = Image.new("RGB", (SIDE, SIDE), tuple(map(int, draw.integers(0, 256, 3))))
    if draw.random() < 0.5:
        at = int(draw.integers(SIDE // 8, SIDE))
        ImageDraw.Draw(image).rectangle([0, 0, SIDE, at], fill=tuple(map(int, draw.integers(0, 256, 3))))
    return image


def view(photograph, k):
    """One of the views of a scene: two thirds of it, from another corner each."""
    w, h = photograph.size
    x, y = (k & 1) * w // 3, (k >> 1) * h // 3
    return photograph.crop((x, y, x + 2 * w // 3, y + 2 * h // 3)).resize((SIDE, SIDE), Image.LANCZOS)


def encoded(image, **options):
    to = io.BytesIO()
    image.save(to, "JPEG", **options)
    return Image.open(io.BytesIO(to.getvalue())).convert("RGB")


def caption(image, draw):
    made, (w, h) = image.copy(), image.size
    pen = ImageDraw.Draw(made)
    pen.rectangle([0, h - h // 10, w, h], fill="black")
    pen.text((8, h - h // 10 + 6), " ".join(map(str, draw.choice(WORDS, 6))), fill="white", font=font(h // 20))
    return made


def noisy(image, draw):
    values = numpy.asarray(image, dtype=float) + draw.normal(0, 12, (image.size[1], image.size[0], 3))
    return Image.fromarray(values.clip(0, 255).astype("uint8"))


def inner(image, part):
    w, h = image.size
    return image.crop((int(w * part), int(h * part), int(w * (1 - part)), int(h * (1 - part))))


COPIES = {
    "half": lambda image, draw: image.resize((image.size[0] // 2, image.size[1] // 2), Image.LANCZOS),
    "quarter": lambda image, draw: image.resize((image.size[0] // 4, image.size[1] // 4), Image.LANCZOS),
    "jpeg": lambda image, draw: encoded(image, quality=30),
    "lighter": lambda image, draw: ImageEnhance.Contrast(ImageEnhance.Brightness(image).enhance(1.25)).enhance(0.85),
    "grey": lambda image, draw: image.convert("L").convert("RGB"),
    "crop": lambda image, draw: inner(image, 0.05),
    "caption": caption,
    "border": lambda image, draw: ImageOps.expand(image, image.size[0] // 20, fill=(240, 240, 240)),
    "soft": lambda image, draw: image.filter(ImageFilter.GaussianBlur(3)),
    "noisy": noisy,
    "tilt": lambda image, draw: inner(image.rotate(2, Image.BICUBIC), 0.04),
}


def main():
    words = argparse.ArgumentParser()
    words.add_argument("out")
    words.add_argument("photographs", nargs="+")
    words.add_argument("--originals", type=int, default=100)
    words.add_argument("--seed", type=int, default=1)
    given = words.parse_args()
    draw = numpy.random.default_rng(given.seed)
    os.makedirs(given.out + "/images", exist_ok=True)

    def put(name, image):
        image.save("%s/images/%s.png" % (given.out, name), compress_level=1)

    paths = sorted(given.photographs)
    draw.shuffle(paths)
    scenes = paths[:len(paths) // 5]  # of these only views
    originals = [("photo-%03d" % k, Image.open(path).convert("RGB")) for k, path in enumerate(paths[len(scenes):])]
    for k, path in enumerate(scenes):
        photograph = Image.open(path).convert("RGB")
        for corner in range(4):
            put("view-%03d-%d" % (k, corner), view(photograph, corner))
    originals += [("page-%03d" % k, page(draw)) for k in range(given.originals)]
    originals += [("chart-%03d" % k, chart(draw)) for k in range(given.originals)]
    for k in range(given.originals // 2):
        put("flat-%03d" % k, flat(draw))
    for name, image in originals:
        put(name, image)
    chosen = set()
    for kind, share in (("photo", 0.8), ("page", 0.1), ("chart", 0.1)):
        names = [name for name, _ in originals if name.startswith(kind)]
        chosen |= set(names[:int(share * given.originals)])
    with open(given.out + "/truth.csv", "w", newline="", encoding="utf-8") as to:
        table = csv.writer(to)
        table.writerow(("image", "copy", "kind"))
        for name, image in originals:
            for kind, make in COPIES.items() if name in chosen else ():
                put("%s-%s" % (name, kind), make(image, draw))
                table.writerow((name + ".png", "%s-%s.png" % (name, kind), kind))


if __name__ == "__main__":
    main()
