#!/usr/bin/env python3
"""loaders.py -- processor time an image of taper.torch.Batches, and of torchvision's ImageFolder on JPEG files.

    python3 bench/loaders.py TAPER FILE >bench/results/loaders.jsonl

TAPER   the program; PYTHONPATH has bindings/python
FILE    images of CIFAR-10, of which the first 10,000 are used: data_batch_1.bin

One worker each, batches of 256 in random order, tensors of uint8. `user` is the user time of the worker and of the loop in
microseconds an image, the start of the worker included; `images_per_second` is 10^6 / user. The JPEG files are 4:2:0 with
optimised tables, in a folder for each class, and in the system's memory as the container is. In each of ROUNDS all take
turns; a figure is the least of them, and `ratio` the median of the rounds' quotients, user time by that of ImageFolder at the
JPEG quality of 75. Needs NumPy, PyTorch, torchvision and Pillow. Price: 3 minutes.
"""
import os
import resource
import subprocess
import sys
import tempfile

import numpy as np
import record
import torch
import torchvision
from PIL import Image
from torch.utils.data import DataLoader

import taper.torch

COUNT, BATCH, ROUNDS, QUALITIES = 10000, 256, 5, (30, 75, 95)
COMMAND = "python3 bench/loaders.py build/opt/taper build/data/data_batch_1.bin"


def user():
    return sum(resource.getrusage(who).ru_utime for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def write_files(records, folder, quality):
    for k, one in enumerate(records):
        name = os.path.join(folder, str(one[0]), "%05d.jpg" % k)
        os.makedirs(os.path.dirname(name), exist_ok=True)
        Image.fromarray(one[1:].reshape(3, 32, 32).transpose(1, 2, 0)).save(name, quality=quality, optimize=True, subsampling=2)


def of_files(folder):
    images = torchvision.datasets.ImageFolder(folder, torchvision.transforms.PILToTensor())
    return DataLoader(images, batch_size=BATCH, shuffle=True, num_workers=1)


def of_container(path, fidelity):
    return DataLoader(taper.torch.Batches(path, BATCH, fidelity=fidelity, shuffle=True), batch_size=None, num_workers=1)


def epoch(loader):
    """Microseconds an image."""
    before, images = user(), 0
    for batch, _ in loader:
        images += len(batch)
    assert images == COUNT
    return (user() - before) / images * 1e6


def main():
    program, file = sys.argv[1:]
    torch.set_num_threads(1)
    records = np.fromfile(file, np.uint8, 3073 * COUNT).reshape(COUNT, 3073)
    with tempfile.TemporaryDirectory() as folder:
        records.tofile(os.path.join(folder, "some.bin"))
        path = os.path.join(folder, "some.taper")
        subprocess.run([program, "encode", "-q", "-m", "tiny", "-o", path, os.path.join(folder, "some.bin")], check=True)
        loaders = {}
        for quality in QUALITIES:
            write_files(records, os.path.join(folder, "q%d" % quality), quality)
            loaders["ImageFolder", quality] = of_files(os.path.join(folder, "q%d" % quality))
        for fidelity in (40, 80, 160, None):
            loaders["Batches", fidelity or "whole"] = of_container(path, fidelity)
        times = [{name: epoch(loader) for name, loader in loaders.items()} for _ in range(ROUNDS + 1)][1:]
    for name in loaders:
        config = {"loader": name[0], "fidelity": name[1], "images": COUNT, "workers": 1, "rounds": ROUNDS}
        least = min(found[name] for found in times)
        record.say("loaders", "user", round(least, 1), "us/image", config, COMMAND)
        record.say("loaders", "images_per_second", round(1e6 / least), "images/s", config, COMMAND)
        ratio = float(np.median([found[name] / found["ImageFolder", 75] for found in times]))
        record.say("loaders", "ratio", round(ratio, 2), "", config, COMMAND)


if __name__ == "__main__":
    main()
