#!/usr/bin/env python3
"""lossless.py -- what exact copies of photographs take.

    python3 bench/lossless.py TAPER KODAK PHOTOS >bench/results/lossless.jsonl

The folders have PNG files in colour; of PHOTOS every eighth is taken. Bytes of the set: PNG as it is, PNG by `optipng -o2`, WebP
by `cwebp -lossless -z 9`, JPEG XL by `cjxl -d 0 -e 7`, taper by `encode --lossless --strip`. ratio: taper's bytes over those. tail_cost: bytes before the exact
layer over those of the same passes without it, minus 1. Seconds of processor time a megapixel. What taper decodes is compared.

Needs the programs that it names. Price: 6 minutes.
"""
import argparse
import glob
import json
import os
import resource
import subprocess
import sys
import tempfile

import record

COMMAND = "python3 bench/lossless.py build/opt/taper KODAK PHOTOS"
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests"))


def run(*command):
    """Processor seconds of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def rivals(files):
    """Bytes and seconds of each program over all files."""
    programs = {"optipng -o2": lambda f: ("optipng", "-quiet", "-o2", "-strip", "all", "-clobber", "-out", "out", f),
                "cwebp -z 9": lambda f: ("cwebp", "-quiet", "-lossless", "-z", "9", f, "-o", "out"),
                "cjxl -e 7": lambda f: ("cjxl", "--quiet", "-d", "0", "-e", "7", "--num_threads", "0", f, "out")}
    yield "png as it is", sum(os.path.getsize(f) for f in files), 0
    for name, command in programs.items():
        size = seconds = 0
        for file in files:
            seconds += run(*command(file))
            size += os.path.getsize("out")
        yield name, size, seconds


def info(taper, container):
    return json.loads(subprocess.run((taper, "info", "--json", container), check=True, stdout=subprocess.PIPE).stdout)


def check(originals, decoded):
    from same_pixels import samples
    for file in originals:
        assert samples(file) == samples(os.path.join(decoded, os.path.basename(file))), file


def measure(taper, name, files):
    def say(metric, value, unit, **more):
        record.say("lossless", metric, value, unit, dict({"set": name, "images": len(files)}, **more), COMMAND)
    coding = run(taper, "encode", "-q", "-f", "--lossless", "--strip", "--threads", "1", "-o", "x.taper", *files)
    decoding = run(taper, "decode", "-q", "-f", "--threads", "1", "-o", "decoded", "x.taper")
    check(files[::6], "decoded")
    told = info(taper, "x.taper")
    size, pixels = os.path.getsize("x.taper"), told["pixels"] / 1e6
    say("bytes", size, "bytes", program="taper")
    say("seconds", round(coding / pixels, 3), "s/Mpixel", program="taper", what="encode")
    say("seconds", round(decoding / pixels, 3), "s/Mpixel", program="taper", what="decode")
    before = told["layers"][-2]["end"]
    run(taper, "truncate", "-q", "-f", "--bytes", str(before), "-o", "cut.taper", "x.taper")
    run(taper, "repack", "-q", "-f", "-o", "without.taper", "cut.taper")
    say("tail_cost", round(before / info(taper, "without.taper")["bytes"] - 1, 6), "")
    for program, other, seconds in rivals(files):
        say("bytes", other, "bytes", program=program)
        say("ratio", round(size / other, 4), "", program=program)
        if seconds:
            say("seconds", round(seconds / pixels, 3), "s/Mpixel", program=program, what="encode")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("taper")
    parser.add_argument("kodak")
    parser.add_argument("photos")
    args = parser.parse_args()
    taper = os.path.abspath(args.taper)
    sets = [(name, [os.path.abspath(f) for f in sorted(glob.glob(os.path.join(folder, "*.png")))][::step])
            for name, folder, step in (("kodak", args.kodak, 1), ("photos", args.photos, 8))]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, files in sets:
            measure(taper, name, files)


if __name__ == "__main__":
    main()
