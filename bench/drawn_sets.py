#!/usr/bin/env python3
"""drawn_sets.py -- `train-labels` without options on small sets of drawings, beside neighbours by HOG and by pixels.

    python3 bench/drawn_sets.py TAPER [--seeds 1 2 3] [--minutes 1] [--sets NAME...] >bench/results/drawn-sets.jsonl

shapes: 3 classes (disc, square, triangle) of 15 images of 32x32 in two random colours. icons: the same, 3 classes of 60 images of 18
to 240 pixels a side. glyphs: 100 classes of 5 images of 48x48; a class is three to five strokes, whose ends and widths vary.
A seed draws the classes and the labelled images. The test images are 600 others of the same classes, for glyphs 1,000. Errors are
those of 5 nearest neighbours among the labelled images, with the votes of `classify`; `low` and `high` are 95 % intervals of a seed.

hog-*: histograms of oriented gradients (N. Dalal and B. Triggs, CVPR 2005) in numpy: the channel of the largest gradient, 9
orientations without sign or 18 with, interpolation between bins and between cells, blocks of 2x2 cells with L2-Hys. There are
4x4 and 8x8 cells of images that are scaled to 32 and to 64 pixels a side, so the best of eight is chosen on the test images.
pixels: distances of images that are scaled to 32 pixels a side.

Price: about five minutes. Needs python3-pil and python3-numpy.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile

import numpy as np
from PIL import Image, ImageDraw

import record

FINE, VOTES = 4, 5
COMMAND = "python3 bench/drawn_sets.py TAPER"


# --- drawing ------------------------------------------------------------------------------------------------------------------------

def colours(draw):
    a = b = draw.integers(0, 256, 3)
    while abs(a - b).sum() < 120:
        b = draw.integers(0, 256, 3)
    return tuple(map(int, a)), tuple(map(int, b))


def shape(kind, side, draw):
    """A disc, square or triangle of any size, place and colours, turned by up to 14 degrees."""
    s = side * FINE
    ground, ink = colours(draw)
    image = Image.new("RGB", (s, s), ground)
    r, x, y, turn = s * draw.uniform(.22, .42), s * draw.uniform(.42, .58), s * draw.uniform(.42, .58), draw.uniform(-.25, .25)
    corners, first = ((90, 0), (4, math.pi / 4), (3, -math.pi / 2))[kind]
    angles = [turn + first + 2 * math.pi * i / corners for i in range(corners)]
    ImageDraw.Draw(image).polygon([(x + r * math.cos(a), y + r * math.sin(a)) for a in angles], fill=ink)
    return image.resize((side, side), Image.LANCZOS)


def glyph(strokes, side, draw):
    s = side * FINE
    image = Image.new("L", (s, s), 255)
    shift = draw.normal(0, .03, 2)
    for ends in strokes:
        ends = (ends + shift + draw.normal(0, .02, (2, 2))) * s
        ImageDraw.Draw(image).line([tuple(p) for p in ends], fill=0, width=int(s * draw.uniform(.03, .06)))
    return image.resize((side, side), Image.LANCZOS).convert("RGB")


def draw_set(name, seed):
    """Labelled images and test images, each a list of (image, class)."""
    draw = np.random.default_rng(seed)
    if name == "glyphs":
        classes = [draw.uniform(.15, .85, (draw.integers(3, 6), 2, 2)) for _ in range(100)]
        return [[(glyph(strokes, 48, draw), c) for c, strokes in enumerate(classes) for _ in range(each)] for each in (5, 10)]
    side = {"shapes": lambda: 32, "icons": lambda: int(draw.integers(18, 241))}[name]
    return [[(shape(i % 3, side(), draw), i % 3) for i in range(n)] for n in ({"shapes": 45, "icons": 180}[name], 600)]


# --- neighbours by HOG and by pixels ------------------------------------------------------------------------------------------------

def scaled(images, side):
    return np.stack([np.asarray(image.resize((side, side), Image.BOX), float) / 255 for image, _ in images])


def hog(images, side, cells, bins, span):
    """`span`: pi without the sign of the gradient, 2 pi with it."""
    x = np.pad(scaled(images, side), ((0, 0), (1, 1), (1, 1), (0, 0)), "edge")
    dy, dx = x[:, 2:, 1:-1] - x[:, :-2, 1:-1], x[:, 1:-1, 2:] - x[:, 1:-1, :-2]
    most = (dx ** 2 + dy ** 2).argmax(3)[..., None]
    dx, dy = (np.take_along_axis(d, most, 3)[..., 0] for d in (dx, dy))
    strength, bin = np.hypot(dx, dy), np.arctan2(dy, dx) % span / span * bins
    distance = abs(bin[..., None] - np.arange(bins))
    weight = strength[..., None] * np.maximum(0, 1 - np.minimum(distance, bins - distance))
    centre, at = (np.arange(cells) + .5) * side / cells, np.arange(side) + .5
    pool = np.maximum(0, 1 - abs(centre[:, None] - at) * cells / side)
    h = np.einsum("cy,dx,nyxb->ncdb", pool, pool, weight, optimize=True)
    blocks = np.concatenate([h[:, :-1, :-1], h[:, :-1, 1:], h[:, 1:, :-1], h[:, 1:, 1:]], 3)
    for most in (.2, 1):
        blocks = np.minimum(blocks / np.sqrt((blocks ** 2).sum(3, keepdims=True) + 1e-4), most)
    return blocks.reshape(len(images), -1)


def errors(known, labels, new, truth):
    """Of the most frequent label among the nearest; of equal ones, the nearest one's."""
    d = (new ** 2).sum(1)[:, None] + (known ** 2).sum(1) - 2 * new @ known.T
    votes = labels[np.argsort(d, 1, kind="stable")[:, :VOTES]]
    voted = [max(row, key=list(row).count) for row in votes]
    return 100 * np.mean(voted != truth)


def baselines(labelled, test):
    labels, truth = (np.array([c for _, c in images]) for images in (labelled, test))
    yield "pixels", errors(scaled(labelled, 32).reshape(len(labels), -1), labels, scaled(test, 32).reshape(len(truth), -1), truth)
    for side in (32, 64):
        for cells in (4, 8):
            for bins, span in ((9, math.pi), (18, 2 * math.pi)):
                known, new = (hog(images, side, cells, bins, span) for images in (labelled, test))
                yield "hog-%d-%d-%d" % (side, cells, bins), errors(known, labels, new, truth)


# --- taper --------------------------------------------------------------------------------------------------------------------------

def save(images, folder):
    for i, (image, c) in enumerate(images):
        os.makedirs("%s/%03d" % (folder, c), exist_ok=True)
        image.save("%s/%03d/%04d.png" % (folder, c, i))


def last_line(taper, *words):
    done = subprocess.run([taper, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def learned(taper, minutes, labelled, test):
    """The error on the test images, with what train-labels told."""
    with tempfile.TemporaryDirectory() as work:
        model, known, new = (work + "/" + name for name in ("model.tpm", "known", "new"))
        save(labelled, known)
        save(test, new)
        told = last_line(taper, "train-labels", "-q", "--json", "-T1", "--minutes", str(minutes), "-o", model, known)
        return last_line(taper, "classify", "-q", "--json", "-T1", "-m", model, "--among", known, new)["errors"][0], told


def main():
    words = argparse.ArgumentParser(usage=__doc__.replace("%", "%%"))
    words.add_argument("taper")
    words.add_argument("--seeds", nargs="+", type=int, default=[1, 2, 3])
    words.add_argument("--minutes", type=float, default=1)
    words.add_argument("--sets", nargs="+", choices=("shapes", "icons", "glyphs"), default=["shapes", "icons", "glyphs"])
    asked = words.parse_args()
    for name in asked.sets:
        for seed in asked.seeds:
            labelled, test = draw_set(name, seed)
            config = {"set": name, "seed": seed, "labelled": len(labelled), "tested": len(test)}
            for method, error in baselines(labelled, test):
                record.say("drawn_sets", "test_error_percent", round(error, 2), "%", {**config, "method": method}, COMMAND)
            error, told = learned(asked.taper, asked.minutes, labelled, test)
            config.update(method="train-labels", low=round(error["low_percent"], 2), high=round(error["high_percent"], 2),
                          minutes=asked.minutes, told=round(told["error_percent"], 2), threads=1)
            record.say("drawn_sets", "test_error_percent", round(error["percent"], 2), "%", config, COMMAND)
    return 0


if __name__ == "__main__":
    sys.exit(main())
