#!/usr/bin/env python3
"""pictures.py -- make the two pictures of README.md, and measure what they show.

    python3 docs/pictures.py TAPER FOLDER [OUT] >bench/results/pictures.jsonl

TAPER   the program, build/opt/taper
FOLDER  the 24 Kodak images, kodim01.png to kodim24.png
OUT     where the pictures go; default: docs/pictures

Needs ImageMagick (convert, montage, compare). Takes some minutes. Writes

    cuts.jpg    one photograph, decoded from four cuts of one taper file
    sheet.jpg   24 photographs from four cuts of one taper file (left), and progressive JPEG files of as
                many bytes in total (right)

and on standard output one JSON line for each figure: mean over the images of each image's PSNR.

JPEG, for each number of bytes, is the better of two, by mean PSNR: 24 whole files, all of the highest quality with
which they fit; or 24 files of one quality, each cut after its 24th part of the bytes, at the best quality of
CUT_QUALITIES. A file that is too short to decode counts as a grey picture.
Thumbnails, a further line for each number of bytes: smaller pictures as JPEG files, scaled up again; the best of
SCALES, each at the highest quality with which the files fit. One JPEG, another line: all thumbnails in one
progressive JPEG file of 6 x 4, so that there is one header; the best of
ONE_JPEG_SCALES in the same way.
"""
import glob
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))
import record

KIB = 1024
ONE, CUTS = "kodim23", (500, 2000, 8000, 32000)
SHEET = (16 * KIB, 32 * KIB, 64 * KIB, 128 * KIB)
CUT_QUALITIES = (3, 5, 10, 15, 20, 30, 40)
SCALES = (3, 4, 6, 8, 12, 16)
ONE_JPEG_SCALES = (2, 2.5, 3, 4, 5, 6, 8, 10, 12, 16)
LABEL = ("-fill", "white", "-undercolor", "#000000b0", "-font", "DejaVu-Sans-Bold")


def run(*arguments, check=True):
    """Run a command; what it prints, on either stream."""
    done = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if check and done.returncode:
        sys.exit("%s: %s" % (" ".join(arguments), done.stdout))
    return done.stdout


def psnr(original, shown):
    """PSNR in dB over all channels; a picture that is missing counts as grey."""
    if not os.path.exists(shown):
        run("convert", original, "-fill", "gray(128)", "-colorize", "100", "png24:" + shown)
    return float(run("compare", "-metric", "PSNR", original, shown, "null:", check=False).split()[0])


def mean_psnr(originals, shown):
    return sum(map(psnr, originals, shown)) / len(originals)


def say(codec, size, value, **config):
    record.say("pictures", "mean_psnr", round(value, 2), "dB",
               dict(codec=codec, bytes=size, images=config.pop("images"), **config), "python3 docs/pictures.py")


def names(folder, originals, suffix):
    return [os.path.join(folder, os.path.basename(o)[:-4] + suffix) for o in originals]


def taper_cut(taper, container, size, originals, folder):
    """Decode the first bytes of a container; the files that come out."""
    run(taper, "decode", "-q", "--bytes", str(size), "-o", folder, container)
    return names(folder, originals, ".png")


def jpegs(originals, quality, folder, scale=1):
    """Progressive JPEG files of the images; the files and their bytes in total."""
    os.makedirs(folder, exist_ok=True)
    files = names(folder, originals, ".jpg")
    for original, file in zip(originals, files):
        run("convert", original, "-strip", "-resize", "%g%%" % (100 / scale), "-interlace", "JPEG",
            "-sampling-factor", "4:2:0", "-quality", str(quality), file)
    return files, sum(map(os.path.getsize, files))


def pixels(files, originals):
    """Decode JPEG files, also cut ones, to the size of the originals. libjpeg refuses a file that ends within a
    Huffman table; it is then cut before that table."""
    shown = [file[:-4] + ".shown.png" for file in files]
    for file, original, out in zip(files, originals, shown):
        side = run("identify", "-format", "%wx%h!", original)
        while "error/" in run("convert", file, "-resize", side, "png24:" + out, check=False):
            if os.path.exists(out):
                os.remove(out)
            with open(file, "rb") as stream:
                table = stream.read().rfind(b"\xff\xc4")
            if table < 0:
                break
            os.truncate(file, table)
    return shown


def largest_that_fits(originals, size, folder, scale=1):
    """Files of the highest quality, 1 to 95, that take at most so many bytes; None where none does."""
    low, high, best = 1, 95, None
    while low <= high:
        quality = (low + high) // 2
        files, total = jpegs(originals, quality, "%s/q%d" % (folder, quality), scale)
        if total <= size:
            best, low = (quality, files, total), quality + 1
        else:
            high = quality - 1
    return best


def cut_files(originals, size, folder):
    """Files of which none is whole: the quality whose cuts have the highest mean PSNR."""
    best = (-1.0, 0, None)
    for quality in CUT_QUALITIES:
        files, _ = jpegs(originals, quality, "%s/cut%d" % (folder, quality))
        for file in files:
            os.truncate(file, min(os.path.getsize(file), size // len(files)))
        shown = pixels(files, originals)
        best = max(best, (mean_psnr(originals, shown), quality, shown))
    return best


def jpeg_at(originals, size, folder):
    """The better of whole files and cut ones."""
    value, quality, shown = cut_files(originals, size, folder)
    best = (value, shown, dict(quality=quality, files="cut"))
    fits = largest_that_fits(originals, size, folder)
    if fits:
        shown = pixels(fits[1], originals)
        best = max(best, (mean_psnr(originals, shown), shown, dict(quality=fits[0], files="whole")),
                   key=lambda one: one[0])
    say("jpeg progressive", size, best[0], images=len(originals), **best[2])
    return best[1], best[0]


def thumbnails_at(originals, size, folder):
    best = (-1.0,)
    for scale in SCALES:
        fits = largest_that_fits(originals, size, "%s/scale%d" % (folder, scale), scale)
        if fits:
            value = mean_psnr(originals, pixels(fits[1], originals))
            best = max(best, (value, scale, fits[0], fits[2]))
    if len(best) > 1:
        say("jpeg thumbnails", size, best[0], images=len(originals), scale=best[1], quality=best[2], used=best[3])


def lying(original):
    """Options that rotate a portrait to landscape, and back."""
    width, height = run("identify", "-format", "%w %h", original).split()
    return (("-rotate", "90"), ("-rotate", "-90")) if int(height) > int(width) else ((), ())


def one_jpeg(sheet, size, folder):
    """The sheet as a JPEG file of the highest quality that takes at most so many bytes; None where none does."""
    low, high, best = 1, 95, None
    while low <= high:
        quality = (low + high) // 2
        file = "%s/one-q%d.jpg" % (folder, quality)
        run("convert", sheet, "-strip", "-interlace", "JPEG", "-sampling-factor", "4:2:0", "-quality", str(quality), file)
        if os.path.getsize(file) <= size:
            best, low = (quality, file), quality + 1
        else:
            high = quality - 1
    return best


def one_jpeg_at(originals, size, folder):
    """All thumbnails in one JPEG file."""
    best = (-1.0,)
    turns = [lying(original) for original in originals]
    for scale in ONE_JPEG_SCALES:
        wide, high = round(768 / scale), round(512 / scale)
        work = "%s/one%g" % (folder, scale)
        os.makedirs(work, exist_ok=True)
        small = names(work, originals, ".small.png")
        for original, file, turn in zip(originals, small, turns):
            run("convert", original, *turn[0], "-filter", "Lanczos", "-resize", "%dx%d!" % (wide, high), "png24:" + file)
        run("montage", *small, "-tile", "6x4", "-geometry", "+0+0", "-depth", "8", "png24:" + work + "/sheet.png")
        fits = one_jpeg(work + "/sheet.png", size, work)
        if not fits:
            continue
        shown = names(work, originals, ".shown.png")
        for i, (file, turn) in enumerate(zip(shown, turns)):
            run("convert", fits[1], "-crop", "%dx%d+%d+%d" % (wide, high, i % 6 * wide, i // 6 * high), "+repage",
                "-filter", "Catrom", "-resize", "768x512!", *turn[1], "png24:" + file)
        best = max(best, (mean_psnr(originals, shown), scale, fits[0], os.path.getsize(fits[1])))
    if len(best) > 1:
        say("one jpeg", size, best[0], images=len(originals), scale=best[1], quality=best[2], used=best[3])


def label(picture, text, points):
    run("convert", picture, "-gravity", "NorthWest", "-pointsize", str(points), *LABEL, "-annotate", "+4+4",
        " %s " % text, picture)


def join(pictures, tile, gap, out, quality):
    run("montage", *pictures, "-tile", tile, "-geometry", "+%d+%d" % (gap, gap), "-background", "#808080",
        "-depth", "8", "png24:" + out + ".png")
    run("convert", out + ".png", "-strip", "-quality", str(quality), "-sampling-factor", "4:2:0", out)
    os.remove(out + ".png")


def four_cuts(taper, folder, work, out):
    original = os.path.join(folder, ONE + ".png")
    container = work + "/one.taper"
    run(taper, "encode", "-q", "--best", "-o", container, original)
    parts = []
    for size in CUTS:
        shown = taper_cut(taper, container, size, [original], "%s/one-%d" % (work, size))[0]
        say("taper", size, psnr(original, shown), images=1, image=ONE)
        part = "%s/part-%d.png" % (work, size)
        run("convert", shown, "-resize", "500x", part)
        label(part, "%g kB" % (size / 1000), 34)
        parts.append(part)
    join(parts, "2x2", 2, out + "/cuts.jpg", 88)


def contact(shown, text, work, number):
    part = "%s/contact-%d.png" % (work, number)
    run("montage", *shown, "-tile", "6x4", "-resize", "96x64^", "-gravity", "center", "-extent", "96x64",
        "-geometry", "+1+1", "-background", "#808080", part)
    run("convert", part, "-background", "#202020", "-gravity", "North", "-splice", "0x40", part)
    label(part, text, 30)
    return part


def contact_sheet(taper, originals, work, out):
    container, together = work + "/set.taper", work + "/together.taper"
    run(taper, "encode", "-q", "--best", "-o", container, *originals)
    run(taper, "encode", "-q", "--best", "--group", str(len(originals)), "-o", together, *originals)
    parts = []
    for size in SHEET:
        shown = taper_cut(taper, container, size, originals, "%s/set-%d" % (work, size))
        ours = mean_psnr(originals, shown)
        say("taper", size, ours, images=len(originals), options="")
        one_group = taper_cut(taper, together, size, originals, "%s/together-%d" % (work, size))
        say("taper", size, mean_psnr(originals, one_group), images=len(originals),
            options="--group %d" % len(originals))
        theirs_shown, theirs = jpeg_at(originals, size, "%s/jpeg-%d" % (work, size))
        thumbnails_at(originals, size, "%s/thumbnails-%d" % (work, size))
        one_jpeg_at(originals, size, "%s/one-%d" % (work, size))
        for codec, files, value in (("taper", shown, ours), ("JPEG", theirs_shown, theirs)):
            text = "%s, %d KiB: %.1f dB" % (codec, size // KIB, value)
            parts.append(contact(files, text, work, len(parts)))
    join(parts, "2x%d" % len(SHEET), 3, out + "/sheet.jpg", 86)


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    taper, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
    out = sys.argv[3] if len(sys.argv) == 4 else os.path.join(os.path.dirname(__file__), "pictures")
    originals = sorted(glob.glob(os.path.join(folder, "kodim*.png")))
    if len(originals) != 24:
        sys.exit("pictures.py: %s has %d of the 24 images kodim01.png to kodim24.png" % (folder, len(originals)))
    os.makedirs(out, exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        four_cuts(taper, folder, work, out)
        contact_sheet(taper, originals, work, out)


if __name__ == "__main__":
    main()
