#!/usr/bin/env python3
"""itq.py -- a baseline for bits that learn without labels: iterative quantisation (Y. Gong and S. Lazebnik, CVPR 2011) of
histograms of oriented gradients and coarse colours, on CIFAR-10. The share of the ten nearest images that have the class of the query.

    python3 bench/itq.py FOLDER [--bits 64 256] [--components 64 128 256] >>bench/results/itq.jsonl

FOLDER has the files of CIFAR-10 in the binary format. All test images are queries among all training images, from which the
components and rotations are learned, by Hamming distance; of equal distances the first images are taken. The values are those of
4x4 cells: 18 orientations with sign, 9 without, four sums, and the mean colours, with the contrast normalisation of Felzenszwalb and
others (PAMI 2010). Where there are fewer components than bits, several rotations are learned, with a seed each. The best number of
components is thus chosen on the test images, as suits a baseline. Needs python3-numpy. Price: ten minutes.
"""
import argparse
import glob

import numpy as np

import record

CELLS, SIDE, ORIENTATIONS, NEAREST = 4, 32, 18, 10


def read(paths):
    rows = np.concatenate([np.fromfile(path, np.uint8).reshape(-1, 3073) for path in paths])
    return rows[:, 1:].reshape(-1, 3, SIDE, SIDE), rows[:, 0]


def weights():
    """[cells][side]: the part of each pixel in each cell, along a side."""
    at = (np.arange(SIDE) + .5) * CELLS / SIDE - .5
    return np.maximum(0, 1 - abs(at - np.arange(CELLS)[:, None])).astype(np.float32)


def orientations(images):
    """[n][orientations][side][side]: votes of each pixel, by the channel of the longest gradient."""
    x = np.pad(images.astype(np.float32), ((0, 0), (0, 0), (1, 1), (1, 1)), "edge")
    dx, dy = x[:, :, 1:-1, 2:] - x[:, :, 1:-1, :-2], x[:, :, 2:, 1:-1] - x[:, :, :-2, 1:-1]
    longest = (dx * dx + dy * dy).argmax(1)[:, None]
    dx, dy = (np.take_along_axis(d, longest, 1)[:, 0] for d in (dx, dy))
    angle = np.arctan2(dy, dx) / (2 * np.pi) * ORIENTATIONS % ORIENTATIONS
    first = angle.astype(int) % ORIENTATIONS
    part, strength = (angle - np.floor(angle)).astype(np.float32), np.hypot(dx, dy)
    votes = np.zeros((len(images), ORIENTATIONS, SIDE, SIDE), np.float32)
    np.put_along_axis(votes, first[:, None], (strength * (1 - part))[:, None], 1)
    np.put_along_axis(votes, ((first + 1) % ORIENTATIONS)[:, None], (strength * part)[:, None], 1)
    return votes


def values(images):
    w, rows = weights(), []
    for i in range(0, len(images), 1000):
        some = images[i:i + 1000]
        signed = w @ orientations(some) @ w.T
        unsigned = signed[:, :ORIENTATIONS // 2] + signed[:, ORIENTATIONS // 2:]
        energy = np.pad((unsigned ** 2).sum(1), ((0, 0), (1, 1), (1, 1)), "edge")
        block = energy[:, :-1, :-1] + energy[:, 1:, :-1] + energy[:, :-1, 1:] + energy[:, 1:, 1:]
        both, total, sums = np.concatenate([signed, unsigned], 1), 0, []
        for y in (0, 1):
            for x in (0, 1):
                normal = np.minimum(both / np.sqrt(block[:, y:y + CELLS, x:x + CELLS] + 1)[:, None], .2)
                total = total + normal
                sums.append(normal[:, :ORIENTATIONS].sum(1) / np.sqrt(ORIENTATIONS) / 4)
        colours = w @ some.astype(np.float32) @ w.T / (w.sum(1)[:, None] * w.sum(1)) / 255 * .8
        rows.append(np.concatenate([p.reshape(len(some), -1) for p in (total / 2, np.stack(sums, 1), colours)], 1))
    return np.concatenate(rows)


def rotation(projected, seed, steps=30):
    """Of ITQ: alternately the bits, and the rotation that brings the numbers nearest to them."""
    r = np.linalg.qr(np.random.default_rng(seed).standard_normal((projected.shape[1],) * 2))[0]
    for _ in range(steps):
        u, _, v = np.linalg.svd(np.sign(projected @ r).T @ projected)
        r = (u @ v).T
    return r


def same_class(queries, among, truth, labels):
    """By bits of -1 and 1."""
    right = 0
    for i in range(0, len(queries), 200):
        distance = (queries.shape[1] - queries[i:i + 200] @ among.T).astype(np.int32)
        keys = distance * np.int64(len(among)) + np.arange(len(among))  # of equal distances the first
        nearest = np.argpartition(keys, NEAREST, 1)[:, :NEAREST]
        right += (labels[nearest] == truth[i:i + 200, None]).sum()
    return right / len(queries) / NEAREST


def main():
    words = argparse.ArgumentParser(usage=__doc__)
    words.add_argument("folder")
    words.add_argument("--bits", nargs="+", type=int, default=[64, 256])
    words.add_argument("--components", nargs="+", type=int, default=[32, 64, 128, 256])
    given = words.parse_args()
    train, labels = read(sorted(glob.glob(given.folder + "/data_batch_*.bin")))
    test, truth = read([given.folder + "/test_batch.bin"])
    known, new = values(train), values(test)
    mean = known.mean(0)
    axes = np.linalg.eigh(np.cov((known - mean).T))[1][:, ::-1]
    for bits in given.bits:
        for components in (c for c in given.components if c <= bits):
            a, b = ((x - mean) @ axes[:, :components] for x in (known, new))
            turns = np.concatenate([rotation(a[::2], seed) for seed in range(-(-bits // components))], 1)[:, :bits]
            a, b = (np.where(x @ turns > 0, 1, -1).astype(np.float32) for x in (a, b))
            share = 100 * same_class(b, a, truth, labels)
            record.say("itq", "same_class", float("%.4g" % share), "%", {"set": "cifar-10", "bits": bits, "components": components},
                       "bench/itq.py")


if __name__ == "__main__":
    main()
