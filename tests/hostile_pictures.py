# hostile_pictures.py -- picture files and archives that claim too much, lead astray or have no end.
#
#   python3 hostile_pictures.py FOLDER      writes into the folder:
#
#   profile.*        a profile of a gigabyte, claimed or packed
#   parts.jpg        a profile in 255 parts, 16 MB
#   brotli.jxl       metadata that unpack to 100 MB; from picture.jxl, if that is in the folder
#   loop.*, fan.*    EXIF whose directories lead to each other, by four entries or by thousands
#   smaller.*, claimed.*, alpha.webp   alpha of another size; from picture.* and small.*, AVIF and HEIC with alpha
#   frames.*         10,000 frames
#   nested.zip, overlapping.zip        an archive in an archive, 20 deep; members that share their data
import ctypes, ctypes.util, io, os, struct, sys, zipfile, zlib


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def packed(n):
    """A zlib stream of n zeros."""
    deflate, piece = zlib.compressobj(9), bytes(1 << 20)
    return b"".join(deflate.compress(piece) for _ in range(n >> 20)) + deflate.flush()


def png(*more, side=8, rows=None):
    rows = zlib.compress((b"\0" + bytes(range(3 * side))) * side) if rows is None else rows
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)) + b"".join(more)
            + chunk(b"IDAT", rows) + chunk(b"IEND", b""))


def profile(claimed):
    """The header of a profile that says how long it is."""
    return struct.pack(">I", claimed) + bytes(8) + b"mntrRGB XYZ " + bytes(12) + b"acsp" + bytes(88) + struct.pack(">I", 0)


def jpeg(*segments):
    """A grey picture of 8 x 8, with segments (marker, data)."""
    def segment(mark, data):
        return bytes([0xFF, mark]) + struct.pack(">H", 2 + len(data)) + data
    return (b"\xff\xd8" + b"".join(segment(*s) for s in segments) + segment(0xDB, bytes([0]) + b"\1" * 64)
            + segment(0xC0, struct.pack(">BHHBBBB", 8, 8, 8, 1, 1, 0x11, 0))
            + segment(0xC4, bytes([0, 1]) + bytes(16)) + segment(0xC4, bytes([0x10, 1]) + bytes(16))
            + segment(0xDA, bytes([1, 1, 0, 0, 63, 0])) + b"\x3f\xff\xd9")


def exif_loops():
    """The first directory leads to itself: as EXIF, as GPS, and as the next one."""
    entries = [(0x112, 3, 1, 1), (0x8769, 4, 1, 8), (0x8825, 4, 1, 8), (0xA005, 4, 1, 8)]
    return (b"II*\0\x08\0\0\0" + struct.pack("<H", len(entries)) + b"".join(struct.pack("<HHII", *e) for e in entries)
            + struct.pack("<I", 8))


def exif_fan(n):
    """Two directories of n entries that lead to each other."""
    size = 2 + 12 * n + 4
    def directory(other, next_at):
        return struct.pack("<H", n) + struct.pack("<HHII", 0x8769, 4, 1, other) * n + struct.pack("<I", next_at)
    return b"II*\0\x08\0\0\0" + directory(8 + size, 8 + size) + directory(8, 8)


def tiff(*entries, tail=b""):
    """Grey, 8 x 8; entries (tag, type, count, value)."""
    known = [(256, 4, 1, 8), (257, 4, 1, 8), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1), (273, 4, 1, 8), (277, 3, 1, 1),
             (278, 4, 1, 8), (279, 4, 1, 64)]
    every = sorted(known + list(entries))
    return (b"II*\0" + struct.pack("<I", 72) + bytes(range(64)) + struct.pack("<H", len(every))
            + b"".join(struct.pack("<HHII", *e) for e in every) + bytes(4) + tail)


def riff(*chunks):
    body = b"".join(kind + struct.pack("<I", len(data)) + data + bytes(len(data) & 1) for kind, data in chunks)
    return b"RIFF" + struct.pack("<I", 4 + len(body)) + b"WEBP" + body


def u24(n):
    return struct.pack("<I", n)[:3]


# A lossless picture of 1 x 1: one code of one symbol for each channel.
LOSSLESS = bytes.fromhex("2f000000000750bc4215a5ff8188e87f00")


def vp8x(flags, width, height):
    return b"VP8X", struct.pack("<I", flags) + u24(width - 1) + u24(height - 1)


def animated_webp(frames):
    frame = bytes(6) + u24(0) + u24(0) + u24(10) + b"\0" + b"VP8L" + struct.pack("<I", len(LOSSLESS)) + LOSSLESS + b"\0"
    return riff(vp8x(2, 8, 8), (b"ANIM", bytes(6)), *[(b"ANMF", frame)] * frames)


def animated_png(frames, side, part):
    """The first frame is the picture; the others are part x part in its corner."""
    def control(k, size):
        return chunk(b"fcTL", struct.pack(">IIIIIHHBB", k, size, size, 0, 0, 1, 10, 0, 0))
    pixels = zlib.compress((b"\0" + bytes(3 * part)) * part)
    first = zlib.compress((b"\0" + bytes(3 * side)) * side)
    more = [control(2 * k - 1, part) + chunk(b"fdAT", struct.pack(">I", 2 * k) + pixels) for k in range(1, frames)]
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0))
            + chunk(b"acTL", struct.pack(">II", frames, 0)) + control(0, side) + chunk(b"IDAT", first) + b"".join(more)
            + chunk(b"IEND", b""))


def boxes(data, at, end):
    """(type, start of the content, end) of the boxes of an AVIF or HEIC."""
    while at + 8 <= end:
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        yield kind, at + 8, at + size
        at += size


def box(kind, data):
    return struct.pack(">I", 8 + len(data)) + kind + data


def item_parts(path):
    """The properties av1C or hvcC and the data of the first two items: colours, alpha."""
    data = open(path, "rb").read()
    def find(inside, kind, skip=0):
        return next((a, b) for k, a, b in boxes(data, inside[0] + skip, inside[1]) if k == kind)
    meta = find((0, len(data)), b"meta")
    properties = find(find(meta, b"iprp", 4), b"ipco")
    codecs = [(k, data[a:b]) for k, a, b in boxes(data, *properties) if k in (b"av1C", b"hvcC")]
    at, _ = find(meta, b"iloc", 4)
    base, number = data[at + 5] >> 4, 6 if data[at] == 0 else 8  # bytes of an item before its base, and 2
    items, k = [], at + 8
    for _ in range(2):
        k += number - 2
        start = int.from_bytes(data[k:k + base], "big")
        start += int.from_bytes(data[k + base + 2:k + base + 6], "big")
        n = int.from_bytes(data[k + base + 6:k + base + 10], "big")
        k += base + 10
        items.append(data[start:start + n])
    return codecs, items


def with_alpha(brand, colours, alpha, sizes):
    """A picture and its alpha, from item_parts of two files, with these sizes (width, height)."""
    (codec, data), (alpha_codec, alpha_data) = colours, alpha
    full = bytes(4)
    size = [box(b"ispe", full + struct.pack(">II", *s)) for s in sizes]
    meaning = box(b"auxC", full + b"urn:mpeg:mpegB:cicp:systems:auxiliary:alpha\0")
    properties = box(b"ipco", box(*codec) + size[0] + box(*alpha_codec) + size[1] + meaning)
    belong = box(b"ipma", full + struct.pack(">IHBBBHBBBB", 2, 1, 2, 0x81, 2, 2, 3, 0x83, 4, 5))
    kind = {b"avif": b"av01", b"heic": b"hvc1"}[brand]
    entries = b"".join(box(b"infe", b"\2\0\0\0" + struct.pack(">HH4sB", k, 0, kind, 0)) for k in (1, 2))
    def whole(at):
        place = box(b"iloc", full + b"\x44\0" + struct.pack(">H", 2) + struct.pack(">HHHII", 1, 0, 1, at, len(data))
                    + struct.pack(">HHHII", 2, 0, 1, at + len(data), len(alpha_data)))
        meta = box(b"meta", full + box(b"hdlr", full + bytes(4) + b"pict" + bytes(13)) + box(b"pitm", full + b"\0\1") + place
                   + box(b"iinf", full + struct.pack(">H", 2) + entries)
                   + box(b"iref", full + box(b"auxl", struct.pack(">HHH", 2, 1, 1))) + box(b"iprp", properties + belong))
        return box(b"ftyp", brand + bytes(4) + b"mif1" + brand + b"miaf") + meta
    front = whole(0)
    return whole(len(front) + 8) + box(b"mdat", data + alpha_data)


def overlapping_zip(members, size):
    """Members that share one deflate stream: the header of each is the extra field of those before it."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    front, piece = b"P5\n%d %d\n255\n" % (1024, size >> 10), bytes(1 << 20)
    stream, crc = deflate.compress(front), zlib.crc32(front)
    for _ in range(size >> 20):
        stream, crc = stream + deflate.compress(piece), zlib.crc32(piece, crc)
    stream += deflate.flush()
    plain = len(front) + (size >> 20 << 20)
    local = central = b""
    heads = []
    for k in range(members):
        name, rest = b"%04d.pgm" % k, len(local)
        extra = struct.pack("<HH", 0x7777, rest) + local
        head = struct.pack("<HHHHHIIIH", 20, 0, 8, 0, 0, crc, len(stream), plain, len(name))
        local = b"PK\3\4" + head + struct.pack("<H", len(extra)) + name + extra
        heads.append((head, name, len(local)))
    for head, name, length in heads:
        central += (b"PK\1\2" + struct.pack("<H", 20) + head + struct.pack("<HHHHII", 0, 0, 0, 0, 0, len(local) - length)
                    + name)
    body = local + stream
    return body + central + b"PK\5\6" + struct.pack("<HHHHIIH", 0, 0, members, members, len(central), len(body), 0)


def nested_zip(depth):
    inner = png()
    for k in range(depth):
        to = io.BytesIO()
        with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as z:
            z.writestr("a.png" if not k else "inner.zip", inner)
        inner = to.getvalue()
    return inner


def boxed_jxl(codestream, *boxes):
    every = ((b"JXL ", b"\r\n\x87\n"), (b"ftyp", b"jxl \0\0\0\0jxl ")) + boxes + ((b"jxlc", codestream),)
    return b"".join(struct.pack(">I", 8 + len(data)) + kind + data for kind, data in every)


def brotli(library, n):
    """A stream of n spaces."""
    size, room = ctypes.c_size_t(1 << 20), ctypes.create_string_buffer(1 << 20)
    assert library.BrotliEncoderCompress(5, 24, 0, ctypes.c_size_t(n), b" " * n, ctypes.byref(size), room)
    return room.raw[:size.value]


def write_metadata(write, folder):
    gigabyte = 1 << 30
    write("profile.png", png(chunk(b"iCCP", b"x\0\0" + packed(gigabyte))))
    write("profile.jpg", jpeg((0xE2, b"ICC_PROFILE\0\1\1" + profile(gigabyte))))
    write("profile.tif", tiff((34675, 7, gigabyte, 72 + 2 + 120 + 4), tail=profile(gigabyte)))
    write("profile.webp", riff(vp8x(0x20, 1, 1), (b"ICCP", profile(gigabyte)), (b"VP8L", LOSSLESS)).replace(
        b"ICCP" + struct.pack("<I", 132), b"ICCP" + struct.pack("<I", gigabyte)))
    write("parts.jpg", jpeg(*[(0xE2, b"ICC_PROFILE\0" + bytes([k, 255]) + bytes(65519)) for k in range(1, 256)]))
    for name, exif in ("loop", exif_loops()), ("fan", exif_fan(4000)):
        write(name + ".png", png(chunk(b"eXIf", exif)))
        write(name + ".jpg", jpeg((0xE1, b"Exif\0\0" + exif[:65000])))
        write(name + ".webp", riff(vp8x(8, 1, 1), (b"VP8L", LOSSLESS), (b"EXIF", exif)))
    write("loop.tif", tiff((34665, 4, 1, 72), (34853, 4, 1, 72)))
    library = ctypes.util.find_library("brotlienc")
    if library and os.path.exists(folder + "/picture.jxl"):
        picture = open(folder + "/picture.jxl", "rb").read()
        write("brotli.jxl", boxed_jxl(picture, (b"brob", b"xml " + brotli(ctypes.CDLL(library), 100 << 20))))


def main(folder):
    def write(name, data):
        with open(os.path.join(folder, name), "wb") as to:
            to.write(data)
    write_metadata(write, folder)
    write("frames.webp", animated_webp(10000))
    write("frames.png", animated_png(10000, 8, 2))
    write("alpha.webp", riff(vp8x(0x10, 4, 4), (b"ALPH", b"\0" + bytes(3)), (b"VP8L", LOSSLESS)))
    for brand in "avif", "heic":
        if os.path.exists(folder + "/picture." + brand) and os.path.exists(folder + "/small." + brand):
            (codec, _), (colours, _) = item_parts(folder + "/picture." + brand)
            (_, small), (_, alpha) = item_parts(folder + "/small." + brand)
            for name, sizes in ("smaller", ((64, 48), (32, 24))), ("claimed", ((64, 48), (64, 48))):
                write("%s.%s" % (name, brand), with_alpha(brand.encode(), (codec, colours), (small, alpha), sizes))
    write("overlapping.zip", overlapping_zip(1000, 64 << 20))
    write("nested.zip", nested_zip(20))


if __name__ == "__main__":
    main(*sys.argv[1:])
