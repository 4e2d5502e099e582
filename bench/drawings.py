#!/usr/bin/env python3
"""drawings.py -- bytes of small drawings, exact, against lossless WebP and optimised PNG.

    python3 bench/drawings.py TAPER >bench/results/drawings.jsonl
    python3 bench/drawings.py --draw FOLDER     only write the images

Three sets that are drawn here, by numbers with a fixed seed: 400 tiles of 32 x 32 pixels in 4 to 16 colours, as in
games; 200 icons of 72 x 72 pixels with smooth edges and transparency; and 100 icons whose shapes are shaded, from one
colour at the top to another at the bottom, with a soft shadow. taper has each set in one container
(`encode --lossless`); its bytes count names, times and all. The others have a file for each image: `cwebp -lossless -z
9`, and `optipng -o5`. All are exact; colours under full transparency do not count. `exact` is the number of images that
taper gives back exactly.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import zlib

import record

TILES, TILE, ICONS, SHADED, ICON, FINE = 400, 32, 200, 100, 72, 4


class Numbers:
    """The same everywhere (xorshift64*)."""

    def __init__(self, seed):
        self.state = seed * 0x9E3779B97F4A7C15 % 2 ** 64 | 1

    def below(self, n):
        s = self.state
        s ^= s >> 12
        s = (s ^ s << 25) % 2 ** 64
        self.state = s ^ s >> 27
        return (self.state * 0x2545F4914F6CDD1D % 2 ** 64 >> 32) % n

    def between(self, low, high):
        """Of high - low + 1 integers."""
        return low + self.below(high - low + 1)

    def colour(self):
        return tuple(self.below(256) for _ in range(3))


# --- tiles: rows of numbers of colours -------------------------------------------------------

def sprite(r, n):
    """Symmetric blobs: smooth noise on a coarse grid, in steps."""
    high = [[r.below(100) for _ in range(8)] for _ in range(16)]
    for _ in range(2):
        high = [[(high[y][x] + high[y - 1][x] + high[y][x - 1] + high[(y + 1) % 16][x]) // 4
                 for x in range(8)] for y in range(16)]
    low = min(map(min, high))
    steps = max(map(max, high)) - low + 1
    half = [[(v - low) * n // steps for v in row for _ in (0, 1)] for row in high for _ in (0, 1)]
    return [row + row[::-1] for row in half]


def bricks(r, n):
    height, width = r.between(4, 8), r.between(6, 16)
    rows = []
    for y in range(TILE):
        at = [(x + y // height % 2 * width // 2) for x in range(TILE)]
        rows.append([0 if y % height == 0 or x % width == 0 else 1 + (x // width * 7 + y // height * 3) % (n - 1)
                     for x in at])
    return rows


def grass(r, n):
    """Noise of four colours of unequal frequency."""
    return [[(0, 0, 0, 0, 0, 0, 1, 1, 2, 3)[r.below(10)] for _ in range(TILE)] for _ in range(TILE)]


def ball(r, n):
    """A shaded ball, dithered in an ordered pattern."""
    pattern = ((0, 8, 2, 10), (12, 4, 14, 6), (3, 11, 1, 9), (15, 7, 13, 5))
    cx, cy, radius = r.between(10, 22), r.between(10, 22), r.between(8, 15)
    rows = []
    for y in range(TILE):
        light = [radius * radius - (x - cx) ** 2 - (y - cy) ** 2 for x in range(TILE)]
        rows.append([0 if v <= 0 else 1 + min(n - 2, (16 * v * (n - 2) // (radius * radius) +
                                                      pattern[y % 4][x % 4]) // 16) for x, v in enumerate(light)])
    return rows


def boxes(r, n):
    rows = [[0] * TILE for _ in range(TILE)]
    for _ in range(8):
        x, y, width, height, colour = r.below(28), r.below(28), r.between(2, 15), r.between(2, 15), r.below(n)
        for row in rows[y:y + height]:
            row[x:x + width] = [colour] * len(row[x:x + width])
    return rows


def tiles():
    r = Numbers(7)
    palettes = [[r.colour() for _ in range(16)] for _ in range(6)]
    for _ in range(TILES):
        palette, n, start = palettes[r.below(6)], r.between(4, 16), r.below(16)
        rows = (sprite, bricks, grass, ball, boxes)[r.below(5)](r, n)
        yield [[palette[(start + v) % 16] + (255,) for v in row] for row in rows]


# --- icons: shapes in a fine raster, reduced -------------------------------------------------

def spans_of_ellipse(box):
    x0, y0, x1, y1 = box
    for y in range(y0, y1):
        t = (2 * y + 1 - y0 - y1) / (y1 - y0)
        half = (x1 - x0) / 2 * max(0, 1 - t * t) ** 0.5
        yield y, round((x0 + x1) / 2 - half), round((x0 + x1) / 2 + half)


def spans_of_polygon(points):
    """Of a convex one."""
    sides = list(zip(points, points[1:] + points[:1]))
    for y in range(min(p[1] for p in points), max(p[1] for p in points)):
        at = [a[0] + (b[0] - a[0]) * (y + 0.5 - a[1]) / (b[1] - a[1]) for a, b in sides
              if min(a[1], b[1]) <= y < max(a[1], b[1])]
        yield y, round(min(at)), round(max(at))


def bar(r, side):
    """A thick line."""
    ax, ay, bx, by = (r.between(side // 20, side * 19 // 20) for _ in range(4))
    length = max(1, ((bx - ax) ** 2 + (by - ay) ** 2) ** 0.5)
    width = r.between(6, 24) / 2
    dx, dy = round(width * (by - ay) / length), round(width * (ax - bx) / length)
    return [(ax + dx, ay + dy), (bx + dx, by + dy), (bx - dx, by - dy), (ax - dx, ay - dy)]


def shape(r, side):
    x0, x1 = sorted(r.between(side // 20, side * 19 // 20) for _ in range(2))
    y0, y1 = sorted(r.between(side // 20, side * 19 // 20) for _ in range(2))
    box = x0, y0, x1 + 8, y1 + 8
    kind = r.below(4)
    if kind == 0:
        return list(spans_of_ellipse(box))
    if kind == 1:
        return list(spans_of_polygon([tuple(r.between(side // 20, side * 19 // 20) for _ in (0, 1)) for _ in range(3)]))
    if kind == 2:
        return [(y, box[0], box[2]) for y in range(box[1], box[3])]
    return list(spans_of_polygon(bar(r, side)))


def reduced(fine, x, y):
    """The mean of FINE x FINE places: alpha, and the colours of what is opaque."""
    some = [c for row in fine[FINE * y:FINE * (y + 1)] for c in row[FINE * x:FINE * (x + 1)] if c]
    if not some:
        return 0, 0, 0, 0
    n = len(some)
    return tuple((sum(c[k] for c in some) + n // 2) // n for k in range(3)) + \
        ((255 * n + FINE * FINE // 2) // (FINE * FINE),)


def mixed(a, b, part, whole):
    return tuple((u * (whole - part) + v * part) // whole for u, v in zip(a, b))


def icon(r, is_shaded):
    side = FINE * ICON
    fine = [[None] * side for _ in range(side)]
    for _ in range(r.between(2, 4)):
        top = r.colour()
        bottom = r.colour() if is_shaded else top
        spans = shape(r, side)
        for i, (y, begin, end) in enumerate(spans):
            begin, end = max(begin, 0), min(end, side)
            if 0 <= y < side and begin < end:
                fine[y][begin:end] = [mixed(top, bottom, i, len(spans))] * (end - begin)
    return [[reduced(fine, x, y) for x in range(ICON)] for y in range(ICON)]


def with_shadow(rows):
    """Black behind it: alpha of the mean of 5 x 5 pixels, two down and to the right, at a half."""
    def alpha(x, y):
        return rows[y][x][3] if 0 <= x < ICON and 0 <= y < ICON else 0
    out = []
    for y, row in enumerate(rows):
        out.append([])
        for x, p in enumerate(row):
            shade = sum(alpha(x - 2 + i, y - 2 + j) for i in range(-2, 3) for j in range(-2, 3)) // 50
            a = p[3] + shade * (255 - p[3]) // 255
            out[-1].append(tuple(v * p[3] // a for v in p[:3]) + (a,) if a else (0, 0, 0, 0))
    return out


def icons():
    r = Numbers(5)
    for _ in range(ICONS):
        yield icon(r, False)


def shaded_icons():
    r = Numbers(6)
    for _ in range(SHADED):
        yield with_shadow(icon(r, True))


# --- files -----------------------------------------------------------------------------------

def png(rows):
    def part(kind, body):
        return len(body).to_bytes(4, "big") + kind + body + zlib.crc32(kind + body).to_bytes(4, "big")
    alpha = any(p[3] != 255 for row in rows for p in row)
    head = len(rows[0]).to_bytes(4, "big") + len(rows).to_bytes(4, "big") + bytes((8, 6 if alpha else 2, 0, 0, 0))
    raw = b"".join(b"\0" + b"".join(bytes(p if alpha else p[:3]) for p in row) for row in rows)
    return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", zlib.compress(raw, 9)) + part(b"IEND", b"")


def draw(folder):
    """Returns the pixels of each file."""
    drawn = {}
    for name, images in (("tiles", tiles()), ("icons", icons()), ("shaded", shaded_icons())):
        os.makedirs(os.path.join(folder, name))
        for i, rows in enumerate(images):
            path = os.path.join(folder, name, "%03d.png" % i)
            with open(path, "wb") as file:
                file.write(png(rows))
            drawn[path] = [p if p[3] else (0, 0, 0, 0) for row in rows for p in row]
    return drawn


def pam_pixels(path):
    with open(path, "rb") as file:
        data = file.read()
    if data[:2] == b"P7":
        head, body = data.split(b"ENDHDR\n", 1)
        channels = int(head.split(b"DEPTH ")[1].split()[0])
    else:
        channels, body = (3 if data[:2] == b"P6" else 1), data.split(b"255\n", 1)[1]
    pixels = []
    for at in range(0, len(body), channels):
        p = tuple(body[at:at + channels])
        colours = p[:3] if channels > 2 else p[:1] * 3
        alpha = p[-1] if channels in (2, 4) else 255
        pixels.append(colours + (alpha,) if alpha else (0, 0, 0, 0))
    return pixels


def exact_images(taper, file, folder, drawn, work):
    out = os.path.join(work, "out")
    shutil.rmtree(out, ignore_errors=True)
    subprocess.run([taper, "decode", "-q", "--format", "pnm", "-o", out, file], check=True)
    names = {name.rsplit(".", 1)[0]: os.path.join(out, name) for name in os.listdir(out)}
    return sum(pam_pixels(names[os.path.basename(path)[:-4]]) == pixels
               for path, pixels in drawn.items() if os.path.dirname(path) == folder)


def size_of(command, path, out):
    shutil.copy(path, out)
    subprocess.run([word % {"in": path, "out": out} for word in command.split()], check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return os.path.getsize(out)


def measure(taper):
    others = (("WebP lossless", "cwebp -quiet -lossless -z 9 %(in)s -o %(out)s"), ("PNG", "optipng -quiet -o5 %(out)s"))
    with tempfile.TemporaryDirectory() as work:
        drawn = draw(work)
        for name, side in (("tiles", TILE), ("icons", ICON), ("shaded", ICON)):
            folder, file = os.path.join(work, name), os.path.join(work, name + ".taper")
            subprocess.run([taper, "encode", "-q", "--lossless", "-o", file, folder], check=True)
            paths = [path for path in drawn if os.path.dirname(path) == folder]
            config = {"set": name, "images": len(paths), "side": side}

            def say(metric, value, unit, codec):
                record.say("drawings", metric, value, unit, dict(config, codec=codec),
                           "python3 bench/drawings.py")
            ours = os.path.getsize(file) / len(paths)
            say("bytes", round(ours, 1), "B", "taper")
            say("exact", exact_images(taper, file, folder, drawn, work), "images", "taper")
            for codec, command in others:
                theirs = sum(size_of(command, path, os.path.join(work, "x")) for path in paths) / len(paths)
                say("bytes", round(theirs, 1), "B", codec)
                say("ratio", round(ours / theirs, 3), "", codec)


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--draw":
        draw(sys.argv[2])
    elif len(sys.argv) == 2:
        measure(sys.argv[1])
    else:
        sys.exit(__doc__)
