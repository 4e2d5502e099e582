#!/usr/bin/env python3
"""model_stages.py -- the bytes of a model's stages, and what pictures show with the first of them.

    python3 bench/model_stages.py TAPER MODEL.tpm FOLDER >bench/results/model-stages.jsonl

For each number of stages: the bytes of the file up to there and the passes that these draw; and the mean PSNR of the PNG
files in FOLDER (colour, 8 bits), one file each, cut to 0.06, 0.25 and 1 bits a pixel, with all other stages missing.
Needs Python alone. Price: 3 seconds for each picture, rate and stage.
"""
import glob
import json
import math
import os
import re
import struct
import subprocess
import sys
import tempfile
import zlib

import record

RATES = (0.06, 0.25, 1)
COMMAND = "python3 bench/model_stages.py build/opt/taper models/photo.tpm KODAK"


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout


def stage_ends(data):
    """Where each stage ends in the file (SPEC.md, 6.1)."""
    stages, = struct.unpack("<H", data[10:12])
    ends, at = [], 24 + 20 * stages
    for entry in range(24, at, 20):
        at += struct.unpack("<Q", data[entry:entry + 8])[0]
        ends.append(at)
    return ends


def of_ppm(path):
    with open(path, "rb") as file:
        data = file.read()
    return data[re.match(rb"P6\s+(?:#[^\n]*\n)*\d+\s+\d+\s+255\s", data).end():]


def of_png(path):
    """The samples of a PNG file in colour of 8 bits, not interlaced."""
    with open(path, "rb") as file:
        data = file.read()
    width, height, *kind = struct.unpack(">IIBBBBB", data[16:29])
    if kind != [8, 2, 0, 0, 0]:
        sys.exit("%s: not a plain PNG file in colour" % path)
    at, packed = 8, b""
    while at < len(data):
        size, = struct.unpack(">I", data[at:at + 4])
        packed += data[at + 8:at + 8 + size] if data[at + 4:at + 8] == b"IDAT" else b""
        at += 12 + size
    raw, stride, above, out = zlib.decompress(packed), 3 * width, bytes(3 * width), []
    for y in range(height):
        line = bytearray(raw[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
        way = raw[y * (stride + 1)]
        for i in range(stride if way else 0):
            a, b, c = line[i - 3] if i > 2 else 0, above[i], above[i - 3] if i > 2 else 0
            p = (abs(b - c), abs(a - c), abs(a + b - 2 * c))
            paeth = a if p[0] <= p[1] and p[0] <= p[2] else b if p[1] <= p[2] else c
            line[i] = line[i] + (0, a, b, (a + b) // 2, paeth)[way] & 255
        above = bytes(line)
        out.append(above)
    return b"".join(out)


def psnr(a, b):
    return 10 * math.log10(255 * 255 * len(a) / sum((x - y) * (x - y) for x, y in zip(a, b)))


def main(taper, model, folder):
    pictures = sorted(glob.glob(os.path.join(folder, "*.png")))
    originals = {path: of_png(path) for path in pictures}
    with open(model, "rb") as file:
        data = file.read()
    ends = stage_ends(data)
    with tempfile.TemporaryDirectory() as work:
        place = {name: os.path.join(work, name) for name in ("part.tpm", "a.taper", "out")}
        for stages, end in enumerate(ends, 1):
            with open(place["part.tpm"], "wb") as file:
                file.write(data[:end])
            info = json.loads(run(taper, "info", "--json", place["part.tpm"]))
            config = {"model": os.path.basename(model), "stages": stages}
            record.say("model-stages", "bytes", end, "B", config, COMMAND)
            record.say("model-stages", "passes", info["passes_known"], "passes", config, COMMAND)
            for rate in RATES if pictures else ():
                total = 0
                for path in pictures:
                    run(taper, "encode", "-q", "-f", "-m", model, "--bpp", str(rate), "-o", place["a.taper"], path)
                    run(taper, "decode", "-q", "-f", "-m", place["part.tpm"], "--format", "pnm", "-o", place["out"],
                        place["a.taper"])
                    name = os.path.splitext(os.path.basename(path))[0]
                    total += psnr(originals[path], of_ppm(glob.glob(os.path.join(place["out"], name + ".p*m"))[0]))
                record.say("model-stages", "psnr", round(total / len(pictures), 2), "dB",
                           dict(config, bpp=rate, images=len(pictures)), COMMAND)


main(*sys.argv[1:])
