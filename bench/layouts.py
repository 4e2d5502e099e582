#!/usr/bin/env python3
"""layouts.py -- what the first bytes of a set show, by layout.

    python3 bench/layouts.py TAPER FOLDER [--before PROGRAM --called COMMIT] >bench/results/layouts.jsonl

FOLDER has PNG files in colour. They are encoded at 2 bits per pixel in each layout, cut by head or by truncate, and decoded.
mean_psnr and least_psnr are over images, psnr_of_mean is that of the mean squared error. front: bytes of the front matter.
--before: a program from before, its default layout only.

Needs numpy and ImageMagick (convert). Price: 5 minutes for 24 images of 768x512.
"""
import argparse
import glob
import json
import os
import re
import shutil
import subprocess
import tempfile

import numpy
import record

HEADS = (4096, 8192, 16384, 24000, 32768, 40000, 48000, 56000, 65536, 82000, 98000, 118000, 131072, 170000, 205000, 294912)
CUTS = (4096, 16384, 65536, 294912, 1179648)
WAYS = (("set", ()), ("set, one group", ("--group", "24")), ("gallery", ("--layout", "gallery")))
COMMAND = "python3 bench/layouts.py build/opt/taper KODAK --before PROGRAM"


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


def samples(ppm):
    """The 8-bit samples of a PPM file's bytes."""
    header = re.match(rb"P6\s+(?:#[^\n]*\n)*(\d+)\s+(\d+)\s+255\s", ppm)
    return numpy.frombuffer(ppm, numpy.uint8, 3 * int(header[1]) * int(header[2]), header.end()).astype(float)


def decoded(program, container):
    shutil.rmtree("out", ignore_errors=True)
    run(program, "decode", "-q", "--format", "pnm", "-o", "out", container)
    for file in sorted(glob.glob("out/*")):
        with open(file, "rb") as image:
            yield samples(image.read())


def measure(program, name, layout, how, size, originals):
    errors = numpy.array([numpy.mean((a - b) ** 2) for a, b in zip(originals, decoded(program, "cut.taper"))])
    assert len(errors) == len(originals)
    psnr = 10 * numpy.log10(65025 / errors)
    config = {"program": name, "layout": layout, "cut": how, "bytes": size, "images": len(originals)}
    for metric, value in (("mean_psnr", psnr.mean()), ("least_psnr", psnr.min()),
                          ("psnr_of_mean", 10 * numpy.log10(65025 / errors.mean()))):
        record.say("layouts", metric, round(float(value), 3), "dB", config, COMMAND)


def measure_layout(program, name, layout, options, files, originals):
    run(program, "encode", "-q", "-f", *options, "--bpp", "2", "-o", "whole.taper", *files)
    front = json.loads(run(program, "info", "--json", "whole.taper"))["front_bytes"]
    config = {"program": name, "layout": layout, "images": len(files), "bpp": 2}
    record.say("layouts", "front", front, "bytes", config, COMMAND)
    for size in HEADS:
        with open("whole.taper", "rb") as whole, open("cut.taper", "wb") as cut:
            cut.write(whole.read(size))
        measure(program, name, layout, "head", size, originals)
    for size in CUTS:
        run(program, "truncate", "-q", "--quick", "-f", "--bytes", str(size), "-o", "cut.taper", "whole.taper")
        measure(program, name, layout, "truncate", size, originals)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("taper")
    parser.add_argument("folder")
    parser.add_argument("--before", help="a program from before")
    parser.add_argument("--called", default="before", help="its commit")
    options = parser.parse_args()
    taper, before = os.path.abspath(options.taper), options.before and os.path.abspath(options.before)
    files = sorted(glob.glob(os.path.abspath(options.folder) + "/*.png"))
    originals = [samples(run("convert", file, "-depth", "8", "ppm:-")) for file in files]
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        for layout, extra in WAYS:
            measure_layout(taper, "now", layout, extra, files, originals)
        if before:
            measure_layout(before, options.called, "set", (), files, originals)


if __name__ == "__main__":
    main()
