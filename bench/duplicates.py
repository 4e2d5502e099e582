#!/usr/bin/env python3
"""duplicates.py -- `taper search --duplicates` on sets with known copies, and its time beside reading alone.

    python3 bench/duplicates.py TAPER READING PHOTOGRAPHS... [--seeds 1,3] [--images 2000] [--rounds 2] [--work DIR] >bench/results/duplicates.jsonl

READING is build/opt/bench/bench_reading, which decodes the same images on as many threads and does nothing else. The sets are those of
copies_set.py. Recall is the share of copies that are in the group of their original; precision the share of pairs of images of a group
that come of one original. For the time --images photographs of 512 x 512 are made of random parts of PHOTOGRAPHS, half of
them mirrored, as JPEG of quality 90: many of them overlap. Seconds are those of the processor in user mode, medians over rounds.

Price: five minutes, 1 GB in DIR. Needs python3-pil and python3-numpy.
"""
import argparse
import collections
import csv
import os
import resource
import statistics
import subprocess
import sys
import tempfile

import numpy
from PIL import Image

import record

HERE = os.path.dirname(os.path.abspath(__file__))


def run(words, out):
    """Seconds of the processor of a command, in user mode."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    with open(out, "wb") as to:
        subprocess.run(words, stdout=to, check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def say(metric, value, unit, config):
    record.say("duplicates", metric, float("%.4g" % value), unit, config, "bench/duplicates.py")


def read_groups(path):
    with open(path, newline="", encoding="utf-8") as lines:
        return {os.path.basename(line["image"]): line["group"] for line in csv.DictReader(lines)}


def measure_copies(taper, photographs, seed, work):
    folder = "%s/set-%d" % (work, seed)
    subprocess.run([sys.executable, HERE + "/copies_set.py", folder, *photographs, "--seed", str(seed)], check=True, stdout=subprocess.DEVNULL)
    run([taper, "search", "-q", "--duplicates", folder + "/images"], work + "/groups.csv")
    group = read_groups(work + "/groups.csv")
    with open(folder + "/truth.csv", newline="", encoding="utf-8") as lines:
        truth = [(line["image"], line["copy"]) for line in csv.DictReader(lines)]
    original = {copy: image for image, copy in truth}
    found = sum(image in group and group[image] == group.get(copy) for image, copy in truth)
    members = collections.defaultdict(collections.Counter)
    for image, number in group.items():
        members[number][original.get(image, image)] += 1
    right = sum(n * (n - 1) // 2 for of in members.values() for n in of.values())
    pairs = sum(n * (n - 1) // 2 for n in map(lambda of: sum(of.values()), members.values()))
    config = {"set": "copies_set, seed %d" % seed, "images": len(os.listdir(folder + "/images")), "copies": len(truth)}
    say("recall", found / len(truth), "share", config)
    say("precision", right / pairs if pairs else 1, "share", config)


def draw_photographs(photographs, images, folder):
    os.makedirs(folder)
    draw = numpy.random.default_rng(5)
    for k in range(images):
        image = Image.open(photographs[k % len(photographs)]).convert("RGB")
        w, h = image.size
        part = draw.uniform(0.45, 1)
        x, y = int(draw.integers(0, w - int(w * part) + 1)), int(draw.integers(0, h - int(h * part) + 1))
        image = image.crop((x, y, x + int(w * part), y + int(h * part))).resize((512, 512), Image.BILINEAR)
        if draw.random() < 0.5:
            image = image.transpose(Image.FLIP_LEFT_RIGHT)
        image.save("%s/%05d.jpg" % (folder, k), quality=90)


def measure_time(taper, reading, photographs, images, rounds, work):
    folder = work + "/photographs"
    draw_photographs(photographs, images, folder)
    tries = [(run([reading, "2", folder], os.devnull), run([taper, "search", "-q", "-T", "2", "--duplicates", folder], os.devnull)) for _ in range(rounds)]
    config = {"images": images, "format": "jpeg", "side": 512, "threads": 2}
    say("reading_user", statistics.median(read for read, _ in tries), "s", config)
    say("copies_user", statistics.median(copies for _, copies in tries), "s", config)
    say("ratio", statistics.median(copies / read for read, copies in tries), "ratio", config)


def main():
    words = argparse.ArgumentParser()
    words.add_argument("taper")
    words.add_argument("reading")
    words.add_argument("photographs", nargs="+")
    words.add_argument("--seeds", default="1,3")
    words.add_argument("--images", type=int, default=2000)
    words.add_argument("--rounds", type=int, default=2)
    words.add_argument("--work")
    given = words.parse_args()
    photographs = sorted(given.photographs)
    with tempfile.TemporaryDirectory(dir=given.work) as work:
        for seed in map(int, given.seeds.split(",")):
            measure_copies(given.taper, photographs, seed, work)
        measure_time(given.taper, given.reading, photographs, given.images, given.rounds, work)


if __name__ == "__main__":
    main()
