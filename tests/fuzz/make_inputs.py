#!/usr/bin/env python3
"""make_inputs.py -- wrote the hand-made inputs of the corpora imageset, names, metadata and checkpoint, and those
of the other image and label files that reach one line each; kept so that they can be made again when the formats change:

    python3 tests/fuzz/make_inputs.py tests/fuzz/corpus

Needs Python's standard library alone. Every input is made here; none is taken from elsewhere."""
import gzip
import os
import struct
import sys
import zlib

ROOT = sys.argv[1]


def save(path, content):
    path = os.path.join(ROOT, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(content)


# --- pieces of files ---


def pnm(width=2, height=2, grey=True, fill=7):
    return b"P%d %d %d 255\n" % (5 if grey else 6, width, height) + bytes([fill]) * (width * height * (1 if grey else 3))


def chunk(kind, data=b"", damaged=False):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data) ^ damaged)


SIGNATURE = b"\x89PNG\r\n\x1a\n"


def ihdr(width=2, height=2, depth=8, colour=0, interlaced=0):
    return chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlaced))


def png(*before, width=2, height=2, colour=0, samples=1, fill=9, end=True, depth=8, row=None):
    row = b"\0" + (bytes([fill]) * (width * samples * depth // 8) if row is None else row)
    return (SIGNATURE + ihdr(width, height, depth, colour) + b"".join(before) +
            chunk(b"IDAT", zlib.compress(row * height)) + (chunk(b"IEND") if end else b""))


def segment(marker, data):
    return b"\xff" + bytes([marker]) + struct.pack(">H", len(data) + 2) + data


def jpeg(*before, end=True):
    """A grey JPEG of 8 x 8: tables with one code each, and one block of zeroes."""
    return (b"\xff\xd8" + b"".join(before) + segment(0xDB, b"\0" + bytes([1] * 64)) +
            segment(0xC0, struct.pack(">BHHB", 8, 8, 8, 1) + b"\x01\x11\0") +
            segment(0xC4, b"\0" + bytes([1] + [0] * 15) + b"\0") + segment(0xC4, b"\x10" + bytes([1] + [0] * 15) + b"\0") +
            segment(0xDA, b"\x01\x01\0\0\x3f\0") + b"\x3f" + (b"\xff\xd9" if end else b""))


def exif(value, big=True, kind=3, count=1, tag=0x112, entries=1):
    order = ">" if big else "<"
    head = (b"MM\0*" if big else b"II*\0") + struct.pack(order + "I", 8)
    number = struct.pack(order + ("HH" if kind == 3 else "I"), *((value, 0) if kind == 3 else (value,)))
    return head + struct.pack(order + "HHHI", entries, tag, kind, count) + number


XMP = b'<x:xmpmeta><rdf:Description tiff:Orientation="%d"/></x:xmpmeta>'
XMP_NAME = b"http://ns.adobe.com/xap/1.0/\0"


def raw_profile(name, data):
    return b"\n%s\n%8d\n%s\n" % (name, len(data), data.hex().encode())


def fixed(value):
    return struct.pack(">i", round(value * 65536))


def icc(space=b"RGB ", curve=None, tags=None, colours=((0.4361, 0.2225, 0.0139), (0.3851, 0.7169, 0.0971),
                                                        (0.1431, 0.0606, 0.7141))):
    if curve is None:
        curve = b"curv" + bytes(4) + struct.pack(">IH", 1, round(2.2 * 256))
    if tags is None:
        tags = [(name, b"XYZ " + bytes(4) + b"".join(map(fixed, xyz)))
                for name, xyz in zip((b"rXYZ", b"gXYZ", b"bXYZ"), colours)]
        tags += [(name, curve) for name in (b"rTRC", b"gTRC", b"bTRC", b"kTRC")]
    table, data, at = b"", b"", 132 + 12 * len(tags)
    for name, content in tags:
        table += name + struct.pack(">II", at + len(data), len(content))
        data += content
    return bytes(16) + space + bytes(16) + b"acsp" + bytes(88) + struct.pack(">I", len(tags)) + table + data


def idx(kind, sizes, data=None, size_of=1):
    n = size_of
    for s in sizes:
        n *= s
    return (b"\0\0" + bytes([kind, len(sizes)]) + b"".join(struct.pack(">I", s) for s in sizes) +
            (bytes(range(n % 200)) + bytes(n - n % 200) if data is None else data))


def packed(data):
    return gzip.compress(data, 9, mtime=0)


CIFAR = bytes([3]) + bytes(range(256)) * 12

# --- metadata: a byte for what the rest is ---

XMP_INPUT, EXIF_INPUT, ICC_INPUT, RAW_INPUT, JPEG_INPUT, PNG_INPUT, TEXT, ZTEXT, ITEXT = range(9)


def make_metadata():
    def put(name, how, content):
        save("metadata/" + name, bytes([how]) + content)

    put("xmp_attribute", XMP_INPUT, XMP % 6)
    put("xmp_blanks", XMP_INPUT, b"<a tiff:Orientation = ' 3 '/>")
    put("xmp_element", XMP_INPUT, b"<tiff:Orientation>8</tiff:Orientation>")
    put("xmp_zero_then_other", XMP_INPUT, XMP % 0 + XMP % 2)
    put("xmp_no_quote", XMP_INPUT, b"<a tiff:Orientation=6/>")
    put("xmp_no_value", XMP_INPUT, b"<a tiff:Orientation /> tifftiff:Orientation and tiff: the end tiff:Orientation")
    put("xmp_not_closed", XMP_INPUT, b"<a tiff:Orientation='66'/>")
    put("xmp_nine", XMP_INPUT, XMP % 9)
    put("xmp_cut", XMP_INPUT, b"<a tiff:Orientation='")
    put("exif_big", EXIF_INPUT, exif(6))
    put("exif_little_long", EXIF_INPUT, exif(3, big=False, kind=4))
    put("exif_900", EXIF_INPUT, exif(900))
    put("exif_two_values", EXIF_INPUT, exif(3, count=2))
    put("exif_other_tag", EXIF_INPUT, exif(3, tag=0x110))
    put("exif_many_entries", EXIF_INPUT, exif(3, tag=0x110, entries=9))
    put("exif_beyond_end", EXIF_INPUT, b"MM\0*\xff\0\0\0")
    put("exif_other_order", EXIF_INPUT, b"MI\0*\0\0\0\x08")
    put("exif_short", EXIF_INPUT, b"MM\0")
    for name, large, order in ("little", 0, "<"), ("big", 0, ">"), ("large", 1, "<"):
        put("tiff_" + name, EXIF_INPUT, described_tiff(large, order))
    put("tiff_long", EXIF_INPUT, described_tiff(0, "<", makers=5))
    put("tiff_nothing", EXIF_INPUT, described_tiff(0, "<", 256))
    put("tiff_directory_beyond", EXIF_INPUT, described_tiff(0, "<")[:60])
    make_profiles(put)
    make_texts(put)
    make_walked(put)
    make_payloads(put)


def described_tiff(large, order, tag=0x10F, makers=1):
    """A TIFF or BigTIFF that tells of itself: text within and behind its directory, EXIF twice, GPS, interoperability."""
    wide, at = (8, 16) if large else (4, 8)
    def entry(tag, kind, count, value):
        value = value if isinstance(value, bytes) else struct.pack(order + "HIQ"[(kind == 4) + 2 * (kind == 18)], value)
        return struct.pack(order + ("HHQ" if large else "HHI"), tag, kind, count) + value.ljust(wide, b"\0")
    def directory(*entries):
        return struct.pack(order + ("Q" if large else "H"), len(entries)) + b"".join(entries) + bytes(wide)
    def whole(exif_at, gps_at, inter_at, text_at):
        main = directory(entry(256, 3, 1, 8), *[entry(tag, 2, 1200, struct.pack(order + "QI"[not large], text_at))] * makers,
                         entry(0x110, 2, 3, b"me\0"), entry(0x112, 3, 1, 6), entry(0x131, 77, 1, 0), entry(0x132, 2, 0, 0),
                         entry(0x13B, 2, 30000, b"beyo"), entry(0x8298, 13, 1, b"of13"),
                         entry(0x8769, 18 if large else 4, 1, exif_at), entry(0x8769, 4, 1, exif_at), entry(0x8825, 4, 1, gps_at))
        return (main, directory(entry(0x829A, 5, 1, struct.pack(order + "II", 1, 125) if large else struct.pack(order + "I", text_at)),
                                entry(0x8769, 4, 1, 8), entry(0xA005, 4, 1, inter_at)),
                directory(entry(0x8825, 4, 1, 8)), directory(entry(1, 2, 4, b"R98\0")))
    places = [at]
    for part in whole(0, 0, 0, 0):
        places.append(places[-1] + len(part))
    head = (b"II" if order == "<" else b"MM") + (struct.pack(order + "HHHQ", 43, 8, 0, at) if large else struct.pack(order + "HI", 42, at))
    return head + b"".join(whole(*places[1:5])) + b"A maker of cameras\0".ljust(1200, b".")


def thumbnailed(value, thumbnail=b"thumbnail", at=None, next_directory=None, directory=1, leads=0xA002):
    """EXIF with an EXIF directory, and a second directory with a thumbnail."""
    def entry(tag, kind, value):
        return struct.pack("<HHI", tag, kind, 1) + struct.pack("<HH" if kind == 3 else "<I", *((value, 0) if kind == 3 else (value,)))
    first = struct.pack("<H", 2) + entry(0x112, 3, value) + entry(0x8769, 4, 38)
    second_at = 38 + 18
    second = struct.pack("<H", 2) + entry(0x201, 4, at or second_at + 30) + entry(0x202, 4, len(thumbnail)) + bytes(4)
    own = struct.pack("<H", directory) + entry(leads, 4, 38) + bytes(4)
    return (b"II*\0" + struct.pack("<I", 8) + first + struct.pack("<I", second_at if next_directory is None else next_directory)
            + own + second + thumbnail)


def sized(profile):
    return struct.pack(">I", len(profile)) + profile[4:]


def make_payloads(put):
    signature = b"\x89PNG\r\n\x1a\n"

    def png(*chunks):
        return signature + b"".join(struct.pack(">I", len(data)) + kind + data + bytes(4) for kind, data in chunks)

    profile, grey = sized(icc()), sized(icc(b"GRAY"))
    numbers = [(b"gAMA", struct.pack(">I", 45455)), (b"cHRM", struct.pack(">8I", *range(31270, 31278))),
               (b"pHYs", struct.pack(">IIB", 3000, 4000, 1)), (b"cICP", bytes((12, 13, 0, 1)))]
    for n, own in enumerate((profile, grey)):
        put("payloads_png_%d" % n, PNG_INPUT, bytes() + png((b"iCCP", b"p\0\0" + zlib.compress(own)), *numbers, (b"eXIf", thumbnailed(6)),
                                                      (b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + XMP % 6)) + bytes(2 * n))
    put("payloads_png_srgb", PNG_INPUT, png((b"sRGB", b"\0"), *numbers[:3]))
    put("payloads_png_damaged", PNG_INPUT, png((b"iCCP", b"p\0\0" + zlib.compress(profile)[:-9]), (b"iCCP", b"p"), (b"eXIf", b"none"),
                                               (b"tEXt", b"XML:com.adobe.xmp\0"), (b"gAMA", b"\xff" * 4), (b"pHYs", bytes(9))))
    put("payloads_png_texts", PNG_INPUT, png((b"tEXt", b"Raw profile type exif\0" + raw_profile(b"exif", thumbnailed(3))),
                                             (b"zTXt", b"Raw profile type xmp\0\0" + zlib.compress(raw_profile(b"xmp", XMP % 3)))))
    jfif = segment(0xE0, b"JFIF\0\1\1\1\0\x48\0\x48\0\0")
    half = len(profile) // 2
    parts = [segment(0xE2, b"ICC_PROFILE\0\2\2" + profile[half:]), segment(0xE2, b"ICC_PROFILE\0\1\2" + profile[:half])]
    for name, own in (("plain", thumbnailed(6)), ("before", thumbnailed(6, at=40)), ("beyond", thumbnailed(6, at=4000)),
                      ("loop", thumbnailed(6, next_directory=8)), ("far", thumbnailed(6, next_directory=9999)),
                      ("entries", thumbnailed(6, directory=999)), ("itself", thumbnailed(6, leads=0xA005)), ("more", thumbnailed(6) + bytes(99)), ("big", exif(6))):
        put("payloads_jpeg_" + name, JPEG_INPUT, jpeg(jfif, segment(0xE1, b"Exif\0\0" + own), segment(0xE1, XMP_NAME + XMP % 6), *parts))
    put("payloads_jpeg_centimetres", JPEG_INPUT, jpeg(jfif.replace(b"\1\1\1", b"\1\1\2"), parts[1]))
    put("payloads_jpeg_ratio", JPEG_INPUT, jpeg(jfif.replace(b"\1\1\1", b"\1\1\0").replace(b"\0\x48\0", b"\0\x24\0", 1), segment(0xE2, b"ICC_PROFILE\0\3\2")))


def make_profiles(put):
    def formula(kind, *numbers):
        return b"para" + bytes(4) + struct.pack(">HH", kind, 0) + b"".join(map(fixed, numbers))

    def samples(*values):
        return b"curv" + bytes(4) + struct.pack(">I", len(values)) + b"".join(struct.pack(">H", v) for v in values)

    put("icc_srgb", ICC_INPUT, icc())
    put("icc_grey", ICC_INPUT, icc(b"GRAY"))
    put("icc_cmyk", ICC_INPUT, icc(b"CMYK"))
    put("icc_other_red", ICC_INPUT, icc(colours=((0.5, 0.2, 0), (0, 0, 0), (0, 0, 0))))
    put("icc_no_colours", ICC_INPUT, icc(tags=[(b"rTRC", bytes(12))]))
    put("icc_beyond_end", ICC_INPUT, icc(tags=[(b"kTRC", samples(1))], space=b"GRAY")[:-4])
    put("icc_many_tags", ICC_INPUT, icc(tags=[(b"abcd", bytes(8))], space=b"GRAY").replace(b"\0\0\0\x01abcd", b"\xff\0\0\0abcd"))
    for kind, numbers in enumerate(((2.2,), (2.2, 1, 0), (2.2, 1, 0, 0), (2.2, 1, 0, 1, 0), (2.2, 1, 0, 1, 0, 0, 0))):
        put("icc_formula_%d" % kind, ICC_INPUT, icc(curve=formula(kind, *numbers)))
    put("icc_formula_5", ICC_INPUT, icc(curve=formula(5, 1)))
    put("icc_formula_cut", ICC_INPUT, icc(curve=formula(4, 1)))
    put("icc_sampled", ICC_INPUT, icc(curve=samples(0, 14000, 65535)))
    put("icc_sampled_even", ICC_INPUT, icc(curve=samples(0, 7000, 21000, 65535)))
    put("icc_sampled_none", ICC_INPUT, icc(curve=samples()))
    put("icc_sampled_short", ICC_INPUT, icc(curve=b"curv" + bytes(5)))
    put("icc_sampled_cut", ICC_INPUT, icc(curve=b"curv" + bytes(4) + struct.pack(">I", 9)))


def make_texts(put):
    text = XMP % 5
    put("text", TEXT, b"Raw\0" + text)
    put("text_no_end", TEXT, b"no zero")
    put("text_long", TEXT, b"a\0" + text * 8)
    put("ztext", ZTEXT, b"Raw\0\0" + zlib.compress(text))
    put("ztext_long", ZTEXT, b"Raw\0\0" + zlib.compress(text * 40))
    put("ztext_cut", ZTEXT, b"Raw\0\0" + zlib.compress(text)[:-6])
    put("ztext_damaged", ZTEXT, b"Raw\0\0" + b"no zlib")
    put("ztext_empty", ZTEXT, b"Raw\0")
    put("itext", ITEXT, b"XML\0\0\0en\0key\0" + text)
    put("itext_packed", ITEXT, b"XML\0\1\0en\0key\0" + zlib.compress(text))
    put("itext_no_key", ITEXT, b"XML\0\0\0en\0key")
    put("itext_no_language", ITEXT, b"XML\0\0")
    put("text_small_room", 9, b"a\0" + text)
    put("raw_profile", RAW_INPUT, raw_profile(b"exif", exif(6)))
    put("raw_profile_upper_odd", RAW_INPUT, b"\n\nexif\n 9\nAB cd-E")
    put("raw_profile_no_digits", RAW_INPUT, b"exif")


def make_walked(put):
    e, x = b"Exif\0\0" + exif(6), XMP_NAME + XMP % 3
    profile = b"ICC_PROFILE\0\1\1" + icc()
    put("jpeg_all", JPEG_INPUT, jpeg(segment(0xE1, e), segment(0xE1, x), segment(0xE2, profile)))
    put("jpeg_profile_in_parts", JPEG_INPUT, jpeg(segment(0xE2, b"ICC_PROFILE\0\1\2")))
    put("jpeg_pictures", JPEG_INPUT, jpeg(segment(0xE2, b"MPF\0")) + jpeg())
    put("jpeg_padded", JPEG_INPUT, b"\xff\xd8\xff\xff\xff\xd0\xff\xd9")
    put("jpeg_length_cut", JPEG_INPUT, b"\xff\xd8\xff\xe1\xff")
    put("jpeg_length_1", JPEG_INPUT, b"\xff\xd8\xff\xe1\0\1")
    put("jpeg_no_end", JPEG_INPUT, jpeg(end=False))
    put("png_exif", PNG_INPUT, png(chunk(b"eXIf", exif(6)), chunk(b"acTL", struct.pack(">II", 2, 0))))
    put("png_exif_named", PNG_INPUT, png(chunk(b"eXIf", e)))
    put("png_exif_damaged", PNG_INPUT, png(chunk(b"eXIf", exif(6), damaged=True)))
    put("png_xmp", PNG_INPUT, png(chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + XMP % 6)))
    put("png_xmp_profile", PNG_INPUT, png(chunk(b"tEXt", b"Raw profile type xmp\0" + raw_profile(b"xmp", XMP % 6))))
    put("png_app1", PNG_INPUT, png(chunk(b"tEXt", b"Raw profile type APP1\0" + raw_profile(b"app1", x)),
                                   chunk(b"zTXt", b"Raw profile type exif\0\0" + zlib.compress(raw_profile(b"exif", e)))))
    put("png_text_damaged", PNG_INPUT, png(chunk(b"tEXt", b"Raw profile type exif\0" + raw_profile(b"exif", e), damaged=True)))
    put("png_many_texts", PNG_INPUT, png(*[chunk(b"tEXt", b"raw profile TYPE exif\0")] * 18))
    put("png_profile", PNG_INPUT, png(chunk(b"iCCP", b"p\0\0" + zlib.compress(icc()))))
    put("png_profile_large", PNG_INPUT, png(chunk(b"iCCP", b"p\0\0" + zlib.compress(bytes(70000)))))
    put("png_profile_no_name", PNG_INPUT, png(chunk(b"iCCP", b"p")))
    put("png_no_end", PNG_INPUT, png(end=False))
    put("png_cut_in_data", PNG_INPUT, png()[:-20])


# --- names: a byte for the files' suffix and case, then one a line ---


def make_names():
    def put(name, how, *lines):
        save("names/" + name, bytes([how]) + b"\n".join(lines))

    put("plain", 0, b"a.png", b"a.jpg", b"b/c.pgm", b"b/c.pgm", b"a", b"a-2.png", b".png", b"x/.png")
    put("paths", 0, b"./a//b/./c.png", b"/abs/a.png", b"../up.png", b"a/../b.png", b"..", b".", b"/", b"", b"a/..")
    put("folding", 1, b"A.png", b"a.PNG", "\u00c4.jpg".encode(), "\u00e4.png".encode(), b"B.jpg", b"b.jpg")
    put("folding_letters", 1, *(chr(c).encode() for c in
                                (0xD7, 0x100, 0x131, 0x133, 0x139, 0x148, 0x149, 0x14A, 0x178, 0x179, 0x17F, 0x391, 0x3A2,
                                 0x3A9, 0x400, 0x410, 0x430)), b"\xc3", b"\xe2\x82\xac")
    put("jpegs", 2, b"a.png", b"a.jpg", b"a.jpeg", b"a.JPG", b"c.jfif", b"c.jpe")
    put("controls", 0, b"a\tb\x01\x7f\\.png", b"\\x0a.png", b"\\x5c", b"\\x4a \\x \\xg0 \\", b"\xff\xfe.png")
    put("decomposed", 0, "e\u0301.png".encode(), "\u00e9.png".encode(), "\u1e69s\u0323\u0307.png".encode(),
        "\uac00\uac01.png".encode(), "\u01d5\u1f82.png".encode(), b"\xe0\x80\x80", b"\xe2\x82", "\u0301\u0300\u0327".encode())
    put("many_marks", 0, ("e" + "\u0301\u0327" * 20).encode())
    put("many", 0, *(b"%d.jpg" % (i % 100) for i in range(140)))


# --- files of images and labels: one input for each way to be wrong ---


def make_pnms():
    def put(name, content):
        save("pnm/" + name, content)

    put("no_number.ppm", b"P6 a 1 255 ")
    put("number_too_large.ppm", b"P6 99999999999 1 255 ")
    put("header_cut.ppm", b"P6 1 1 255")
    put("header_no_blank.ppm", b"P6 1 1 255#abc")
    put("most_0.pgm", b"P5 1 1 0 a")
    put("sample_above_most.pgm", b"P5 1 1 9 a")
    put("comments.pgm", b"P2 # one\n#two\n1 1 9#\n3")
    put("bits_cut.pbm", b"P1 2 2 1 01  ")
    put("bits_odd.pbm", b"P1 2 1 1 2 ")
    put("plain_cut.pgm", b"P2 3 1 9 1 2     ")
    put("no_pixels.pgm", b"P5 0 1 255 ")
    pam = b"P7 WIDTH 1 HEIGHT 1 DEPTH %d MAXVAL %d TUPLTYPE x\nENDHDR\n"
    put("channels_5.pam", pam % (5, 255) + b"abcde")
    put("opaque.pam", pam % (4, 255) + b"abc\xff")
    put("opaque_grey_16.pam", pam % (2, 65535) + b"ab\xff\xff")
    put("cut.pam", b"P7 WIDTH 1 H")
    put("unknown_line.pam", b"P7 WIDTH 1 LENGTH 1 MAXVAL 255\n")


def make_pngs():
    def put(name, content):
        save("png/" + name, content)

    put("no_signature.png", b"\x89PNX\r\n\x1a\n" + ihdr())
    put("header_cut.png", (SIGNATURE + ihdr())[:20])
    put("header_missing.png", SIGNATURE + chunk(b"gAMA", bytes(4)) + ihdr())
    put("no_pixels.png", png(width=0))
    put("header_asks_too_much.png", SIGNATURE + ihdr(1000, 1000) + chunk(b"IDAT") + chunk(b"IEND"))
    put("opaque.png", png(colour=6, samples=4, fill=255))
    put("opaque_grey_16.png", png(colour=4, samples=2, depth=16, fill=255))
    put("warning.png", png(chunk(b"gAMA", bytes(4)), chunk(b"cHRM", b"1"), chunk(b"tEXt", b"x", damaged=True)))
    for how in (2, 4, 5, 7):
        put("exif_%d.png" % how, png(chunk(b"eXIf", exif(how)), width=3, height=2))


def make_jpegs():
    def put(name, content):
        save("jpeg/" + name, content)

    def frame(precision=8, width=8, height=8, parts=1, kind=0xC0):
        return b"\xff\xd8" + segment(kind, struct.pack(">BHHB", precision, height, width, parts) +
                                     b"".join(bytes([i + 1, 0x11, 0]) for i in range(parts)))

    def scan(parts=1):
        return segment(0xDA, bytes([parts]) + b"".join(bytes([i + 1, 0]) for i in range(parts)) + b"\0\x3f\0")

    put("two_bytes.jpg", b"\xff\xd8")
    put("no_jpeg.jpg", b"\xff\xd9\xff\xff")
    put("12_bits.jpg", frame(12) + scan())
    put("lossless.jpg", frame(kind=0xC3) + scan())
    put("cmyk.jpg", frame(parts=4) + scan(4))
    put("two_parts.jpg", frame(parts=2) + scan(2))
    put("header_asks_too_much.jpg", frame(width=500, height=500) + scan())
    put("no_tables.jpg", frame() + scan() + b"abc\xff\xd9")
    tables = segment(0xDB, b"\0" + bytes([1] * 64)) + segment(0xC4, b"\0" + bytes([1] + [0] * 15) + b"\0")
    put("many_scans.jpg", frame(kind=0xC2) + tables + (segment(0xDA, b"\1\1\0\0\0\0") + b"\x7f") * 520 + b"\xff\xd9")
    for how in (2, 4, 5, 7):
        put("exif_%d.jpg" % how, jpeg(segment(0xE1, b"Exif\0\0" + exif(how))))


def make_idxs():
    def put(name, content):
        save("idx/" + name, content)

    put("dimensions_5.idx", idx(8, (1,) * 5))
    put("type_7.idx", idx(7, (1,)))
    put("no_image.idx", idx(8, (0, 2, 2)))
    put("no_images_at_all.idx", idx(8, (2, 9, 2, 9)))
    put("no_dimension.idx", b"\0\0\x08\0")
    put("opaque.idx", idx(8, (1, 1, 2, 4), b"abc\xffdef\xff"))
    put("labels_signed.idx", idx(9, (2,), b"\1\2"))
    put("labels_short.idx", idx(11, (2,), b"\0\1\0\2"))
    put("labels_qmnist.idx", idx(12, (2, 8), bytes(64)))
    put("labels_negative.idx", idx(9, (1,), b"\xff"))
    put("labels_table.idx", idx(8, (2, 3)))
    put("labels_fractions.idx", idx(13, (2,), bytes(8)))
    many = idx(8, (2, 2, 2))
    put("two_members.idx.gz", packed(many[:10]) + packed(many[10:]))
    put("longer.idx.gz", packed(many + b"and more"))
    put("cannot_hold.idx.gz", packed(idx(8, (1, 300, 300), b"")))
    put("asks_too_much.idx.gz", packed(idx(8, (1, 30000, 30000), b"")))
    put("damaged.idx.gz", packed(many)[:12] + b"\xff\xff" + packed(many)[14:])
    put("damaged_behind.idx.gz", packed(idx(8, (90, 10, 10), bytes((i * i * 7919 >> 3) & 255 for i in range(9000))))[:4000] + b"\xff" * 99)
    for name, text in {
            "too_long": b"x" * 4200, "control": b"a\1b", "behind_quote": b"\"a\" b,c", "three_columns": b"a,b,c\nd,e,f",
            "columns_differ": b"a,b\nc\n", "one_then_two": b"a\nb,c\n", "tab": b"a\tb\n", "semicolon": b"a;b\n",
            "quoted_tab": b"\"a\tb\"\n", "utf16": b"\xff\xfea\0", "utf16_big": b"\xfe\xff\0a", "mark": b"\xef\xbb\xbfa,b",
            "quotes": b"\"a\"\"b\nc\",'=1\n./d,''+e\n", "quote_open": b"a,\"b", "quoted_nul": b"\"a\0\"", "nothing": b"\n\n",
            "heading_more": b"name,label,votes\na,1,2\n,,\nb,,\n", "numbers": b"10\n9\n-1\n01\n1\n", "empty_label": b"a,b\nc,\n",
            "heading_alone": b"name,label\n", "blanks": b"  a \t, b \r\n"}.items():
        put("labels_%s.csv" % name, text)


# --- checkpoints of the run that fuzz_checkpoint.c expects: a byte of how, then the file ---


def make_checkpoints():
    def put(name, how=3, version=2, fingerprint=9, best=1.5, curve=1, claimed=None, parts=2, size=4, weight=0.5, behind=b"", cut=0):
        head = b"TPRCHK\r\n\x1a\n" + struct.pack("<IQQIdd4dI", version, fingerprint, 7, 1, best, 2.0, 1, 2, 3, 4,
                                                   curve if claimed is None else claimed)
        rest = struct.pack("<8d", *range(8)) * curve + struct.pack("<I", parts)
        rest += struct.pack("<IQ3f", size, 3, weight, 1, 2) + struct.pack("<IQ2Q", 8, 2, 5, 2**63) + behind + bytes(4)
        whole = head + rest
        save("checkpoint/" + name, bytes([how]) + whole[:len(whole) - cut])

    put("whole")
    put("no_curve", curve=0)
    put("not_mended", how=0)
    put("other_run", how=1, fingerprint=8)
    put("version_1", version=1)
    put("loss_is_no_number", best=float("nan"))
    put("weight_is_infinite", weight=float("inf"))
    put("claims_many_epochs", claimed=99999)
    put("three_parts", parts=3)
    put("other_elements", size=8)
    put("cut", how=2, cut=30)
    put("bytes_behind", behind=b"1234")
    save("checkpoint/other_file", b"\3" + b"P5 1 1 255 " * 20)
    save("checkpoint/empty", b"\0")


# --- a set: a byte of `enum how`, then things ---

NAME_FILES, NULL_LIST, FOLLOW, FEW, LITTLE, STREAM, LIST_STREAM, TWICE = (1 << i for i in range(8))
FILE, LINK, DEVICE, UP = range(4)


def thing(name, content=b"", kind=FILE):
    name = name if isinstance(name, bytes) else name.encode()
    return bytes([kind << 6 | len(name)]) + name + struct.pack("<H", len(content)) + content


def make_sets():
    def put(name, how, *things):
        save("imageset/" + name, bytes([how]) + b"".join(things))

    two = thing("cat/a.pgm", pnm()), thing("dog/a.pgm", pnm(3, 1))
    put("folders", 0, *two)
    put("folders_twice", TWICE, *two)
    put("lone_folder", 0, thing("cat/a.pgm", pnm()), thing("b.ppm", pnm(grey=False)))
    put("files_clash", NAME_FILES, *two, thing("cat/a.png", png()))
    put("empty", 0)
    put("empty_file", 0, thing("a.png"))
    put("no_input", NAME_FILES)
    put("stream_empty", STREAM, thing("a"))
    put("stream_pnms", STREAM | NAME_FILES, thing("a.ppm", pnm() + pnm(grey=False)))
    put("stream_png_and_more", STREAM | NAME_FILES, thing("a.png", png() + png()))
    put("stream_jpeg_and_more", STREAM | NAME_FILES, thing("a.jpg", jpeg() + png()))
    put("stream_twice", STREAM | LIST_STREAM, *two, thing("list", b"set/cat/a.pgm"))
    put("stream_idx", STREAM | NAME_FILES, thing("a", packed(idx(8, (3, 2, 2)))))
    put("stream_large", STREAM | NAME_FILES | LITTLE, thing("a", idx(8, (30, 10, 10))))
    put("stream_cifar", STREAM | NAME_FILES, thing("a", CIFAR))
    make_kinds(put)
    make_lists(put, two)
    make_labelled(put, two)
    make_links(put, two)
    put("few_images", FEW, *(thing("%d.pgm" % i, pnm()) for i in range(5)))
    put("few_images_idx", FEW | NAME_FILES, thing("a.idx", idx(8, (5, 1, 1))))
    put("few_images_named", FEW | NAME_FILES, *(thing("%d.pgm" % i, pnm()) for i in range(5)))
    put("one_image_too_many", FEW | NAME_FILES, *(thing("%d.pgm" % i, pnm()) for i in range(4)))
    put("few_images_pnms", FEW, thing("a.ppm", pnm() * 5))
    put("little_memory", LITTLE, *(thing("long-%s-%d.pgm" % ("x" * 30, i), pnm()) for i in range(20)))
    put("little_memory_file", LITTLE | NAME_FILES, thing("a.pgm", pnm(50, 50)))
    put("little_memory_stream", STREAM | NAME_FILES | LITTLE, thing("a.pgm", pnm(37, 37)))
    put("little_memory_pnms", NAME_FILES | LITTLE, thing("a.pgm", pnm() + pnm(60, 60)))
    put("little_memory_turned", NAME_FILES | LITTLE, thing("a.png", png(chunk(b"eXIf", exif(6)), width=30, height=30)))
    put("little_memory_classes", LITTLE, *(thing("%d/a.pgm" % i, pnm()) for i in range(4)))


def make_kinds(put):
    fronts = {
        "webp": b"RIFF\0\0\0\0WEBP", "riff": b"RIFF\0\0\0\0AVI ", "avif": b"\0\0\0\x18ftypavif", "heic": b"\0\0\0\x18ftypheic",
        "mif1": b"\0\0\0\x18ftypmif1\0\0\0\0mif1avif", "msf1": b"\0\0\0\x18ftypmsf1\0\0\0\0msf1heic", "jxl": b"\xff\n",
        "jp2": b"\0\0\0\x0cjP  \r\n", "tif": b"II*\0", "nef": b"MM\0*", "gif": b"GIF89a",
        "bmp": b"BM" + bytes(12) + b"\x28" + bytes(9), "qoi": b"qoif", "tar": bytes(257) + b"ustar", "zip": b"PK\3\4",
        "xz": b"\xfd7zXZ", "svg": b"<svg/>", "TGA": bytes([9] * 20), "txt": b"text", "none": b"\1\2\3", "bin": b"\1\2\3"}
    put("kinds", 0, *(thing("a." + end, front) for end, front in fronts.items()))
    put("kinds_named", NAME_FILES, *(thing("a." + end, front) for end, front in fronts.items()))
    put("packed", NAME_FILES, thing("a.gz", packed(idx(8, (2, 2, 2)))), thing("b.gz", packed(b"text that is none")),
        thing("c.gz", packed(b"II*\0 and more")), thing("d.gz", packed(idx(8, (2, 2, 2)))[:20]),
        thing("e.tgz", packed(bytes(257) + b"ustar")), thing("f.gz", packed(idx(8, (5,)))))
    put("idx", 0, thing("a.idx", idx(8, (2, 3, 2))), thing("b.idx", idx(8, (2, 3, 2))[:-1]), thing("c.idx", idx(8, (4,))),
        thing("d.bin", idx(9, (2, 3, 2))), thing("e.bin", b"\0\0\x0b\x03" + bytes(50)))
    put("cifar", 0, thing("a.bin", CIFAR * 2), thing("b.bin", bytes([1]) + CIFAR), thing("c.bin", b"\3" * 99))
    put("cifar_bad", NAME_FILES, thing("a.bin", b"\xc8" + CIFAR[1:]), thing("b.BIN", CIFAR[:-1]))
    put("pnms", 0, thing("a.ppm", pnm() + pnm() + b" \n"), thing("b.ppm", pnm() + b"what is this?"),
        thing("c.pgm", b"P2 1 1 9 3 "), thing("d.ppm", pnm() + b"P2 1 1 9 3 "), thing("e.ppm", pnm() + b"P5 9 9 255\n1"),
        thing("f.pgm", b"P5 1 1"), thing("g.pgm", pnm() + b"P5 999 999 255\n" + bytes(9)), thing("h.pgm", b"P5 9999 9999 255\n "))
    rotated = jpeg(segment(0xE1, b"Exif\0\0" + exif(6)), segment(0xE1, XMP_NAME + XMP % 3))
    put("metadata", 0, thing("a.jpg", rotated), thing("b.jpg", jpeg(segment(0xE2, b"ICC_PROFILE\0\1\2"))),
        thing("c.png", png(chunk(b"eXIf", exif(6)), chunk(b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0" + XMP % 3))),
        thing("d.png", png(chunk(b"acTL", struct.pack(">II", 2, 0)))), thing("e.png", png()[:40]), thing("f.jpg", jpeg()[:60]))


def make_lists(put, two):
    put("list", 0, *two, thing("list", b"set/cat/a.pgm\r\n\nset/dog/a.pgm\nset/none.png\nset"))
    put("list_null", NULL_LIST, *two, thing("list", b"set/cat/a.pgm\0set/dog/a.pgm\0"))
    put("list_has_nulls", 0, *two, thing("list", b"set/cat/a.pgm\0set/dog/a.pgm\0"))
    put("list_stream", LIST_STREAM, *two, thing("list", b"set/cat/a.pgm\nset/dog/a.pgm"))
    put("list_empty", 0, *two, thing("list"))
    put("list_and_files", NAME_FILES, *two, thing("list", b"set/cat/a.pgm\nset/./cat//a.pgm\n./set/dog/a.pgm"))
    put("list_large", LITTLE, *two, thing("list", b"set/cat/a.pgm\n" * 200))
    put("list_path_too_long", 0, *two, thing("list", b"set/" + b"a" * 300 + b"\nset/cat/a.pgm\nset/cat/a.pgm/b"))


def make_labelled(put, two):
    def labelled(name, labels, *things, how=0):
        put("labels_" + name, how, *(things or two), thing("labels", labels))

    labelled("in_order", b"x\ny\n")
    labelled("too_few", b"x\n")
    labelled("too_few_skipped", b"x\n", *two, thing("c.png", b"none"))
    labelled("names", b"name,label\ncat/a.pgm,x\ndog/a.pgm,\nother,y\n")
    labelled("twice", b"cat/a.pgm,x\ndog/a.pgm,y\ncat/a.pgm,z\nleft,z\nleft,x\n")
    labelled("ends", b"a.pgm,x\n", two[0])
    labelled("ends_clash", b"a.pgm,x\n")
    labelled("longer", b"data/cat/a.pgm,x\ndata/dog/a.pgm,y\n")
    labelled("longer_clash", b"one/cat/a.pgm,x\ntwo/cat/a.pgm,y\ndog/a.pgm,y\n")
    labelled("missing", b"cat/a.pgm,x\nnone.png,y\n")
    labelled("missing_none_left", b"cat/a.pgm,x\n")
    labelled("paths", b"set/cat/a.pgm,x\nset/dog/a.pgm,y\n", *two, how=NAME_FILES)
    labelled("other_form", "\u00e9.pgm,x\nb\\x0a.pgm,y\n".encode(), thing("e\u0301.pgm", pnm()), thing("b\n.pgm", pnm()))
    labelled("idx", idx(8, (2,)))
    labelled("packed", packed(idx(8, (2,))))
    labelled("bad", b"\"open")
    labelled("large", b"name-%s,label\n" % (b"x" * 90) * 20, *two, how=LITTLE)
    labelled("of_idx", b"a.idx#1,x\na.idx#2,y\n", thing("a.idx", idx(8, (2, 2, 2))))
    labelled("of_idx_missing", b"a.idx,x\n", thing("a.idx", idx(8, (2, 2, 2))))
    labelled("of_pnms", b"a.ppm,x\na-2.ppm,y\n", thing("a.ppm", pnm() + pnm(fill=9)))
    labelled("of_pnms_path", b"set/a.ppm,x\n", thing("a.ppm", pnm() + pnm(fill=9)))
    put("labels_missing_file", 0, *two, thing("labels", b"labels", kind=LINK))


def make_links(put, two):
    put("links", 0, *two, thing("bird", b"cat", kind=LINK), thing("loop", b".", kind=LINK), thing("gone", b"nothing", kind=LINK),
        thing("null", kind=DEVICE), thing("file.pgm", b"cat/a.pgm", kind=LINK), thing("up", kind=UP))
    put("links_followed", FOLLOW, *two, thing("bird", b"cat", kind=LINK), thing("loop", b".", kind=LINK),
        thing("again", b"bird", kind=LINK), thing("up", kind=UP), thing("cat/in", kind=UP), thing("self", b"self", kind=LINK))
    put("links_named", NAME_FILES, thing("null", kind=DEVICE), thing("self", b"self", kind=LINK), thing("up", kind=UP),
        *two, thing("cat/up", kind=UP))
    put("hidden", 0, thing(".a.png", png()), thing("@eaDir/b.png", png()), thing(".cat/a.pgm", pnm()))
    put("hidden_and_others", 0, thing(".a.png", png()), thing("lost+FOUND/b.png", png()), *two)
    put("many_folders", 0, *(thing("%d/a.pgm" % i, pnm()) for i in range(24)))


make_metadata()
make_names()
make_checkpoints()
make_pnms()
make_pngs()
make_jpegs()
make_idxs()
make_sets()


# --- files for the readers of formats/readers/ ---


def bmp(width, height, bits, pixels, palette=b"", compression=0, header=40, masks=b""):
    info = (struct.pack("<IHHHH", 12, width, height, 1, bits) if header == 12 else
            struct.pack("<IiiHHIIIIII", header, width, height, 1, bits, compression, 0, 0, 0, len(palette) // 4, 0))
    info += masks + bytes(max(0, header - len(info) - len(masks)) if header > 40 else 0)
    at = 14 + len(info) + len(palette)
    return b"BM" + struct.pack("<IHHI", at + len(pixels), 0, 0, at) + info + palette + pixels


def ramp(n, step=1):
    return b"".join(bytes([k * step & 255, k * step * 2 & 255, k * step * 3 & 255, 0]) for k in range(n))


GREY = b"".join(bytes([k, k, k, 0]) for k in range(0, 256, 17))
PICTURES = {
    "1bit.bmp": bmp(9, 2, 1, b"\xaa\x80\0\0\x55\0\0\0", ramp(2, 90)),
    "4bit_grey.bmp": bmp(3, 2, 4, b"\x12\x30\0\0\x45\x60\0\0", GREY),
    "8bit.bmp": bmp(2, 2, 8, b"\0\1\0\0\2\3\0\0", ramp(4, 50)),
    "8bit_index_beyond.bmp": bmp(2, 1, 8, b"\0\xff\0\0", ramp(2, 50)),
    "15bit.bmp": bmp(2, 1, 16, struct.pack("<HH", 0x7c1f, 0x3e0)),
    "16bit_masks.bmp": bmp(2, 1, 16, struct.pack("<HH", 0xf81f, 0x7e0), compression=3, masks=struct.pack("<III", 0xf800, 0x7e0, 0x1f)),
    "24bit.bmp": bmp(2, 2, 24, bytes(range(6)) + b"\0\0" + bytes(range(6, 12)) + b"\0\0"),
    "24bit_top_down.bmp": bmp(1, -2, 24, bytes(8)),
    "32bit.bmp": bmp(1, 1, 32, b"\1\2\3\4"),
    "32bit_alpha.bmp": bmp(1, 2, 32, b"\1\2\3\x80\4\5\6\xff", compression=3, header=108,
                           masks=struct.pack("<IIII", 0xff0000, 0xff00, 0xff, 0xff000000)),
    "32bit_alpha_masks.bmp": bmp(1, 1, 32, b"\1\2\3\x80", compression=6,
                                 masks=struct.pack("<IIII", 0xff0000, 0xff00, 0xff, 0xff000000)),
    "old.bmp": bmp(2, 1, 24, bytes(8), header=12),
    "runs8.bmp": bmp(4, 3, 8, b"\4\1\0\0\0\3\1\2\3\0\0\2\1\1\1\2\0\1", ramp(4, 50), compression=1),
    "runs4.bmp": bmp(5, 2, 4, b"\5\x12\0\0\0\5\x12\x34\x50\0\0\1", ramp(16, 9), compression=2),
    "runs_cut.bmp": bmp(5, 2, 8, b"\0\7\1\2", ramp(4, 50), compression=1),
    "runs_without_end.bmp": bmp(1, 1, 8, b"\1\1", ramp(4, 50), compression=1),
    "runs_bomb.bmp": bmp(1, 30000, 8, b"\0\1", ramp(4, 50), compression=1),
    "cut.bmp": bmp(3, 3, 24, bytes(20)),
    "cut_header.bmp": bmp(3, 3, 24, b"")[:30],
    "cut_masks.bmp": bmp(1, 1, 32, b"", compression=3, masks=b"\1\2"),
    "cut_palette.bmp": bmp(1, 1, 8, b"")[:54],
    "unknown_header.bmp": b"BM" + bytes(12) + struct.pack("<I", 12 + 256 * 0) + bytes(8) + b"\1\0\7\0",
    "negative.bmp": bmp(-3, 3, 24, bytes(40)),
    "zero.bmp": bmp(3, 0, 24, bytes(40)),
    "large.bmp": bmp(70000, 70000, 24, bytes(40)),
    "pixels_beyond.bmp": bmp(1, 1, 24, bytes(4))[:10] + b"\xff\xff\xff\x7f" + bmp(1, 1, 24, bytes(4))[14:],
    "palette_of_24_bits.bmp": bmp(1, -2, 24, bytes(8))[:46] + struct.pack("<I", 0x1D0000) + bytes(12),
    "odd_bits.bmp": bmp(1, 1, 13, bytes(4)),
}


def gif(frames, width=4, height=3, palette=True):
    """Frames of one colour: left, top, width, height, index, disposal, transparent index or None, interlaced."""
    out = b"GIF89a" + struct.pack("<HHBBB", width, height, 0x81 if palette else 1, 0, 0) + (bytes(range(12)) if palette else b"")
    for left, top, w, h, index, disposal, clear, interlaced in frames:
        out += b"!\xf9\4" + struct.pack("<BHB", disposal << 2 | (clear is not None), 5, clear or 0) + b"\0"
        out += b"," + struct.pack("<HHHHB", left, top, w, h, 0x40 * interlaced)
        bits = "".join(format(v, "03b")[::-1] for k in range(w * h) for v in (4, index)) + format(5, "03b")[::-1]
        data = bytes(int(bits[i:i + 8][::-1], 2) for i in range(0, len(bits), 8))
        out += b"\2" + b"".join(bytes([len(data[i:i + 255])]) + data[i:i + 255] for i in range(0, len(data), 255)) + b"\0"
    return out + b";"


WHOLE = (0, 0, 4, 3, 1, 1, None, 0)
PICTURES.update({
    "one.gif": gif([WHOLE]),
    "interlaced.gif": gif([(0, 0, 4, 3, 2, 0, None, 1)]),
    "disposals.gif": gif([WHOLE, (1, 1, 2, 2, 2, 2, None, 0), (0, 0, 2, 2, 3, 3, None, 0), (2, 0, 2, 1, 0, 1, 0, 0)]),
    "outside.gif": gif([(3, 2, 9, 9, 1, 2, None, 0), (60000, 60000, 2, 2, 1, 3, None, 0)]),
    "no_canvas.gif": gif([(0, 0, 2, 2, 1, 0, None, 0)], 0, 0),
    "no_palette.gif": gif([WHOLE], palette=False),
    "no_frame.gif": gif([]),
    "cut.gif": gif([WHOLE, WHOLE])[:-20],
    "large.gif": gif([WHOLE], 65535, 65535),
})


def tiff(entries, data, big=False, next_at=0, order="<"):
    head = (b"II" if order == "<" else b"MM") + struct.pack(order + "HI", 42, 8)
    body = struct.pack(order + "H", len(entries))
    at = 8 + 2 + 12 * len(entries) + 4
    for tag, kind, value in sorted(entries):
        value = at if value == "data" else value
        body += struct.pack(order + "HHI", tag, kind, 1) + (struct.pack(order + "HH", value, 0) if kind == 3 else struct.pack(order + "I", value))
    return head + body + struct.pack(order + "I", next_at) + data


def page(width, height, bits, photometric, samples, n, *more):
    return [(256, 4, width), (257, 4, height), (258, 3, bits), (259, 3, 1), (262, 3, photometric), (273, 4, "data"),
            (277, 3, samples), (278, 4, height), (279, 4, n)] + list(more)


PICTURES.update({
    "grey.tif": tiff(page(3, 2, 8, 1, 1, 6), bytes(range(6))),
    "white_is_zero.tif": tiff(page(3, 2, 8, 0, 1, 6), bytes(range(6))),
    "bits.tif": tiff(page(8, 2, 1, 0, 1, 2), b"\x55\xaa"),
    "turned.tif": tiff(page(3, 2, 8, 1, 1, 6, (274, 3, 6)), bytes(range(6))),
    "grey16.tif": tiff(page(2, 1, 16, 1, 1, 4), bytes(range(4)), order=">"),
    "float.tif": tiff(page(1, 1, 32, 1, 1, 4, (339, 3, 3)), bytes(4)),
    "loop.tif": tiff(page(3, 2, 8, 1, 1, 6), bytes(range(6)), next_at=8),
    "next_beyond.tif": tiff(page(3, 2, 8, 1, 1, 6), bytes(range(6)), next_at=1 << 30),
    "cut.tif": tiff(page(3, 2, 8, 1, 1, 6), b"\0"),
    "large.tif": tiff(page(1 << 20, 1 << 20, 8, 1, 1, 6), bytes(6)),
    "no_directory.tif": b"II*\0\0\0\0\0",
    "tiles_of_nothing.tif": tiff(page(3, 2, 8, 1, 1, 6, (322, 4, 0), (323, 4, 0), (324, 4, 8), (325, 4, 6)), bytes(6)),
    "cut.webp": b"RIFF\4\0\0\0WEBPVP8 ",
})


def animated(*frames, colour=6, depth=8, before=b"", marked=True, end=True):
    """Frames (x, y, width, height, disposal, blending, fill); the first of them is the picture of the file."""
    samples, body, number = {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour], b"", 0
    for k, (x, y, width, height, disposal, blending, fill) in enumerate(frames):
        body += chunk(b"fcTL", struct.pack(">IIIIIHHBB", number, width, height, x, y, 1, 10, disposal, blending))
        rows = zlib.compress((b"\0" + bytes([fill]) * (width * samples * depth // 8)) * height)
        body += chunk(b"fdAT", struct.pack(">I", number + 1) + rows) if k else chunk(b"IDAT", rows)
        number += 2 if k else 1
    return (SIGNATURE + ihdr(4, 3, depth, colour) + (chunk(b"acTL", struct.pack(">II", len(frames), 0)) if marked else b"")
            + before + body + (chunk(b"IEND") if end else b""))


WHOLE, PART = (0, 0, 4, 3), (1, 1, 2, 2)
PICTURES.update({
    "blended.png": animated((*WHOLE, 0, 0, 200), (*PART, 2, 1, 100), (*PART, 1, 1, 0), (*WHOLE, 0, 1, 50)),
    "deep.png": animated((*WHOLE, 2, 0, 200), (*PART, 2, 0, 100), (*PART, 0, 1, 90), depth=16),
    "grey.png": animated((*WHOLE, 1, 0, 200), (*PART, 0, 1, 100), colour=0),
    "greyalpha.png": animated((*WHOLE, 0, 1, 90), (*PART, 0, 1, 100), colour=4),
    "palette.png": animated((*WHOLE, 0, 0, 1), (*PART, 0, 1, 0), colour=3,
                            before=chunk(b"PLTE", b"abcdef") + chunk(b"tRNS", b"\0\x80") + chunk(b"eXIf", exif(6))),
    "no_animation.png": animated((*WHOLE, 0, 0, 1), (*PART, 0, 0, 1), marked=False),
    "outside.png": animated((*WHOLE, 0, 0, 1), (3, 1, 2, 2, 0, 0, 1)),
    "twice_controlled.png": animated((*WHOLE, 0, 0, 1), (*PART, 0, 0, 1), before=chunk(b"fcTL", bytes(26))),
    "number_missing.png": animated((*WHOLE, 0, 0, 1))[:-12] + chunk(b"fcTL", struct.pack(">IIIIIHHBB", 1, 4, 3, 0, 0, 1, 1, 0, 0))
    + chunk(b"fdAT", b"ab"),
    "no_header.png": SIGNATURE + chunk(b"acTL", bytes(8)) + chunk(b"IEND"),
    "huge.png": SIGNATURE + ihdr(1 << 20, 1 << 20) + chunk(b"acTL", bytes(8)) + chunk(b"IEND"),
    "cut.png": animated((*WHOLE, 0, 0, 1), (*PART, 0, 0, 1))[:120],
})


def webp(*chunks):
    body = b"".join(kind + struct.pack("<I", len(data)) + data + bytes(len(data) & 1) for kind, data in chunks)
    return b"RIFF" + struct.pack("<I", 4 + len(body)) + b"WEBP" + body


KEY = b"\x10\0\0\x9d\x01\x2a\x10\0\x10\0"
PICTURES.update({"noise%d.webp" % k: webp((b"EXIF", b"abc"), (b"VP8 ", KEY + bytes(k * 37 * i * i + k * 91 & 255 for i in range(60))))
                 for k in range(6)})
PICTURES.update({
    "between.webp": webp((b"VP8 ", b"\x11" + KEY[1:] + bytes(20))),
    "animated.webp": webp((b"ANIM", bytes(6)), (b"VP8 ", KEY + bytes(20))),
    "beyond.webp": webp((b"VP8 ", KEY))[:24],
    "no_picture.webp": webp((b"EXIF", b"ab")),
})


class Bits:
    """Bits of the headers of AV1."""
    def __init__(self, *fields):
        self.text = "".join(format(value, "0%db" % count) for value, count in fields if count)

    def obu(self, kind, sized=True, extension=False):
        text = self.text + "1" + "0" * 47
        data = bytes(int(text[i:i + 8], 2) for i in range(0, len(text) - 7, 8))
        return bytes([kind << 3 | 4 * extension | 2 * sized]) + b"\0" * extension + (bytes([len(data)]) if sized else b"") + data


def sequence(still=True, timing=0, ids=0, order=0, screen=None, superres=0, wide=64, delay=0, level=5, large=0):
    size = [(9, 4), (9, 4), (wide - 1, 10), (wide - 1, 10)]
    if still:
        return Bits((0, 3), (1, 1), (1, 1), (5, 5), *size, (large, 1), (0, 2), (superres, 1)).obu(1)
    tools = [(0, 4), (order, 1), (0, 2 * order)]
    tools += [(1, 1)] if screen is None else [(0, 1), (screen, 1)]
    tools += [(1, 1)] if screen is None else [(0, 1), (1, 1)] if screen else []
    tools += [(6, 3)] if order else []
    return Bits((0, 3), (1, 1), (0, 1), (timing, 1), (delay, 1), (0, 5), (0, 12), (level, 5), (0, int(level > 7)),
                *([(1, 1), (3, 4)] if delay else []), *size, (ids, 1), *([(2, 4), (1, 3)] if ids else []), (large, 1), (0, 2),
                *tools, (superres, 1)).obu(1)


def shown(*fields, still=True):
    return Bits(*([] if still else [(0, 1), (0, 2), (1, 1)]), *fields)


def avif(data, version=0, extents=1, item=1, method=0, beyond=0, wide=False):
    def box(kind, content):
        return struct.pack(">I", 8 + len(content)) + kind + content
    def whole(at):
        entry = struct.pack(">I" if version == 2 else ">H", item) + (struct.pack(">H", method) if version else b"") + bytes(2)
        entry += struct.pack(">H", extents) + struct.pack(">II", at + beyond, len(data)) * extents
        place = bytes([version, 0, 0, 0]) + b"\x44\0" + struct.pack(">I" if version == 2 else ">H", 1) + entry
        primary = b"\1\0\0\0\0\0\0\1" if wide else bytes(4) + b"\0\1"
        return box(b"ftyp", b"avif" + bytes(4) + b"avif") + box(b"meta", bytes(4) + box(b"pitm", primary) + box(b"iloc", place))
    return whole(len(whole(0)) + 8) + box(b"mdat", data)


TILES = (1, 1), (0, 1), (0, 1)
PLAIN = sequence() + shown((0, 3), *TILES, (77, 8)).obu(6)
PICTURES.update({
    "plain.avif": avif(PLAIN), "version1.avif": avif(PLAIN, 1), "version2.avif": avif(PLAIN, 2, wide=True), "version3.avif": avif(PLAIN, 3),
    "two_extents.avif": avif(PLAIN, extents=2), "other_item.avif": avif(PLAIN, item=2), "method.avif": avif(PLAIN, 1, method=1),
    "beyond.avif": avif(PLAIN, beyond=1 << 20), "cut.avif": avif(PLAIN)[:40],
    "no_frame.avif": avif(sequence()), "no_sequence.avif": avif(shown((0, 3), *TILES, (77, 8)).obu(3)),
    "extension.avif": avif(b"\x12\0" + sequence() + shown((0, 3), *TILES, (77, 8)).obu(6, False, True)),
    "short.avif": avif(b"\x0a\x7f\0"), "tools.avif": avif(sequence(screen=1) + shown((1, 2), (0, 1), *TILES, (9, 8)).obu(6)),
    "video.avif": avif(sequence(False, ids=1, order=1, delay=1, level=9) + shown((0, 1), (1, 1), (1, 1), (0, 8), (1, 1), (0, 7), (63, 10),
                       (63, 10), (1, 1), (0, 32), (0, 1), (0, 1), *TILES, (50, 8), still=False).obu(6)),
    "screen.avif": avif(sequence(False, screen=1) + shown((1, 1), (0, 20), *TILES, (50, 8), still=False).obu(6)),
    "no_screen.avif": avif(sequence(False, screen=0) + shown((1, 1), (0, 20), *TILES, (50, 8), still=False).obu(6)),
    "timing.avif": avif(sequence(False, timing=1) + PLAIN), "superres.avif": avif(sequence(superres=1) + shown((0, 2), (1, 1)).obu(6)),
    "repeated.avif": avif(sequence(False) + Bits((1, 1)).obu(6)), "empty_frame.avif": avif(sequence() + b"\x32\0"),
    "tiles.avif": avif(sequence(wide=1000, large=1) + shown((0, 3), (1, 1), (2, 2), (2, 2), (0, 4), (60, 8)).obu(6)),
    "uneven_tiles.avif": avif(sequence(wide=1000) + shown((0, 3), (0, 1)).obu(6)),
})
for name, content in PICTURES.items():
    save("readers/" + name, content)


# --- requests to `serve`: the first byte chooses the part ---

REQUESTS = {
    "path-folder": (0, "/a/b/"),
    "path-escapes": (0, "/a%20b/%C3%A4.taper"),
    "path-up": (0, "/a/%2e%2e/%2e%2e/etc/passwd"),
    "path-slash-in-name": (0, "/..%2f..%2fetc/passwd"),
    "path-nul": (0, "/set.taper%00.jpg"),
    "path-overlong-utf8": (0, "/%c0%ae%c0%ae/"),
    "path-in-container": (0, "/x/set.taper/cat/1.jpg"),
    "query": (1, "width=640&bytes=16K&scale=1/4&quality=80&from=2&count=3&height=9&v=1"),
    "query-wrong": (1, "bytes=99999999999999999999G"),
    "query-empty-names": (1, "&&=&=1&width"),
    "ranges": (2 + 5 * 20, "bytes=0-15, 20-, -5"),
    "ranges-join": (2 + 5 * 20, "bytes=0-1,4-5,8-9,2-7"),
    "ranges-many": (2 + 5 * 20, "bytes=" + ",".join(f"{2 * i}-{2 * i}" for i in range(40))),
    "ranges-huge": (2 + 5 * 4, "bytes=99999999999999999999-99999999999999999999,-99999999999999999999"),
    "ranges-of-nothing": (2, "bytes=0-,-1"),
    "conditions-tags": (3, 'W/"b", "a", "c'),
    "conditions-date": (3, "Sun, 06 Nov 1994 08:49:37 GMT"),
    "conditions-date-wrong": (3, "Sun, 99 Nov 9999 99:99:99 GMT"),
    "iiif-info": (4, "set.taper%2F1/info.json"),
    "iiif-base": (4, "set.taper%2F1"),
    "iiif-pixels": (4 + 5 * 2 + 30 * 2, "s.taper%2F1/10,10,512,512/256,/0/default.jpg"),
    "iiif-percent": (4 + 5 * 2 + 30 * 2, "s.taper%2F1/pct:0.5,0,33.333333333,100/pct:12.5/0/color.png"),
    "iiif-within": (4 + 5 * 4 + 30 * 4, "s.taper%2F1/square/!90,90/0/default.jpg"),
    "iiif-max-of-huge": (4 + 5 * 5 + 30 * 5, "s.taper%2F1/full/max/0/default.jpg"),
    "iiif-height": (4 + 5 * 3 + 30 * 3, "s.taper%2F1/full/,99999999999999999999/0/default.jpg"),
    "iiif-not-supported": (4, "s.taper%2F1/full/^max/!90.5/gray.tif"),
    "iiif-up": (4, "..%2F..%2Fetc/info.json"),
}
for name, (what, text) in REQUESTS.items():
    save("request/" + name, bytes([what]) + text.encode())
