#!/usr/bin/env python3
"""What the models of nested_labels.sh are worth, as JSON lines.

    python3 bench/nested_labels.py TAPER FOLDER ROWS EPOCHS UNITS THREADS        (nested_labels.sh calls it)

FOLDER has the models and the images that they learned from (known) and did not (tested). An error is that of five votes by
Hamming distance, with its 95 % interval; `ratio` beside that of a nested code is to the model trained for that length alone.
PSNR is the mean over images of 8-bit pixels, decoded from a file of so many bytes an image, everything counted.
"""
import json
import math
import os
import subprocess
import sys


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        models = [line.split(": ")[1].strip() for line in file if line.startswith("model name")]
    return f"{models[0] if models else 'unknown'}, {os.cpu_count()} cores"


def emit(metric, value, unit, config):
    line = {"bench": "embedding/nested", "metric": metric, "value": value, "unit": unit, "config": config,
            "commit": os.environ.get("TAPER_COMMIT", "unknown"), "machine": machine(), "command": os.environ.get("COMMAND", "nested_labels.py")}
    print(json.dumps(line, separators=(",", ":")), flush=True)


def error_of(taper, folder, model, bits, threads):
    """Percent wrong, and the ends of the interval."""
    known, tested = os.path.join(folder, "known"), os.path.join(folder, "tested")
    done = subprocess.run([taper, "classify", "-q", "--json", "-T", threads, "-m", os.path.join(folder, model + ".tpm"),
                           "--units", str(bits), "-k", "5", "--among", known + "-images", "--among-labels",
                           known + "-labels", "--labels", tested + "-labels", tested + "-images"],
                          check=True, stdout=subprocess.PIPE)
    error = json.loads(done.stdout.splitlines()[-1])["errors"][0]
    return [round(error[key], 3) for key in ("percent", "low_percent", "high_percent")]


def pixels(path):
    with open(path, "rb") as file:
        return file.read()[16:]


def psnr_of(taper, folder, model, size):
    """Mean PSNR in dB at `size` bytes an image."""
    tested, model = os.path.join(folder, "tested-images"), os.path.join(folder, model + ".tpm")
    container, back = os.path.join(folder, "tested.taper"), os.path.join(folder, "back.idx")
    subprocess.run([taper, "encode", "-q", "-f", "-m", model, "--bytes-per-image", str(size), "-o", container, tested],
                   check=True, stderr=subprocess.DEVNULL)
    subprocess.run([taper, "decode", "-q", "-f", "-m", model, "--format", "idx", "-o", back, container], check=True)
    a, b = pixels(tested), pixels(back)
    assert len(a) == len(b)
    square = [i * i for i in range(256)]
    errors = [sum(square[abs(x - y)] for x, y in zip(a[i:i + 784], b[i:i + 784])) for i in range(0, len(a), 784)]
    return sum(10 * math.log10(65025 * 784 / max(error, 1)) for error in errors) / len(errors)


def main(taper, folder, rows, epochs, units, threads):
    shared = {"rows": int(rows), "tested": "test" if int(rows) == 60000 else "training images left out",
              "epochs": int(epochs), "seed": 1, "hidden": os.environ.get("HIDDEN", "none")}
    for bits in (8, 16, 32, 64):
        alone = error_of(taper, folder, f"alone-{bits}", bits, threads)
        nested = error_of(taper, folder, "nested", bits, threads)
        without = error_of(taper, folder, "unlabelled", bits, threads)
        for method, error, extra in (("alone", alone, {"units": 256}),
                                     ("nested", nested, {"units": int(units), "ratio": round(nested[0] / alone[0], 3)}),
                                     ("unlabelled", without, {"units": int(units)})):
            emit("test_error_percent", error[0], "%",
                 {"method": method, "bits": bits, "k": 5, "low": error[1], "high": error[2], **extra, **shared})
    for size in sorted({32, int(units) // 8}):
        without = psnr_of(taper, folder, "unlabelled", size)
        for method, value in (("unlabelled", without), ("nested", psnr_of(taper, folder, "nested", size))):
            emit(f"psnr_db_at_{size}_bytes", round(value, 3), "dB",
                 {"method": method, "bits": 8 * size, "units": int(units), "less_db": round(without - value, 3), **shared})


if __name__ == "__main__":
    main(*sys.argv[1:])
