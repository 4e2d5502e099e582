#!/usr/bin/env python3
"""gradients.py -- codes of pixels, and of gradient orientations (`--cells`), on CIFAR-10: the share of the ten nearest images
that have the class of the query, for bits that learned without labels; and the error of five neighbours, for labelled ones.

    python3 bench/gradients.py TAPER FOLDER [--bits 64,256] [--epochs 10] >>bench/results/gradients.jsonl

FOLDER has the files of CIFAR-10 in the binary format. All test images are queries among all training images; the search is
exact, with the weights of `taper index`. Training runs on one thread; `seconds` is its processor time. Price: 20 minutes.
"""
import argparse
import csv
import glob
import json
import os
import resource
import subprocess
import tempfile

import record

RECORD = 3073  # bytes: a label, then samples
BITS = "-w whole --independent --untied --truncation log-uniform:0.5 --rate 0.006"
RECIPES = {"pixels": "--motion 3 -e 12", "cells": "--cells 4 -e 20", "moving": "--cells 4 --motion 1 --mirror -e 40"}


def run(*words):
    """Standard output, and the processor time in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done.stdout, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def same_class(taper, model, train, test, work):
    """The share of ten neighbours that have the class of the query."""
    with open(test, "rb") as file:
        labels = file.read()[::RECORD]
    index = work + "/train.tpx"
    run(taper, "index", "-qf", "-m", model, "-o", index, *train)
    found, _ = run(taper, "search", "-q", "-m", model, "-k", "10", "--exact", index, test)
    right = [row["label"] == str(labels[int(row["query"].split("#")[1]) - 1]) for row in csv.DictReader(found.splitlines())]
    return sum(right) / len(right)


def error(taper, model, train, test):
    said, _ = run(taper, "classify", "-q", "--json", "-m", model, "--among", train[0], *sum((["--among", t] for t in train[1:]), []), test)
    return next(e for e in json.loads(said.splitlines()[-1])["errors"] if e["k"] == 5)


def main():
    words = argparse.ArgumentParser()
    words.add_argument("taper")
    words.add_argument("folder")
    words.add_argument("--bits", default="64,256")
    words.add_argument("--recipes", default=",".join(RECIPES))
    words.add_argument("--epochs", default="10")
    given = words.parse_args()
    train, test = sorted(glob.glob(given.folder + "/data_batch_*.bin")), given.folder + "/test_batch.bin"

    def say(metric, value, unit, config):
        record.say("gradients", metric, float("%.4g" % value), unit, {"set": "cifar-10", "threads": 1, **config}, "bench/gradients.py")

    with tempfile.TemporaryDirectory() as work:
        model = work + "/model.tpm"
        for bits in filter(None, given.bits.split(",")):
            for inputs in ("pixels", "cells"):
                options = BITS.split() + ["-k", bits, "-e", given.epochs] + (["--cells", "4"] if inputs == "cells" else [])
                _, seconds = run(given.taper, "train-bits", "-qf", "-T", "1", "-o", model, *options, *train)
                config = {"bits": int(bits), "inputs": inputs, "epochs": int(given.epochs)}
                say("same_class", 100 * same_class(given.taper, model, train, test, work), "%", config)
                say("training", seconds, "s", config)
        for name in filter(None, given.recipes.split(",")):
            recipe = "--objective dt-log-nca --hidden 500,500 --start random " + RECIPES[name]
            _, seconds = run(given.taper, "train-labels", "-qf", "-T", "1", "-o", model, *recipe.split(), *train)
            rate, config = error(given.taper, model, train, test), {"recipe": recipe, "inputs": name}
            say("test_error", rate["percent"], "%", {**config, "low": rate["low_percent"], "high": rate["high_percent"]})
            say("training", seconds, "s", config)


if __name__ == "__main__":
    main()
