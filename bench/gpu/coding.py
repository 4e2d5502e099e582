#!/usr/bin/env python3
"""Where the time of coding goes, and the most that a GPU could take off it.

    python3 bench/gpu/coding.py BUILD_DIR NAME IMAGES VALUES CODES VERB [OPTIONS of that verb]

Runs taper under perf, in a build that keeps frame pointers (make B=build/fp CFLAGS="-O3 -g -fno-omit-frame-pointer"),
and prints JSON lines: the share of each stage in all processors' time, and by how much coding would be faster at the
most if analysis, synthesis and restoration took no time: of a set without end on any number of threads, and of this set
on 16, where the model is read by one and a GPU takes START seconds to begin (not measured here). IMAGES of VALUES samples
have codes of CODES numbers, all windows together. Codes travel as floats and samples as bytes, at 20 GB/s, while the
processor works on what it keeps. The last line is how many images it takes for 1.5 x on 16 threads; 0: no number does.
"""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

HERTZ, BYTES_PER_SECOND, THREADS, START = 499, 20e9, 16, 0.3
# The innermost function of a stage says which it is; `bits` are what must stay integers on the processor.
STAGES = [("analysis", r"codec_network_encode|codec_triangle_decide"),
          ("synthesis", r"codec_network_decode|codec_triangle_mix|codec_windows_(store|write)"),
          ("restoration", r"codec_restoration_apply"),
          ("model", r"taper_model_|codec_model_|codec_pseudo_inverse"),
          ("bits", r"codec_(contexts|conditional|causal|chunk|group|head|quantise|dequantise)|encode_pass|encode_binary_pass")]
ON_A_GPU = ("analysis", "synthesis", "restoration")


def stage_of(functions):
    for function in functions:
        for stage, pattern in STAGES:
            if re.match(pattern, function):
                return stage
    return "rest"


def samples(command):
    """How often a stage was at work, at HERTZ on each thread."""
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "perf.data")
        subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-g", "-F", str(HERTZ), "-o", data, *command], check=True)
        script = subprocess.run(["perf", "script", "-i", data, "-F", "comm,tid,ip,sym"], check=True,
                                capture_output=True, text=True).stdout
    count = collections.Counter()
    for sample in script.split("\n\n"):
        functions = [line.split()[1] for line in sample.split("\n")[1:] if len(line.split()) > 1]
        if functions:
            count[stage_of(functions)] += 1
    return count


def text(command):
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def machine():
    for line in open("/proc/cpuinfo", encoding="utf-8"):
        if line.startswith("model name"):
            return f"{line.split(':')[1].strip()}, {os.cpu_count()} cores"
    return "unknown"


def gains(count, images, bytes_):
    """The most gain without end, of this set on THREADS, and the images that it takes for WORTH on these."""
    worth = 1.5
    every, model = sum(count.values()) / HERTZ, count["model"] / HERTZ
    each = (every - model) / images
    kept = each - sum(count[stage] for stage in ON_A_GPU) / HERTZ / images
    fast, slow = max(kept / THREADS, bytes_ / BYTES_PER_SECOND), each / THREADS
    here = (images * slow + model) / (images * fast + model + START)
    spare = slow - worth * fast
    return each / kept, here, (worth * (model + START) - model) / spare if spare > 0 else 0


def main():
    if len(sys.argv) < 7:
        sys.exit(__doc__)
    build, name, images, values, codes = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6])
    options = sys.argv[6:]
    count = samples([os.path.join(build, "taper"), *options])
    every = sum(count.values())
    told = {"commit": text(["git", "describe", "--always", "--dirty"]), "machine": machine(),
            "command": "python3 bench/gpu/coding.py BUILD " + " ".join(os.path.basename(word) for word in sys.argv[2:])}

    def say(metric, value, unit, **more):
        config = {"case": name, "verb": options[0], "images": images, "device": "cpu", **more}
        print(json.dumps({"bench": "coding/shares", "metric": metric, "value": float(f"{value:.4g}"), "unit": unit,
                          "config": config, **told}))

    say("processor time", 1e6 * every / HERTZ / images, "us/image")
    for stage in [stage for stage, _ in STAGES] + ["rest"]:
        if count[stage]:
            say(stage, 100 * count[stage] / every, "%")
    endless, here, wanted = gains(count, images, values + 4 * codes)
    say("most gain, sets without end", endless, "x")
    say("most gain, this set", here, "x", threads=THREADS, start_s=START)
    say("images for 1.5 x", wanted, "images", threads=THREADS, start_s=START)


main()
