#!/usr/bin/env python3
"""train_cifar_report.py -- the table and the plot of bench/results/train-cifar.jsonl.

    python3 bench/train_cifar_report.py [PROGRAM OUT]

Prints for each way the mean accuracy over its seeds and the bytes an image and epoch. Then, at the accuracies of the container,
the bytes that each codec needs, between its measured points by straight lines of accuracy over the logarithm of bytes, and the
quotients by the container's. The first accuracy is the least that equals the whole container's: its mean less the half-width of the
95 % interval of a difference of two means, by Student's t on the deviations of all ways that have several seeds.
PROGRAM draws accuracy over bytes as OUT/accuracy-by-bytes.svg: build/opt/bench/paper_broadcast.
"""
import collections
import json
import math
import os
import statistics
import subprocess
import sys

import record

FILE = os.path.join(record.ROOT, "bench/results/train-cifar.jsonl")
# of Student's t, 97.5 %, by degrees of freedom
QUANTILES = {2: 4.303, 3: 3.182, 4: 2.776, 6: 2.447, 8: 2.306, 10: 2.228, 12: 2.179, 14: 2.145, 16: 2.120, 20: 2.086, 24: 2.064}
LINES = {"taper": "taper, one container", "jpeg420": "JPEG files, 4:2:0", "jpeg444": "JPEG files, 4:4:4",
         "payload": "JPEG, headers not counted", "webp": "WebP files", "plan": "taper, fidelity by epoch"}


def read():
    """Of each way that was tested on the test images: {metric: [values]}."""
    ways = collections.defaultdict(lambda: collections.defaultdict(list))
    with open(FILE, encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            if line["config"]["tested"] == "test":
                ways[line["config"]["way"]][line["metric"]].append(line["value"])
    return ways


def interval(ways):
    """Half-width of the 95 % interval of a difference of two means of as many seeds as `taper whole` has."""
    several = [found["accuracy"] for found in ways.values() if len(found["accuracy"]) > 1]
    freedom = sum(len(values) - 1 for values in several)
    variance = sum(statistics.variance(values) * (len(values) - 1) for values in several) / freedom
    quantile = QUANTILES[max(known for known in QUANTILES if known <= freedom)]
    seeds = len(ways["taper whole"]["accuracy"])
    return quantile * math.sqrt(variance * 2 / seeds), math.sqrt(variance), freedom


def curve(ways, kind):
    """Points (bytes, mean accuracy) by bytes, of one fidelity each or, for "plan", of several."""
    codec, metric = {"payload": ("jpeg420", "payload"), "plan": ("taper", "bytes")}.get(kind, (kind, "bytes"))
    return sorted((found[metric][0], statistics.mean(found["accuracy"])) for way, found in ways.items()
                  if way.split()[0] == codec and ("," in way) == (kind == "plan"))


def bytes_at(points, accuracy):
    """None: it is outside what was measured."""
    for (x, low), (y, high) in zip(points, points[1:]):
        if low <= accuracy <= high:
            return x * (y / x) ** ((accuracy - low) / (high - low))
    return None


def compare(ways, accuracy, own):
    cells = []
    for kind in LINES:
        size = bytes_at(curve(ways, kind), accuracy)
        cells.append("%s %s" % (kind, "%.0f (%.1f)" % (size, size / own) if size and own else "-"))
    print("at %.2f %%, by %.0f bytes: %s" % (accuracy, own, ", ".join(cells)))


def draw(ways, program, out):
    lines = []
    for kind, name in LINES.items():
        lines += ["%s\t%g\t%g\n" % (name, *point) for point in curve(ways, kind)]
    subprocess.run([program, "plot", "accuracy-by-bytes", "A network trained from coded images", "bytes an image and epoch",
                    "accuracy on original test images, %", "1", "--out", out], input="".join(lines), text=True, check=True)


def main():
    ways = read()
    for way, found in sorted(ways.items(), key=lambda one: one[1]["bytes"]):
        values = found["accuracy"]
        print("%-30s %7.1f bytes %s %6.2f %% (%d seeds, %.2f to %.2f), as trained %.2f" %
              (way, found["bytes"][0], "payload %5.1f" % found["payload"][0] if found["payload"] else " " * 13,
               statistics.mean(values), len(values), min(values), max(values), statistics.mean(found["as_trained"])))
    half, deviation, freedom = interval(ways)
    whole = statistics.mean(ways["taper whole"]["accuracy"])
    print("whole: %.2f %%, equal from %.2f on (deviation of a seed %.2f, %d degrees of freedom)" %
          (whole, whole - half, deviation, freedom))
    one, plans = curve(ways, "taper"), curve(ways, "plan")
    compare(ways, whole - half, bytes_at(one, whole - half))
    for size, accuracy in reversed(one[:-1] + plans):
        compare(ways, accuracy, size)
    if sys.argv[1:]:
        draw(ways, *sys.argv[1:])


if __name__ == "__main__":
    main()
