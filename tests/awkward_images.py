#!/usr/bin/env python3
"""awkward_images.py DIR -- draw forty images that are nothing like photographs, as PNG files.

Checkerboards, stripes of colour pairs, noise, impulses, text, line art, dithering, screenshots,
saturated edges: what people's folders hold besides photographs, at its most extreme. 89 x 75
pixels, so that windows reach over the edges; a few are grey. The same on every machine.
"""
import math
import os
import random
import struct
import sys
import zlib

WIDTH, HEIGHT = 89, 75
BLACK, WHITE, RED, GREEN, BLUE = (0, 0, 0), (255, 255, 255), (255, 0, 0), (0, 255, 0), (0, 0, 255)
CYAN, MAGENTA, YELLOW, PAPER = (0, 255, 255), (255, 0, 255), (255, 255, 0), (236, 236, 240)
COLOURS = [BLACK, WHITE, RED, GREEN, BLUE, CYAN, MAGENTA, YELLOW]
LETTERS = {  # five columns of seven pixels, the lowest bit on top
    "T": (1, 1, 127, 1, 1), "A": (126, 17, 17, 17, 126), "P": (127, 9, 9, 9, 6),
    "E": (127, 73, 73, 73, 65), "R": (127, 9, 25, 41, 70), "M": (127, 2, 12, 2, 127),
    "X": (99, 20, 8, 20, 99), "S": (70, 73, 73, 73, 49), "8": (54, 73, 73, 73, 54)}
TEXT = "TAPERS EXPRESS 8 MAPS XERXES TREATS A MESS"


def draw(colour_at):
    """Rows of colours from a function of x and y."""
    return [[colour_at(x, y) for x in range(WIDTH)] for y in range(HEIGHT)]


def either(test, a, b):
    return draw(lambda x, y: a if test(x, y) else b)


def ink(x, y):
    """Is there text here? Lines of 9 pixels, letters of 6."""
    letter = LETTERS.get(TEXT[(x // 6 + 7 * (y // 9)) % len(TEXT)], (0,) * 5)
    return x % 6 < 5 and y % 9 < 7 and letter[x % 6] >> y % 9 & 1


def window_of_a_program(x, y):
    if y < 11:
        return WHITE if ink(x, y - 2) and 2 <= y < 9 else (0, 90, 200)
    if x in (4, 84) or y in (15, 70):
        return (90, 90, 90)
    if 4 < x < 84 and 15 < y < 70:
        row = (y - 16) // 11
        ground = (200, 220, 255) if row == 2 else WHITE
        return BLACK if 8 < x < 76 and (y - 16) % 11 < 9 and ink(x - 8, (y - 16) % 11 + 9 * row) else ground
    return PAPER


def error_diffusion(shade):
    """Black and white after Floyd and Steinberg."""
    left = {}
    rows = []
    for y in range(HEIGHT):
        row = []
        for x in range(WIDTH):
            wanted = shade(x, y) + left.pop((x, y), 0)
            got = 255 if wanted >= 128 else 0
            for dx, dy, part in (1, 0, 7), (-1, 1, 3), (0, 1, 5), (1, 1, 1):
                at = x + dx, y + dy
                left[at] = left.get(at, 0) + (wanted - got) * part / 16
            row.append((got,) * 3)
        rows.append(row)
    return rows


def ordered(shade):
    bayer = (0, 8, 2, 10), (12, 4, 14, 6), (3, 11, 1, 9), (15, 7, 13, 5)
    return draw(lambda x, y: tuple(255 * (v > 16 * bayer[y % 4][x % 4]) for v in shade(x, y)))


def ramp(x, y):
    return 255 * x // WIDTH, 255 * y // HEIGHT, 255 - 255 * (x + y) // (WIDTH + HEIGHT)


def images():
    r = random.Random(17)
    for k in 1, 2, 3:
        yield "checkerboard-%d" % k, either(lambda x, y: (x // k + y // k) % 2, BLACK, WHITE)
    yield "checkerboard-red-blue", either(lambda x, y: (x + y) % 2, RED, BLUE)
    yield "checkerboard-green-magenta", either(lambda x, y: (x + y) % 2, GREEN, MAGENTA)
    pairs = [(a, b) for i, a in enumerate(COLOURS) for b in COLOURS[i + 1:]]
    for i in range(0, len(pairs), 2):                   # across or down, one to three pixels wide
        a, b = pairs[i]
        yield "stripes-%02d" % i, either(lambda x, y: (x if i % 4 else y) // (1 + i // 2 % 3) % 2, a, b)
    yield "noise", draw(lambda x, y: tuple(r.randrange(256) for _ in "rgb"))
    yield "noise-grey", draw(lambda x, y: (r.randrange(256),) * 3)
    yield "noise-black-white", draw(lambda x, y: (r.choice((0, 255)),) * 3)
    yield "noise-primaries", draw(lambda x, y: r.choice(COLOURS))
    yield "impulses", draw(lambda x, y: WHITE if r.random() < 0.01 else BLACK)
    yield "impulses-coloured", draw(lambda x, y: r.choice(COLOURS) if r.random() < 0.04 else (128,) * 3)
    for name, a, b in ("black-white", BLACK, WHITE), ("white-black", WHITE, BLACK), \
            ("red-blue", RED, BLUE), ("yellow-blue", YELLOW, BLUE), ("grey", (110,) * 3, (140,) * 3):
        yield "text-" + name, either(ink, a, b)
    yield "line-art", either(lambda x, y: (x + y) % 7 == 0 or (x - 2 * y) % 13 == 0, BLACK, WHITE)
    yield "line-art-coloured", draw(lambda x, y: RED if (x + y) % 6 == 0 else
                                    GREEN if (x * 2 - y) % 9 == 0 else WHITE)
    yield "dithered-diffusion", error_diffusion(lambda x, y: 255 * x / WIDTH)
    yield "dithered-ordered", ordered(ramp)
    yield "screenshot", draw(window_of_a_program)
    yield "zone-plate", draw(lambda x, y: (round(127.5 + 127.5 * math.cos(
        ((x - 44) ** 2 + (y - 37) ** 2) / 29)),) * 3)
    yield "edge-red-green", either(lambda x, y: math.hypot(x - 40, y - 40) < 25, RED, GREEN)
    yield "edge-blue-white", either(lambda x, y: abs(x - y) < 12, BLUE, WHITE)
    yield "frame-of-one-pixel", either(lambda x, y: x in (0, 88) or y in (0, 74), CYAN, RED)
    yield "edge-magenta-yellow", either(lambda x, y: (x * 3 + y * 2) % 97 < 48, MAGENTA, YELLOW)


def png(samples, channels):
    def piece(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    row = WIDTH * channels
    lines = b"".join(b"\0" + samples[at:at + row] for at in range(0, len(samples), row))
    header = struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 0 if channels == 1 else 2, 0, 0, 0)
    return (b"\x89PNG\r\n\x1a\n" + piece(b"IHDR", header) +
            piece(b"IDAT", zlib.compress(lines)) + piece(b"IEND", b""))


def main(folder):
    os.makedirs(folder, exist_ok=True)
    for name, rows in images():
        channels = 1 if name in ("noise-grey", "zone-plate") else 3
        samples = bytes(v for row in rows for colour in row for v in colour[:channels])
        with open(os.path.join(folder, name + ".png"), "wb") as out:
            out.write(png(samples, channels))


if __name__ == "__main__":
    main(*sys.argv[1:])
