#!/usr/bin/env python3
"""train_cifar.py -- train a small network from one container at several fidelities: test accuracy against bytes read.

    taper encode -m tiny -o train.taper data_batch_?.bin       # any folder of images of one size, a folder for each class
    taper encode --lossless -o test.taper test_batch.bin       # the original test images
    python3 samples/train_cifar.py train.taper test.taper --fidelity 40 80 160 whole 40,40,40,160

Each word after --fidelity is one training run. A number is the bytes an image that are read, on average; `whole` reads the
file to its end. Several of them with commas share the epochs: 40,40,40,160 reads 40 bytes in the first three quarters of the
epochs and 160 in the last. The file is the same for all. Needs the package `taper` (docs/python.md), NumPy and PyTorch.

Prints for each run the bytes an image that an epoch read from the file, the accuracy on the test images, and that on the test
images cut to as many bytes an image as the last epoch had: the network has seen no sharper ones.
"""
import argparse
import io
import json

import taper
import taper.torch
import torch
from torch import nn
from torch.utils.data import DataLoader

BATCH, MEAN, STD = 128, 0.5, 0.25


class Counted(io.FileIO):
    """A file that counts the bytes that are read."""
    bytes = 0

    def read(self, n=-1):
        part = super().read(n)
        self.bytes += len(part)
        return part


def block(inputs, outputs, size=3, stride=1, pool=1):
    return nn.Sequential(nn.Conv2d(inputs, outputs, size, stride, padding=1, bias=False),
                         nn.MaxPool2d(pool) if pool > 1 else nn.Identity(), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))


def network(classes, width=16):
    """5 million operations for an image of 28 x 28."""
    return nn.Sequential(block(3, width, 4, 2), block(width, 2 * width, pool=2), block(2 * width, 4 * width, pool=2),
                         block(4 * width, 8 * width), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                         nn.Linear(8 * width, classes)).to(memory_format=torch.channels_last)


def prepared(images):
    return ((images.float() / 255 - MEAN) / STD).to(memory_format=torch.channels_last)


def mirrored(images):
    """Half of the images, at random, from right to left."""
    chosen = torch.rand(len(images)) < 0.5
    return torch.where(chosen.view(-1, 1, 1, 1), images.flip(3), images)


def fidelities(plan, epochs):
    """Of each epoch: bytes an image, or None for all. plan: "80", "whole", or several with commas."""
    parts = [None if part == "whole" else int(part) for part in plan.split(",")]
    return [parts[epoch * len(parts) // epochs] for epoch in range(epochs)]


def train(data, plan, classes, rate=0.3):
    """A trained network. data: batches, as taper.torch.Batches; plan: the fidelity of each epoch."""
    model = network(classes)
    optimiser = torch.optim.SGD(model.parameters(), rate, momentum=0.9, nesterov=True, weight_decay=5e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, rate, epochs=len(plan), steps_per_epoch=len(data))
    for epoch, fidelity in enumerate(plan):
        data.set_epoch(epoch)
        data.set_fidelity(fidelity)
        for images, labels in DataLoader(data, batch_size=None):
            optimiser.zero_grad(set_to_none=True)
            nn.functional.cross_entropy(model(prepared(mirrored(images))), labels).backward()
            optimiser.step()
            schedule.step()
    return model


def accuracy(model, images, labels, side):
    """Percent of the images, of which the network sees the middle."""
    y, x = (images.shape[2] - side[0]) // 2, (images.shape[3] - side[1]) // 2
    images = torch.as_tensor(images)[:, :, y:y + side[0], x:x + side[1]]
    model.eval()
    with torch.no_grad():
        answers = torch.cat([model(prepared(part)).argmax(1) for part in images.split(500)])
    return 100 * (answers == torch.as_tensor(labels)).double().mean().item()


def measure(file, test, plan, seed):
    """One run: what it read, and how often the network is right."""
    torch.manual_seed(seed)
    images = taper.open(file)
    side = [images.info(0)[name] * 7 // 8 for name in ("height", "width")]  # random crops, so that few images are enough
    data = taper.torch.Batches(images, BATCH, shuffle=True, seed=seed, crop="random", height=side[0], width=side[1])
    opened = file.bytes
    model = train(data, plan, len(images.classes))
    read = opened + (file.bytes - opened) / len(plan)
    last = test.at(bytes=plan[-1] * len(test)) if plan[-1] else test
    return {"bytes": round(read / len(images), 1),
            "accuracy": round(accuracy(model, test.batch(channels_first=True), test.labels, side), 2),
            "as_trained": round(accuracy(model, last.batch(channels_first=True), test.labels, side), 2)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train")
    parser.add_argument("test")
    parser.add_argument("--fidelity", nargs="+", default=["40", "80", "160", "whole"])
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="a JSON line for each run")
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    if not given.json:
        print("%-20s %15s %15s %15s" % ("fidelity", "bytes an image", "accuracy, %", "as trained, %"))
    for words in given.fidelity:
        with Counted(given.train) as file:
            found = measure(file, taper.open(given.test), fidelities(words, given.epochs), given.seed)
        if given.json:
            print(json.dumps({"fidelity": words, "epochs": given.epochs, "seed": given.seed, **found}), flush=True)
        else:
            print("%-20s %15.1f %15.2f %15.2f" % (words, found["bytes"], found["accuracy"], found["as_trained"]), flush=True)


if __name__ == "__main__":
    main()
