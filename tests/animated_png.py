#!/usr/bin/env python3
"""animated_png.py DIR -- draw animated PNG files, and their frames as viewers show them.

NAME.png and want/NAME/NAME-1.png ... of each: frames that cover a part of the canvas, with every disposal and blending;
true colour with and without alpha, of 8 and 16 bits, grey, a palette with transparency; pixels in several chunks; a first
picture that is no frame. The same on every machine.
"""
import os
import random
import struct
import sys
import zlib

WIDTH, HEIGHT, FRAMES = 40, 30, 9
COLOURS = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}  # samples a pixel of a colour type


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def packed(rows, depth):
    form = ">%dH" if depth == 16 else "%dB"
    return zlib.compress(b"".join(b"\0" + struct.pack(form % len(row), *row) for row in rows))


class Kind:
    def __init__(self, name, colour, depth, palette=None, hidden=False):
        self.name, self.colour, self.depth, self.palette, self.hidden = name, colour, depth, palette, hidden
        self.most = (1 << depth) - 1

    def header(self, width, height):
        return chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, self.depth, self.colour, 0, 0, 0))

    def rgba(self, pixel):
        if self.palette:
            return self.palette[pixel[0]]
        alpha = pixel[-1] if self.colour & 4 else self.most
        return (*(pixel[:3] if self.colour & 2 else pixel[:1] * 3), alpha)

    def pixel(self, r, x, y):
        if self.palette:
            return [(x // 3 + y // 2 + r) % len(self.palette)]
        values = [(x * 5 * (k + 1) + y * 7 + 40 * r) % 256 * self.most // 255 for k in range(COLOURS[self.colour])]
        if self.colour & 4:
            values[-1] = (0, self.most // 3, self.most * 2 // 3, self.most)[(x + r) // 4 % 4]
        return values


def over(top, under, most):
    own, below = top[3] * most, (most - top[3]) * under[3]
    whole = own + below
    if not whole:
        return under
    return (*((top[c] * own + under[c] * below + whole // 2) // whole for c in range(3)), (whole + most // 2) // most)


def animate(kind, folder):
    r = random.Random(kind.name)
    clear = (0, 0, 0, 0)
    canvas = {(x, y): clear for x in range(WIDTH) for y in range(HEIGHT)}
    shown, body, number = [], b"", 0
    for k in range(FRAMES):
        width, height = (WIDTH, HEIGHT) if k == 0 else (r.randint(5, WIDTH), r.randint(5, HEIGHT))
        left, top = r.randint(0, WIDTH - width), r.randint(0, HEIGHT - height)
        disposal, blending = (k + k // 3) % 3, k // 2 % 2
        rows = [[kind.pixel(k, x, y) for x in range(width)] for y in range(height)]
        before = dict(canvas)
        for y in range(height):
            for x in range(width):
                at, own = (left + x, top + y), kind.rgba(rows[y][x])
                canvas[at] = over(own, canvas[at], kind.most) if blending and own[3] else canvas[at] if blending else own
        shown.append(dict(canvas))
        if disposal == 2 and k:
            canvas = before
        elif disposal:
            canvas.update(((left + x, top + y), clear) for x in range(width) for y in range(height))
        data = packed([sum(row, []) for row in rows], kind.depth)
        if kind.hidden and k == 0:
            body += chunk(b"IDAT", packed([sum(row, [])[::-1] for row in rows], kind.depth))
        body += chunk(b"fcTL", struct.pack(">IIIIIHHBB", number, width, height, left, top, 1, 10, disposal, blending))
        number += 1
        for part in data[:99], data[99:]:
            if k == 0 and not kind.hidden:
                body += chunk(b"IDAT", part)
            else:
                body += chunk(b"fdAT", struct.pack(">I", number) + part)
                number += 1
    extra = b""
    if kind.palette:
        extra = chunk(b"PLTE", bytes(v for c in kind.palette for v in c[:3])) + chunk(b"tRNS", bytes(c[3] for c in kind.palette))
    start = b"\x89PNG\r\n\x1a\n"
    with open(os.path.join(folder, kind.name + ".png"), "wb") as to:
        to.write(start + kind.header(WIDTH, HEIGHT) + chunk(b"acTL", struct.pack(">II", FRAMES, 0)) + extra + body + chunk(b"IEND", b""))
    below = os.path.join(folder, "want", kind.name)
    os.makedirs(below)
    is_grey = not kind.colour & 3
    whole = Kind("", 4 if is_grey else 6, kind.depth)
    for k, frame in enumerate(shown):
        rows = [[v for x in range(WIDTH) for v in (frame[x, y][2:] if is_grey else frame[x, y])] for y in range(HEIGHT)]
        with open(os.path.join(below, "%s-%d.png" % (kind.name, k + 1)), "wb") as to:
            to.write(start + whole.header(WIDTH, HEIGHT) + chunk(b"IDAT", packed(rows, kind.depth)) + chunk(b"IEND", b""))


def main(folder):
    palette = [(250, 10, 20, 255), (10, 200, 30, 255), (20, 30, 240, 130), (0, 0, 0, 0), (255, 255, 255, 60), (90, 90, 90, 255)]
    for kind in (Kind("colour", 2, 8), Kind("alpha", 6, 8), Kind("deep", 6, 16), Kind("grey", 0, 8), Kind("greyalpha", 4, 8),
                 Kind("palette", 3, 8, palette), Kind("hidden", 6, 8, hidden=True)):
        animate(kind, folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
