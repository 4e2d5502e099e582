#!/usr/bin/env python3
"""default_quality.py -- what `taper encode` keeps of image files without a limit, and what that costs.

    python3 bench/default_quality.py TAPER KODAK PHONE.jpg >bench/results/default-quality.jsonl

KODAK has PNG photographs; they are taken as they are, and as JPEG files of several qualities (cjpeg, 4:2:0, optimised tables).
PHONE.jpg is a photograph of 12 megapixels. Drawn pictures with text and tables come from make_samples, beside TAPER.

Of each set and quality: bytes of the inputs and of the container; the mean and the least PSNR against the input files; for JPEG
files also against the photographs that they were made of, and that of the JPEG files themselves; seconds of encoding.

Needs numpy and PIL (python3-numpy, python3-pil), and cjpeg (libjpeg-turbo-progs). Price: 2 minutes on two cores.
"""
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import time

import numpy
import record
from PIL import Image

QUALITIES = ("visual", "high", "best")
JPEG = (75, 85, 92, 95)
COMMAND = "python3 bench/default_quality.py build/opt/taper KODAK PHONE.jpg"


def samples(file):
    return numpy.asarray(Image.open(file).convert("RGB")).astype(float)


def psnr(files, others):
    """Of each file against its other one."""
    return numpy.array([10 * numpy.log10(65025 / max(1e-9, numpy.mean((samples(a) - samples(b)) ** 2)))
                        for a, b in zip(files, others)])


def measure(taper, name, files, originals):
    """originals: what the files were made of, or None."""
    inputs = sum(os.path.getsize(file) for file in files)
    for quality in QUALITIES:
        shutil.rmtree("out", ignore_errors=True)
        begin = time.time()
        subprocess.run([taper, "encode", "-q", "-f", "--quality", quality, "-o", "set.taper"] + files, check=True)
        seconds = time.time() - begin
        subprocess.run([taper, "decode", "-q", "-o", "out", "set.taper"], check=True)
        decoded = ["out/" + os.path.splitext(os.path.basename(file))[0] + ".png" for file in files]
        size = os.path.getsize("set.taper")
        config = {"set": name, "quality": quality, "images": len(files)}

        def say(metric, value, unit, digits=3):
            record.say("default-quality", metric, round(float(value), digits), unit, config, COMMAND)
        say("input bytes", inputs, "B")
        say("bytes", size, "B")
        say("share", size / inputs, "1")
        to_input = psnr(files, decoded)
        say("mean_psnr", to_input.mean(), "dB")
        say("least_psnr", to_input.min(), "dB")
        say("seconds", seconds, "s", 1)
        if originals:
            own, kept = psnr(originals, files), psnr(originals, decoded)
            say("psnr_of_input", own.mean(), "dB")
            say("psnr_to_original", kept.mean(), "dB")
            say("most_lost", (own - kept).max(), "dB")


def main(taper, kodak, phone):
    taper, phone = os.path.abspath(taper), os.path.abspath(phone)
    photographs = sorted(glob.glob(os.path.abspath(kodak) + "/*.png"))
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        measure(taper, "photographs, PNG", photographs, None)
        for quality in JPEG:
            os.mkdir("jpeg%d" % quality)
            files = []
            for file in photographs:
                files.append("jpeg%d/%s.jpg" % (quality, os.path.splitext(os.path.basename(file))[0]))
                Image.open(file).convert("RGB").save("raw.ppm")
                with open(files[-1], "wb") as to:
                    subprocess.run(["cjpeg", "-quality", str(quality), "-optimize", "raw.ppm"], check=True, stdout=to)
            measure(taper, "photographs, JPEG %d" % quality, files, photographs)
        measure(taper, "12 megapixels, JPEG 92", [phone], None)
        subprocess.run([os.path.join(os.path.dirname(taper), "make_samples"), "scenes", "drawn", "--count", "25"], check=True)
        drawn = sorted(glob.glob("drawn/*-text.png") + glob.glob("drawn/*-table.png"))
        measure(taper, "drawn text and tables, PNG", drawn, None)


if __name__ == "__main__":
    main(*sys.argv[1:])
