#!/usr/bin/env python3
"""same_pixels.py -- are the PNG files of two folders alike?

    python3 same_pixels.py DIR_A DIR_B [TOLERANCE]

The same files must be there, of the same size and kind, and no sample may differ by more than
TOLERANCE levels (0 unless told; of 8 bits: a level of a 16-bit sample counts 1/257). Prints the
largest difference. Reads PNG of 8 and 16 bits, grey or RGB, with or without alpha, not interlaced:
what decoders of taper write.
"""
import os
import struct
import sys
import zlib


def unfilter(kind, row, above, step):
    for i, value in enumerate(row):
        left, up = row[i - step] if i >= step else 0, above[i]
        corner = above[i - step] if i >= step else 0
        if kind == 4:
            guess = left + up - corner
            near = min((left, up, corner), key=lambda value: abs(guess - value))
        else:
            near = (0, left, up, (left + up) // 2)[kind]
        row[i] = value + near & 255
    return row


def samples(path):
    """(width, height, depth, channels), all samples in order."""
    with open(path, "rb") as file:
        data = file.read()
    at, packed = 8, b""
    while at < len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        if kind == b"IHDR":
            width, height, depth, colour = struct.unpack_from(">IIBB", data, at + 8)
        if kind == b"IDAT":
            packed += data[at + 8:at + 8 + size]
        at += size + 12
    channels = {0: 1, 2: 3, 4: 2, 6: 4}[colour]
    step = channels * depth // 8
    raw, stride, out = zlib.decompress(packed), width * step, []
    above = bytearray(stride)
    for y in range(height):
        line = raw[y * (stride + 1):(y + 1) * (stride + 1)]
        above = unfilter(line[0], bytearray(line[1:]), above, step)
        out += struct.unpack(">%d%s" % (width * channels, "H" if depth == 16 else "B"), above)
    return (width, height, depth, channels), out


def files_below(folder):
    return sorted(os.path.relpath(os.path.join(at, name), folder)
                  for at, _, names in os.walk(folder) for name in names)


def main(a, b, tolerance="0"):
    names, worst = files_below(a), 0.0
    if names != files_below(b) or not names:
        sys.exit("the folders do not hold the same files")
    for name in names:
        shape, left = samples(os.path.join(a, name))
        other, right = samples(os.path.join(b, name))
        if shape != other:
            sys.exit("%s: %s against %s" % (name, shape, other))
        difference = max(abs(x - y) for x, y in zip(left, right)) / (257 if shape[2] == 16 else 1)
        if not difference <= float(tolerance):
            sys.exit("%s: samples differ by %g levels" % (name, difference))
        worst = max(worst, difference)
    print("%d files, largest difference %g" % (len(names), worst))


if __name__ == "__main__":
    main(*sys.argv[1:])
