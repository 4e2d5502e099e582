#!/usr/bin/env python3
"""convolutions.py -- embeddings with convolutional layers (`train-labels --convolutions`): the error of five neighbours on all
test images of MNIST and of CIFAR-10, beside the same objective without such layers.

    python3 bench/convolutions.py TAPER MNIST_FOLDER CIFAR_FOLDER [--only NAME] [--seed N] >>bench/results/convolutions.jsonl

MNIST_FOLDER has the four files of MNIST (*-ubyte.gz), CIFAR_FOLDER the files of CIFAR-10 in the binary format. Training runs on
one thread; `training` is its processor time. The networks after "layers" ask of convolutions what the papers ask of layers of
units: Gaussian kernels (dg-nca), a code of which the first 16 numbers are a code (nested) beside one of 16 numbers, and 64 bits
beside 64 numbers. Price: 3 to 4 minutes a network.
"""
import argparse
import glob
import json
import os
import tempfile

import gradients
import record

MNIST = {"convolutions-dt-nca": "--objective dt-nca --convolutions 16,32 -e 15 --rate 0.002",
         "convolutions-nca": "--objective nca --convolutions 16,32 -e 15 --rate 0.002",
         "layers": "--objective dt-nca --hidden 500,500 --start random -e 40",
         "dg-nca": "--objective dg-nca --convolutions 16,32 -e 15 --rate 0.002",
         "nested": "--objective dt-nca --nested 2,4,8,16 --convolutions 16,32 -e 15 --rate 0.002",
         "numbers-16": "--objective dt-nca -k 16 --convolutions 16,32 -e 15 --rate 0.002",
         "bits-64": "--objective dt-log-nca --code binary -k 64 --convolutions 16,32 -e 15 --rate 0.002",
         "numbers-64": "--objective dt-log-nca -k 64 --convolutions 16,32 -e 15 --rate 0.002"}
CODES = {"nested": ["--units", "16"]}  # all of a code otherwise
CIFAR = {"pixels-convolutions": "--objective dt-nca --convolutions 32,64 -e 6 --rate 0.002 --mirror --motion 1",
         "cells-convolution": "--objective dt-log-nca --convolutions 64 --cells 8 -e 15 --rate 0.002 --dropout 0.3"}


def main():
    words = argparse.ArgumentParser()
    words.add_argument("taper")
    words.add_argument("mnist")
    words.add_argument("cifar")
    words.add_argument("--only", action="append", help="a network, by its name; several times for several")
    words.add_argument("--seed", type=int, default=1)
    given = words.parse_args()
    only = given.only or list(MNIST) + list(CIFAR)
    digits = [os.path.join(given.mnist, "%s-%s-idx%d-ubyte.gz" % (part, kind, size))
              for part in ("train", "t10k") for kind, size in (("images", 3), ("labels", 1))]
    batches = sorted(glob.glob(given.cifar + "/data_batch_*.bin"))
    sets = [("mnist", MNIST, ["--labels", digits[1], digits[0]],
             ["--among", digits[0], "--among-labels", digits[1], "--labels", digits[3], digits[2]]),
            ("cifar-10", CIFAR, batches, sum((["--among", b] for b in batches), []) + [given.cifar + "/test_batch.bin"])]
    with tempfile.TemporaryDirectory() as work:
        model = work + "/model.tpm"
        for name, recipes, train, test in sets:
            for recipe in recipes:
                if recipe not in only:
                    continue
                _, seconds = gradients.run(given.taper, "train-labels", "-qf", "-T", "1", "-o", model,
                                           "--seed", str(given.seed), *recipes[recipe].split(), *train)
                said, _ = gradients.run(given.taper, "classify", "-q", "--json", "-m", model, *CODES.get(recipe, []), *test)
                rate = next(e for e in json.loads(said.splitlines()[-1])["errors"] if e["k"] == 5)
                config = {"set": name, "threads": 1, "recipe": recipes[recipe], "network": recipe,
                          **({"seed": given.seed} if given.seed > 1 else {})}
                for metric, value, unit, more in (("test_error", rate["percent"], "%", {"low": rate["low_percent"],
                                                                                          "high": rate["high_percent"]}),
                                                  ("training", seconds, "s", {})):
                    record.say("convolutions", metric, float("%.4g" % value), unit, {**config, **more}, "bench/convolutions.py")


if __name__ == "__main__":
    main()
