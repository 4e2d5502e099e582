#!/usr/bin/env python3
"""stages.py -- what is seen of a container that carries its model, whose stages lie between the layers.

    python3 bench/streaming/stages.py BUILD_DIR IMAGES_DIR >bench/results/streaming/stages.jsonl

The images (24 of Kodak) go into layout gallery with the model photo embedded. For each end of a layer: its place in the file,
and the mean PSNR of the pictures of that prefix, drawn with the stages of the model that it has. The record `before` has
the same picture where the model is whole in the front matter. The pictures are drawn from the same container without a
model, by the beginning of the model's file (`decode -m`), as the built-in model is known whole here. Bytes and dB repeat.
"""
import json
import os
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import record  # noqa: E402

build, images = sys.argv[1:3]
root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
taper = os.path.join(os.path.abspath(build), "taper")
model = open(os.path.join(root, "models/photo.tpm"), "rb").read()


def run(*args):
    return subprocess.run([taper, *args], check=True, capture_output=True, text=True).stdout


def info(path):
    return json.loads(run("info", "--json", path))


def stage_ends():
    stages, = struct.unpack("<H", model[10:12])
    ends, at = [], 24 + 20 * stages
    for i in range(stages):
        at += struct.unpack_from("<Q", model, 24 + 20 * i)[0]
        ends.append(at)
    return ends


def put(metric, value, unit, **config):
    record.say("stages", metric, value, unit, {"images": 24, "layout": "gallery", "model": "photo", **config},
               "python3 bench/streaming/stages.py build/opt KODAK")


def psnr(stages, cut, whole, folder):
    """Of the first `cut` bytes of the container without a model, with so many stages."""
    part, out = os.path.join(folder, "part.tpm"), os.path.join(folder, "out")
    with open(part, "wb") as f:
        f.write(model[:stage_ends()[stages - 1]])
    subprocess.run(["rm", "-rf", out], check=True)
    run("decode", "-q", "-m", part, "-b", str(cut), "-o", out, whole)
    words = subprocess.run([sys.executable, os.path.join(root, "tests/mean_psnr.py"), images, out], check=True,
                           capture_output=True, text=True).stdout
    return round(float(words), 2)


with tempfile.TemporaryDirectory() as folder:
    own, plain = os.path.join(folder, "own.taper"), os.path.join(folder, "plain.taper")
    for path, more in (own, ["--embed-model"]), (plain, []):
        run("encode", "-q", "--strip", "--layout", "gallery", "--psnr", "40", *more, "-o", path, images)
    of_own, of_plain = info(own), info(plain)
    put("front_bytes", of_own["front_bytes"], "bytes")
    put("model_bytes", len(model), "bytes")
    put("container_bytes", of_own["bytes"], "bytes")
    put("cost_bytes", of_own["bytes"] - of_plain["bytes"] - len(model), "bytes")
    known = stage_ends().index(len(model) - sum(l["bytes"] for l in of_own["layers"] if "stage" in l)) + 1
    put("stages_in_front", known, "stages")
    layer = 0
    for each in of_own["layers"]:
        if "stage" in each:
            known = each["stage"]
            continue
        cut = of_plain["layers"][layer]["end"]
        layer += 1
        config = {"layer": layer, "stages": known}
        put("layer_end", each["end"], "bytes", **config)
        put("layer_end_before", cut + 24 + len(model), "bytes", **config)
        put("psnr", psnr(known, cut, plain, folder), "dB", **config)
        put("psnr_before", psnr(len(stage_ends()), cut, plain, folder), "dB", **config)
