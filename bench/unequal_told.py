#!/usr/bin/env python3
"""unequal_told.py -- does the interval of the balanced error that `train-labels` tells hold the true one, where classes are unequal?

    python3 bench/unequal_told.py TAPER MNIST_DIR [--draws 2] [--minutes 1] [--sets NAME...] >bench/results/embedding/unequal-told.jsonl

The six sets of few_images.py, which are draw 2; other draws have other images of the same numbers. The true balanced error is that of
the model among all its labelled images, on all test images of MNIST of the set's classes (at least 892 a class); 5 votes of equal weight.
told: by train-labels, with its 95 % interval; `holds` is 1 if the interval holds the true error.

folds: the true error of models that learn by the options of the final training from three of four random quarters, and vote among
these, as trials do; the mean over the quarters. `holds_folds` is 1 if the interval holds it. rare_in_folds: images of the rarest class
in three quarters, of each fold. weighted: the same models, and in the mean of a class a fold counts as often as it holds out images of the
class, as in what is told. Variants of folds: short: with the epochs of the trial that was kept. rare: all images of the most frequent
class stay. stratified: the quarters have equal numbers of each class.

The time limit is by the clock: on a busy machine trials have fewer epochs, which short tells. Price: ten minutes on an idle machine.
"""
import argparse
import collections
import json
import os
import random
import statistics
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


def true_errors(taper):
    """By class, of the last model among the images that it learned from."""
    last = lines(taper, "classify", "-m", "model.tpm", "--among", "train", "--among-labels", "train-labels", "--labels", "test-labels", "test")[-1]
    return {int(each["class"]): each["percent"] for each in last["class_errors"]}


def counts(rows):
    return collections.Counter(label for _, label in rows)


def quarters(rows, always=None, stratified=False):
    """The rows without each of four random quarters; rows of the class `always` stay."""
    order = random.Random(7).sample(rows, len(rows))
    if stratified:
        order.sort(key=lambda row: row[1])
    return [[row for i, row in enumerate(order) if i % PARTS != part or row[1] == always] for part in range(PARTS)]


def in_quarters(taper, parts, options):
    errors = []
    for rows in parts:
        learn(taper, rows, *options)
        errors.append(true_errors(taper))
    return errors


def balanced(errors, held=None):
    """The mean over classes of the mean over folds. held: weights of folds, by class."""
    held = held or [collections.Counter(each.keys()) for each in errors]
    return statistics.mean(sum(e[c] * h[c] for e, h in zip(errors, held)) / sum(h[c] for h in held) for c in errors[0])


def measure(taper, mnist, tests, name, draw, minutes):
    members = few_images.UNEQUAL[name]
    rows = draw_set(mnist, members, draw)
    few_images.write("test", [row for row in tests if row[1] in members], 28)
    *trials, told = learn(taper, rows, "--minutes", str(minutes))
    config, truth = {"set": name.replace(" ", "-"), "draw": draw, "minutes": minutes, "threads": 1}, balanced([true_errors(taper)])
    final = [t for t in trials if t.get("kept")][-1]["options"].split()
    at = final.index("-e") + 1
    short, final = list(final), final[:at] + [str(told["epochs"])] + final[at + 1:]
    of, parts = counts(rows), quarters(rows)
    rarest, commonest = min(of, key=of.get), max(of, key=of.get)
    low, high = told["balanced_error_percent_low"], told["balanced_error_percent_high"]

    def say(metric, value, unit="%", **more):
        record.say("unequal_told", metric, round(value, 2), unit, {**config, **more}, COMMAND)

    say("true", truth, epochs=told["epochs"])
    say("told", told["balanced_error_percent"], low=round(low, 2), high=round(high, 2))
    errors = in_quarters(taper, parts, final)
    folds = balanced(errors)
    say("folds", folds, rare_in_folds=[counts(part)[rarest] for part in parts])
    say("weighted", balanced(errors, [of - counts(part) for part in parts]))
    say("short", balanced(in_quarters(taper, parts, short)), epochs=int(short[at]))
    say("rare", balanced(in_quarters(taper, quarters(rows, commonest), final)))
    say("stratified", balanced(in_quarters(taper, quarters(rows, stratified=True), final)))
    holds = [int(low <= error <= high) for error in (truth, folds)]
    say("holds", holds[0], "yes or no")
    say("holds_folds", holds[1], "yes or no")
    return holds


def main():
    words = argparse.ArgumentParser(usage=__doc__.replace("%", "%%"))
    words.add_argument("taper")
    words.add_argument("mnist")
    words.add_argument("--draws", nargs="+", type=int, default=[2])
    words.add_argument("--minutes", type=float, default=1)
    words.add_argument("--sets", nargs="+", default=list(few_images.UNEQUAL))
    asked = words.parse_args()
    taper, mnist = os.path.realpath(asked.taper), os.path.realpath(asked.mnist)
    images, tests = (few_images.labelled(mnist, part + "-images-idx3-ubyte.gz", part + "-labels-idx1-ubyte.gz") for part in ("train", "t10k"))
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        for draw in asked.draws:
            holding = [measure(taper, images, tests, name, draw, asked.minutes) for name in asked.sets]
            for metric, count in zip(("sets_that_hold", "sets_that_hold_folds"), map(sum, zip(*holding))):
                config = {"draw": draw, "minutes": asked.minutes, "threads": 1}
                record.say("unequal_told", metric, count, "of %d sets" % len(holding), config, COMMAND)
    return 0


if __name__ == "__main__":
    sys.exit(main())
