#!/usr/bin/env python3
"""rd.py -- rate and distortion of the models that ship, on test data, as JSON lines: `make rd`.

    TAPER_DATA=FOLDER python3 bench/rd/rd.py BUILD_DIR [PART...]

FOLDER holds cifar10/test_batch.bin (or .bin.xz), kodak/*.png, photos/*.png, mnist/*.gz;
TAPER_CURVES a folder with Kodak's published curves (jpeg.json). What is absent is named and left out.
Parts: cifar10 kodak sets truncation-cost speed; all of them when none is named.

Price: half an hour on two cores, most of it for the rivals AVIF and JPEG XL.
"""
import json
import lzma
import os
import platform
import shutil
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import curves  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(sys.argv[1] if len(sys.argv) > 1 else "build/opt").resolve()
TAPER = str(BUILD / "taper")
WORK = ROOT / "build" / "rd"
MODELS = ROOT / "models"
COMMAND = "make rd"


def say(text):
    print("rd: " + text, file=sys.stderr, flush=True)


def output(*command, **options):
    """What a command prints; a failure ends the run."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, check=False,
                          **options)
    if done.returncode not in (0, 1):
        sys.exit("rd: %s ended with %d" % (" ".join(map(str, command)), done.returncode))
    return done.stdout.decode()


def machine():
    name = platform.processor() or "unknown processor"
    for line in open("/proc/cpuinfo", encoding="utf-8") if os.path.exists("/proc/cpuinfo") else ():
        if line.startswith("model name"):
            name = line.split(":", 1)[1].strip()
            break
    return "%s, %d cores" % (name, os.cpu_count())


COMMIT = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty"], check=False,
                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode().strip()


def emit(bench, metric, value, unit, **config):
    if value is not None:
        value = float("%.6g" % value)
    print(json.dumps({"bench": "rd/" + bench, "metric": metric, "value": value, "unit": unit,
                      "config": config, "commit": COMMIT, "machine": machine(),
                      "command": COMMAND}), flush=True)


def data(name):
    """The path of a file or folder of the data, unpacked where it must be; or None."""
    for folder in (os.environ.get("TAPER_DATA"), ROOT / "build" / "data"):
        for path in (Path(folder) / name, Path(folder) / Path(name).name) if folder else ():
            if path.exists():
                return path
            packed = Path(str(path) + ".xz")
            if packed.exists():
                unpacked = WORK / path.name
                if not unpacked.exists():
                    unpacked.write_bytes(lzma.open(packed).read())
                return unpacked
    say("SKIP %s: not in TAPER_DATA" % name)
    return None


def compare(model, images, *options):
    return output(TAPER, "compare", "-q", "--json", "-m", model, *options, images)


# ----- CIFAR-10 ----------------------------------------------------------------------------------

def cifar10():
    test = data("cifar10/test_batch.bin")
    if not test:
        return
    for allocation in ("even", "mean"):
        cifar10_with(test, MODELS / "tiny.tpm", allocation)


def cifar10_with(test, model, allocation):
    lines = output(BUILD / "bench" / "bench_rates", "--", test, "--model", model, "--qualities",
                   "25,27.5,30,32.5", "--allocation", allocation)
    for line in map(json.loads, lines.splitlines()):
        words = line["metric"].replace(",", "").split()
        if words[0] == "bytes_per_image":
            emit("cifar10", "bytes_per_image", line["value"], "B", codec="taper", model="tiny",
                 allocation=allocation, accounting=words[-1], psnr_db=float(words[2]))
        elif line["unit"] == "images/s":
            emit("speed", words[0], line["value"], "images/s", set="cifar10", model="tiny",
                 allocation=allocation, threads=2, bytes_per_image=200)
    container = WORK / ("cifar10-%s.taper" % allocation)
    output(TAPER, "encode", "-q", "-f", "-m", model, "--allocation", allocation, "-o", container,
           test)
    text = compare(model, container, "-r", "jpeg,webp", "-f", "-o", WORK / ("page-" + allocation),
                   test)
    for bd in json.loads(text)["bd_rate"]:
        if bd["codec"] == "taper":
            emit("cifar10", "bd_rate_percent", bd["percent"], "%", codec="taper", model="tiny",
                 allocation=allocation, accounting=bd["accounting"], anchor=bd["anchor"],
                 anchor_accounting=bd["anchor_accounting"], quality="psnr")


# ----- Kodak -------------------------------------------------------------------------------------

KODAK_BPP = [0.06 * 1.19 ** i for i in range(24)]
KODAK_PIXELS = 768 * 512


def kodak():
    images = data("kodak")
    if not images:
        return
    ladder = ",".join("%.4f" % bpp for bpp in KODAK_BPP)
    text = compare(MODELS / "photo.tpm", images, "--bpp", ladder, "-r", "jpeg,jpeg2000,webp")
    folder = os.environ.get("TAPER_CURVES")
    for quality, key, shape in (("psnr", "psnr_db", list), ("ms-ssim", "ms_ssim",
                                                           curves.decibels)):
        ours = shape(curves.in_bpp(curves.from_compare(text, "taper", "file", key), KODAK_PIXELS))
        anchors = {}
        if folder and Path(folder, "jpeg.json").exists():
            for name in ("jpeg", "jpeg2000", "webp"):
                path = Path(folder, name + ".json")
                anchors[name + ", published"] = curves.published(path, quality + "-rgb")
        for name in ("jpeg", "jpeg2000", "webp"):
            anchors[name] = curves.in_bpp(curves.from_compare(text, name, "file", key),
                                          KODAK_PIXELS)
        for name, anchor in anchors.items():
            emit("kodak", "bd_rate_percent", curves.bd_rate(ours, shape(anchor), 0.1, 2), "%",
                 codec="taper", model="photo", accounting="file", anchor=name, quality=quality)
        for bpp, q in ours:
            emit("kodak", quality, q, "dB", codec="taper", model="photo", accounting="file",
                 bpp=round(bpp, 4))
    cuts_against_jpeg2000(images, ladder)


def cuts_against_jpeg2000(images, ladder):
    """PSNR of 200 cuts of each image's file, less that of OpenJPEG's file made for the size: a mean
    over images at each of 200 rates, from the curves through what both were measured at."""
    low, high, cuts = 0.1, 2.0, 200
    gains = [[] for _ in range(cuts)]
    for image in sorted(images.glob("*.png")):
        text = compare(MODELS / "photo.tpm", image, "--bpp", ladder, "-r", "jpeg2000")
        ours = curves.from_compare(text, "taper", "file", "psnr_db")
        theirs = curves.from_compare(text, "jpeg2000", "file", "psnr_db")
        for i in range(cuts):
            size = low * (high / low) ** ((i + 0.5) / cuts) * KODAK_PIXELS / 8
            a, b = curves.quality_at(ours, size), curves.quality_at(theirs, size)
            if a is not None and b is not None:
                gains[i].append(a - b)
    means = [sum(gain) / len(gain) for gain in gains if gain]
    for name, gain in (("least", min(means)), ("mean", sum(means) / len(means))):
        emit("kodak", "psnr_gain_" + name, gain, "dB", codec="taper", model="photo", cuts=cuts,
             anchor="jpeg2000", bpp_low=low, bpp_high=high, images="one file each")


# ----- sets of small images ----------------------------------------------------------------------

def halves(files, name):
    """Two folders of links, every other file in each."""
    files, out = sorted(files), []
    for half in (0, 1):
        folder = WORK / "sets" / name / ("test" if half else "train")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for i, file in enumerate(files[half::2]):
            (folder / ("%06d%s" % (i, file.suffix))).symlink_to(file.resolve())
        out.append(folder)
    return out


def sets():
    samples = WORK / "sets" / "samples"
    samples.parent.mkdir(parents=True, exist_ok=True)
    if not samples.exists():
        output(BUILD / "make_samples", "small", samples, "--count", "3000", "--format", "png")
    pairs = {"samples": halves(samples.glob("**/*.png"), "samples-halves")}
    digits = data("mnist/train-images-idx3-ubyte.gz"), data("mnist/t10k-images-idx3-ubyte.gz")
    if all(digits):
        pairs["mnist"] = digits
    photos = data("photos")
    if photos:
        pairs["crops"] = crops(photos)
    for name, (train, test) in pairs.items():
        model = WORK / "sets" / (name + ".tpm")
        if not model.exists():
            output(TAPER, "train", "-q", "-f", "-o", model, "--conditional", "64", "--head", "64",
                   "--predict-epochs", "30", "--quality", "20,50", "--family", "conv", train)
        text = compare(model, test, "-n", "300", "-r", "webp,avif,jxl")
        best = max((bd for bd in json.loads(text)["bd_rate"]
                    if bd["codec"] == "taper" and bd["accounting"] == "file"
                    and bd["anchor_accounting"] == "file"), key=lambda bd: bd["percent"])
        emit("sets", "bd_rate_percent", best["percent"], "%", codec="taper", set=name,
             accounting="file", anchor="best of webp, avif, jxl: " + best["anchor"], images=300,
             model_bytes=model.stat().st_size, quality="psnr")


def crops(photos):
    """16 squares of 48 x 48 pixels of every photograph; halves of the photographs."""
    folders = []
    for half, name in enumerate(("train", "test")):
        folder = WORK / "sets" / "crops" / name
        folders.append(folder)
        if folder.exists():
            continue
        folder.mkdir(parents=True)
        for file in sorted(photos.glob("*.png"))[half::2]:
            output(BUILD / "bench" / "bench_crops", file, folder / file.stem, "48")
    return folders


# ----- what being truncatable costs --------------------------------------------------------------

def truncation_cost():
    test = data("cifar10/test_batch.bin")
    if not test:
        return
    model, alone = MODELS / "tiny.tpm", WORK / "one-rate.taper"
    lines = output(BUILD / "bench" / "bench_rates", "--", test, "--model", model, "--qualities",
                   "24,26,28,30,32,34", env=dict(os.environ, BENCH_RATES_ONLY="1"))
    for line in map(json.loads, lines.splitlines()):
        words = line["metric"].replace(",", "").split()
        if words[0] != "bytes_per_image" or words[-1] != "file":
            continue
        output(TAPER, "encode", "-q", "-f", "-m", model, "--psnr", words[2], "-o", alone, test)
        emit("truncation-cost", "bytes_percent",
             100 * (line["value"] * 10000 / alone.stat().st_size - 1), "%", codec="taper",
             model="tiny", accounting="file", psnr_db=float(words[2]),
             what="a cut of the whole file over a file encoded for that quality")


# ----- speed -------------------------------------------------------------------------------------

def best_of(times, *command):
    best = float("inf")
    for _ in range(times):
        start = time.monotonic()
        output(*command)
        best = min(best, time.monotonic() - start)
    return best


def speed():
    images = data("kodak")
    if not images:
        return
    image = sorted(images.glob("*.png"))[0]
    model, file = MODELS / "photo.tpm", WORK / "one.taper"
    for threads in (1, 2):
        t = ("-T", str(threads))
        took = best_of(5, TAPER, "encode", "-q", "-f", "-m", model, *t, "--bpp", "1", "-o", file,
                       image)
        emit("speed", "encode", 1000 * took, "ms", image="768x512", model="photo", threads=threads,
             bpp=1)
        took = best_of(5, TAPER, "decode", "-q", "-f", "-m", model, *t, "--format", "pnm", "-o",
                       WORK / "one", file)
        emit("speed", "decode", 1000 * took, "ms", image="768x512", model="photo",
             threads=threads, bpp=1)


PARTS = {"cifar10": cifar10, "kodak": kodak, "sets": sets, "truncation-cost": truncation_cost,
         "speed": speed}

if __name__ == "__main__":
    WORK.mkdir(parents=True, exist_ok=True)
    for part in sys.argv[2:] or PARTS:
        say(part)
        PARTS[part]()
