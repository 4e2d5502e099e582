#!/usr/bin/env python3
"""one_photograph.py -- bytes and processor time of one photograph at equal quality, by each codec's own program.

    python3 bench/one_photograph.py TAPER FOLDER [PSNR] >bench/results/one-photograph.jsonl

Every image of FOLDER (PNG) is coded as one file at a ladder of settings, and decoded again to PPM. Bytes and
processor times are means over the images; between two settings they are interpolated, bytes as logarithms, at
the mean PSNR asked for (default: 34 dB). A time is all processor time of the program in one thread, reading and
writing files included. Needs ImageMagick (convert, compare), cjpeg and djpeg, cwebp and dwebp, opj_compress and
opj_decompress, avifenc and avifdec. A program that is missing is left out.
"""
import glob
import math
import os
import resource
import shutil
import subprocess
import sys
import tempfile

import record

# name, suffix, settings, how to encode, how to decode; %(q)s is the setting
CODECS = (
    ("taper", "taper", ("0.3", "0.5", "0.8", "1.2"),
     "%(taper)s encode -q -f -T 1 --quick --bpp %(q)s -o %(file)s %(image)s",
     "%(taper)s decode -q -f -T 1 -o %(out)s %(file)s"),
    ("JPEG", "jpg", ("50", "65", "80", "90"),
     "cjpeg -progressive -optimize -quality %(q)s -outfile %(file)s %(image)s", "djpeg -outfile %(out)s %(file)s"),
    ("JPEG 2000", "jp2", ("60", "40", "24", "15"),
     "opj_compress -r %(q)s -I -i %(image)s -o %(file)s", "opj_decompress -i %(file)s -o %(out)s"),
    ("WebP", "webp", ("40", "60", "80", "90"),
     "cwebp -quiet -m 6 -q %(q)s -o %(file)s %(image)s", "dwebp -quiet -ppm -o %(out)s %(file)s"),
    ("AVIF 4:4:4, speed 6", "avif", ("36", "30", "24", "18"),
     "avifenc -j 1 -s 6 -y 444 --min %(q)s --max %(q)s %(png)s %(file)s", "avifdec -j 1 %(file)s %(out)s.png"),
)


def timed(command, names):
    """Run a command; its processor time in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([word % names for word in command.split()], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def psnr(a, b):
    text = subprocess.run(["compare", "-metric", "PSNR", a, b, "null:"], stderr=subprocess.PIPE, text=True)
    return float(text.stderr.split()[0])


def at_setting(codec, setting, images, work, taper):
    """Means over the images: PSNR, bytes, seconds to encode, seconds to decode."""
    _, suffix, _, encode, decode = codec
    sums = [0.0] * 4
    for png, image in images:
        names = dict(q=setting, png=png, image=image, file=work + "/x." + suffix, out=work + "/y.ppm", taper=taper)
        if os.path.exists(names["out"] + ".png"):
            os.remove(names["out"] + ".png")
        times = timed(encode, names), timed(decode, names)
        shown = names["out"] + ".png" if suffix == "avif" else names["out"]
        for i, value in enumerate((psnr(png, shown), os.path.getsize(names["file"])) + times):
            sums[i] += value / len(images)
    return sums


def interpolate(points, target):
    for low, high in zip(points, points[1:]):
        if low[0] <= target <= high[0]:
            t = (target - low[0]) / (high[0] - low[0])
            size = math.exp(math.log(low[1]) * (1 - t) + math.log(high[1]) * t)
            return [size] + [low[i] * (1 - t) + high[i] * t for i in (2, 3)]
    sys.exit("%g dB is not between the settings: %s" % (target, points))


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    taper, target = os.path.abspath(sys.argv[1]), float(sys.argv[3]) if len(sys.argv) == 4 else 34.0
    pngs = sorted(glob.glob(os.path.join(sys.argv[2], "*.png")))
    with tempfile.TemporaryDirectory() as work:
        images = [(png, "%s/%d.ppm" % (work, i)) for i, png in enumerate(pngs)]
        for png, image in images:
            subprocess.run(["convert", png, image], check=True)
        for codec in CODECS:
            if not shutil.which(codec[3].split()[0] % dict(taper=taper)):
                continue
            points = [at_setting(codec, setting, images, work, taper) for setting in codec[2]]
            size, encode, decode = interpolate(points, target)
            for metric, value, unit in (("bytes", round(size), "B"), ("encode", round(1000 * encode, 1), "ms"),
                                        ("decode", round(1000 * decode, 1), "ms")):
                record.say("one-photograph", metric, value, unit,
                           {"codec": codec[0], "psnr_db": target, "images": len(images),
                            "clock": "processor, one thread"}, "python3 bench/one_photograph.py")


if __name__ == "__main__":
    main()
