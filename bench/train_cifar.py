#!/usr/bin/env python3
"""train_cifar.py -- test accuracy of a small network against the bytes an epoch reads: one container, JPEG and WebP files.

    python3 bench/train_cifar.py TAPER DATA [--held-out] [--epochs 8] [--seeds 3] [--ways WAY ...]
        >>bench/results/train-cifar.jsonl

TAPER   the program; PYTHONPATH has bindings/python
DATA    data_batch_1.bin to data_batch_5.bin and test_batch.bin of CIFAR-10
WAY     what is trained on; default: all of WAYS. `taper 80`: a container at 80 bytes an image; `photo 80`: with the model
        for photographs; `even 80`, `equal 80`: with this allocation, not `mean`; `jpeg420 30`, `jpeg444 30`: files of this
        quality, with optimised Huffman tables; `webp 30`: lossy files, method 6; `pixels whole`: the originals.
        `taper 40,40,40,160`: the epochs share these, of the same container; `jpeg420 10,10,10,75`: of two sets of files

The network, the augmentation and the loop are those of samples/train_cifar.py, but from images that were decoded once and
kept in memory. --held-out: train on the first 45,000 training images and test on the last 5,000, to choose settings.
Metrics, of a seed each: `accuracy` on the original test images, in %; `as_trained`, on test images coded as in the last
epoch. Of a way: `bytes`, an image and epoch, and for JPEG `payload`, what follows the headers of a file (counted as if these
were free). Bytes of a container are those of its cut, front matter included; those of files, what is in them.

A run that is in build/train-cifar/done.jsonl is printed again from there. Needs NumPy, PyTorch and Pillow. Price: two
minutes a run on one shared core, 55 runs.
"""
import argparse
import io
import json
import os
import subprocess
import sys

import numpy as np
import record
import torch
from PIL import Image

sys.path.insert(0, os.path.join(record.ROOT, "samples"))
import train_cifar as sample

import taper

WAYS = ("taper whole", "taper 160", "taper 80", "taper 40", "taper 40,40,40,160", "jpeg420 30", "jpeg420 10", "jpeg420 75",
        "webp 10", "jpeg444 95", "taper 120", "webp 1", "webp 30", "jpeg444 30",
        "taper 40,40,80,160", "taper 80,80,160,160", "jpeg420 20")
WORK, SIDE = "build/train-cifar", (28, 28)
COMMAND = "python3 bench/train_cifar.py build/opt/taper build/data"


def cifar(files):
    """Images (n, 3, 32, 32) and labels of CIFAR files."""
    records = np.concatenate([np.fromfile(file, np.uint8).reshape(-1, 3073) for file in files])
    return records[:, 1:].reshape(-1, 3, 32, 32), records[:, 0].astype(np.int64)


class Data:
    """Training and test images, each coded in any way; what was decoded is kept in files."""

    def __init__(self, program, folder, held_out):
        self.program, self.name = program, "held-out" if held_out else "test"
        images, labels = cifar([os.path.join(folder, "data_batch_%d.bin" % k) for k in range(1, 6)])
        if held_out:
            n = len(images) * 9 // 10
            self.original = {"train": (images[:n], labels[:n]), "test": (images[n:], labels[n:])}
        else:
            self.original = {"train": (images, labels), "test": cifar([os.path.join(folder, "test_batch.bin")])}

    def container(self, part, kind):
        path = "%s/%s-%s-%s.taper" % (WORK, self.name, part, kind)
        if not os.path.exists(path):
            images, labels = self.original[part]
            with open(path + ".bin", "wb") as out:
                out.write(np.concatenate([labels[:, None].astype(np.uint8), images.reshape(-1, 3072)], 1).tobytes())
            subprocess.run([self.program, "encode", "-q", "-T", "1", *CONTAINERS[kind], "-o", path + ".part", path + ".bin"],
                           check=True)
            os.remove(path + ".bin")
            os.rename(path + ".part", path)
        return taper.open(path)

    def decoded(self, part, kind, quality):
        """The images of a part, and {"bytes": an image, "payload": for JPEG}."""
        images = self.original[part][0]
        if kind == "pixels":
            return images, {"bytes": 3072.0}
        stem = "%s/%s-%s-%s-%s" % (WORK, self.name, part, kind, quality)
        if not os.path.exists(stem + ".json"):
            coded, sizes = self.cut(part, kind, quality) if kind in CONTAINERS else in_files(images, kind, int(quality))
            np.save(stem + ".npy", coded)
            with open(stem + ".json", "w", encoding="utf-8") as out:
                json.dump({**sizes, "psnr": psnr(coded, images)}, out)
        with open(stem + ".json", encoding="utf-8") as sizes:
            return np.load(stem + ".npy", mmap_mode="r"), json.load(sizes)

    def cut(self, part, kind, quality):
        images = self.container(part, kind)
        size = images.file_bytes if quality == "whole" else min(int(quality) * len(images), images.file_bytes)
        return images.at(bytes=size).batch(channels_first=True), {"bytes": size / len(images)}


CONTAINERS = {"taper": ("-m", "tiny", "--allocation", "mean"), "photo": ("-m", "photo", "--allocation", "mean"),
              "even": ("-m", "tiny"), "equal": ("-m", "tiny", "--allocation", "equal")}


def in_files(images, kind, quality):
    """Each image as a file of its own, and decoded."""
    coded, bytes_, payload = np.empty_like(images), 0, 0
    for k, image in enumerate(images.transpose(0, 2, 3, 1)):
        file = io.BytesIO()
        if kind == "webp":
            Image.fromarray(image).save(file, "WEBP", quality=quality, method=6)
        else:
            Image.fromarray(image).save(file, "JPEG", quality=quality, optimize=True, subsampling=2 if kind == "jpeg420" else 0)
        coded[k] = np.asarray(Image.open(file).convert("RGB")).transpose(2, 0, 1)
        bytes_ += len(file.getvalue())
        payload += len(file.getvalue()) - headers(file.getvalue()) if kind != "webp" else 0
    return coded, {"bytes": bytes_ / len(images), **({"payload": payload / len(images)} if payload else {})}


def headers(jpeg):
    """Bytes before the entropy-coded data of a JPEG file of one scan."""
    scan = jpeg.rindex(b"\xff\xda")
    return scan + 2 + int.from_bytes(jpeg[scan + 2:scan + 4], "big")


def psnr(images, originals):
    errors = np.concatenate([((images[k:k + 1000].astype(np.float32) - originals[k:k + 1000]) ** 2).mean((1, 2, 3))
                             for k in range(0, len(images), 1000)])
    return float(np.mean(10 * np.log10(65025 / np.maximum(errors, 65025e-6))))  # exact images count as 60 dB


class Kept(torch.utils.data.IterableDataset):
    """As taper.torch.Batches, from arrays: by_fidelity[fidelity] has the images."""

    def __init__(self, by_fidelity, labels, seed):
        self.by_fidelity, self.labels, self.seed = by_fidelity, torch.from_numpy(labels), seed
        self.fidelity = self.epoch = None

    def set_epoch(self, epoch):
        self.epoch = epoch

    def set_fidelity(self, fidelity):
        self.fidelity = fidelity

    def __len__(self):
        return -(-len(self.labels) // sample.BATCH)

    def __iter__(self):
        images, random = self.by_fidelity[self.fidelity], np.random.default_rng((self.seed, self.epoch))
        for places in np.split(random.permutation(len(self.labels)), range(sample.BATCH, len(self.labels), sample.BATCH)):
            y, x = (random.integers(0, 32 - side + 1, (len(places), 1)) + np.arange(side) for side in SIDE)
            crops = images[places[:, None, None, None], np.arange(3)[:, None, None], y[:, None, :, None], x[:, None, None, :]]
            yield torch.from_numpy(crops), self.labels[places]


def run(data, way, epochs, seed, rate):
    """The metrics of one training run."""
    kind, _, words = way.partition(" ")
    plan = sample.fidelities(words, epochs)
    coded = {f: data.decoded("train", kind, f or "whole") for f in plan}
    torch.manual_seed(seed)
    model = sample.train(Kept({f: coded[f][0] for f in coded}, data.original["train"][1], seed), plan, 10, rate)
    images, labels = data.original["test"]
    as_trained = data.decoded("test", kind, plan[-1] or "whole")[0]
    sizes = {name: round(sum(coded[f][1][name] for f in plan) / epochs, 1) for name in coded[plan[0]][1] if name != "psnr"}
    return {"accuracy": round(sample.accuracy(model, images, labels, SIDE), 2),
            "as_trained": round(sample.accuracy(model, np.array(as_trained), labels, SIDE), 2), **sizes,
            "psnr": round(coded[plan[-1]][1].get("psnr", 60), 2)}


UNITS = {"accuracy": "%", "as_trained": "%", "bytes": "bytes", "payload": "bytes", "psnr": "dB"}


def say(found, config):
    for metric in found:
        if metric in ("accuracy", "as_trained"):
            record.say("train-cifar", metric, found[metric], UNITS[metric], config, COMMAND)
        elif config["seed"] == 0:
            record.say("train-cifar", metric, found[metric], UNITS[metric], {**config, "seed": "any"}, COMMAND)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("taper")
    parser.add_argument("data")
    parser.add_argument("--ways", nargs="+", default=WAYS, metavar="WAY")
    parser.add_argument("--held-out", action="store_true")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rate", type=float, default=0.3)
    given = parser.parse_args()
    torch.set_num_threads(1)
    os.makedirs(WORK, exist_ok=True)
    data, log, done = Data(given.taper, given.data, given.held_out), os.path.join(WORK, "done.jsonl"), {}
    if os.path.exists(log):
        with open(log, encoding="utf-8") as lines:
            done = {json.dumps(key): found for key, found in map(json.loads, lines)}
    for seed in range(given.seeds):
        for way in given.ways:
            config = {"way": way, "tested": data.name, "epochs": given.epochs, "rate": given.rate, "seed": seed}
            if json.dumps(config) not in done:
                done[json.dumps(config)] = run(data, way, given.epochs, seed, given.rate)
                with open(log, "a", encoding="utf-8") as lines:
                    print(json.dumps([config, done[json.dumps(config)]]), file=lines)
            say(done[json.dumps(config)], config)


if __name__ == "__main__":
    main()
