#!/usr/bin/env python3
"""shards_against_one.py -- `encode --shard` and `merge`, beside one run: bytes, and how the decoded images differ.

    python3 bench/shards_against_one.py TAPER SHARDS INPUT... [--options "-m photo"] [--originals DIR] >>bench/results/shards-against-one.jsonl

The inputs are encoded in one run and in SHARDS shards, which are merged; both files are decoded. `least_psnr` is the least PSNR
between an image of one run and of the shards; `most_loss` is the greatest loss of an image, in dB against its original of the
same name in DIR. Exit code 1: an image is missing. Needs python3-pil and python3-numpy.

Price: a minute for Kodak or 2,000 images of CIFAR-10.
"""
import argparse
import os
import subprocess
import sys
import tempfile

import numpy
from PIL import Image

import record


def pixels(path):
    return numpy.asarray(Image.open(path).convert("RGB"), dtype=float)


def psnr(a, b):
    error = ((a - b) ** 2).mean()
    return 10 * numpy.log10(255 ** 2 / error) if error else float("inf")


def measure(taper, given, work):
    def run(*words):
        subprocess.run([taper] + list(words), check=True)

    options, one, merged = given.options.split(), work + "/one.taper", work + "/merged.taper"
    shards = ["%s/%05d.taper" % (work, k + 1) for k in range(given.shards)]
    run("encode", "-q", *options, "-o", one, *given.inputs)
    for k, shard in enumerate(shards):
        run("encode", "-q", *options, "--shard", "%d/%d" % (k + 1, given.shards), "-o", shard, *given.inputs)
    run("merge", "-q", "-o", merged, *filter(os.path.exists, shards))
    for name in ("one", "merged"):
        run("decode", "-q", "-o", "%s/%s" % (work, name), "%s/%s.taper" % (work, name))
    names = sorted(os.listdir(work + "/one"))
    if names != sorted(os.listdir(work + "/merged")):
        sys.exit("the images are others")
    differ, levels, least, loss = 0, 0, float("inf"), 0
    for name in names:
        a, b = pixels("%s/one/%s" % (work, name)), pixels("%s/merged/%s" % (work, name))
        if (a == b).all():
            continue
        differ, levels, least = differ + 1, max(levels, abs(a - b).max()), min(least, psnr(a, b))
        if given.originals:
            original = pixels("%s/%s" % (given.originals, name))
            loss = max(loss, psnr(a, original) - psnr(b, original))
    figures = [("images", len(names), ""), ("images_that_differ", differ, ""), ("most_levels", int(levels), "levels"),
               ("bytes_ratio", os.path.getsize(merged) / os.path.getsize(one), "ratio")]
    if differ:
        figures.append(("least_psnr", least, "dB"))
    if differ and given.originals:
        figures.append(("most_loss", loss, "dB"))
    return figures


def main():
    words = argparse.ArgumentParser()
    words.add_argument("taper")
    words.add_argument("shards", type=int)
    words.add_argument("inputs", nargs="+")
    words.add_argument("--options", default="")
    words.add_argument("--originals")
    given = words.parse_args()
    config = {"shards": given.shards, "options": given.options, "inputs": os.path.basename(given.inputs[0].rstrip("/"))}
    with tempfile.TemporaryDirectory() as work:
        for metric, value, unit in measure(os.path.abspath(given.taper), given, work):
            record.say("shards-against-one", metric, float("%.5g" % value), unit, config, "bench/shards_against_one.py")


if __name__ == "__main__":
    main()
