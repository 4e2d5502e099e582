#!/usr/bin/env python3
"""search_model.py -- what the built-in model of search finds: images of the class of the query, and known copies.

    python3 bench/search_model.py TAPER CIFAR PHOTOGRAPHS KODAK [MODEL...] >>bench/results/search-model.jsonl

CIFAR is a folder with the files of CIFAR-10 in the binary format: all test images are queries among all training images (see
gradients.py). Copies: eleven of each image in the folder KODAK, by copies_set.py, are queries among these and the images in
PHOTOGRAPHS; eleven of each fifth icon of drawings.py among its icons and tiles, on white. `copies` counts those whose image is the
nearest. MODEL: other models, by default search alone. Searches are exact. Needs python3-pil and python3-numpy. Price: a minute a
model.
"""
import argparse
import csv
import glob
import os
import tempfile

import numpy
from PIL import Image

import copies_set
import drawings
import gradients
import record


def draw_pictures(folder):
    """Icons and tiles, on white; returns the paths of each fifth icon."""
    drawings.draw(folder)
    paths = sorted(glob.glob(folder + "/*/*.png"))
    for path in paths:
        image = Image.open(path).convert("RGBA")
        white = Image.new("RGBA", image.size, "white")
        Image.alpha_composite(white, image).convert("RGB").save("%s/%s-%s" % (folder, *path.split("/")[-2:]))
        os.remove(path)
    return sorted(glob.glob(folder + "/icons-*.png") + glob.glob(folder + "/shaded-*.png"))[::5]


def draw_copies(originals, work):
    """Paths of the copies by kind."""
    draw = numpy.random.default_rng(1)
    made = {kind: [] for kind in copies_set.COPIES}
    os.mkdir(work)
    for path in originals:
        image = Image.open(path).convert("RGB")
        for kind, make in copies_set.COPIES.items():
            made[kind].append("%s/%s.%s" % (work, kind, os.path.basename(path)))
            make(image, draw).save(made[kind][-1], compress_level=1)
    return made


def found(taper, model, index, copies):
    """The share of copies whose original is the nearest image."""
    told, _ = gradients.run(taper, "search", "-q", "-m", model, "-k", "1", "--exact", index, *copies)
    names = [(os.path.basename(row["query"]).split(".", 1)[1], os.path.basename(row["name"])) for row in csv.DictReader(told.splitlines())]
    return sum(query == name for query, name in names) / len(names)


def main():
    words = argparse.ArgumentParser()
    for name in ("taper", "cifar", "photographs", "kodak"):
        words.add_argument(name)
    words.add_argument("models", nargs="*", default=["search"])
    given = words.parse_args()
    train = sorted(glob.glob(given.cifar + "/data_batch_*.bin"))

    def say(model, metric, value, config):
        record.say("search-model", metric, float("%.5g" % (100 * value)), "%", {"model": os.path.basename(model), **config},
                   "bench/search_model.py")

    with tempfile.TemporaryDirectory() as work:
        index, icons = work + "/copies.tpx", draw_pictures(work + "/drawn")
        sets = {"kodak": (draw_copies(sorted(glob.glob(given.kodak + "/*.png")), work + "/kodak"), (given.kodak, given.photographs)),
                "drawings": (draw_copies(icons, work + "/icons"), (work + "/drawn",))}
        for model in given.models:
            share = gradients.same_class(given.taper, model, train, given.cifar + "/test_batch.bin", work)
            say(model, "same_class", share, {"set": "cifar-10"})
            for name, (copies, among) in sets.items():
                gradients.run(given.taper, "index", "-qf", "-m", model, "-o", index, *among)
                shares = {kind: found(given.taper, model, index, paths) for kind, paths in copies.items()}
                n = sum(map(len, copies.values()))
                for kind, share in shares.items():
                    say(model, "copies", share, {"set": name, "kind": kind, "queries": len(copies[kind])})
                every = sum(shares[kind] * len(paths) for kind, paths in copies.items()) / n
                say(model, "copies", every, {"set": name, "kind": "all", "queries": n})


if __name__ == "__main__":
    main()
