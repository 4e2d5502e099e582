# hostile_files.py -- small files that claim much, and label files; what a command takes.
#
#   python3 hostile_files.py front N FILE MODEL  a container's front matter that claims N images of 1 x 3 pixels
#   python3 hostile_files.py idx N FILE.gz      N images of 1 x 1 in a gzip file of IDX
#   python3 hostile_files.py labels N FILE.csv  N lines of names and labels
#   python3 hostile_files.py short N FILE.csv   the same, as short as they can be
#   python3 hostile_files.py classes N FILE.gz  N labels of 0 in a gzip file of IDX
#   python3 hostile_files.py noise N FILE       N images of 4 x 4 random pixels, IDX
#   python3 hostile_files.py flat N FILE.gz     an image of N x N black pixels in a gzip file of IDX
#   python3 hostile_files.py png N FILE         an image of N x N black pixels, 16 bits RGB: 6 bytes a pixel
#   python3 hostile_files.py texts N FILE       a PNG of one pixel with N text chunks that unpack to 1 MiB each
#   python3 hostile_files.py jpeg N FILE        N x N grey pixels, all alike, in one scan of a bit a block and table
#   python3 hostile_files.py scans N FILE       the same, progressive: 200 scans
#   python3 hostile_files.py take COMMAND...    run it; prints "EXIT-CODE MIB-OF-MEMORY PROCESSOR-MILLISECONDS"
import gzip, random, resource, struct, subprocess, sys, zlib


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def varint(n):
    out = bytearray()
    while n >= 128:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out) + bytes([n])


def front(images, model_id):
    directory = (b"\x01" + varint(images) + b"\x01\x01\x03\x01\x01"  # one run of images
                 + varint(images) + b"\x05\x01" + bytes(5))      # one group, one layer of five passes
    entry = b"DIRE" + struct.pack("<IQQ", crc32c(directory), len(directory), len(directory))
    header = bytearray(b"\x89TPR\r\n\x1a\n" + struct.pack("<HBBIII", 2, 0, 0, 0, 0, 0) + model_id
                       + struct.pack("<QIIII", images, 1, 1, 1, 0))
    struct.pack_into("<I", header, 20, crc32c(header + entry))
    return bytes(header) + entry + directory


def png(side, texts):
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    deflate = zlib.compressobj(9)
    rows = b"".join(deflate.compress(bytes(1 + 6 * side)) for _ in range(side)) + deflate.flush()
    text = chunk(b"zTXt", b"Raw profile type xmp\0\0" + zlib.compress(bytes([32]) * (1 << 20), 9))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 16, 2, 0, 0, 0))
            + texts * text + chunk(b"IDAT", rows) + chunk(b"IEND", b""))


def jpeg(side, scans):
    """A code of one bit for what is said of all blocks: no difference, no coefficients. A run of blocks without
    coefficients (EOB14) says 2^14 and 14 bits more."""
    def segment(mark, data):
        return bytes([0xFF, mark]) + struct.pack(">H", 2 + len(data)) + data
    def table(kind, symbol):
        return segment(0xC4, bytes([kind, 1]) + bytes(15) + bytes([symbol]))
    def bits(text):
        text += "1" * (-len(text) % 8)
        return bytes(int(text[i:i + 8], 2) for i in range(0, len(text), 8)).replace(b"\xff", b"\xff\0")
    def scan(first, last, approximation, data):
        return segment(0xDA, bytes([1, 1, 0, first, last, approximation])) + bits(data)
    blocks = ((side + 7) // 8) ** 2
    start = (b"\xff\xd8" + segment(0xDB, bytes([0]) + b"\1" * 64)
             + segment(0xC0 if scans == 1 else 0xC2, struct.pack(">BHHBBBB", 8, side, side, 1, 1, 0x11, 0))
             + table(0, 0) + table(0x10, 0 if scans == 1 else 0xE0))
    if scans == 1:
        return start + scan(0, 63, 0, "00" * blocks) + b"\xff\xd9"
    run = "0" + "1" * 14
    none = run * (blocks // 32767 + 1)
    out, n = start + scan(0, 0, 0x00, "0" * blocks), 1
    for k in range(1, 64):
        for low in range(13, -1, -1):
            if n < scans - 63 + k or (k == 63 and n < scans):
                out += scan(k, k, (0 if low == 13 else low + 1) << 4 | low, none)
                n += 1
    return out + b"\xff\xd9"


def write_small(kind, n, to):
    if kind == "png":
        to.write(png(n, 0))
    elif kind == "texts":
        to.write(png(1, n))
    elif kind in ("jpeg", "scans"):
        to.write(jpeg(n, 1 if kind == "jpeg" else 200))
    elif kind == "flat":
        with gzip.GzipFile(fileobj=to, mode="wb", compresslevel=9) as packed:
            packed.write(struct.pack(">HBBIII", 0, 8, 3, 1, n, n))
            for _ in range(n):
                packed.write(bytes(n))
    elif kind == "classes":
        to.write(gzip.compress(struct.pack(">HBBI", 0, 8, 1, n) + bytes(n), 9))
    elif kind == "noise":
        to.write(struct.pack(">HBBIII", 0, 8, 3, n, 4, 4) + random.Random(1).randbytes(16 * n))
    elif kind == "short":
        to.write(b"".join(b"%x,%d\n" % (i, i % 10) for i in range(n)))
    else:
        raise SystemExit("no such kind: " + kind)


def take(command):
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    print(ended.returncode, used.ru_maxrss >> 10, round(1000 * (used.ru_utime + used.ru_stime)))


if sys.argv[1] == "take":
    take(sys.argv[2:])
    sys.exit()
kind, n, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
with open(path, "wb") as to:
    if kind == "front":
        to.write(front(n, open(sys.argv[4], "rb").read()[32:40]))
    elif kind == "idx":
        to.write(gzip.compress(struct.pack(">HBBIII", 0, 8, 3, n, 1, 1) + bytes(n), 9))
    elif kind != "labels":
        write_small(kind, n, to)
    else:
        to.write(b"".join(b"i%d.png,c%d\n" % (i, i % 10) for i in range(n)))
