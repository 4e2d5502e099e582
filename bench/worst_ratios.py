#!/usr/bin/env python3
"""worst_ratios.py -- memory and processor time of `taper index` on small files that hold large pictures.

    python3 bench/worst_ratios.py BUILD_DIR >bench/results/worst-ratios.jsonl

The pictures in the table of SECURITY.md, and honest ones: a fractal, whose spectrum is like that of photographs, as
JPEG and PNG. Needs ImageMagick. Draws the files with tests/hostile_files.py in a temporary folder. Price: a minute,
1.6 GB of memory."""
import os
import subprocess
import sys
import tempfile

import record

DRAW = [sys.executable, os.path.join(record.ROOT, "tests", "hostile_files.py")]
FILES = (("jpeg", 16384), ("scans", 16384), ("png", 16384), ("flat", 16384), ("texts", 2000))


def take(*command):
    """Exit code, MiB of memory, milliseconds of processor time."""
    out = subprocess.run([*DRAW, "take", *command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True)
    return [int(number) for number in out.stdout.split()]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = os.path.abspath(sys.argv[1])
    taper, samples = build + "/taper", build + "/make_samples"
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        subprocess.run([samples, "small", "set", "--count", "40", "--format", "png"], check=True, stderr=subprocess.DEVNULL)
        subprocess.run([taper, "train-bits", "-q", "-T", "1", "-w", "whole", "-k", "16",
                        "--independent", "-e", "1", "--hidden", "4", "-o", "bits.tpm", "set/png"], check=True)
        index = (taper, "index", "-f", "-T", "1", "-m", "bits.tpm", "-o", "out.tpx")
        for kind, n in FILES + (("honest jpeg", 1600), ("honest png", 900)):
            if kind.startswith("honest"):
                subprocess.run(["convert", "-seed", "1", "-size", "%dx%d" % (n, n * 3 // 4), "plasma:fractal", "-quality", "90",
                                kind[7:] + ":file"], check=True)
            else:
                subprocess.run([*DRAW, kind, str(n), "file"], check=True)
            code, mib, ms = take(*index, "file")
            size = os.path.getsize("file")
            for metric, value, unit in (("memory", mib, "MiB"), ("time", ms, "ms"), ("exit_code", code, "code")):
                record.say("worst-ratios", metric, value, unit, {"file": kind, "n": n, "bytes": size},
                           "python3 bench/worst_ratios.py build/opt")


if __name__ == "__main__":
    main()
