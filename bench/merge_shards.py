#!/usr/bin/env python3
"""merge_shards.py -- `taper merge` of many shards of CIFAR-10, beside `cat` of the same files.

    python3 bench/merge_shards.py TAPER DATA... [--shards 1000] [--rounds 5] [--layouts set,image] [--work DIR] >bench/results/merge-shards.jsonl

DATA are binary files of CIFAR-10. Each 1,000 of their images become a container of default quality with the layers of a shard, by the built-in model
`tiny`; copies of these are the shards. Both sides write to a file as standard output, so that neither waits for the disk, and all
shards are read once before, so that both find them in the system's cache. Memory is the peak of the process.

Figures are medians over rounds, in which both sides run in turn; the ratios are medians of the ratios of a round. `few_open` is
merging with a limit of 256 open files, over `cat`.

Price: two minutes for 10,000 images and two layouts, 2.4 GB in DIR.
"""
import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import record

EACH, RECORD_BYTES, FEW = 1000, 3073, 256


def limit_files():
    resource.setrlimit(resource.RLIMIT_NOFILE, (FEW, FEW))


def run(words, out, limited=False):
    """Seconds, processor time and peak memory in bytes of a command whose output goes to a file."""
    with open(out, "wb") as to:
        begin = time.monotonic()
        child = subprocess.Popen(words, stdout=to, preexec_fn=limit_files if limited else None)
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        sys.exit("%s ...: exit code %d" % (" ".join(words[:4]), child.returncode))
    return {"seconds": time.monotonic() - begin, "cpu": used.ru_utime + used.ru_stime, "memory": 1024 * used.ru_maxrss}


def encode(taper, files, layout, work):
    """One container of each 1,000 images."""
    made = []
    for file in files:
        with open(file, "rb") as images:
            while len(part := images.read(EACH * RECORD_BYTES)) == EACH * RECORD_BYTES:
                with open(work + "/part.bin", "wb") as to:
                    to.write(part)
                made.append("%s/%s-%d.taper" % (work, layout, len(made)))
                subprocess.run([taper, "encode", "-q", "-m", "tiny", "--layout", layout, "--shard", "1/1", "-o", made[-1], work + "/part.bin"], check=True)
    if not made:
        sys.exit("no file has %d images of CIFAR-10" % EACH)
    return made


def make_shards(made, layout, shards, work):
    names = ["%s/%s-shard-%05d.taper" % (work, layout, k) for k in range(shards)]
    for k, name in enumerate(names):
        shutil.copyfile(made[k % len(made)], name)
    return names


def measure(taper, layout, shards, rounds, work):
    config = {"layout": layout, "shards": len(shards), "images": EACH * len(shards)}

    def say(metric, value, unit):
        record.say("merge-shards", metric, float("%.4g" % value), unit, config, "bench/merge_shards.py")

    merge, out = [taper, "merge", "-q", "-o", "-"] + shards, work + "/out"
    run(["cat"] + shards, out)
    sides = {"copy": [], "merge": [], "few_open": []}
    for _ in range(rounds):
        sides["copy"].append(run(["cat"] + shards, out))
        sides["merge"].append(run(merge, out))
        sides["few_open"].append(run(merge, out, limited=True))
    say("input_bytes", sum(map(os.path.getsize, shards)), "bytes")
    for side, tries in sides.items():
        for metric, unit in (("seconds", "s"), ("cpu", "s"), ("memory", "bytes")):
            say("%s_%s" % (side, metric), statistics.median(t[metric] for t in tries), unit)
        for metric in ("seconds", "cpu"):
            if side != "copy":
                ratios = [t[metric] / c[metric] for t, c in zip(tries, sides["copy"])]
                say("%s_%s_ratio" % (side, metric), statistics.median(ratios), "ratio")


def main():
    words = argparse.ArgumentParser()
    words.add_argument("taper")
    words.add_argument("data", nargs="+")
    words.add_argument("--shards", type=int, default=1000)
    words.add_argument("--rounds", type=int, default=5)
    words.add_argument("--layouts", default="set,image")
    words.add_argument("--work")
    given = words.parse_args()
    for layout in given.layouts.split(","):
        with tempfile.TemporaryDirectory(dir=given.work) as work:
            made = encode(given.taper, given.data, layout, work)
            measure(given.taper, layout, make_shards(made, layout, given.shards, work), given.rounds, work)


if __name__ == "__main__":
    main()
