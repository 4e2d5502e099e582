#!/usr/bin/env python3
"""python_speed.py -- the Python package beside the program, beside Pillow on PNG files, beside ImageFolder on JPEG files.

    python3 bench/python_speed.py TAPER DATA [--images 50000] [--rounds 5] >bench/results/python-speed.jsonl

TAPER   the program; PYTHONPATH has bindings/python, TAPER_LIBRARY the library if it is not beside the program
DATA    data_batch_1.bin to data_batch_5.bin of CIFAR-10

Models are the built-in `tiny`, and two that the first two files train, without networks: `fast whole`, whose codes cover
whole images, and `fast 16`, windows of 16 x 16.

`passes` is the share of the passes that are decoded (Set.at), with the PSNR that it gives; `fidelity` the bytes an image.
Each figure is the median, over rounds, of a ratio: both sides are measured in turn, in processor time of one thread. Above 1
the package is faster.

| metric | what | against |
|---|---|---|
| program | 10,000 images to a .bin file, a process with its start | `taper decode -T 1` |
| random | single images at random places, layout `image`, as arrays | Pillow on PNG files: `np.asarray(Image.open())` |
| batches | an epoch of batches of 256 as float32, a group's images permuted, labels | DataLoader of ImageFolder, JPEG files |

Needs NumPy, Pillow, PyTorch and torchvision. Price: 25 minutes and 400 MB in build/python-speed.
"""
import argparse
import os
import random
import resource
import statistics
import subprocess
import sys
import time

import numpy as np
import record
import torch
import torchvision
from PIL import Image
from torch.utils.data import DataLoader

import taper
import taper.torch

WORK = "build/python-speed"
COMMAND = "python3 bench/python_speed.py build/opt/taper build/data"


def cifar(folder, count):
    records = np.concatenate([np.fromfile(os.path.join(folder, "data_batch_%d.bin" % k), np.uint8) for k in range(1, 6)])
    return records.reshape(-1, 3073)[:count]


def trained(given, window):
    """The path of a model without networks, which is made if it is not there."""
    path = "%s/fast-%s.tpm" % (WORK, window)
    if not os.path.exists(path):
        subprocess.run([given.taper, "train", "-q", "--preset", "fast", "--quick", "-w", window, "-o", path] +
                       [os.path.join(given.data, "data_batch_%d.bin" % k) for k in (1, 2)], check=True)
    return path


def container(program, records, layout, model):
    """The path of a container of the images, which is made if it is not there."""
    name = os.path.splitext(os.path.basename(model))[0]
    path, source = ("%s/%s" % (WORK, file) for file in ("%s-%s-%d.taper" % (name, layout, len(records)), "source.bin"))
    if not os.path.exists(path):
        records.tofile(source)
        subprocess.run([program, "encode", "-q", "-m", model, "--layout", layout, "-o", path, source], check=True)
    return path


def files(records, kind):
    """The folder of image files, in a folder for each class."""
    folder = "%s/%s-%d" % (WORK, kind, len(records))
    if not os.path.exists(folder):
        for k in range(10):
            os.makedirs("%s/%d" % (folder, k))
        for i, one in enumerate(records):
            pixels = one[1:].reshape(3, 32, 32).transpose(1, 2, 0)
            Image.fromarray(pixels).save("%s/%d/%d.%s" % (folder, one[0], i, kind), quality=75)
    return folder


def timed(work):
    """Seconds of processor time of this process."""
    start = time.process_time()
    work()
    return time.process_time() - start


def of_process(arguments):
    """Seconds of processor time of a program."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(arguments, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def say(metric, ours, theirs, config):
    """The median ratio of rounds, and the medians of both."""
    ratio = statistics.median(b / a for a, b in zip(ours, theirs))
    record.say("python-speed", metric, round(ratio, 3), "x", {**config, "us_an_image": round(statistics.median(ours), 1),
               "us_of_other": round(statistics.median(theirs), 1)}, COMMAND)


def program_figures(given, path, config):
    script = "import sys, taper; taper.open(sys.argv[1]).batch(channels_first=True).tofile(sys.argv[2])"
    count, ours, theirs = len(taper.open(path)), [], []
    for _ in range(given.rounds):
        theirs.append(of_process([given.taper, "decode", "-q", "-f", "-T", "1", "-o", WORK + "/out.bin", path]) / count * 1e6)
        ours.append(of_process([sys.executable, "-c", script, path, WORK + "/ours.bin"]) / count * 1e6)
    say("program", ours, theirs, config)


def random_figures(given, images, png, records, config):
    order = random.Random(1)
    paths = [os.path.join(folder, name) for folder, _, names in os.walk(png) for name in names]
    ours, theirs, errors = [], [], []
    for _ in range(given.rounds):
        places = [order.randrange(len(images)) for _ in range(1000)]
        chosen = [order.choice(paths) for _ in range(1000)]
        drawn = []
        theirs.append(timed(lambda: [np.asarray(Image.open(path)) for path in chosen]) * 1e3)
        ours.append(timed(lambda: drawn.extend(images[i] for i in places)) * 1e3)
        errors += [np.mean((image - records[i, 1:].reshape(3, 32, 32).transpose(1, 2, 0).astype(float)) ** 2)
                   for image, i in zip(drawn, places)]
    say("random", ours, theirs, {**config, "psnr": round(10 * np.log10(255 ** 2 / np.mean(errors)), 1)})


def epoch(loader):
    count = 0
    for images, _ in loader:
        count += len(images)
    return count


def batch_figures(given, opened, jpeg, config):
    folder = torchvision.datasets.ImageFolder(jpeg, torchvision.transforms.ToTensor())
    ours, theirs = [], []
    for round in range(given.rounds):
        some = torch.utils.data.Subset(folder, random.Random(round).sample(range(len(folder)), min(len(folder), 5000)))
        theirs.append(timed(lambda: epoch(DataLoader(some, 256, shuffle=True))) / len(some) * 1e6)
        data = taper.torch.Batches(opened(), 256, fidelity=config["fidelity"], shuffle=True, seed=round, float32=True)
        ours.append(timed(lambda: epoch(DataLoader(data, batch_size=None))) / len(data._set) * 1e6)
    say("batches", ours, theirs, config)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("taper")
    parser.add_argument("data")
    parser.add_argument("--images", type=int, default=50000)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    torch.set_num_threads(1)
    os.makedirs(WORK, exist_ok=True)
    records = cifar(given.data, given.images)
    png, jpeg = files(records, "png"), files(records, "jpeg")
    program_figures(given, container(given.taper, records[:10000], "set", "tiny"), {"model": "tiny", "images": 10000})
    for name, model in ("tiny", None), ("fast 16", trained(given, "16")), ("fast whole", trained(given, "whole")):
        config = {"model": name, "images": len(records)}
        if name != "fast whole":
            single = taper.open(container(given.taper, records, "image", model or name), model)
            passes = single.completeness(0)["passes_in_file"]
            random_figures(given, single, png, records, {**config, "passes": 1})
            random_figures(given, single.at(passes=passes // 4), png, records, {**config, "passes": 0.25})
        path = container(given.taper, records, "set", model or name)
        for fidelity in 80, 160:
            batch_figures(given, lambda: taper.open(path, model), jpeg, {**config, "fidelity": fidelity})


if __name__ == "__main__":
    main()
