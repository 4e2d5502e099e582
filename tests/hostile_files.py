# hostile_files.py -- small files that claim much, and label files; what a command takes.
#
#   python3 hostile_files.py front N FILE MODEL  a container's front matter that claims N images of 1 x 3 pixels
#   python3 hostile_files.py idx N FILE.gz      N images of 1 x 1 in a gzip file of IDX
#   python3 hostile_files.py labels N FILE.csv  N lines of names and labels
#   python3 hostile_files.py take COMMAND...    run it; prints "EXIT-CODE MIB-OF-MEMORY PROCESSOR-MILLISECONDS"
import gzip, resource, struct, subprocess, sys


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
    header = bytearray(b"\x89TPR\r\n\x1a\n" + struct.pack("<HBBIII", 1, 0, 0, 0, 0, 0) + model_id
                       + struct.pack("<QIIII", images, 1, 1, 1, 0))
    struct.pack_into("<I", header, 20, crc32c(header + entry))
    return bytes(header) + entry + directory


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
    else:
        to.write(b"".join(b"i%d.png,c%d\n" % (i, i % 10) for i in range(n)))
