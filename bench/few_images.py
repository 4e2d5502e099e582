#!/usr/bin/env python3
"""few_images.py -- `train-labels --objective` with its defaults on few images, and votes where classes are unequal.

    python3 bench/few_images.py BUILD_DIR MNIST_DIR USPS_DIR [--parts starts votes] [--sets NAME...] \
        [--objectives nca dt-nca] [--ways before default] >bench/results/embedding/few-images.jsonl

starts: sets of 300 to 2,080 images. `before`: 40 epochs of the start that is learned without labels, as was the default; `default`:
no option but the objective, with the start that it kept. Errors are those of 5 neighbours on test images. noise-N: 300 images of
12x12, of which a mark is the class and a row is noise; N is the seed.
votes: one class of MNIST with 1,000 images and another with 10 or 50, and ten classes of 1,000 to 10; the balanced error on test
images, by votes of equal weight and by `--votes balanced`, by pixels and by `nca`; and what train-labels told of itself; `auto` is its model.

MNIST_DIR, USPS_DIR: the IDX files, as they are distributed. Everything runs on one thread. Price: about a quarter of an hour.
"""
import argparse
import gzip
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import time

import record

COMMAND = "python3 bench/few_images.py BUILD_DIR MNIST_DIR USPS_DIR"
UNEQUAL = {"4-9": {4: 1000, 9: 10}, "3-5": {3: 1000, 5: 10}, "1-7": {1: 1000, 7: 10}, "3-8": {3: 1000, 8: 10}, "4-9 of 50": {4: 1000, 9: 50},
           "ten": dict(zip((8, 4, 2, 6, 0, 9, 1, 7, 3, 5), (1000, 600, 350, 200, 120, 70, 40, 25, 15, 10)))}


# --- sets: lists of (pixels, label), with the side of an image --------------------------------------------------------------------

def read_idx(path):
    with gzip.open(path) as file:
        data = file.read()
    sizes = struct.unpack(">%dI" % data[3], data[4:4 + 4 * data[3]])
    each = 1
    for size in sizes[1:]:
        each *= size
    at = 4 + 4 * data[3]
    return [data[at + i * each:at + (i + 1) * each] for i in range(sizes[0])]


def labelled(folder, images, labels):
    pictures = read_idx(os.path.join(folder, images))
    return list(zip(pictures, (label[0] for label in read_idx(os.path.join(folder, labels)))))


def write(name, rows, side):
    with open(name, "wb") as file:
        file.write(struct.pack(">4I", 0x803, len(rows), side, side) + b"".join(pixels for pixels, _ in rows))
    with open(name + "-labels", "wb") as file:
        file.write(struct.pack(">2I", 0x801, len(rows)) + bytes(label for _, label in rows))


def noise(seed):
    draw, rows = random.Random(seed), []
    for i in range(900):
        image = [[draw.gauss(120, 15) for _ in range(12)] for _ in range(12)]
        for y in range(2 + 3 * (i % 3), 5 + 3 * (i % 3)):
            for x in range(4, 7):
                image[y][x] += 40
        image[0] = [255 * draw.randrange(2) for _ in range(12)]
        rows.append((bytes(min(255, max(0, int(v))) for line in image for v in line), i % 3))
    return rows[:300], rows[300:], 12


class Sets:
    def __init__(self, asked):
        self.build = asked.build
        self.mnist = labelled(asked.mnist, "train-images-idx3-ubyte.gz", "train-labels-idx1-ubyte.gz")
        self.tests = labelled(asked.mnist, "t10k-images-idx3-ubyte.gz", "t10k-labels-idx1-ubyte.gz")
        self.usps = labelled(asked.usps, "usps-images-idx3-ubyte.gz", "usps-labels-idx1-ubyte.gz")

    def letters(self, name, count, seed):
        subprocess.run([os.path.join(self.build, "make_samples"), "letters", name, "--count", str(count), "--seed", str(seed), "--format",
                        "png"], check=True)
        return name + "/png"

    def few(self):
        """Name, how training images are named, how test images are named."""
        for seed in range(5):
            yield self.files("noise-%d" % seed, *noise(seed))
        for n in (300, 1000):
            yield self.files("mnist-%d" % n, random.Random(1).sample(self.mnist, n), self.tests, 28)
        yield self.files("usps-500", random.Random(1).sample(self.usps[:7291], 500), self.usps[7291:], 16)
        test = self.letters("test", 1040, 2)
        for n in (520, 2080):
            train = self.letters("letters-%d" % n, n, 1)
            yield "letters-%d" % n, [train], ["--among", train], [test]

    @staticmethod
    def files(name, train, test, side):
        name = name.replace(" ", "-")
        write(name, train, side)
        write(name + "-test", test, side)
        return (name, ["--labels", name + "-labels", name], ["--among", name, "--among-labels", name + "-labels"],
                ["--labels", name + "-test-labels", name + "-test"])

    def unequal(self):
        for name, members in UNEQUAL.items():
            rows, left = [], dict(members)
            for row in random.Random(2).sample(self.mnist, len(self.mnist)):
                if left.get(row[1], 0):
                    left[row[1]] -= 1
                    rows.append(row)
            yield self.files(name, rows, [row for row in self.tests if row[1] in members], 28)


# --- runs -------------------------------------------------------------------------------------------------------------------------

def taper(asked, *words):
    done = subprocess.run([os.path.join(asked.build, "taper"), *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def learn(asked, train, *options):
    begun = time.time()
    report = taper(asked, "train-labels", "-q", "-f", "--json", "-T1", "-o", "model.tpm", *options, *train)
    return report, time.time() - begun


def classify(asked, among, test, *options):
    return taper(asked, "classify", "-q", "--json", "-T1", *options, *among, *test)["errors"][0]


def starts(asked, sets):
    for name, train, among, test in sets.few():
        if asked.sets and name not in asked.sets:
            continue
        for objective in asked.objectives:
            learned = "pca" if objective == "nca" else "rbm"
            for way, options in (("before", ["-e", "40", "--start", learned]), ("default", [])):
                if way not in asked.ways:
                    continue
                report, seconds = learn(asked, train, "--objective", objective, *options)
                error = classify(asked, among, test, "-m", "model.tpm")
                config = {"set": name, "objective": objective, "way": way, "start": report.get("start", learned), "epochs": report["epochs"],
                          "low": error["low_percent"], "high": error["high_percent"], "threads": 1}
                if way == "default":
                    config.update(trial_learned=report["start_trial_learned_percent"], trial_random=report["start_trial_random_percent"])
                record.say("few_images", "test_error_percent", error["percent"], "%", config, COMMAND)
                record.say("few_images", "seconds", round(seconds, 2), "s", config, COMMAND)


def votes(asked, sets):
    for name, train, among, test in sets.unequal():
        told, _ = learn(asked, train, "--minutes", "0.3")
        for code, options in (("auto", ["-m", "model.tpm"]), ("pixels", []), ("nca", ["-m", "model.tpm"])):
            if code == "nca":
                learn(asked, train, "--objective", "nca", "--hold-out", "0")
            for how in ("equal", "balanced"):
                error = classify(asked, among, test, "--votes", how, *options)
                config = {"set": name, "code": code, "votes": how, "low": error["balanced_low_percent"],
                          "high": error["balanced_high_percent"], "threads": 1}
                record.say("few_images", "balanced_test_error_percent", error["balanced_percent"], "%", config, COMMAND)
        config = {"set": name, "code": "auto", "minutes": 0.3, "threads": 1}
        told_balanced = {"low": told["balanced_error_percent_low"], "high": told["balanced_error_percent_high"]}
        record.say("few_images", "told_error_percent", told["error_percent"], "%", config, COMMAND)
        record.say("few_images", "told_balanced_error_percent", told["balanced_error_percent"], "%", {**config, **told_balanced}, COMMAND)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("build")
    parser.add_argument("mnist")
    parser.add_argument("usps")
    parser.add_argument("--sets", nargs="+", help="only these of `starts`")
    parser.add_argument("--objectives", nargs="+", choices=("nca", "dt-nca"), default=["nca", "dt-nca"])
    parser.add_argument("--ways", nargs="+", choices=("before", "default"), default=["before", "default"])
    parser.add_argument("--parts", nargs="+", choices=("starts", "votes"), default=["starts", "votes"])
    asked = parser.parse_args()
    asked.build, asked.mnist, asked.usps = map(os.path.realpath, (asked.build, asked.mnist, asked.usps))
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        sets = Sets(asked)
        for part in asked.parts:
            {"starts": starts, "votes": votes}[part](asked, sets)
    return 0


if __name__ == "__main__":
    sys.exit(main())
