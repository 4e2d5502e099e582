#!/usr/bin/env python3
"""mean_psnr.py DIR_A DIR_B -- mean PSNR in dB of B's 8-bit PNG files against those of A."""
import math
import os
import sys

from same_pixels import files_below, samples


def psnr(a, b):
    (shape, x), (other, y) = samples(a), samples(b)
    assert shape == other, (a, b)
    return 10 * math.log10(65025 * len(x) / max(sum((p - q) ** 2 for p, q in zip(x, y)), 1))


def main(a, b):
    values = [psnr(os.path.join(a, name), os.path.join(b, name)) for name in files_below(a)]
    print("%.4f" % (sum(values) / len(values)))


if __name__ == "__main__":
    main(*sys.argv[1:])
