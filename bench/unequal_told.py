#!/usr/bin/env python3
"""unequal_told.py -- does the interval of the balanced error that `train-labels` tells hold the true one, where classes are unequal?

    python3 bench/unequal_told.py TAPER MNIST_DIR [--draws 2 3 4 5 6] [--sets NAME...] >bench/results/embedding/unequal-told.jsonl

The six sets of few_images.py, which are draw 2; the other draws have other images of the same numbers. The true balanced error is that of
the model among all its labelled images, on all test images of MNIST of the set's classes (at least 892 a class); 5 votes of equal weight.
told: by train-labels, with its 95 % interval; `holds` is 1 if the interval holds the true error.

folds: the true error of models that learn by the options of the final training from three of four random quarters, and vote among
these, as trials do; the mean over the quarters. `holds_folds` is 1 if the interval holds it. What differs from the final model, one by one:
short: folds with the epochs of the trial that was kept. rare: quarters of all classes but the most frequent one, of which all images
stay. voters: models of folds, which vote among all labelled images. rare_in_folds: images of the rarest class in three quarters.

Price: a quarter of an hour on one thread of an idle machine.
"""
import argparse
import json
import os
import random
import subprocess
import sys
import tempfile

import few_images
import record

COMMAND = "python3 bench/unequal_told.py TAPER MNIST_DIR"
PARTS = 4


def lines(taper, *words):
    done = subprocess.run([taper, *words, "-q", "--json", "-T1"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def draw_set(mnist, members, seed):
    rows, left = [], dict(members)
    for row in random.Random(seed).sample(mnist, len(mnist)):
        if left.get(row[1], 0):
            left[row[1]] -= 1
            rows.append(row)
    return rows


def learn(taper, rows, *options):
    few_images.write("train", rows, 28)
    return lines(taper, "train-labels", "-f", "-o", "model.tpm", "--labels", "train-labels", *options, "train")


def true_error(taper, voters="train"):
    """Of the last model, among the images that it learned from or among others."""
    return lines(taper, "classify", "-m", "model.tpm", "--among", voters, "--among-labels", voters + "-labels", "--labels", "test-labels",
                 "test")[-1]["errors"][0]["balanced_percent"]


def by_count(rows):
    labels = [label for _, label in rows]
    return sorted(set(labels), key=labels.count)


def quarters(rows, always=None):
    """The rows without each of four random quarters; rows of the class `always` stay."""
    order = random.Random(7).sample(rows, len(rows))
    return [[row for i, row in enumerate(order) if i % PARTS != part or row[1] == always] for part in range(PARTS)]


def in_quarters(taper, parts, options, voters="train"):
    errors = []
    for rows in parts:
        learn(taper, rows, *options)
        errors.append(true_error(taper, voters))
    return sum(errors) / PARTS


def measure(taper, mnist, tests, name, draw):
    members = few_images.UNEQUAL[name]
    rows = draw_set(mnist, members, draw)
    few_images.write("test", [row for row in tests if row[1] in members], 28)
    *trials, told = learn(taper, rows, "--minutes", "0.3")
    config, truth = {"set": name.replace(" ", "-"), "draw": draw, "minutes": 0.3, "threads": 1}, true_error(taper)
    final = [t for t in trials if t.get("kept")][-1]["options"].split()
    at = final.index("-e") + 1
    short, final = list(final), final[:at] + [str(told["epochs"])] + final[at + 1:]
    classes, parts = by_count(rows), quarters(rows)
    low, high = told["balanced_error_percent_low"], told["balanced_error_percent_high"]

    def say(metric, value, unit="%", **more):
        record.say("unequal_told", metric, round(value, 2), unit, {**config, **more}, COMMAND)

    say("true", truth, epochs=told["epochs"])
    say("told", told["balanced_error_percent"], low=round(low, 2), high=round(high, 2))
    folds = in_quarters(taper, parts, final)
    say("folds", folds, rare_in_folds=[sum(row[1] == classes[0] for row in part) for part in parts])
    say("short", in_quarters(taper, parts, short), epochs=int(short[at]))
    say("rare", in_quarters(taper, quarters(rows, classes[-1]), final))
    few_images.write("all", rows, 28)
    say("voters", in_quarters(taper, parts, final, "all"))
    holds = [int(low <= error <= high) for error in (truth, folds)]
    say("holds", holds[0], "yes or no")
    say("holds_folds", holds[1], "yes or no")
    return holds


def main():
    words = argparse.ArgumentParser(usage=__doc__)
    words.add_argument("taper")
    words.add_argument("mnist")
    words.add_argument("--draws", nargs="+", type=int, default=[2, 3, 4, 5, 6])
    words.add_argument("--sets", nargs="+", default=list(few_images.UNEQUAL))
    asked = words.parse_args()
    taper, mnist = os.path.realpath(asked.taper), os.path.realpath(asked.mnist)
    images, tests = (few_images.labelled(mnist, part + "-images-idx3-ubyte.gz", part + "-labels-idx1-ubyte.gz") for part in ("train", "t10k"))
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        for draw in asked.draws:
            holding = [measure(taper, images, tests, name, draw) for name in asked.sets]
            for metric, count in zip(("sets_that_hold", "sets_that_hold_folds"), map(sum, zip(*holding))):
                record.say("unequal_told", metric, count, "of %d sets" % len(holding), {"draw": draw, "minutes": 0.3, "threads": 1}, COMMAND)
    return 0


if __name__ == "__main__":
    sys.exit(main())
