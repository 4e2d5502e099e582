#!/usr/bin/env python3
"""test_run.py -- how long the tiers of tests take, and how large the build folder becomes.

    python3 bench/test_run.py [CUDA...] >bench/results/test-run.jsonl

Clones this repository into a temporary folder and runs there `make check` from nothing, then `make check-quick` after
one source file was touched; for each value of CUDA (default: 0 1). Packages must be there. Price: ten minutes of two
processors that do nothing else; the load before each run is recorded."""
import os
import re
import subprocess
import sys
import tempfile
import time

import record

TOUCHED = "codec/decoder/decoder.c"


def make(folder, target, cuda):
    """Seconds that make took, the tests that passed and failed, and the most seconds of one test."""
    load, begun = os.getloadavg()[0], time.monotonic()
    out = subprocess.run(["make", "CUDA=" + cuda, target], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                         text=True).stdout
    took = time.monotonic() - begun
    passed = re.findall(r"^(\d+) passed, (\d+) failed", out, re.M)
    if not passed or passed[-1][1] != "0":
        sys.exit(out[-2000:])
    slowest = max(int(seconds) for seconds in re.findall(r"s of CPU, (\d+) s\)", out))
    return took, int(passed[-1][0]), slowest, load


def main():
    with tempfile.TemporaryDirectory() as work:
        for cuda in sys.argv[1:] or ("0", "1"):
            folder = os.path.join(work, cuda)
            subprocess.run(["git", "clone", "-q", record.ROOT, folder], check=True)
            for target in ("check", "check-quick"):
                if target == "check-quick":
                    os.utime(os.path.join(folder, TOUCHED))
                took, passed, slowest, load = make(folder, target, cuda)
                config = {"target": target, "cuda": int(cuda), "touched": TOUCHED if target == "check-quick" else "",
                          "load_before": round(load, 1)}
                for metric, value, unit in (("time", round(took, 1), "s"), ("passed", passed, "tests"),
                                            ("slowest_test", slowest, "s")):
                    record.say("test-run", metric, value, unit, config, "python3 bench/test_run.py")
            size = int(subprocess.run(["du", "-sm", folder + "/build"], stdout=subprocess.PIPE, text=True).stdout.split()[0])
            record.say("test-run", "build_size", size, "MiB", {"cuda": int(cuda)}, "python3 bench/test_run.py")


if __name__ == "__main__":
    main()
