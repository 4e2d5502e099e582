#!/usr/bin/env python3
"""What bench/gpu/run.sh reads out of files.

    figures.py value FILE METRIC PRECISION NETWORK   value of the last JSON line with these
    figures.py step LOG                              of the median epoch of a `taper train --log`: milliseconds a step, and
                                                     until the host had put it on its stream
    figures.py epoch LOG                             seconds of the median epoch but the first, of any `taper train --log`
    figures.py bytes REPORT PSNR                     held-out bytes an image at that PSNR, of a `taper train --json`
    figures.py ptxas BUILD_DIR                       what ptxas says of the kernels there, as JSON lines
    figures.py model BUILD_DIR IMAGES                launches of a step of 3072-1024-3072 (BUILD_DIR/tests/taper_model),
                                                     and what tests/mutants.sh has left in BUILD_DIR/mutants
"""
import glob
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile


def lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.startswith("{")]


def value(path, metric, precision, network):
    found = [line["value"] for line in lines(path) if line["metric"] == metric and
             line["config"].get("precision") == precision and line["config"].get("network") == network]
    print(found[-1] if found else "")


def step(path):
    """The log tells what all steps up to the end of an epoch have taken, without the looks between epochs."""
    epochs = [{"steps": 0, "step_seconds": 0, "host_seconds": 0}] + lines(path)
    for key in "step_seconds", "host_seconds":
        spans = [(b[key] - a[key]) / (b["steps"] - a["steps"]) for a, b in zip(epochs, epochs[1:])]
        print(f"{1e3 * statistics.median(spans):.4f}")


def epoch(path):
    seconds = [line["seconds"] for line in lines(path) if "epoch" in line]
    print(f"{statistics.median(b - a for a, b in zip(seconds, seconds[1:])):.4f}")


def bytes_at(path, psnr):
    """Between two points, the logarithm of the bytes is taken as linear in PSNR."""
    points = [(p["psnr_db"], p["bytes_per_image"]) for p in lines(path)[-1]["validation"]]
    for (low, few), (high, more) in zip(points, points[1:]):
        if low <= psnr <= high:
            part = (psnr - low) / (high - low) if high > low else 0.0
            print(f"{math.exp(math.log(few) + part * (math.log(more) - math.log(few))):.1f}")
            return
    print("null")


def kernels(build):
    """{"file/name": {architecture: (registers, bytes shared, bytes spilled)}}"""
    found, name, arch, spilled = {}, None, None, 0
    for path in sorted(glob.glob(os.path.join(build, "train", "cuda", "**", "*.ptxas"), recursive=True)):
        for line in open(path, encoding="utf-8"):
            entry = re.search(r"Compiling entry function '(\w+)' for 'sm_(\d+)'", line)
            if entry:
                mangled, arch = entry.groups()
                plain = re.match(r"_Z(?:N\d+_GLOBAL__N_\w*?)?(\d+)", mangled)
                rest = mangled[plain.end():]
                length = int(plain.group(1))
                name = f"{os.path.basename(path).split('.')[0]}/{rest[:length]}{template(rest[length:])}"
            spill = re.search(r"(\d+) bytes spill stores, (\d+) bytes spill loads", line)
            if spill:
                spilled = int(spill.group(1)) + int(spill.group(2))
            used = re.search(r"Used (\d+) registers", line)
            if used and name:
                shared = re.search(r"(\d+) bytes smem", line)
                figures = (int(used.group(1)), int(shared.group(1)) if shared else 0, spilled)
                found.setdefault(name, {}).setdefault(arch, figures)
                found[name][arch] = tuple(map(max, found[name][arch], figures))
    return found


def template(rest):
    """What tells instances of one template apart."""
    arguments = re.match(r"I(.*?)E", rest)
    return f"<{arguments.group(1)}>" if arguments else ""


def say(metric, number, unit, config):
    environment = os.environ.get
    print(json.dumps({"bench": "cuda/kernels", "metric": metric, "value": number, "unit": unit, "config": config,
                      "commit": environment("TAPER_COMMIT", ""), "machine": environment("TAPER_MACHINE", "nvcc"),
                      "command": " ".join(["bench/gpu/figures.py"] + sys.argv[1:])}))


def ptxas(build):
    found = kernels(build)
    device = os.environ.get("BENCH_DEVICE", "host-model")
    for name, by_arch in sorted(found.items()):
        config = {"device": device, "kernel": name}
        for arch, (registers, shared, spilled) in sorted(by_arch.items()):
            config[f"sm_{arch}"] = {"registers": registers, "shared": shared, "spilled": spilled}
        say("registers", max(figures[0] for figures in by_arch.values()), "1", config)
    every = [figures for by_arch in found.values() for figures in by_arch.values()]
    if not every:
        print("skip: ptxas: no kernel was compiled by nvcc")
        return
    for metric, which, unit in (("most registers", 0, "1"), ("most shared memory", 1, "B"), ("most spilled", 2, "B")):
        say(metric, max(figures[which] for figures in every), unit, {"device": device, "kernels": len(found)})


def launches(build, images, epochs):
    """Of a training whose kernels are counted, and not run."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "launches")
        subprocess.run([os.path.join(build, "tests", "taper_model"), "train-bits", "-q", "-f", "--device", "cuda", "-w", "whole",
                        "--untied", "--units", "1024", "--batch", "10000",
                        "--epochs", str(epochs), "-o", os.path.join(folder, "m.tpm"), images],
                       env=dict(os.environ, TAPER_MODEL_COUNT=os.path.join(folder, "count"), TAPER_MODEL_LAUNCHES=path),
                       stderr=subprocess.DEVNULL, check=False)
        with open(path, encoding="utf-8") as file:
            return int(file.read())


def model(build, images):
    """An epoch of at most 10,000 images is a step, and the look at held-out rows after it."""
    here = {"device": "host-model"}
    say("launches of a step", launches(build, images, 2) - launches(build, images, 1), "1",
        dict(here, network="3072-1024-3072", batch=10000))

    def count(name, kind):
        path = os.path.join(build, "mutants", name)
        with open(path, encoding="utf-8") as file:
            return sum(line.startswith(kind) for line in file)
    for kind in ("barrier", "bound"):
        sites = count("sites", kind)
        say(f"mutants of a {kind} that fail", sites - count("survivors", kind), "1", dict(here, sites=sites))


def main():
    commands = {"value": value, "step": step, "epoch": epoch, "bytes": lambda path, psnr: bytes_at(path, float(psnr)),
                "ptxas": ptxas, "model": model}
    if len(sys.argv) < 3 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](*sys.argv[2:])


main()
