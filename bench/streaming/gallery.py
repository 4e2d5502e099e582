#!/usr/bin/env python3
"""gallery.py -- what a reader by ranges needs of a gallery, and what its first 16 KiB show.

    python3 bench/streaming/gallery.py BUILD_DIR KODAK CIFAR.bin [MODEL] >bench/results/streaming/gallery.jsonl

KODAK: a folder of PNG files in colour. CIFAR.bin: 1,000 records. BUILD_DIR has bench/streaming/counted and million
(`make build/opt/bench/streaming/counted build/opt/bench/streaming/million`).

requests, bytes: until each image shows something; of one image after that, with the small layers kept; and to open a set
of 1,000,000 images and draw one, in the first layer and whole. psnr: of images of the first 16 KiB of the set against the
originals; quarter_psnr: the same of both at 1/4 of their size, by mean; of WebP, thumbnails that have 16 KiB together, at
the width, quality and filter that are best for them. colour_psnr: of the two chroma planes at 1/4.

Needs numpy, ImageMagick (convert) and cwebp. Price: 10 minutes, 400 MB of disk.
"""
import glob
import io
import json
import os
import subprocess
import sys
import tempfile

import numpy

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import record  # noqa: E402

BYTES = 16384
COMMAND = "python3 bench/streaming/gallery.py build/opt KODAK CIFAR.bin"
TO_CHROMA = numpy.array([[-0.168736, -0.331264, 0.5], [0.5, -0.418688, -0.081312]])


def run(*command, data=None):
    return subprocess.run(command, check=True, input=data, stdout=subprocess.PIPE, stderr=subprocess.PIPE).stdout


def say(metric, value, unit, **config):
    record.say("gallery", metric, value, unit, config, COMMAND)


# --- requests ---------------------------------------------------------------------------------------------------------


def counted(build, container, first, layers, image):
    """{step: (requests, bytes, images drawn)}"""
    out = run(build + "/bench/streaming/counted", container, str(first), str(layers), str(image)).decode()
    return {line.split()[0]: tuple(map(int, line.split()[1:])) for line in out.splitlines()}


def count_something(build, name, container, images):
    """The fewest bytes that are asked for at first and show something of each image."""
    for first in (4096, 8192, 16384):
        steps = counted(build, container, first, 1, "-")
        say("images_after_first_request", steps["first"][2], "images", set=name, first=first, images=images)
        requests, size, drawn = steps["coarse"]
        if drawn < images:
            requests, size, drawn = counted(build, container, first, 2, "-")["coarse"]
        assert drawn == images
        say("something_requests", requests, "requests", set=name, first=first, images=images)
        say("something_bytes", size, "bytes", set=name, first=first, images=images)


def count_one(build, name, container, layers):
    for kept in range(1, layers):
        requests, size, _ = counted(build, container, BYTES, kept, 7)["image"]
        say("one_requests", requests, "requests", set=name, layers_kept=kept, layers=layers)
        say("one_bytes", size, "bytes", set=name, layers_kept=kept, layers=layers)


def layers_of(taper, container):

    return len(json.loads(run(taper, "info", "--json", container))["layers"])


def count_million(build, taper, cifar):
    for layout in ("gallery", "image"):
        run(taper, "encode", "-q", "-f", "--layout", layout, "--bpp", "1.2", "--drawings", "lossy", "-o", "few.taper", cifar)
        for names in ("numbers", "hashes"):
            run(build + "/bench/streaming/million", "few.taper", "many.taper", "1000000", names)
            steps = counted(build, "many.taper", BYTES, 0, 700000)
            config = {"set": "million", "layout": layout, "names": names}
            for step in ("glance", "image"):
                say(step + "_requests", steps[step][0], "requests", **config)
                say(step + "_bytes", steps[step][1], "bytes", **config)
            os.remove("many.taper")


# --- pictures ---------------------------------------------------------------------------------------------------------


def of_ppm(ppm):
    """Samples [height][width][3]."""
    file = io.BytesIO(ppm)
    fields = []
    while len(fields) < 4:
        fields += file.readline().split(b"#")[0].split()
    width, height = int(fields[1]), int(fields[2])
    return numpy.frombuffer(file.read(3 * width * height), numpy.uint8).reshape(height, width, 3).astype(float)


def quarter(image):
    height, width = image.shape[0] // 4 * 4, image.shape[1] // 4 * 4
    return image[:height, :width].reshape(height // 4, 4, width // 4, 4, 3).mean(axis=(1, 3))


def psnr(a, b):
    return 10 * numpy.log10(65025 / numpy.mean((a - b) ** 2))


def chroma_psnr(a, b):
    return 10 * numpy.log10(65025 / numpy.mean(((a - b) @ TO_CHROMA.T) ** 2))


def thumbnails(files, small, width, quality, resize):
    """The total bytes of WebP thumbnails, and what they show at the size of `small`."""
    total, shown = 0, []
    for file, of in zip(files, small):
        height = of.shape[0]
        scale = width / max(of.shape[:2])
        size = "%dx%d!" % (max(1, round(of.shape[1] * scale)), max(1, round(height * scale)))
        run("convert", file, "-filter", "box", "-resize", size, "-depth", "8", "thumb.png")
        run("cwebp", "-quiet", "-m", "6", "-q", str(quality), "thumb.png", "-o", "thumb.webp")
        total += os.path.getsize("thumb.webp")
        shown.append(lambda s="%dx%d!" % (of.shape[1], height), d=open("thumb.webp", "rb").read(): of_ppm(
            run("convert", "webp:-", "-filter", resize, "-resize", s, "-depth", "8", "ppm:-", data=d)))
    return total, shown


def best_webp(files, small):
    """(mean PSNR, width, quality, filter, bytes, images) of thumbnails of BYTES in all."""
    best = (0,)
    for width in (64, 80, 96, 112, 128):
        low, high = 0, 100
        while low < high:
            middle = (low + high + 1) // 2
            if thumbnails(files, small, width, middle, "")[0] <= BYTES:
                low = middle
            else:
                high = middle - 1
        for resize in ("Mitchell", "Catrom", "Lanczos"):
            total, shown = thumbnails(files, small, width, low, resize)
            if total > BYTES:
                continue
            images = [image() for image in shown]
            value = numpy.mean([psnr(a, b) for a, b in zip(images, small)])
            if value > best[0]:
                best = (value, width, low, resize, total, images)
    return best


def look(taper, originals, files, config, options):
    """Measure the first bytes of the set."""
    run(taper, "encode", "-q", "-f", *options, "--bpp", "2", "-o", "set.taper", *files)
    for cut in ("head", "truncate"):
        if cut == "head":
            with open("set.taper", "rb") as whole, open("cut.taper", "wb") as to:
                to.write(whole.read(BYTES))
        else:
            run(taper, "truncate", "-q", "-f", "--bytes", str(BYTES), "-o", "cut.taper", "set.taper")
        run("rm", "-rf", "out")
        run(taper, "decode", "-q", "--format", "pnm", "-o", "out", "cut.taper")
        images = [of_ppm(open(file, "rb").read()) for file in sorted(glob.glob("out/*"))]
        config = dict(config, cut=cut)
        values = [psnr(a, b) for a, b in zip(images, originals)]
        say("psnr", round(float(numpy.mean(values)), 2), "dB", **config)
        say("least_psnr", round(float(min(values)), 2), "dB", **config)
        spread = [image.std(axis=(0, 1)).mean() for image in images]
        say("grey", sum(int(value < 2) for value in spread), "images", **config)
        small = [(quarter(a), quarter(b)) for a, b in zip(images, originals)]
        say("quarter_psnr", round(float(numpy.mean([psnr(a, b) for a, b in small])), 2), "dB", **config)
        say("colour_psnr", round(float(numpy.mean([chroma_psnr(a, b) for a, b in small])), 2), "dB", **config)


def main(build, kodak, cifar, model=None):
    taper, build, cifar = os.path.abspath(build + "/taper"), os.path.abspath(build), os.path.abspath(cifar)
    files = sorted(glob.glob(os.path.abspath(kodak) + "/*.png"))
    with_model = ("-m", os.path.abspath(model)) if model else ()
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        originals = [of_ppm(run("convert", file, "-depth", "8", "ppm:-")) for file in files]
        run(taper, "encode", "-q", "--layout", "gallery", "--bpp", "2", "-o", "photos.taper", *files)
        run(taper, "encode", "-q", "--layout", "gallery", "-o", "cifar.taper", cifar)
        for name, images in (("photos", len(files)), ("cifar", 1000)):
            count_something(build, name, name + ".taper", images)
            count_one(build, name, name + ".taper", layers_of(taper, name + ".taper"))
        count_million(build, taper, cifar)
        for name, options in (("gallery", ("--layout", "gallery")), ("set", ()), ("set, one group", ("--group", "24"))):
            look(taper, originals, files, {"bytes": BYTES, "images": len(files), "layout": name}, with_model + options)
        small = [quarter(image) for image in originals]
        value, width, quality, resize, total, images = best_webp(files, small)
        config = {"bytes": total, "images": len(files), "webp": True, "width": width, "quality": quality, "filter": resize}
        say("quarter_psnr", round(float(value), 2), "dB", **config)
        colours = numpy.mean([chroma_psnr(a, b) for a, b in zip(images, small)])
        say("colour_psnr", round(float(colours), 2), "dB", **config)


if __name__ == "__main__":
    main(*sys.argv[1:])
