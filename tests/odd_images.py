#!/usr/bin/env python3
"""odd_images.py -- image files of many kinds, and whether they come back.

    python3 odd_images.py draw DIR CORPUS     draw them into DIR/in; DIR/expected says what is right
    python3 odd_images.py check DIR TOLD      is each file that can be read in DIR/out, equal in look,
                                              and each other one named in the file TOLD?

CORPUS is tests/fuzz/corpus: its JPEG files are what others are made of. A line of DIR/expected is
the file, a tab, and
    pixels                 DIR/right has it as it is to look, as PNG
    like FILE HOW          it looks like that file turned as EXIF's orientation HOW says
    refused CODE WORD      it is named with WORD, and alone it ends with the exit code CODE
"""
import math
import os
import struct
import sys
import zlib

from same_pixels import samples

WIDTH, HEIGHT = 40, 24
XMP_NAME = b"http://ns.adobe.com/xap/1.0/\0"
lines = []
root = corpus = ""


# --- files

def put(name, data, *expected):
    path = os.path.join(os.fsencode(root), b"in", os.fsencode(name))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as out:
        out.write(data)
    if expected:
        lines.append((name,) + expected)


def put_right(name, data, right):
    """A file, and what it is to look like."""
    put(name, data, "pixels")
    path = os.path.join(os.fsencode(root), b"right", stem(os.fsencode(name)) + b".png")
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as out:
        out.write(right)


def jpeg(name):
    with open(os.path.join(corpus, "jpeg", name + ".jpg"), "rb") as file:
        return file.read()


def stem(name):
    return os.path.splitext(name)[0]


# --- parts of files

def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def segment(data):
    return b"\xff\xe1" + struct.pack(">H", len(data) + 2) + data


def exif(how, order="<"):
    mark = b"II*\0" if order == "<" else b"MM\0*"
    return mark + struct.pack(order + "IHHHIHHI", 8, 1, 0x112, 3, 1, how, 0, 0)


def xmp(how, form='<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:Description tiff:Orientation="%d"/></x:xmpmeta>'):
    return (form % how).encode()


def raw_profile(name, data):
    digits = data.hex().encode()
    rows = b"\n".join(digits[at:at + 72] for at in range(0, len(digits), 72))
    return b"\n%s\n%8d\n%s\n" % (name, len(data), rows)


def packed_text(keyword, text):
    return chunk(b"zTXt", keyword + b"\0\0" + zlib.compress(text))


def png(rows, depth=8, colour=2, before=b"", after=b"", end=True):
    """rows: of bytes, as they stand in the file."""
    width = len(rows[0]) * 8 // (depth * {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour])
    header = struct.pack(">IIBBBBB", width, len(rows), depth, colour, 0, 0, 0)
    data = zlib.compress(b"".join(b"\0" + row for row in rows))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + before + chunk(b"IDAT", data) + after +
            (chunk(b"IEND", b"") if end else b""))


# --- pictures

def colour_at(x, y):
    if 2 <= x < 12 and 2 <= y < 8:                  # a mark, upper left
        return 230, 40, 40
    wave = round(128 + 90 * math.sin(x / 9) * math.cos(y / 7))
    return wave, 255 * x // WIDTH, 255 * y // HEIGHT


PICTURE = [[colour_at(x, y) for x in range(WIDTH)] for y in range(HEIGHT)]


def rgb(picture):
    return [bytes(v for pixel in row for v in pixel) for row in picture]


def grey(picture):
    return [bytes(pixel[1] for pixel in row) for row in picture]


def stored(picture, how):
    """Rows that the orientation HOW turns into the picture."""
    return upright(picture, {6: 8, 8: 6}.get(how, how))


def upright(rows, how):
    """As EXIF says it: where the stored row 0 and column 0 are to be seen."""
    if how in (2, 3, 6, 7):
        rows = [row[::-1] for row in rows] if how in (2, 3) else rows[::-1]
    if how in (3, 4, 7, 8):
        rows = rows[::-1] if how in (3, 4) else [row[::-1] for row in rows]
    if how >= 5:
        rows = [list(column) for column in zip(*rows)]
    return rows


# --- what is drawn

def draw_orientations():
    base, right = jpeg("rgb"), png(rgb(PICTURE))
    for how in range(1, 9):
        rows = rgb(stored(PICTURE, how))
        e, big, x = exif(how), exif(how, ">"), xmp(how)
        element = xmp(how, "<rdf:RDF><tiff:Orientation>%d</tiff:Orientation></rdf:RDF>")
        put("turn/exif%d.jpg" % how, base[:2] + segment(b"Exif\0\0" + e) + base[2:],
            "like", "jpeg/rgb.jpg", str(how))
        put("turn/xmp%d.jpg" % how, base[:2] + segment(XMP_NAME + x) + base[2:],
            "like", "jpeg/rgb.jpg", str(how))
        named = b"Exif\0\0" + big
        for name, before in (
                ("chunk", chunk(b"eXIf", big)),
                ("raw", packed_text(b"Raw profile type exif", raw_profile(b"exif", named))),
                ("app1", packed_text(b"Raw profile type APP1", raw_profile(b"generic profile", named))),
                ("packet", chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + element)),
                ("all", chunk(b"eXIf", e) +
                 chunk(b"iTXt", b"XML:com.adobe.xmp\0\1\0\0\0" + zlib.compress(x)))):
            put_right("turn/%s%d.png" % (name, how), png(rows, before=before), right)
        put_right("turn/after%d.png" % how, png(rows, after=chunk(b"eXIf", e)), right)


def draw_pngs():
    right = png(rgb(PICTURE))
    good = chunk(b"tEXt", b"Comment\0hello")
    for name, data in (
            ("no-iend", png(rgb(PICTURE), end=False)),
            ("iend-overwritten", png(rgb(PICTURE), end=False) + bytes(12)),
            ("trailer", right + b"x" * 50),
            ("text-sum", png(rgb(PICTURE), before=good[:-1] + b"!")),
            ("text-after", png(rgb(PICTURE), after=good)),
            ("profile-damaged", png(rgb(PICTURE), before=chunk(b"iCCP", b"icc\0\0not deflate"))),
            ("palette-in-rgb", png(rgb(PICTURE), before=chunk(b"PLTE", bytes(range(30))))),
            ("apng", png(rgb(PICTURE), before=chunk(b"acTL", struct.pack(">II", 2, 0)) + chunk(
                b"fcTL", struct.pack(">IIIIIHHBB", 0, WIDTH, HEIGHT, 0, 0, 1, 5, 0, 0)))),
            ("opaque", png([b"".join(bytes(p) + b"\xff" for p in row) for row in PICTURE], 8, 6))):
        put_right("png/%s.png" % name, data, right)
    half = [[tuple((v * 128 + 255 * 127 + 127) // 255 for v in p) for p in row] for row in PICTURE]
    put_right("png/alpha.png",
              png([b"".join(bytes(p) + b"\x80" for p in row) for row in PICTURE], 8, 6), png(rgb(half)))
    put_right("png/grey.png", png(grey(PICTURE), 8, 0), png(grey(PICTURE), 8, 0))
    wide = [bytes(v for b in row for v in (b, 255 - b)) for row in grey(PICTURE)]
    put_right("png/grey16.png", png(wide, 16, 0), png(wide, 16, 0))
    palette = bytes(v for i in range(256) for v in (i, 255 - i, i // 2))
    put_right("png/palette.png", png(grey(PICTURE), 8, 3, chunk(b"PLTE", palette)),
              png([bytes(v for i in row for v in (i, 255 - i, i // 2)) for row in grey(PICTURE)]))
    bits = [bytes([0xA5, 0x3C, 0x0F]) for _ in range(9)]
    spread = [bytes(255 * (byte >> 7 - k & 1) for byte in row for k in range(8)) for row in bits]
    put_right("png/bits.png", png(bits, 1, 0), png(spread, 8, 0))
    for width, height in (1, 1), (1, 50), (50, 1):
        dots = [bytes([90, 160, 40] * width)] * height
        put_right("png/size-%dx%d.png" % (width, height), png(dots), png(dots))
    draw_damaged_pngs()


def draw_damaged_pngs():
    rows = b"".join(b"\0" + row for row in rgb(PICTURE))
    packed, whole = zlib.compress(rows), png(rgb(PICTURE))
    at, end = whole.find(b"IDAT") - 4, whole.find(b"IEND") - 4

    def with_data(data):
        return whole[:at] + chunk(b"IDAT", data) + whole[end:]
    for name, data in (
            ("cut", whole[:len(whole) * 2 // 3]), ("cut-in-sum", whole[:end - 2]),
            ("sum", whole[:end - 1] + bytes([whole[end - 1] ^ 1]) + whole[end:]),
            ("adler", with_data(packed[:-1] + bytes([packed[-1] ^ 1]))),
            ("rows-missing", with_data(zlib.compress(rows[:len(rows) * 9 // 10]))),
            ("rows-missing-no-iend", with_data(zlib.compress(rows[:len(rows) // 2]))[:-12])):
        put("bad/png-%s.png" % name, data, "refused", "3", "anew")


def draw_jpegs():
    trailer = b"TRAILER\0" + bytes(range(1, 200)) + b"\xff\xd8\xff\xe1\xff\xff"
    for name in "rgb", "grey", "progressive", "restart":
        whole = jpeg(name)
        put("jpeg/%s.jpg" % name, whole, "like", "jpeg/%s.jpg" % name, "1")
        body = whole[:-2]
        for kind, data in (("no-end", body), ("no-end-trailer", body + trailer),
                           ("trailer", whole + trailer), ("extra", body + b"\x12\x34\xff\xd9"),
                           ("zeros", body + bytes(64) + b"\xff\xd9"),
                           ("fill", body + b"\xff\xff\xff\xff\xd9"), ("two", whole + whole)):
            put("jpeg/%s-%s.jpg" % (name, kind), data, "like", "jpeg/%s.jpg" % name, "1")
        put("bad/jpeg-%s-cut.jpg" % name, whole[:len(whole) - 12], "refused", "3", "anew")
    whole = jpeg("progressive")
    put("bad/jpeg-scan-missing.jpg", whole[:whole.rfind(b"\xff\xda")], "refused", "3", "anew")
    inks = b"".join(bytes([k, 0x11, 0]) for k in range(1, 5))
    put("bad/cmyk.jpg", b"\xff\xd8\xff\xc0\0\x14\x08" + struct.pack(">HHB", 12, 16, 4) + inks +
        b"\xff\xda\0\x0e\4" + bytes([1, 0, 2, 0, 3, 0, 4, 0, 0, 63, 0]) + bytes(64) + b"\xff\xd9",
        "refused", "3", "anew")
    put("jpeg/arithmetic.jpg", jpeg("arithmetic"), "like", "jpeg/arithmetic.jpg", "1")
    at = jpeg("rgb").find(b"\xff\xe0")
    put("jpeg/no-jfif.jpg", jpeg("rgb")[:at] + jpeg("rgb")[at + 18:], "like", "jpeg/rgb.jpg", "1")
    put("jpeg/really-png.jpg", png(rgb(PICTURE)), "like", "png/trailer.png", "1")
    put("jpeg/really-jpeg.png", jpeg("rgb"), "like", "jpeg/rgb.jpg", "1")


def draw_others():
    flat = b"".join(rgb(PICTURE))
    for name, data in (("crlf", b"P6\r\n%d %d\r\n255\n"), ("comment", b"P6\n# a\n%d # b\n%d\n255\n")):
        put_right("pnm/%s.ppm" % name, data % (WIDTH, HEIGHT) + flat, png(rgb(PICTURE)))
    put_right("pnm/trailing.ppm", b"P6 %d %d 255\n" % (WIDTH, HEIGHT) + flat + b"\n",
              png(rgb(PICTURE)))
    put_right("pnm/plain.pbm", b"P1\n4 2\n01101001\n",
              png([bytes([255, 0, 0, 255]), bytes([0, 255, 255, 0])], 8, 0))
    put("bad/short.ppm", b"P6 %d %d 255\n" % (WIDTH, HEIGHT) + flat[:-1], "refused", "3", "anew")
    put("bad/empty.jpg", b"", "refused", "3", "empty")
    put("bad/words.jpg", b"Not found\n", "refused", "3", "no image")
    for name, front in (("a.psd", b"8BPS"), ("b.svg", b"<svg/>"), ("c.jpg", b"qoif"), ("d.png", b"8BPS"),
                        ("e.jp2", b"\0\0\0\x0cjP  \r\n\x87\n"), ("f", b"\x76\x2f\x31\x01")):
        put("foreign/" + name, front + bytes(40), "refused", "2", "PNG")


def draw_names():
    names = ["with space", "it's", 'say "hi"', "\U0001F600 smile", "-leading", "--output", "\xfcml\xe4ut",
             "a" * 251, "star*?", "UPPER", "CON", "trailing ", "semi;colon", "<b>&amp;", "comma,name",
             "=cmd", "+1", "@at"]
    for i, name in enumerate(names):
        picture = [[(p[0], p[1], 12 * i) for p in row] for row in PICTURE]
        put_right("names/%s.png" % name, png(rgb(picture)), png(rgb(picture)))
    put_right("names/no-extension", png(rgb(PICTURE)), png(rgb(PICTURE)))
    for folder in "@eaDir", ".git", "__MACOSX":
        put("names/%s/thumbnail.png" % folder, png(rgb(PICTURE)))
    put("names/.hidden.png", png(rgb(PICTURE)))
    put("names/Thumbs.db", b"nothing")
    here = os.path.join(root, "in", "names")
    os.symlink("..", os.path.join(here, "loop"))
    os.symlink("self", os.path.join(here, "self.png"))
    os.symlink("nowhere", os.path.join(here, "dangling.png"))
    for name in "names/self.png", "names/dangling.png":
        lines.append((name, "refused", "5", "cannot"))


def draw():
    for what in draw_orientations, draw_pngs, draw_jpegs, draw_others, draw_names:
        what()
    with open(os.path.join(root, "expected"), "w", encoding="utf-8") as out:
        for line in lines:
            out.write("\t".join(line) + "\n")


# --- the check

def look(path):
    """Rows of RGB pixels of 8 bits."""
    (width, height, depth, channels), values = samples(path)
    values = [v / 257 if depth == 16 else v for v in values]
    pixels = [tuple(values[at:at + channels]) * (3 // channels)
              for at in range(0, len(values), channels)]
    return [pixels[y * width:(y + 1) * width] for y in range(height)]


def decoded():
    """The decoded file of each name without its ending."""
    out = os.path.join(root, "out")
    return {os.path.relpath(stem(os.path.join(at, name)), out): os.path.join(at, name)
            for at, _, names in os.walk(out) for name in names}


def decibels(a, b):
    if (len(a), len(a[0])) != (len(b), len(b[0])):
        return -math.inf
    errors = [(x - y) ** 2 for r, s in zip(a, b) for p, q in zip(r, s) for x, y in zip(p, q)]
    mean = sum(errors) / len(errors)
    return 10 * math.log10(255 ** 2 / mean) if mean else math.inf


def check(told):
    with open(told, encoding="utf-8", errors="replace") as file:
        said = file.read().splitlines()
    with open(os.path.join(root, "expected"), encoding="utf-8") as file:
        expected = [line[:-1].split("\t") for line in file]
    there, wrong, least = decoded(), [], math.inf
    for name, what, *more in expected:
        if what == "refused":
            named = [line for line in said if name in line]
            if stem(name) in there or not any(more[1] in line for line in named):
                wrong.append("%s: is not refused with '%s': %s" % (name, more[1], named))
            continue
        if stem(name) not in there:
            wrong.append("%s: does not come back" % name)
            continue
        back = look(there[stem(name)])
        if what == "pixels":
            right = look(os.path.join(root, "right", stem(name) + ".png"))
        else:
            right = upright(look(there[stem(more[0])]), int(more[1]))
        near = decibels(back, right)
        least = min(least, near)
        if not near >= 40:
            wrong.append("%s: %.1f dB" % (name, near))
    if len(there) != sum(line[1] != "refused" for line in expected):
        wrong.append("there are %d files in out" % len(there))
    print("%d files, %d come back, the least %.1f dB" % (len(expected), len(there), least))
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    root = sys.argv[2]
    if sys.argv[1] == "draw":
        corpus = sys.argv[3]
        draw()
    else:
        check(sys.argv[3])
