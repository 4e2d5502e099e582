#!/usr/bin/env python3
"""least_psnr.py DIR_A DIR_B -- the least PSNR in dB of B's 8-bit PNG files against those of A, and
whose it is."""
import os
import sys

from mean_psnr import psnr
from same_pixels import files_below


def main(a, b):
    least = min((psnr(os.path.join(a, name), os.path.join(b, name)), name) for name in files_below(a))
    print("%.2f %s" % least)


if __name__ == "__main__":
    main(*sys.argv[1:])
