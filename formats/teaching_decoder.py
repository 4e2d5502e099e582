#!/usr/bin/env python3
"""teaching_decoder.py -- reads .taper containers: SPEC.md as a program, in the same order.

    python3 teaching_decoder.py [-m MODEL.tpm] -o DIR FILE.taper     write the images as PNG
    python3 teaching_decoder.py --info FILE              say what is in a container or a model
    ... --image N   only image N, counted from 1         --bytes N   as if the file were cut there
    ... --trace     every decoded bit, one a line        --levels    the integers behind the pixels

Python 3 and its standard library only. It is written to be read together with SPEC.md, and to
check other decoders: clarity before speed (some hundred thousand bits per second). The numbers in
headings are sections of SPEC.md. If this file and SPEC.md differ, one of them has a bug.
"""
import argparse
import collections
import copy
import functools
import math
import os
import re
import struct
import sys
import zlib


class Illegal(Exception):
    """The bytes are not a legal file, or not one that this program reads."""


class Incomplete(Illegal):
    """A prefix that ends before a container's front matter or a model's first stage does."""


def require(condition, what, problem=Illegal):
    if not condition:
        raise problem(what)


# ----- 3. Conventions -----------------------------------------------------------------------------

# the table of constants, section 3.5; a test compares both with the C sources
MAX_LAYERS = 4096
MOST_LAYOUT = 2
MAX_SECTIONS = 64
MAX_SIDE = 1 << 24
MAX_CLASSES = 1 << 20
MAX_RATE_CLASSES = 16
MAX_CHECKSUM_SPAN = 1024
MOST_HASH_BITS = 32
MOST_PAGE_BITS = 24
MOST_PARTS, MOST_SET = 1 << 20, 1 << 40
MOST_PAYLOAD, PAYLOAD_PAGE, MOST_TIME_UNIT = 1 << 24, 1 << 21, 9
MAX_WINDOW_SIDE = 256
MAX_CELLS = 64
MAX_INPUTS = 65536
MAX_LAYER_WIDTH = 65536
MAX_STACK = 8
MAX_PLANES = 15
MAX_FRACTIONS = 4
MAX_MODEL_LAYERS = 64
MODEL_LEAST = 241
MODEL_STAGES = 16
UNIT_SETS = 8
COARSE_BITS = 8
WEIGHT_MAX = 1 << 20
RANS_TOTAL = 4096
RANS_SYMBOLS = 84
RANS_MOST = 4094
RANS_LEAST = 65536
SINGLE = 16
BANDS = 12
KINDS = 4
CLASSES = KINDS * BANDS
BINS = 96
FEATURES = 8
RATIO_BINS = 40
RECON_LEVELS = 4
SIGNED_UNITS = 24
SIGNED_INPUTS = 16
CAUSAL_BANDS = 5
CAUSAL_UNITS = 2 ** CAUSAL_BANDS - 1
CAUSAL_CONTEXTS = 96
AROUND = 8
PLACES = 16
SPREADS = 6
BIT_LIMIT = 400
MOST_HIDDEN = 256
MOST_SEEN = 256
MOST_STAGES = 255
MOST_SHIFT = 30
MOST_BIAS = 65536
PATCH = 2
MOST_WIDTH = 48
MOST_CONVOLUTIONS = 5
MOST_RESTORED = 64
MOST_BYTE_WEIGHT = 63
PIXEL_MAX = 2047
RESTORED_MAX = 4095
BYTE_SHIFT = 5
BYTE_MAX = 127
Z_MAX = 32767
GAIN_BITS = 20
MOST_GAIN = 65536
MOST_LAP = 16
LAP_ONE = 4096
LAP_TOP = 16
SUM_BITS = 20
WEIGHT_BITS = 12
COEFFICIENT_BITS = 15
COEFFICIENT_LIMIT = 26
HEAD_SHIFT = 12
VALUE_ONE = 16
ACTIVATION_MAX = 127
P_MIN = 32
P_MAX = 65536 - 32
P_HALF = 32768
CONFIDENCE = 24
TRUST_START = 64512
TRUST_MIN = 64
TRUST_MAX = 65472
MIXED_CONFIDENCE = 12
NORM_ONE = 64
NORM_MAX = 1023
SIGNED_ONE = 1024
SIGNED_MAX = 32767
WEIGHT_SUM = 64
SUM_UNKNOWN = 51 * 64
MEAN_ONE = 64
MATRIX_CLASSES = 12
BLOCK, FLAG_BIN, FLAG_LOGIT, FLAG_CONFIDENCE = 16, 20, 128, 12
LIST = 1024
UPPER_BITS = 3
MIXER_RATE = 12
MIXER_LIMIT = 250
MIXER_MOST = 1 << 20
BITS_PER_BYTE = 11500
TRIMMED = 16
STRIP_WINDOWS, STRIP_ROWS = 384, 8
SEGMENT_PIECE, SEGMENT_MOST = 64, (1 << 32) - 1

# limits of this program (section 8): bytes it unpacks, images of a set, pixels of an image
MY_BYTES, MY_IMAGES, MY_PIXELS = 1 << 28, 1 << 20, 1 << 26
MASK64, MASK31 = (1 << 64) - 1, (1 << 31) - 1


class Reader:
    """Reads bytes in order; reading past the end is an error."""

    def __init__(self, data, what):
        self.data, self.at, self.what = data, 0, what

    def bytes(self, n):
        require(self.at + n <= len(self.data), self.what + " ends early")
        self.at += n
        return self.data[self.at - n:self.at]

    def unpack(self, form):
        return struct.unpack("<" + form, self.bytes(struct.calcsize("<" + form)))

    def u8(self):
        return self.bytes(1)[0]

    def varint(self, limit):
        """LEB128 in its shortest form, at most `limit`."""
        value = shift = 0
        while True:
            byte = self.u8()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
            require(shift < 70, self.what + ": a varint is too long")
        require(byte or shift == 7, self.what + ": a varint is not in its shortest form")
        require(value <= limit, self.what + ": a number is too large")
        return value

    def string(self):
        end = self.data.find(b"\0", self.at)
        require(end >= 0, self.what + ": a string is not ended")
        return self.bytes(end + 1 - self.at)[:-1]

    def end(self):
        require(self.at == len(self.data), self.what + ": bytes follow its end")


CRC_TABLE = []
for _i in range(256):
    for _ in range(8):
        _i = _i >> 1 ^ (0x82F63B78 if _i & 1 else 0)
    CRC_TABLE.append(_i)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ CRC_TABLE[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF


# 3.3 XXH3-64 with seed 0, for inputs above 240 bytes (a model's payload always is)

XXH_SECRET = bytes.fromhex("""
    b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f
    cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c
    3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8
    a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364
    eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e
    2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e""")
XXH_PRIME32 = (0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D)
XXH_PRIME64 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63,
               0x27D4EB2F165667C5)


def xxh3_64(data):
    def u64(at):
        return int.from_bytes(XXH_SECRET[at:at + 8], "little")

    def add_stripe(at, secret_at):
        for i, word in enumerate(struct.unpack_from("<8Q", data, at)):
            key = word ^ u64(secret_at + 8 * i)
            acc[i ^ 1] = acc[i ^ 1] + word & MASK64
            acc[i] = acc[i] + (key & 0xFFFFFFFF) * (key >> 32) & MASK64

    acc = [XXH_PRIME32[2], *XXH_PRIME64[:4], XXH_PRIME32[1], XXH_PRIME64[4], XXH_PRIME32[0]]
    require(len(data) > 240, "too short for the long form of XXH3")
    for stripe in range((len(data) - 1) // 64):
        add_stripe(64 * stripe, 8 * (stripe % 16))
        if stripe % 16 == 15 and 64 * (stripe + 1) <= (len(data) - 1) // 1024 * 1024:
            for i in range(8):
                acc[i] = (acc[i] ^ acc[i] >> 47 ^ u64(128 + 8 * i)) * XXH_PRIME32[0] & MASK64
    add_stripe(len(data) - 64, 192 - 64 - 7)
    h = len(data) * XXH_PRIME64[0]
    for i in range(4):
        product = (acc[2 * i] ^ u64(11 + 16 * i)) * (acc[2 * i + 1] ^ u64(19 + 16 * i))
        h += (product ^ product >> 64) & MASK64
    h &= MASK64
    h = (h ^ h >> 37) * 0x165667919E3779F9 & MASK64
    return h ^ h >> 32


# 3.4 zstd, RFC 8878. No dictionaries; the frame's own checksum is not looked at.

class BackwardBits:
    """A bit stream of zstd that is read from its end; bits before the start are zeros."""

    def __init__(self, data):
        require(data and data[-1], "zstd: a bit stream has no end mark")
        self.data = data
        self.left = 8 * len(data) - 9 + data[-1].bit_length()

    def peek(self, n):
        low = self.left - n
        if low < 0:
            return self.word(0, self.left) << -low if self.left > 0 else 0
        return self.word(low, n)

    def word(self, low, n):
        first = low >> 3
        return int.from_bytes(self.data[first:first + 9], "little") >> (low & 7) & (1 << n) - 1

    def read(self, n):
        value = self.peek(n)
        self.left -= n
        return value


class FseTable:
    """For each state: its symbol, bits to read, and what to add to them for the next state."""

    def __init__(self, counts, log):
        size = 1 << log
        spread, high = [None] * size, size - 1
        for symbol, count in enumerate(counts):
            if count < 0:
                spread[high] = symbol
                high -= 1
        at = 0
        for symbol, count in enumerate(counts):
            for _ in range(count):
                spread[at] = symbol
                at = at + (size >> 1) + (size >> 3) + 3 & size - 1
                while at > high:
                    at = at + (size >> 1) + (size >> 3) + 3 & size - 1
        self.log, self.symbol, self.bits, self.base = log, spread, [], []
        seen = [1 if count < 0 else count for count in counts]
        for symbol in spread:
            bits = log + 1 - seen[symbol].bit_length()
            self.bits.append(bits)
            self.base.append((seen[symbol] << bits) - size)
            seen[symbol] += 1

    @classmethod
    def constant(cls, symbol):
        table = cls.__new__(cls)
        table.log, table.symbol, table.bits, table.base = 0, [symbol], [0], [0]
        return table


def read_fse_table(data, at, max_log, max_symbol):
    """A table's description at data[at:]; returns the table and where it ends."""
    bits = 8 * at

    def peek(n):
        word = int.from_bytes(data[bits >> 3:(bits >> 3) + 4], "little")
        return word >> (bits & 7) & (1 << n) - 1

    log = peek(4) + 5
    bits += 4
    require(log <= max_log, "zstd: an FSE table is too fine")
    counts, left = [], 1 << log
    while left > 0:
        require(len(counts) <= max_symbol, "zstd: an FSE table has too many symbols")
        require(bits < 8 * len(data), "zstd: an FSE table ends early")
        width = (left + 1).bit_length()
        value, low = peek(width), (1 << width - 1) - 1
        spare = (1 << width) - 2 - left
        bits += width
        if value & low < spare:
            value &= low
            bits -= 1
        elif value > low:
            value -= spare
        counts.append(value - 1)
        left -= abs(value - 1)
        while value == 1:       # a count of 0 is followed by how many more zeros; 3: and go on
            zeros = peek(2)
            bits += 2
            counts += [0] * zeros
            if zeros < 3:
                break
    require(left == 0 and len(counts) <= max_symbol + 1, "zstd: an FSE table does not add up")
    return FseTable(counts, log), (bits + 7) // 8


def read_huffman_table(data, at):
    """Returns (bits, table of (symbol, length)) and where the description ends."""
    head = data[at]
    at += 1
    if head >= 128:
        n = head - 127
        weights = [data[at + i // 2] >> (4 if i % 2 == 0 else 0) & 15 for i in range(n)]
        end = at + (n + 1) // 2
    else:
        end = at + head
        table, start = read_fse_table(data[:end], at, 6, 255)
        stream, weights = BackwardBits(data[start:end]), []
        states = [stream.read(table.log), stream.read(table.log)]
        while True:                     # two states by turns, until the stream is used up
            state = states[len(weights) % 2]
            weights.append(table.symbol[state])
            if stream.left < table.bits[state]:
                weights.append(table.symbol[states[len(weights) % 2]])
                break
            states[(len(weights) - 1) % 2] = table.base[state] + stream.read(table.bits[state])
            require(len(weights) < 256, "zstd: too many Huffman weights")
    total = sum(1 << w - 1 for w in weights if w)
    require(total, "zstd: an empty Huffman table")
    bits = total.bit_length()
    rest = (1 << bits) - total
    require(bits <= 11 and rest & rest - 1 == 0, "zstd: Huffman weights do not add up")
    weights.append(rest.bit_length())
    table = []
    for w in range(1, bits + 1):
        for symbol, weight in enumerate(weights):
            if weight == w:
                table += [(symbol, bits + 1 - w)] * (1 << w - 1)
    return (bits, table), end


def huffman_stream(data, huffman, n):
    bits, table = huffman
    stream, out = BackwardBits(data), bytearray()
    for _ in range(n):
        symbol, length = table[stream.peek(bits)]
        out.append(symbol)
        stream.left -= length
    require(stream.left == 0, "zstd: a Huffman stream is not used up")
    return out


LL_BASE = [*range(16), 16, 18, 20, 22, 24, 28, 32, 40, 48] + [1 << i for i in range(6, 17)]
LL_BITS = [0] * 16 + [1, 1, 1, 1, 2, 2, 3, 3, 4] + [*range(6, 17)]
ML_BASE = [*range(3, 35), 35, 37, 39, 41, 43, 47, 51, 59, 67, 83, 99]
ML_BASE += [(1 << i) + 3 for i in range(7, 17)]
ML_BITS = [0] * 32 + [1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5] + [*range(7, 17)]
DEFAULT_FSE = (     # of literal lengths, offsets, match lengths
    ([4, 3] + [2] * 11 + [1] * 3 + [2] * 9 + [3, 2] + [1] * 5 + [-1] * 4, 6),
    ([1] * 6 + [2] * 3 + [1] * 15 + [-1] * 5, 5),
    ([1, 4, 3] + [2] * 6 + [1] * 37 + [-1] * 7, 6))
FSE_LIMITS = ((9, 35), (8, 31), (9, 52))


class Zstd:
    """One frame. State that goes from block to block: the last tables and offsets."""

    def __init__(self, data, limit):
        self.data, self.limit, self.out = data, limit, bytearray()
        self.huffman, self.tables, self.offsets = None, [None] * 3, [1, 4, 8]
        require(data[:4] == b"\x28\xb5\x2f\xfd", "zstd: not a frame")
        flags, at = data[4], 5
        single, dictionary = flags >> 5 & 1, (0, 1, 2, 4)[flags & 3]
        at += 1 - single        # of the window, which does not matter here
        require(not flags & 8 and not any(data[at:at + dictionary]), "zstd: needs a dictionary")
        at += dictionary + (single, 2, 4, 8)[flags >> 6]
        last = 0
        while not last:
            require(at + 3 <= len(data), "zstd: the frame ends early")
            head = int.from_bytes(data[at:at + 3], "little")
            last, kind, size = head & 1, head >> 1 & 3, head >> 3
            at += 3
            stored = 1 if kind == 1 else size
            require(kind != 3 and at + stored <= len(data), "zstd: a block is illegal")
            require(kind == 2 or len(self.out) + size <= limit, "zstd: too many bytes")
            if kind == 2:
                self.block(data[at:at + size])
            else:
                self.out += data[at:at + 1] * size if kind == 1 else data[at:at + size]
            at += stored
        require(at + (4 if flags & 4 else 0) == len(data), "zstd: bytes follow the frame")

    def block(self, data):
        literals, at = self.literals(data)
        n = data[at]
        at += 1
        if n == 255:
            n = int.from_bytes(data[at:at + 2], "little") + 0x7F00
            at += 2
        elif n >= 128:
            n = (n - 128 << 8) + data[at]
            at += 1
        if n == 0:
            self.out += literals
            return
        modes = data[at]
        at += 1
        for i in range(3):              # literal lengths, offsets, match lengths
            mode = modes >> 6 - 2 * i & 3
            if mode == 0:
                self.tables[i] = FseTable(*DEFAULT_FSE[i])
            elif mode == 1:
                self.tables[i] = FseTable.constant(data[at])
                at += 1
            elif mode == 2:
                self.tables[i], at = read_fse_table(data, at, *FSE_LIMITS[i])
            require(self.tables[i], "zstd: a table is repeated before there is one")
        self.sequences(n, BackwardBits(data[at:]), literals)

    def literals(self, data):
        kind, form = data[0] & 3, data[0] >> 2 & 3
        if kind < 2:                    # stored, or one byte repeated
            size_bytes, shift = ((1, 3), (2, 4), (1, 3), (3, 4))[form]
            size, at = int.from_bytes(data[:size_bytes], "little") >> shift, size_bytes
            require(size <= self.limit, "zstd: too many literals")
            if kind == 0:
                return data[at:at + size], at + size
            return data[at:at + 1] * size, at + 1
        at, bits = ((3, 10), (3, 10), (4, 14), (5, 18))[form]
        sizes = int.from_bytes(data[:at], "little") >> 4
        size, packed = sizes & (1 << bits) - 1, sizes >> bits
        end = at + packed
        if kind == 2:
            self.huffman, at = read_huffman_table(data, at)
        require(self.huffman and end <= len(data), "zstd: literals are illegal")
        if form == 0:
            return huffman_stream(data[at:end], self.huffman, size), end
        lengths, out = struct.unpack("<3H", data[at:at + 6]), bytearray()
        at += 6
        for length in lengths:
            out += huffman_stream(data[at:at + length], self.huffman, (size + 3) // 4)
            at += length
        return out + huffman_stream(data[at:end], self.huffman, size - len(out)), end

    def sequences(self, n, stream, literals):
        taken, tables = 0, self.tables
        state = [stream.read(table.log) for table in tables]
        for k in range(n):
            ll, of, ml = (table.symbol[s] for table, s in zip(tables, state))
            offset = (1 << of) + stream.read(of)
            match = ML_BASE[ml] + stream.read(ML_BITS[ml])
            length = LL_BASE[ll] + stream.read(LL_BITS[ll])
            if k + 1 < n:
                for i in (0, 2, 1):
                    state[i] = tables[i].base[state[i]] + stream.read(tables[i].bits[state[i]])
            offset = self.offset_of(offset, length)
            self.out += literals[taken:taken + length]
            taken += length
            require(taken <= len(literals), "zstd: too few literals")
            require(0 < offset <= len(self.out), "zstd: an illegal offset")
            require(len(self.out) + match <= self.limit, "zstd: too many bytes")
            for _ in range(match):
                self.out.append(self.out[-offset])
        require(stream.left == 0, "zstd: sequences are not used up")
        self.out += literals[taken:]

    def offset_of(self, value, length):
        if value > 3:
            offset, self.offsets = value - 3, [value - 3] + self.offsets[:2]
            return offset
        index = value if length == 0 else value - 1
        if index == 3:
            offset = self.offsets[0] - 1
            self.offsets = [offset] + self.offsets[:2]
        else:
            offset = self.offsets.pop(index)
            self.offsets.insert(0, offset)
        return offset


def unzstd(data, size):
    try:
        out = bytes(Zstd(data, size).out)
    except (IndexError, struct.error):
        raise Illegal("zstd: the frame is damaged") from None
    require(len(out) == size, "zstd: the frame does not unpack to its size")
    return out


# ----- 4, 5. The container's front matter ---------------------------------------------------------

CONTAINER_MAGIC = b"\x89TPR\r\n\x1a\n"


def hold_size(code):
    """The number of bytes of a code of a gap or a length, before scaling."""
    return code if code < 4 else (4 + code % 4) << code // 4 - 1


class Front:
    """Header, section table and sections: all that lies before the chunks."""

    def __init__(self, data):
        require(data[:8] == CONTAINER_MAGIC[:len(data)], "not a taper container")
        self.need(data, 56)
        (self.version, self.layout, self.tail, required, low, crc, self.model_id, self.images,
         self.groups, self.layers, sections, high) = struct.unpack("<HBBIIIQQIIII", data[8:56])
        require(self.version == 2 and required <= 31, "a container of another version")
        self.rate_classes, self.has_raised = 1 + (required & 1), required & 2
        self.is_paged, self.has_pixels, self.has_stages = required & 4, required & 8, required & 16
        require(self.has_pixels or not self.has_stages, "stages in layers without kinds")
        self.holds = high << 32 | low
        require(sections <= MAX_SECTIONS, "the header is damaged")
        table_end = 56 + 24 * sections
        self.need(data, table_end)
        require(crc32c(data[:20] + bytes(4) + data[24:table_end]) == crc,
                "the header fails its checksum")
        table = [struct.unpack_from("<4sIQQ", data, 56 + 24 * i) for i in range(sections)]
        self.size = table_end + sum(stored for _, _, stored, _ in table)
        self.need(data, self.size)
        require(self.layout <= MOST_LAYOUT and self.tail <= 1, "layout or tail is illegal")
        require(1 <= self.groups <= self.images and 1 <= self.layers <= MAX_LAYERS,
                "counts are illegal")
        require(self.layout == 0 or self.groups == self.images, "one image a group")
        require(self.layout != 1 or self.layers == 1 or self.has_pixels,
                "one image after the other: one layer")
        require(self.images <= MY_IMAGES, "more images than this program reads")
        self.names = self.labels = self.model = self.geometry = self.metadata = None
        self.also, self.part_of_set = [], None
        self.sections, at = [], table_end
        for kind, crc, stored, unpacked in table:
            self.section(kind, crc, data[at:at + stored], unpacked)
            at += stored
        require(self.geometry is not None, "there is no directory")
        if self.part_of_set:
            self.check_part_of_set()
        if self.has_stages:
            self.check_stages()
        if self.is_paged:
            require(b"LEAF" in self.sections, "there are no leaves")
            require((self.find == 2) == (b"find" in self.sections), "pages of names")

    @staticmethod
    def need(data, n):
        if len(data) < n:
            raise Incomplete("incomplete header, need %d more bytes" % (n - len(data)))

    def section(self, kind, crc, stored, unpacked):
        known = {b"DIRE": self.directory, b"name": self.read_names, b"labl": self.read_labels,
                 b"also": self.read_also, b"meta": self.read_metadata, b"modl": None,
                 b"part": self.read_part_of_set}
        if self.is_paged:
            known = {b"DIRE": self.root, b"LEAF": self.read_leaves, b"find": self.read_pages,
                     b"also": self.read_also, b"meta": self.read_metadata, b"modl": None,
                     b"part": self.read_part_of_set}
            require(kind not in (b"name", b"labl"), "leaves have names and labels")
            require(kind != b"modl" or b"LEAF" not in self.sections, "the model is behind leaves")
            require(kind not in (b"find", b"also", b"meta", b"part") or b"LEAF" in self.sections,
                    "pages, further names, metadata or a part are before leaves")
        if kind not in known:
            require(kind[0] & 0x20, "an unknown section that may not be skipped")
            return
        require(kind == b"DIRE" or self.sections, "the directory is not first")
        require(kind not in self.sections, "a section occurs twice")
        require(kind != b"labl" or b"also" not in self.sections, "labels are behind further names")
        self.sections.append(kind)
        require(crc32c(stored) == crc, "a section fails its checksum")
        times, more = ((4, 65536) if kind == b"modl" else
                       (1, 0) if kind in (b"LEAF", b"find", b"meta") else (1024, 65536))
        content = self.unpack(stored, unpacked, times, more)
        if kind == b"modl":
            self.model = content
            return
        reader = Reader(content, kind.decode())
        known[kind](reader)
        reader.end()

    @staticmethod
    def unpack(stored, unpacked, times=1024, more=65536):
        require(len(stored) <= unpacked <= times * len(stored) + more, "a size is illegal")
        require(unpacked <= MY_BYTES, "a section is larger than this program reads")
        return stored if len(stored) == unpacked else unzstd(stored, unpacked)

    def directory(self, r):
        self.geometry = self.read_geometry(r, self.images, self.has_pixels)
        self.group_first = self.read_groups(r, self.groups, self.images)
        self.image_at = list(range(self.images))        # of each place
        self.rate_class = [0] * self.groups
        if self.rate_classes > 1:
            self.read_rate_class_count(r)
            self.rate_class, self.image_at = self.read_rate_classes(r, self.group_first)
        self.read_layers(r)
        self.chunk_at = [0]                             # layer after layer, group after group
        for length in self.read_lengths(r, self.layers * self.groups):
            self.chunk_at.append(self.chunk_at[-1] + length)
            require(self.chunk_at[-1] < 1 << 62, "the chunks are impossibly long")
        self.checksum = r.unpack("%dI" % (self.layers * self.blocks))
        self.raised = [self.read_raised(r) if self.has_raised else {} for _ in range(self.groups)]

    @staticmethod
    def read_geometry(r, images, has_pixels):
        geometry = []
        for _ in range(r.varint(images)):               # runs of equal images
            count, width, height = r.varint(images), r.varint(MAX_SIDE), r.varint(MAX_SIDE)
            kind = r.u8()
            require(count and width and height and kind & 15 in (1, 3)
                    and kind < (128 if has_pixels else 32) and kind & 80 != 80,
                    "a geometry is illegal")
            require(len(geometry) + count <= images, "too many geometries")
            require(width * height <= MY_PIXELS, "an image is larger than this program renders")
            geometry += [(width, height, kind & 15, 16 if kind & 16 else 8, kind & 32,
                          kind & 64)] * count
        require(len(geometry) == images, "too few geometries")
        return geometry

    @staticmethod
    def read_groups(r, groups, images):
        first = [0]
        for _ in range(r.varint(groups)):               # runs of equal groups
            count, size = r.varint(groups), r.varint(images)
            require(count and size and len(first) + count <= groups + 1, "groups are illegal")
            for _ in range(count):
                first.append(first[-1] + size)
        require(len(first) == groups + 1 and first[-1] == images, "groups do not add up")
        return first

    def read_layers(self, r):
        self.layer_kind = list(r.bytes(self.layers)) if self.has_pixels else [0] * self.layers
        require(all(self.layer_kind.count(kind) <= (self.layers, 1, 1, 1, self.layers)[kind]
                    if kind <= 4 else False for kind in self.layer_kind), "kinds of layers are illegal")
        require(4 not in self.layer_kind or self.has_stages and self.layout != 1,
                "layers with stages are illegal")
        require(self.layer_kind[0] != 4 != self.layer_kind[-1], "a stage is first or last")
        require(3 not in self.layer_kind[:-1], "the exact layer is not the last")
        require(self.layout != 1 or self.layer_kind.count(0) <= 1, "two layers of passes")
        self.layer_end = [[0] for _ in range(self.rate_classes)]  # passes up to the end of each layer
        for kind in self.layer_kind:
            for ends in self.layer_end:
                passes = r.varint(1 << 24)
                require((not passes if kind else passes or self.rate_classes > 1)
                        and ends[-1] + passes <= 1 << 24, "a layer is illegal")
                ends.append(ends[-1] + passes)
        self.first_cut = r.varint(self.groups - 1) if self.tail else self.groups
        self.per_checksum = r.varint(MAX_CHECKSUM_SPAN)
        require(self.per_checksum, "checksums over no chunks")
        self.blocks = -(-self.groups // self.per_checksum)  # checksums in a layer

    @staticmethod
    def read_lengths(r, n):
        return [r.varint(1 << 40) for _ in range(n)]

    def read_rate_class_count(self, r):
        self.rate_classes = r.u8()
        require(2 <= self.rate_classes <= MAX_RATE_CLASSES, "the number of rate classes is illegal")

    def read_rate_classes(self, r, group_first):
        """Of each group its rate class, of each place its image: all of them, or those of a leaf."""
        groups, images = len(group_first) - 1, group_first[-1]
        rate_class, of_image = list(r.bytes(groups)), list(r.bytes(images))
        require(max(rate_class + of_image) < self.rate_classes, "there is no such rate class")
        left = [[i for i in range(images) if of_image[i] == t] for t in range(self.rate_classes)]
        image_at = []
        for g, t in enumerate(rate_class):
            size = group_first[g + 1] - group_first[g]
            require(len(left[t]) >= size, "a rate class's groups do not hold its images")
            image_at += left[t][:size]
            del left[t][:size]
        return rate_class, image_at

    @staticmethod
    def read_raised(r):
        """The units of a group that have planes above the model's, and how many."""
        raised, unit = {}, -1
        for _ in range(r.varint(65535)):
            unit, planes = unit + 1 + r.varint(65535), r.u8()
            require(unit < 65535 and 1 <= planes <= MAX_PLANES, "raised planes are illegal")
            raised[unit] = planes
        return raised

    def passes_of(self, g, layer):
        """Passes of group g before a layer."""
        return self.layer_end[self.rate_class[g]][layer]

    def read_names(self, r):
        self.names = Front.list_names(r, self.images)

    @staticmethod
    def list_names(r, images):
        names = [r.string() for _ in range(images)]
        for name in names:
            require(0 < len(name) < 4096 and not any(c < 32 or c == 127 for c in name)
                    and b"\\" not in ESCAPE.sub(b"", name), "a name is illegal")
            require(all(part not in (b"", b".", b"..") for part in name.split(b"/")),
                    "a name is not a plain relative path")
        return names

    # 5.9 front matter in pages: the root

    def root(self, r):
        if self.rate_classes > 1:
            self.read_rate_class_count(r)
        self.read_layers(r)
        self.layer_bytes = [r.varint(1 << 62) for _ in range(self.layers)]
        require(sum(self.layer_bytes) < 1 << 62, "the layers are impossibly long")
        self.pixels = r.varint((1 << 64) - 1)
        has_labels = r.u8()
        require(has_labels <= 1, "the mark of labels is illegal")
        if has_labels:
            self.classes, self.labels = [r.string() for _ in range(r.varint(MAX_CLASSES))], []
        n = r.varint(self.groups)
        images = [r.varint(self.images) for _ in range(n)]
        groups = [r.varint(self.groups) for _ in range(n)]
        require(n and all(0 < g <= i for g, i in zip(groups, images)), "a leaf is empty")
        require(sum(images) == self.images and sum(groups) == self.groups, "leaves do not add up")
        require(all(sum(groups[:k]) % self.per_checksum == 0 for k in range(n)),
                "a checksum is over two leaves")
        sizes = [r.varint(0xffffffff) for _ in range(n)]
        self.leaves = list(zip(images, groups, sizes, r.unpack("%dI" % n)))
        self.find = r.u8()
        require(self.find <= 2, "names are found in an unknown way")
        if self.find == 1:
            self.read_separators(r)
        if self.find == 2:
            self.hash_bits, self.page_bits = r.u8(), r.u8()
            require(self.page_bits < self.hash_bits <= MOST_HASH_BITS
                    and self.page_bits <= MOST_PAGE_BITS, "bits of a hash are illegal")
            sizes = [r.varint(0xffffffff) for _ in range(1 << self.page_bits)]
            self.pages = list(zip(sizes, r.unpack("%dI" % len(sizes))))
        self.geometry = []

    def read_separators(self, r):
        self.separators = [b""]
        for _ in self.leaves[1:]:
            before = self.separators[-1]
            shared, rest = r.varint(len(before)), r.string()
            require(0 < len(rest) <= 4095 - shared, "a separator is illegal")
            require(rest[0] > (before + b"\0")[shared], "separators do not ascend")
            self.separators.append(before[:shared] + rest)

    @staticmethod
    def part(r):
        """A reader of the next part."""
        unpacked, stored = r.varint((1 << 64) - 1), r.varint((1 << 64) - 1)
        return Reader(Front.unpack(r.bytes(stored), unpacked), "part")

    # 5.10 metadata: of each image a dictionary; payloads are bytes

    def read_metadata(self, r):
        index = self.part(r)
        sizes = [index.varint(MOST_PAYLOAD) for _ in range(index.varint((1 << 32) - 2))]
        require(all(sizes), "a payload is empty")
        payloads = []
        for n in [index.varint(len(sizes)) for _ in range(index.varint(len(sizes)))]:
            own = sizes[len(payloads):len(payloads) + n]
            require(n and len(own) == n and sum(own[:-1]) < PAYLOAD_PAGE, "a page is illegal")
            page = self.part(r)
            payloads += [page.bytes(size) for size in own]
            page.end()
        require(len(payloads) == len(sizes), "payloads are in no page")
        used = self.read_records(index, payloads)
        require(used == len(payloads), "no image has a payload")
        self.read_times(index)
        index.end()

    def read_records(self, r, payloads):
        self.metadata, last, used = [], {}, 0
        for _ in range(self.images):
            what, image = r.u8(), {}
            for kind in [kind for k, kind in enumerate(("icc", "exif", "xmp")) if what >> k & 1]:
                said = r.varint(used + 1)
                require(said != 1 or kind in last, "a repeated payload that there is not")
                last[kind] = used if said == 0 else last[kind] if said == 1 else said - 2
                used += said == 0
                require(last[kind] < len(payloads), "a payload that there is not")
                image[kind] = payloads[last[kind]]
            if what & 8:
                image["cicp"] = r.unpack("4B")
                require(image["cicp"][3] <= 1, "full range")
            if what & 16:
                image["gamma"] = r.varint(MASK31)
                require(image["gamma"], "gamma")
            if what & 32:
                image["chromaticities"] = [r.varint(MASK31) for _ in range(8)]
                require(any(image["chromaticities"]), "chromaticities")
            if what & 64:
                image["density"] = r.varint(MASK31), r.varint(MASK31), r.u8()
                require(all(image["density"][:2]) and image["density"][2] <= 1, "density")
            if what & 128:
                image["time"] = 0
            self.metadata.append(image)
        return used

    def read_times(self, r):
        self.read_time_list(r, [image for image in self.metadata if "time" in image])

    @staticmethod
    def read_time_list(r, timed):
        if not timed:
            return
        unit, time = r.u8(), 0
        require(unit <= MOST_TIME_UNIT, "a unit of times")
        for image in timed:
            said = r.varint(MASK64)
            time = (time + (said >> 1 ^ -(said & 1)) + (1 << 63) & MASK64) - (1 << 63)
            image["time"] = time * 10 ** unit           # nanoseconds since 1970
            require(-1 << 63 <= image["time"] < 1 << 63, "a time")

    # 5.11 further names: of each a dictionary

    def read_also(self, r):
        n = r.varint((1 << 32) - 2 - self.images)
        require(1 <= n <= MY_IMAGES, "the number of further names")
        self.also = [{"image": r.varint(self.images - 1)} for _ in range(n)]
        for also in self.also:
            also["label"] = r.varint(len(self.classes)) - 1 if self.labels is not None else -1
        for also, name in zip(self.also, self.list_names(r, n)):
            also["name"] = name
        has_time = [r.varint(1) for _ in range(n)]
        self.read_time_list(r, [also for also, has in zip(self.also, has_time) if has])

    # 5.12 the part of a set: digests are for those who compare parts

    def read_part_of_set(self, r):
        parts, number = r.varint(MOST_PARTS), r.varint(MOST_PARTS)
        images, left_out = r.varint(MOST_SET), r.varint(MOST_SET)
        self.part_of_set = (parts, number, images, left_out, r.unpack("3Q"))

    def check_part_of_set(self):
        parts, number, images, left_out, _ = self.part_of_set
        require(number < parts and images, "there is no such part of a set")
        require((number + 1) * images // parts - number * images // parts
                == self.images + len(self.also) + left_out, "the part has another number of images")

    # 5.9.3 the leaves, of which all together say what a directory does

    def read_leaves(self, r):
        self.group_first, self.rate_class, self.image_at, self.raised = [0], [], [], []
        lengths, checksums = [[[] for _ in range(self.layers)] for _ in range(2)]
        if self.find:
            self.names = []
        for k, (images, groups, size, crc) in enumerate(self.leaves):
            stored = r.bytes(size)
            require(crc32c(stored) == crc, "leaf %d fails its checksum" % k)
            leaf = Reader(stored, "leaf %d" % k)
            part = self.part(leaf)
            self.leaf_directory(part, images, groups, lengths, checksums)
            part.end()
            if self.find:
                part = self.part(leaf)
                names = self.list_names(part, images)
                part.end()
                self.check_order(k, names)
                self.names += names
            if self.labels is not None:
                part = self.part(leaf)
                self.labels += [part.varint(len(self.classes)) - 1 for _ in range(images)]
                part.end()
            leaf.end()
        require([sum(layer) for layer in lengths] == self.layer_bytes, "layers do not add up")
        require(sum(g[0] * g[1] for g in self.geometry) % (1 << 64) == self.pixels,
                "pixels do not add up")
        self.chunk_at = [0]
        for length in sum(lengths, []):
            self.chunk_at.append(self.chunk_at[-1] + length)
        self.checksum = sum(checksums, [])

    def leaf_directory(self, r, images, groups, lengths, checksums):
        image = len(self.geometry)
        self.geometry += self.read_geometry(r, images, self.has_pixels)
        first = self.read_groups(r, groups, images)
        self.group_first += [image + f for f in first[1:]]
        rate_class, image_at = [0] * groups, list(range(images))
        if self.rate_classes > 1:
            rate_class, image_at = self.read_rate_classes(r, first)
        self.rate_class += rate_class
        self.image_at += [image + i for i in image_at]
        for layer in range(self.layers):
            require(r.varint(1 << 62) == sum(lengths[layer]), "a leaf does not follow the one before")
        for layer in range(self.layers):
            lengths[layer] += self.read_lengths(r, groups)
        for layer in range(self.layers):
            checksums[layer] += r.unpack("%dI" % -(-groups // self.per_checksum))
        self.raised += [self.read_raised(r) if self.has_raised else {} for _ in range(groups)]

    def check_order(self, k, names):
        if self.find == 1:
            require(sorted(names) == names and names[0] >= self.separators[k], "names do not ascend")
            require(k + 1 == len(self.leaves) or names[-1] < self.separators[k + 1],
                    "names reach into the next leaf")

    # 5.9.4 pages of names: a reader by names needs one of them; this one tests all

    def read_pages(self, r):
        require(self.find == 2, "pages are not needed")
        entries, low = [], self.hash_bits - self.page_bits
        for page, (size, crc) in enumerate(self.pages):
            stored = r.bytes(size)
            require(crc32c(stored) == crc, "a page of names fails its checksum")
            if not size:
                continue
            reader = Reader(stored, "page")
            part = self.part(reader)
            reader.end()
            n, hashed = part.varint(MY_BYTES), page << low
            require(n, "a page has no entries")
            hashes = []
            for _ in range(n):
                hashed += part.varint(1 << low)
                hashes.append(hashed)
            require(hashed < page + 1 << low, "a hash is of another page")
            entries += zip(hashes, [part.varint(len(self.leaves) - 1) for _ in range(n)])
            part.end()
        leaf_of = [k for k, leaf in enumerate(self.leaves) for _ in range(leaf[0])]
        want = {(crc32c(name) >> 32 - self.hash_bits, k) for name, k in zip(self.names, leaf_of)}
        require(entries == sorted(want), "the pages do not list the names")

    def read_labels(self, r):
        self.classes = [r.string() for _ in range(r.varint(MAX_CLASSES))]
        self.labels = [r.varint(len(self.classes)) - 1 for _ in range(self.images)]

    def check_stages(self):
        """5.6: the first stages are in the section, the next ones are layers, of group 0."""
        require(self.model is not None, "stages in layers, but no section modl")
        ends = stage_ends(self.model)
        require(len(self.model) in ends, "the section does not end with a stage")
        require(struct.unpack_from("<Q", self.model, 16)[0] == self.model_id, "stages of another model")
        stage = ends.index(len(self.model)) + 1
        self.stages = []                                # where they lie
        for layer in range(self.layers):
            if self.layer_kind[layer] == 4:
                at = [self.chunk_at[layer * self.groups + k] for k in (0, 1, self.groups)]
                require(at[1] == at[2], "a stage in several groups")
                require(stage < len(ends) and at[1] - at[0] == ends[stage] - ends[stage - 1],
                        "a layer does not have the next stage")
                self.stages.append((self.size + at[0], self.size + at[1]))
                stage += 1

    def model_file(self, data):
        """The model, or as many stages of it as the data have undamaged."""
        model = self.model
        for begin, end in self.stages if self.has_stages else []:
            if end > len(data) or not stage_holds(model, data[begin:end]):
                break
            model += data[begin:end]
        return model

    def drawn(self, data):
        """The bytes of a cut that are rendered (section 13)."""
        s, start, end, scale = len(data) - self.size, 0, 0, self.holds >> 60 & 3
        if s >= self.chunk_at[-1]:
            return data
        for k in range(6):
            gap, length = self.holds >> 10 * k & 31, self.holds >> 10 * k + 5 & 31
            if gap:
                start = end = end + (hold_size(gap) << scale)
            end += hold_size(length) << scale
            if s <= start:
                break
            if s < end:
                return data[:self.size + start]
        return data

    def group_of(self, image):
        place = self.image_at.index(image)
        return next(g for g in range(self.groups) if place < self.group_first[g + 1])


# ----- 6. Model files -----------------------------------------------------------------------------

PCA, DENSE, CONV, GRADIENTS, POOLING = range(5)     # families
IDENTITY, RELU, SIGMOID = range(3)         # activations
MODEL_MAGIC = b"\x89TPM\r\n\x1a\n"


def stage_ends(data):
    """6.1: where the stages end in the file of the model."""
    require(data[:8] == MODEL_MAGIC and len(data) >= 24, "not a taper model")
    version, stages = struct.unpack("<HH", data[8:12])
    require(version == 4 and 1 <= stages <= MODEL_STAGES, "a model of another version")
    at = 24 + 20 * stages
    require(len(data) >= at, "the model's header ends early")
    crc, = struct.unpack("<I", data[12:16])
    require(crc32c(data[:12] + bytes(4) + data[16:at]) == crc, "the model's header is damaged")
    ends = []
    for i in range(24, at, 20):
        packed, size = struct.unpack("<QQ", data[i:i + 16])
        require(packed and size, "a stage without bytes")
        at += packed
        ends.append(at)
    return ends


def stage_holds(model, stage):
    """The next stage has the checksum that the table of this beginning of a model file has."""
    at = 24 + 20 * stage_ends(model).index(len(model)) + 20
    return crc32c(stage) == struct.unpack_from("<I", model, at + 16)[0]


# 6.11 Convolutional layers

def convolved(x, shape, weights, bias):
    """The next map of a map x, place after place, before the activation."""
    width, height, channels = shape
    zeros = [0.0] * channels

    def products(across, down):
        around = []
        for v in range(down - 1, down + 2):
            for u in range(across - 1, across + 2):
                at = (v * width + u) * channels
                around += x[at:at + channels] if 0 <= u < width and 0 <= v < height else zeros
        return [dot(row, around) for row in weights]
    to = []
    for down in range(0, height, 2):
        for across in range(0, width, 2):
            four = [products(u, v) for v in range(down, min(down + 2, height))
                    for u in range(across, min(across + 2, width))]
            to += [max(z) + b for z, b in zip(zip(*four), bias)]
    return to


# 6.10 Gradient orientations
DIRECTIONS = ((128, 0), (120, 44), (98, 82), (64, 111), (22, 126),
              (-22, 126), (-64, 111), (-98, 82), (-120, 44), (-128, 0))


def area(a, b):
    return a[0] * b[1] - a[1] * b[0]


def cell_weights(n, cells):
    """For each of n pixels along a side: its weights for cells, by their numbers."""
    weights = []
    for i in range(n):
        k, rest = divmod((2 * i + 1) * cells + n, 2 * n)
        second = (64 * rest + n) // (2 * n)
        both = {k - 1: 64 - second, k: second}
        weights.append({cell: w for cell, w in both.items() if 0 <= cell < cells})
    return weights


def votes_of(dx, dy):
    """The votes of a gradient, by orientation."""
    is_lower = dy < 0 or dy == 0 and dx < 0
    g, first = ((-dx, -dy), 9) if is_lower else ((dx, dy), 0)
    k = sum(area(DIRECTIONS[j], g) >= 0 for j in range(1, 9))
    return {k + first: area(g, DIRECTIONS[k + 1]), (k + first + 1) % 18: area(DIRECTIONS[k], g)}


def sum_cells(samples, channels, width, height, across, down):
    """Sums of votes and of samples, and of weights, of all cells."""
    plane = width * height
    votes = [[0] * 18 for _ in range(across * down)]
    colours = [[0] * channels for _ in range(across * down)]
    weights = [0] * (across * down)
    columns, rows = cell_weights(width, across), cell_weights(height, down)
    for y in range(height):
        for x in range(width):
            def at(c, x, y):
                return samples[c * plane + min(max(y, 0), height - 1) * width +
                               min(max(x, 0), width - 1)]
            each = [(at(c, x + 1, y) - at(c, x - 1, y), at(c, x, y + 1) - at(c, x, y - 1))
                    for c in range(channels)]
            cast = votes_of(*max(each, key=lambda g: g[0] * g[0] + g[1] * g[1]))    # the first
            for j, in_row in rows[y].items():
                for i, in_column in columns[x].items():
                    cell, weight = j * across + i, in_row * in_column
                    weights[cell] += weight
                    for orientation, vote in cast.items():
                        votes[cell][orientation] += weight * vote
                    for c in range(channels):
                        colours[cell][c] += weight * at(c, x, y)
    return votes, colours, weights


def gradients(samples, channels, width, height, across, down):
    """The values of a window, samples channel after channel: plane after plane."""
    sums, colours, weights = sum_cells(samples, channels, width, height, across, down)
    parts = 4096 * width * height
    votes = [[(s * across * down + parts // 2) // parts for s in cell] for cell in sums]
    energy = [sum((v[o] + v[o + 9]) ** 2 for o in range(9)) for v in votes]
    values = []
    for cell, v in enumerate(votes):
        y, x = divmod(cell, across)
        gains = []
        for b in range(4):
            x2 = min(max(x + (1 if b % 2 else -1), 0), across - 1)
            y2 = min(max(y + (1 if b // 2 else -1), 0), down - 1)
            around = sum(energy[j * across + i] for j in (y, y2) for i in (x, x2))
            gains.append((1275 << 20) // math.isqrt(around + 2048))
        own = [[min(255, n * gain >> 20) for gain in gains]
               for n in v + [v[o] + v[o + 9] for o in range(9)]]
        values.append([(sum(four) + 2) // 4 for four in own] +
                      [sum(own[o][b] for o in range(18)) // 20 for b in range(4)] +
                      [(s + weights[cell] // 2) // weights[cell] for s in colours[cell]])
    return [value for plane in zip(*values) for value in plane]


class Model:
    def __init__(self, data):
        """Of a file, or of a prefix of one that holds its first stage."""
        # 6.1
        require(data[:8] == MODEL_MAGIC, "not a taper model")
        require(len(data) >= 12, "the model's header ends early", Incomplete)
        version, stages = struct.unpack("<HH", data[8:12])
        require(version == 4, "a model of another version")
        require(1 <= stages <= MODEL_STAGES, "the number of stages is illegal")
        at = 24 + 20 * stages
        require(len(data) >= at, "the model's header ends early", Incomplete)
        crc, self.id = struct.unpack("<IQ", data[12:24])
        require(crc32c(data[:12] + bytes(4) + data[16:at]) == crc, "the model's header is damaged")
        payload, ends, total = b"", [], 0
        for i in range(24, at, 20):
            packed, size, crc = struct.unpack("<QQI", data[i:i + 20])
            require(packed and size, "a stage without bytes")
            total += size
            require(total <= MY_BYTES, "a larger model than this program reads")
            stage, at = data[at:at + packed], at + packed
            if at > len(data):
                continue                                # it is missing, and so are all behind it
            require(crc32c(stage) == crc, "a stage of the model is damaged")
            payload += unzstd(stage, size)
            ends.append(len(payload))
        require(total >= MODEL_LEAST, "the model's payload is too short")
        require(len(data) <= at, "bytes follow the model's end")
        require(ends, "the model's first stage is not there", Incomplete)
        self.whole = len(ends) == stages
        require(not self.whole or xxh3_64(payload) == self.id, "the model fails its checksum")
        self.ends = ends                                # of known stages that are still to be read
        self.parts(Reader(payload, "model"))

    def end_part(self, r):
        require(self.ends and r.at <= self.ends[0], "a stage ends within a part")
        if r.at == self.ends[0]:
            self.ends.pop(0)

    def is_over(self):
        """The next part is in a stage that is missing."""
        return not self.whole and not self.ends

    def parts(self, r):
        self.architecture(r)
        self.mean = [v / MEAN_ONE for v in r.unpack("%dh" % self.inputs)]
        self.missing, self.restoration = set(), None    # units; network
        if self.embedding:
            self.stacks(r)
            self.record(r)
            self.end_part(r)
        else:
            if self.binary:
                self.binary_tables(r)
            else:
                self.tables(r)
            self.all_sets(r)
            self.head = self.head and not self.is_over()
            if self.head:
                self.read_head(r)
            self.linear = not (self.direct or self.stack)
            if self.linear:
                self.in_integers()
        require(not self.ends, "bytes follow the model's last part")
        r.end()

    def all_sets(self, r):
        """What the sets have in common, and each set that is there."""
        sets = self.sets_of_units(r)
        if self.conditional:
            self.predictor = self.common_part(r, 3)
        self.synthesis = [] if self.direct else [[0.0] * self.inputs for _ in range(self.units)]
        for s, (units, begin, end, coarse) in enumerate(sets):
            if self.is_over():
                self.missing.update(units)
                continue
            if not coarse:
                lacking = [(unit, before[3]) for at, before in enumerate(sets[:s]) for unit in before[0]
                           if all(later[3] for later in sets[at:s])]
                self.last_bits(r, lacking)
            self.linear_path(r, units)
            if begin == 0:
                self.stacks(r)
            if self.conditional:
                self.set_part(r, self.predictor, units, begin, end)
            self.end_part(r)
            self.known_passes = end
            if s == 0 and self.family == CONV and not self.is_over():
                self.restoration = self.restoration_network(r)
                self.end_part(r)

    def read_head(self, r):
        self.corrector = self.common_part(r, 1)
        self.set_part(r, self.corrector, range(self.units), 0, len(self.order))
        self.deepest = [0] * self.units
        for _, step, unit in self.order[:self.corrector.end]:
            self.deepest[unit] += step % self.fractions == self.fractions - 1
        self.end_part(r)

    # 6.2
    def architecture(self, r):
        (self.family, self.channels, self.width, self.height, self.units,
         flags) = r.unpack("BBHHHB")
        (self.tied, self.direct, self.binary, self.tied_stacks, self.conditional, self.head,
         lapped, self.feedback) = (flags >> i & 1 for i in range(8))
        require(not self.feedback or self.direct and self.binary,
                "units with feedback that are not bits of a direct network")
        require(not (self.binary and (self.conditional or self.head)),
                "a conditional model of single bits")
        self.activation, code = r.unpack("BB")
        self.code_activation = code             # of use to embedding models alone
        require(self.activation <= SIGMOID and code <= SIGMOID, "an activation is illegal")
        require(code == IDENTITY or self.direct and not self.binary,
                "an activation of codes that have none")
        require(not (self.direct and self.tied), "a tied linear path, but no linear path")
        self.gain = r.unpack("f")[0] if self.tied_stacks else 0
        self.hidden = []                                # widths, or None where there is no stack
        for stack in range(2):
            depth = r.u8()
            may_lack = stack == 1 and flags in (2, 6)   # an embedding model has no decoder
            require((0 if may_lack else 1) <= depth <= MAX_STACK if self.direct else
                    depth == 0 or 2 <= depth <= MAX_STACK, "a stack's depth is illegal")
            self.hidden.append(list(r.unpack("%dI" % (depth - 1))) if depth else None)
        self.embedding = self.direct and self.hidden[1] is None
        if self.tied_stacks:
            require(self.direct and self.hidden[0] == self.hidden[1][::-1],
                    "tied stacks do not mirror each other")
            require(1e-20 < self.gain < 1e20, "the gain is out of range")
        self.lap = []
        if lapped:
            reach = r.u8()
            require(1 <= reach <= min(MOST_LAP, self.width // 2, self.height // 2),
                    "windows lap by an illegal number of pixels")
            self.lap = [r.unpack("%dh" % reach) for _ in range(reach)]
            require(has_inverse([[v / LAP_ONE for v in row] for row in self.lap]),
                    "the matrix of laps has no inverse")
        self.inputs = self.channels * self.width * self.height
        require(self.family <= POOLING, "a model of a family unknown here")
        require(self.channels in (1, 3), "the architecture is illegal")
        require(1 <= self.width <= MAX_WINDOW_SIDE and 1 <= self.height <= MAX_WINDOW_SIDE,
                "the window is illegal")
        require(1 <= self.units and (self.direct or self.units <= self.inputs) and
                self.inputs <= MAX_INPUTS, "the number of units is illegal")
        require(self.family < GRADIENTS or self.embedding, "an embedding model with a decoder")
        self.across = self.down = 0
        self.maps = []                          # of convolutional layers: width, height, channels
        if self.family >= GRADIENTS:
            self.read_cells(r)
        if self.family == POOLING:
            self.read_convolutions(r)
        require(self.family in (DENSE, GRADIENTS, POOLING) or flags & 143 == 1 and self.hidden == [None, None],
                "a model with parts of a dense one")
        require(self.family != CONV or self.width % PATCH == self.height % PATCH == 0,
                "a window that is no whole number of patches")
        require(all(1 <= w <= MAX_LAYER_WIDTH for stack in self.hidden for w in stack or []),
                "a layer's width is illegal")

    def read_cells(self, r):
        self.across, self.down = r.unpack("BB")
        if self.family == POOLING and not self.across and not self.down:
            return
        require(1 <= self.across <= min(MAX_CELLS, self.width // 2) and
                1 <= self.down <= min(MAX_CELLS, self.height // 2), "the number of cells is illegal")
        self.inputs = self.across * self.down * (31 + self.channels)
        require(self.inputs <= MAX_INPUTS, "the cells have too many values")

    # 6.11
    def read_convolutions(self, r):
        n = r.u8()
        require(1 <= n <= MAX_STACK - 1 - len(self.hidden[0]),
                "the number of convolutional layers is illegal")
        self.maps = [(self.across, self.down, 31 + self.channels) if self.across else
                     (self.width, self.height, self.channels)]
        for channels in r.unpack("%dH" % n):
            width, height, _ = self.maps[-1]
            self.maps.append(((width + 1) // 2, (height + 1) // 2, channels))
            require(channels and math.prod(self.maps[-1]) <= MAX_LAYER_WIDTH,
                    "a convolutional layer's channels are illegal")

    # 6.3
    def linear_path(self, r, units):
        if self.direct:
            return
        for unit, row in zip(units, read_matrix(r, len(units), self.inputs, self.width)):
            self.synthesis[unit] = row
        if not self.tied:
            read_matrix(r, len(units), self.inputs, self.width)     # a decoder does not need it

    def last_bits(self, r, lacking):
        """Of rows of G: (unit, how many bits)."""
        if not lacking:
            return
        step, rows = read_integers(r, len(lacking), self.inputs, self.width)
        for (unit, bits), s, row in zip(lacking, step, rows):
            upper = [round(g / (s * 2 ** bits)) for g in self.synthesis[unit]]
            require(all(binary32(u * s * 2 ** bits) == g
                        for u, g in zip(upper, self.synthesis[unit])), "another step of a row")
            require(all(-2 ** bits <= 2 * v < 2 ** bits for v in row), "last bits are out of range")
            whole = [(u << bits) + v for u, v in zip(upper, row)]
            require(all(abs(v) <= WEIGHT_MAX for v in whole), "a weight is out of range")
            self.synthesis[unit] = [binary32(v * s) for v in whole]

    def stacks(self, r):
        self.convolutions = []
        for (_, _, channels), (_, _, outputs) in zip(self.maps, self.maps[1:]):
            self.convolutions += self.read_stack(r, 9 * channels, [], outputs)
        inputs = math.prod(self.maps[-1]) if self.maps else self.inputs
        encoder = self.read_stack(r, inputs, self.hidden[0], self.units)            # nor for this
        if self.embedding:                                           # the end of the network
            self.encoder = encoder
            return
        matrices = None
        if self.tied_stacks:                                         # but for its transpose
            matrices = [list(zip(*weights)) for weights, _ in reversed(encoder)]
            matrices[-1] = [[self.gain * w for w in row] for row in matrices[-1]]
        self.stack = self.read_stack(r, self.units, self.hidden[1], self.inputs, matrices)
        if self.feedback:
            for _ in range(2):                          # a decoder has no use for the first of them
                self.mixing = read_matrix(r, self.units, self.units, 1)
                require(not any(any(row[k:]) for k, row in enumerate(self.mixing)),
                        "a unit depends on one that is not before it")

    @staticmethod
    def read_stack(r, inputs, hidden, outputs, matrices=None):
        layers = []
        for i, width in enumerate(hidden + [outputs] if hidden is not None else []):
            weights = matrices[i] if matrices else read_matrix(r, width, inputs, 1)
            bias = r.unpack("%df" % width)
            require(all(abs(b) < 1e9 for b in bias), "a bias is out of range")
            layers.append((weights, bias))
            inputs = width
        return layers

    # 6.5
    def tables(self, r):
        mode = r.u8()
        require(mode < 8, "the step mode is illegal")
        each, self.fractions, self.least = mode & 1, 1, []
        if mode & 2:
            self.fractions = r.u8()
            require(2 <= self.fractions <= MAX_FRACTIONS, "the number of fractions is illegal")
            self.least = list(r.bytes(self.fractions - 1))
            require(all(a > b for a, b in zip([BINS] + self.least, self.least)),
                    "the bins of fractions do not fall")
        steps = self.units if each else 1
        digits = r.bytes(4 * steps)                     # all lowest ones first
        self.step = [struct.unpack("<f", digits[i::steps])[0] for i in range(steps)]
        self.step *= self.units // steps
        least, = struct.unpack("<f", struct.pack("<f", 1e-6))
        require(all(least <= s <= 1e6 for s in self.step), "a step is out of range")
        self.planes = r.bytes(self.units)
        self.log_scale = r.unpack("%dh" % self.units)
        require(max(self.planes) <= MAX_PLANES, "too many planes")
        require(all(-512 <= s <= 1023 for s in self.log_scale), "a scale is out of range")
        slopes = [[] for _ in self.planes]              # of each unit, the last one first
        for back in range(MAX_PLANES * self.fractions):
            for of_unit, planes in zip(slopes, self.planes):
                if back < planes * self.fractions:
                    of_unit.append(r.u8() + (of_unit[-1] if back else 0))
                    require(of_unit[-1] <= 255, "a slope is out of range")
        self.order = []                                 # 10.1: step = plane x fractions + fraction
        for unit, of_unit in enumerate(slopes):
            rd_slope = of_unit[::-1]
            self.order += [(-slope, step, unit) for step, slope in enumerate(rd_slope)
                           if (step + 1) % self.fractions == 0 or slope != rd_slope[step + 1]]
        self.order.sort()
        self.read_layers(r)
        self.recon = [r.bytes(RECON_LEVELS) for _ in range(RATIO_BINS)]
        self.zero_norm = r.bytes(RATIO_BINS)
        self.weight = [r.unpack("%dh" % FEATURES) for _ in range(CLASSES)]
        self.bias = r.unpack("%dh" % CLASSES)
        self.prior = [r.unpack("%db" % BINS) for _ in range(CLASSES)]
        self.signed_weight = [[r.unpack("%db" % SIGNED_INPUTS) for _ in range(4)]
                              for _ in range(SIGNED_UNITS)]
        self.causal = mode & 4
        if self.causal:
            self.causal_weight = [r.unpack("%dh" % AROUND) for _ in range(CAUSAL_UNITS)]
            self.causal_logit = [r.unpack("%db" % CAUSAL_CONTEXTS)
                                 for _ in range(KINDS * CAUSAL_BANDS)]

    # 6.6
    def binary_tables(self, r):
        self.centre = r.unpack("f")[0]
        require(0 <= self.centre <= 1, "the centre is out of range")
        self.density = r.bytes(self.units)
        self.fractions, self.order = 1, [(0, 0, unit) for unit in range(self.units)]
        self.read_layers(r)

    # 6.7
    def sets_of_units(self, r):
        """For each set its units, passes begin .. end - 1, and the bits that its rows lack."""
        n = r.u8()
        alone = self.binary or not self.tied or self.hidden != [None, None]
        require(1 <= n <= (1 if alone else UNIT_SETS), "the number of sets of units is illegal")
        sets, begin, seen = [], 0, set()
        for s in range(n):
            end, coarse = len(self.order), 0
            if s + 1 < n:
                end, coarse = begin + r.varint(end), r.u8()
            require(coarse <= COARSE_BITS, "rows lack too many bits")
            units = {entry[2] for entry in self.order[:end]} - seen
            units = units if s + 1 < n else set(range(self.units)) - seen
            require(n == 1 or units and begin < end <= len(self.order), "a set of units is illegal")
            sets.append((sorted(units), begin, end, coarse))
            seen |= units
            begin = end
        return sets

    def common_part(self, r, kinds):
        c = Predictor()
        c.kinds = kinds
        c.hidden, c.own, c.neighbour_units = r.unpack("HHH")
        c.end, stages = r.varint(len(self.order)), r.u8()
        require(8 <= c.hidden <= MOST_HIDDEN and c.hidden % 8 == 0 and
                1 <= c.own <= min(MOST_SEEN, self.units) and c.neighbour_units <= c.own and
                1 <= stages <= min(MOST_STAGES, c.end), "a conditional model of an illegal shape")
        c.begin = [0]
        for _ in range(stages - 1):
            c.begin.append(c.begin[-1] + r.varint(c.end))
            require(c.begin[-2] < c.begin[-1] < c.end, "stages do not follow")
        shift = r.bytes(c.hidden)
        require(max(shift) <= MOST_SHIFT, "a network's step is illegal")
        c.place = read_rows(r, 9, c.hidden, *BIASES)
        c.middle = [(read_rows(r, c.hidden, c.hidden, *WEIGHTS), read_rows(r, 1, c.hidden, *BIASES))
                    for _ in range(2)]
        # what the sets fill in
        c.first = [(s, [0] * (2 * (c.own + 8 * c.neighbour_units))) for s in shift]
        c.stage = [(0, [0] * c.hidden)] * stages
        c.out = [(0, [0] * c.hidden)] * (kinds * self.units)
        c.bias = [(0, [0] * c.end) for _ in range(kinds)]
        return c

    @staticmethod
    def set_part(r, c, units, begin, end):
        columns = [2 * (c.own * (side > 0) + c.neighbour_units * max(side - 1, 0) + unit) + part
                   for side in range(9)                 # 0: the window itself
                   for unit in units if unit < (c.neighbour_units if side else c.own)
                   for part in range(2)]
        if columns:
            for (_, row), (_, new) in zip(c.first, read_rows(r, c.hidden, len(columns), 127, False)):
                for column, v in zip(columns, new):
                    row[column] = v
        end = min(end, c.end)
        stages = [s for s, first in enumerate(c.begin) if begin <= first < end]
        if stages:
            c.stage[stages[0]:stages[-1] + 1] = read_rows(r, len(stages), c.hidden, *BIASES)
        rows = read_rows(r, c.kinds * len(units), c.hidden, *WEIGHTS)
        for i, unit in enumerate(units):
            c.out[c.kinds * unit:c.kinds * (unit + 1)] = rows[c.kinds * i:c.kinds * (i + 1)]
        if c.kinds > 1 and begin < end:
            for (_, row), (_, new) in zip(c.bias, read_rows(r, c.kinds, end - begin, *BIASES)):
                row[begin:end] = new

    # 6.8
    def restoration_network(self, r):
        net = Restoration()
        require(r.u8() == 1, "a restoration network of an unknown kind")
        net.hidden, layers, stages = r.unpack("BBB")
        require(8 <= net.hidden <= MOST_WIDTH and net.hidden % 8 == 0 and
                2 <= layers <= MOST_CONVOLUTIONS and 1 <= stages <= MOST_RESTORED,
                "a restoration network of an illegal shape")
        net.passes = [0]
        for _ in range(stages - 1):
            net.passes.append(net.passes[-1] + r.varint(len(self.order)))
            require(net.passes[-2] < net.passes[-1] <= len(self.order), "stages do not follow")
        gains = MOST_GAIN, False
        net.stage = [row for _, row in read_rows(r, stages, net.hidden, *BIASES)]
        net.gain = read_rows(r, 1, stages, *gains)[0][1]
        inputs, net.layers = PATCH * PATCH * self.channels, []
        for i in range(layers):
            outputs = net.hidden if i + 1 < layers else PATCH * PATCH * self.channels
            matrix = read_rows(r, outputs, 9 * inputs, MOST_BYTE_WEIGHT if i else 127, True)
            net.layers.append((matrix, read_rows(r, 1, outputs, *BIASES)[0][1] if i else None))
            inputs = outputs
        return net

    # 6.2
    def codes(self, samples):
        """An embedding model's code of a window: samples 0 .. 255, channel after channel."""
        if self.across:
            samples = gradients(samples, self.channels, self.width, self.height, self.across,
                                self.down)
        x = [s - m for s, m in zip(samples, self.mean)]
        if self.maps:                           # from channel after channel to place after place
            places = len(x) // self.maps[0][2]
            x = [x[c * places + p] for p in range(places) for c in range(self.maps[0][2])]
        for shape, (weights, bias) in zip(self.maps, self.convolutions):
            x = activated(convolved(x, shape, weights, bias), self.activation)
        for i, (weights, bias) in enumerate(self.encoder):
            x = [dot(row, x) + b for row, b in zip(weights, bias)]
            last = i + 1 == len(self.encoder)
            x = activated(x, self.code_activation if last else self.activation)
        return [float(a > 0) for a in x] if self.binary else x

    # 6.9
    def record(self, r):
        self.objective = r.string()
        require(len(self.objective) <= 31 and
                all(c in b"abcdefghijklmnopqrstuvwxyz0123456789-" for c in self.objective),
                "an objective's name is illegal")
        self.alpha, self.classes = r.unpack("fI")
        require(self.alpha == 0 or 1e-20 < self.alpha < 1e20, "degrees of freedom are illegal")
        require(self.classes != 1 and self.classes <= MAX_CLASSES, "a number of classes is illegal")
        require(not any(r.bytes(max(MODEL_LEAST - r.at, 0))), "padding that is not 0")

    def read_layers(self, r):
        layers, before = r.u8(), (0, 0)
        require(1 <= layers <= MAX_MODEL_LAYERS, "the number of layers is illegal")
        for _ in range(layers):
            layer = r.varint(len(self.order)), r.varint((1 << 32) - 1)
            require(layer[0] > before[0] and layer[1] >= before[1], "layers are not in order")
            before = layer
        require(before[0] == len(self.order), "the layers do not end with the order")

    # 11
    def in_integers(self):
        """The linear path: W and its bits, a row for each unit, and the mean as a sum."""
        self.bits, self.weight_row = [], []
        for row, step, planes in zip(self.synthesis, self.step, self.planes):
            e = exponent_of(max(map(abs, row)))
            bits = min(SUM_BITS + e - WEIGHT_BITS, COEFFICIENT_BITS - exponent_of(step) - planes)
            bits = clamp(max(bits, SUM_BITS + e - 15), SUM_BITS)
            self.bits.append(bits)
            self.weight_row.append([clamp(math.floor(g * 2.0 ** (SUM_BITS - bits) + 0.5), 32767)
                                    for g in row])
        self.mean_row = [round((m - 128) * 2 ** SUM_BITS) for m in self.mean]
        self.step_parts = [(int(math.frexp(s)[0] * 2 ** 24), math.frexp(s)[1] - 24)
                           for s in self.step]

    # 10.11
    def fits(self, raised):
        return not raised or not self.binary and all(
            unit < self.units and self.planes[unit] + more <= MAX_PLANES
            for unit, more in raised.items())

    def with_raised(self, raised):
        """The model of a group with planes above its own, {unit: planes}: another order.
        model_pass[i] of its first i passes are this model's."""
        slopes = [-entry[0] for entry in self.order]
        first = {}                                      # slope of each unit's first pass
        for slope, (_, _, unit) in zip(slopes, self.order):
            first.setdefault(unit, slope)
        above = []
        for unit, planes in raised.items():
            for j in range(planes, 0, -1):
                slope = first.get(unit, slopes[-1]) + 16 * j
                place = sum(s > slope for s in slopes)
                step = (planes - j) * self.fractions + self.fractions - 1
                above.append((place, -slope, unit, (-slope, step, unit)))
        above.sort()
        model = copy.copy(self)
        model.order, model.model_pass = [], []
        for i in range(len(self.order) + 1):
            while above and above[0][0] == i:
                model.order.append(above.pop(0)[3])
                model.model_pass.append(i)
            model.model_pass.append(i)
            if i < len(self.order):
                slope, step, unit = self.order[i]
                model.order.append((slope, step + raised.get(unit, 0) * self.fractions, unit))
        more = [raised.get(unit, 0) for unit in range(self.units)]
        model.planes = [a + b for a, b in zip(self.planes, more)]
        if self.head:
            model.deepest = [a + b for a, b in zip(self.deepest, more)]
        return model

    def log_ratio(self, unit, depth):
        """16 log2(T / scale) of a unit of which `depth` planes are known."""
        return 16 * (self.planes[unit] - depth) - self.log_scale[unit]


def activated(x, activation):
    if activation == RELU:
        return [max(v, 0.0) for v in x]
    if activation == SIGMOID:
        return [1 / (1 + math.exp(min(-v, 700))) for v in x]
    return x


def exponent_of(x):
    """The least e with |x| < 2^e."""
    return math.frexp(x)[1] if x else -126


def has_inverse(matrix):
    """True if encoders can invert it; 6.2 gives the order of the operations."""
    n = len(matrix)
    m = [list(row) + [float(r == c) for c in range(n)] for r, row in enumerate(matrix)]
    for i in range(n):
        top = max(range(i, n), key=lambda r: abs(m[r][i]))      # the first of the largest
        if abs(m[top][i]) < 1e-6:
            return False
        m[i], m[top] = m[top], m[i]
        pivot = m[i][i]
        m[i][i:] = [v / pivot for v in m[i][i:]]
        for r in range(n):
            if r != i:
                factor = m[r][i]
                m[r][i:] = [v - factor * w for v, w in zip(m[r][i:], m[i][i:])]
    return all(abs(v) <= LAP_TOP for row in m for v in row[n:])


# 6.4 A matrix of weights

CLASS_EDGES = (1, 2, 4, 6, 9, 13, 19, 28, 45, 80, 200)


# the largest magnitude in a matrix of a network, and whether its steps may be below 1
WEIGHTS, BIASES = (127, True), (MOST_BIAS, False)


class Predictor:
    """A conditional model's fields. Matrices are lists of (shift, row of integers)."""


class Restoration:
    """A restoration network's fields; `layers` are (rows of weights, biases), the first without."""

    def at(self, passes):
        """The first layer's biases, and the gain, after so many passes."""
        s = max(s for s, at in enumerate(self.passes) if at <= passes)
        if s + 1 == len(self.passes):
            return self.stage[s], self.gain[s]
        begin, end = self.passes[s:s + 2]
        f = 256 * (passes - begin) // (end - begin)
        return ([a + ((b - a) * f >> 8) for a, b in zip(*self.stage[s:s + 2])],
                self.gain[s] + ((self.gain[s + 1] - self.gain[s]) * f >> 8))


def read_rows(r, rows, columns, most, shifted):
    """A matrix of a network in integers."""
    step, matrix = read_integers(r, rows, columns, 1)
    shift = [round(-math.log2(s)) for s in step]
    require(all(s == 2.0 ** -k and 0 <= k <= (MOST_SHIFT if shifted else 0)
                for s, k in zip(step, shift)), "a network's step is illegal")
    require(all(abs(v) <= most for row in matrix for v in row),
            "a network's weight would overflow its sums")
    return list(zip(shift, matrix))


def read_matrix(r, rows, columns, width):
    step, matrix = read_integers(r, rows, columns, width)
    return [[binary32(v * s) for v in row] for s, row in zip(step, matrix)]


def binary32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def read_integers(r, rows, columns, width):
    step = r.unpack("%df" % rows)
    require(all(1e-20 < s < 1e6 for s in step), "a weight's step is out of range")
    strings = WeightStrings(r)
    matrix = []
    for _ in step:
        q = []
        for c in range(columns):
            near = abs(q[c - 1]) if c else 0
            after = abs(q[c - 2]) if c > 1 else near
            above = abs(q[c - width]) if c >= width else near
            total = 2 * near + after + 2 * above
            q.append(strings.weight(sum(total >= edge for edge in CLASS_EDGES)))
            require(abs(q[-1]) <= WEIGHT_MAX, "a weight is out of range")
        matrix.append(q)
    strings.end()
    return step, matrix


class WeightStrings:
    """The symbols of a matrix, by class, and its plain bits."""

    def __init__(self, r):
        self.tables = []
        for _ in range(MATRIX_CLASSES):
            frequencies = [r.varint(RANS_MOST) for _ in range(r.u8())]
            require(len(frequencies) <= RANS_SYMBOLS, "too many symbols of a weight")
            require(sum(frequencies) == (RANS_TOTAL if frequencies else 0),
                    "frequencies of weights do not fit")
            self.tables.append([(symbol, f, at - sum(frequencies[:symbol]))
                                for symbol, f in enumerate(frequencies)
                                for at in range(sum(frequencies[:symbol]),
                                                sum(frequencies[:symbol + 1]))])
        words = r.varint(1 << 62)
        self.x = r.unpack("I")[0]
        self.words = list(r.unpack("%dH" % words))[::-1]
        plain = r.bytes(r.varint(1 << 62))
        self.plain, self.left, self.used = int.from_bytes(plain, "little"), 8 * len(plain), 0

    def symbol(self, table):
        require(table, "a weight of a class that does not occur")
        symbol, frequency, place = table[self.x % RANS_TOTAL]
        self.x = frequency * (self.x // RANS_TOTAL) + place
        if self.x < RANS_LEAST:
            self.x = (self.x << 16 | (self.words.pop() if self.words else 0)) % 2 ** 32
        return symbol

    def bits(self, n):
        value = self.plain >> self.used & (1 << n) - 1
        self.used += n
        return value

    def weight(self, k):
        symbol = self.symbol(self.tables[k])
        if symbol == 0:
            return 0
        digits = 0 if symbol < SINGLE else (symbol - SINGLE) // 4 + 2
        size = symbol if symbol < SINGLE else 4 + (symbol - SINGLE) % 4 << digits
        negative = self.bits(1)
        size += self.bits(digits)
        return -size if negative else size

    def end(self):
        require(self.x == RANS_LEAST and not self.words and 0 <= self.left - self.used < 8,
                "weights do not end with their strings")


# ----- 9. The range coder -------------------------------------------------------------------------

STARVED = -1
# round(65536 / (n + 1.5))
RATE = [(131072 + (2 * n + 3) // 2) // (2 * n + 3) for n in range(BIT_LIMIT + 1)]


class Bit:
    """An adaptive probability of a 1, in 1/65536, and its weight as a number of observations."""
    __slots__ = ("p1", "count")

    def __init__(self, p1, count):
        self.p1, self.count = p1, count

    def update(self, bit):
        error = (65535 if bit else 0) - self.p1
        p = self.p1 + (error * RATE[self.count] >> 16)          # rounds towards minus infinity
        self.p1 = min(max(p, P_MIN), P_MAX)
        self.count = min(self.count + 1, BIT_LIMIT)


class MixedBit:
    """The probability of a binary unit (9.3): that of the model and that of the group, mixed by trust."""

    def __init__(self, density):
        self.fixed = min(max(256 * density, P_MIN), P_MAX)
        self.trust, self.adaptive = TRUST_START, Bit(self.fixed, MIXED_CONFIDENCE)

    @property
    def p1(self):
        return self.trust * self.fixed + (65536 - self.trust) * self.adaptive.p1 >> 16

    def update(self, bit):
        p = self.adaptive.p1
        a = self.trust * (self.fixed if bit else 65536 - self.fixed)
        b = (65536 - self.trust) * (p if bit else 65536 - p)
        self.trust = min(max((65536 * a + (a + b) // 2) // (a + b), TRUST_MIN), TRUST_MAX)
        self.adaptive.update(bit)


class RangeDecoder:
    """whole: `data` is the whole string, and zeros follow. Otherwise it is a prefix, and the bytes
    after it are unknown."""

    def __init__(self, data, whole):
        self.data, self.whole, self.at = data, whole, 8
        self.range = MASK64
        self.code = int.from_bytes(data[:8].ljust(8, b"\0"), "big")
        self.look()

    def look(self):
        """The most that the unknown bytes of the 64-bit window can add to code."""
        missing = 0 if self.whole else min(max(self.at - len(self.data), 0), 8)
        self.unknown = (1 << 8 * missing) - 1

    def bit(self, p1):
        bound = (self.range >> 16) * p1
        if self.code < bound:
            if self.code + self.unknown >= bound:       # the bytes to come decide
                return STARVED
            bit, self.range = 1, bound
        else:
            bit, self.code, self.range = 0, self.code - bound, self.range - bound
        if self.range < 1 << 32:
            four = self.data[self.at:self.at + 4].ljust(4, b"\0")
            self.code = (self.code << 32 | int.from_bytes(four, "big")) & MASK64
            self.range <<= 32
            self.at += 4
            self.look()
        return bit

    def adaptive(self, model):
        bit = self.bit(model.p1)
        if bit >= 0:
            model.update(bit)
        return bit


# ----- 10. From bits to levels --------------------------------------------------------------------

# 10.3 Logarithms and logistic in integers

LOG_FRACTION = (1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12, 13, 13, 14, 15, 16)
EXP_FRACTION = (32768, 34219, 35734, 37316, 38968, 40693, 42495, 44376,
                46341, 48393, 50535, 52773, 55109, 57549, 60097, 62757)
LOGISTIC = (
    0, 1, 1, 1, 1, 1, 2, 2, 3, 4, 5, 6, 8, 10, 13, 17, 22, 28, 36, 47, 60, 77, 98, 126, 162,
    208, 267, 342, 439, 562, 720, 922, 1179, 1506, 1921, 2446, 3108, 3938, 4971, 6249, 7812,
    9702, 11955, 14595, 17625, 21025, 24743, 28693, 32768, 36843, 40793, 44511, 47911, 50941,
    53581, 55834, 57724, 59287, 60565, 61598, 62428, 63090, 63615, 64030, 64357, 64614, 64816,
    64974, 65097, 65194, 65269, 65328, 65374, 65410, 65438, 65459, 65476, 65489, 65500, 65508,
    65514, 65519, 65523, 65526, 65528, 65530, 65531, 65532, 65533, 65534, 65534, 65535, 65535,
    65535, 65535, 65535, 65535)


def log16(x):
    """16 log2(x) in an integer; 0 for 0."""
    if x == 0:
        return 0
    top = x.bit_length() - 1
    return 16 * top + LOG_FRACTION[(x << 4 >> top) & 15]


LOG16 = [log16(x) for x in range(1 << 16)]      # the same, looked up


def scale_exp2(value, e):
    """value * 2^(e / 16), rounded down."""
    whole, sixteenths = e >> 4, e & 15
    product = value * EXP_FRACTION[sixteenths]
    return product >> 15 - whole if whole <= 15 else product << whole - 15


@functools.lru_cache(None)     # called often, with few different logits
def squash(logit):
    """The probability of a logit in 1/64: straight lines between the table's points."""
    at = min(max(logit, -767), 767) + 768
    i, r = at >> 4, at & 15
    return min(max((LOGISTIC[i] * (16 - r) + LOGISTIC[i + 1] * r) >> 4, P_MIN), P_MAX)


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def activate(z):
    return min(max(z + 8 >> 4, 0), ACTIVATION_MAX)


def clamp(x, limit):
    return -limit if x < -limit else limit if x > limit else x


def to_16_bits(x):
    """The nearest number of 16 bits."""
    return -32768 if x < -32768 else 32767 if x > 32767 else x


def wrapped(x):
    """x modulo 2^32, with a sign."""
    return (x + 2 ** 31) % 2 ** 32 - 2 ** 31


def scaled(x, e):
    """x 2^e, rounded (section 11)."""
    return x << min(e, 20) if e >= 0 else x + (1 << -e - 1) >> -e


def ratio_bin(log_ratio):
    return min(max(log_ratio + 160 >> 3, 0), RATIO_BINS - 2)


def band_of(unit):
    return min((unit + 1).bit_length() - 1, BANDS - 1)


SIGNIFICANCE, SIGN, REFINE_FIRST, REFINE_LATER = range(4)
# (units away, weight)
NEAR = tuple((i + 1, w) for i, w in enumerate((7, 6, 5, 4, 3, 3, 2, 2)))
FAR = ((10, 7), (13, 6), (17, 6), (22, 5), (29, 4), (38, 4))
NEIGHBOUR_SHARE = (0, 64, 32, 21, 16)
SPREAD = (10, 20, 32, 56, 96)


class Group:
    """The known part of a group's codes (10.2). Lists run over positions: window after window, image
    after image; one entry more, at index n, stands for the neighbour that does not exist."""

    def __init__(self, model, sizes, raised=None):
        self.model = model = model.with_raised(raised) if raised else model
        self.model_pass = model.model_pass if raised else range(len(model.order) + 1)
        self.first, links = [0], []
        for width, height in sizes:
            columns, rows = (width - 1) // model.width + 1, (height - 1) // model.height + 1
            at = self.first[-1]
            for y in range(rows):
                for x in range(columns):
                    p = at + y * columns + x
                    links.append((p - 1 if x else None,
                                  p + 1 if x + 1 < columns else None,
                                  p - columns if y else None,
                                  p + columns if y + 1 < rows else None))
            self.first.append(at + columns * rows)
        n = self.n = self.first[-1]
        self.depth = [0] * model.units
        self.fraction = [0] * model.units       # fractions of the next plane that are known
        self.level = [[0] * n for _ in range(model.units)]
        self.plane_known = [[0] * n for _ in range(model.units)]      # 1: the next plane, too, is known
        self.passes = self.position = 0     # passes complete; where in the next one it stands
        self.starved = False
        if model.binary:
            return
        self.linked = n > len(sizes)                    # some image has two windows
        self.neighbour = [[n if link[side] is None else link[side] for link in links]
                          for side in range(4)]
        self.neighbours = [sum(p is not None for p in link) for link in links]
        self.norm = [[model.zero_norm[RATIO_BINS - 1]] * n + [0] for _ in range(model.units)]
        self.signed_norm = [[0] * (n + 1) for _ in range(min(model.units, SIGNED_UNITS))]
        self.around = [self.windows_around(p) for p in range(n)]
        self.stage = -1                                 # of the conditional model
        self.rendered = None                               # the point that the head was asked for
        self.bits = self.start_bits(CLASSES, BINS, 0, CONFIDENCE)
        self.flags = self.start_bits(BANDS, FLAG_BIN + 1, FLAG_LOGIT, FLAG_CONFIDENCE)
        self.within = self.start_bits(BANDS, FLAG_BIN + 1, FLAG_LOGIT, FLAG_CONFIDENCE)

    def start_bits(self, classes, bins, more, count):
        return [[Bit(squash((b - BINS // 2) * 16 + self.model.prior[c][b] * 2 + more), count)
                 for b in range(bins)] for c in range(classes)]

    # 6.1
    def known_passes(self):
        """How many passes the known stages of the model decode."""
        model = self.model
        known = next((i for i, (_, _, unit) in enumerate(model.order) if unit in model.missing),
                     len(model.order))
        if not model.missing:
            return known
        return min(known, sum(own < model.known_passes for own in self.model_pass))

    # 10.4 The inputs of a prediction

    def sum_units(self, unit, stencil):
        """Weighted mean of |x| / scale over other units of the same window, times 64 * 64."""
        rows = [(self.norm[other], w) for away, w in stencil
                for other in (unit - away, unit + away) if 0 <= other < self.model.units]
        total = sum(w for _, w in rows)
        if total == 0:
            return [SUM_UNKNOWN] * self.n
        sums = [0] * self.n
        for row, w in rows:
            sums = [s + w * v for s, v in zip(sums, row)]
        scale = WEIGHT_SUM * 256 // total
        return sums if total == WEIGHT_SUM else [s * scale >> 8 for s in sums]

    def sum_neighbours(self, unit):
        """Mean of |x| / scale over the neighbouring windows, scaled alike."""
        norm, share = self.norm[unit], NEIGHBOUR_SHARE
        return [(norm[a] + norm[b] + norm[c] + norm[d]) * share[k] if k else SUM_UNKNOWN
                for a, b, c, d, k in zip(*self.neighbour, self.neighbours)]

    def predict_signed(self, unit, log_ratio):
        """x expected from the neighbours' first units, in 1/16 of the threshold."""
        out = []
        for p in range(self.n):
            value = 0
            for side in range(4):
                other = self.neighbour[side][p]
                if other < self.n:
                    weights = self.model.signed_weight[unit][side]
                    value += sum(w * row[other] for w, row in zip(weights, self.signed_norm))
            size = min(scale_exp2(abs(value), -log_ratio) >> 12, 4095)
            out.append(-size if value < 0 else size)
        return out

    # 10.5 From inputs to a context

    def bin_of(self, kind_class, features, extra):
        logit = self.model.bias[kind_class] * 64 + extra
        for w, f in zip(self.model.weight[kind_class], features):
            logit += w * f
        return min(max(logit + 48 * 1024 + 512 >> 10, 0), BINS - 1)

    def predict(self, unit, depth):
        """Compute the inputs of the contexts before a pass."""
        ratio = self.model.log_ratio(unit, depth + 1)
        offset = -192 - ratio
        columns = [self.sum_units(unit, NEAR), self.sum_units(unit, FAR)]
        if self.linked:
            columns.append(self.sum_neighbours(unit))
        columns = [[clamp(LOG16[s] + offset, 511) for s in sums] for sums in columns]
        if not self.linked:
            columns.append([0] * self.n)
        elif self.model.fractions > 1:
            columns[2] = [c if k else 0 for c, k in zip(columns[2], self.neighbours)]
        self.columns = columns
        self.is_signed = self.linked and unit < SIGNED_UNITS
        self.is_causal = self.linked and unit < CAUSAL_UNITS and self.model.causal
        self.extras, self.sign_extras = self.predict_conditional(unit)
        self.values = self.predict_signed(unit, ratio) if self.is_signed else [0] * self.n
        if self.is_causal:
            self.known = [self.known_value(unit, p) for p in range(self.n)]

    def magnitude_context(self, unit, fraction, p):
        """The class and bin of p's next bit; None where it has none in this pass."""
        q, value = self.level[unit][p], self.values[p]
        a, b, c = (column[p] for column in self.columns)
        kind = SIGNIFICANCE if q == 0 else REFINE_FIRST if abs(q) == 1 else REFINE_LATER
        d = e = 0
        if self.is_signed and (self.neighbours[p] or self.model.fractions == 1):
            d = log16(abs(value) + 1) - 64
            if q:
                e = clamp((value if q > 0 else -value) - 16 * (2 * abs(q) + 1), 48)
        k = kind * BANDS + band_of(unit)
        features = a, b, c, d, a * a // 64, b * b // 64, c * c // 64, e
        at = self.bin_of(k, features, self.extras[p] + self.causal_extra(unit, kind, p))
        last = fraction == self.model.fractions - 1
        goes = not self.plane_known[unit][p] and (last or q == 0 and at >= self.model.least[fraction])
        return (k, at) if goes else None

    def sign_bit(self, unit, p):
        """The adaptive probability of p's sign; None where it is not predicted."""
        if not (self.is_signed or self.is_causal or self.model.conditional):
            return None
        value, k = self.values[p], SIGN * BANDS + band_of(unit)
        features = clamp(value, 256), clamp(value, 16), 0, 0, 0, 0, 0, 0
        extra = self.sign_extras[p] + self.causal_extra(unit, SIGN, p)
        return self.bits[k][self.bin_of(k, features, extra)]

    # 10.10 The causal template

    def windows_around(self, p):
        def next_to(p, side, opposite):
            at = self.neighbour[side][p]
            at = self.neighbour[opposite][p] if at == self.n else at
            return p if at == self.n else at
        left, right, up, down = 0, 1, 2, 3
        west, east = next_to(p, left, right), next_to(p, right, left)
        return (west, east, next_to(p, up, down), next_to(p, down, up),
                next_to(west, up, down), next_to(east, up, down),
                next_to(west, down, up), next_to(east, down, up))

    def known_value(self, unit, p):
        """The middle of the known interval, in 1/16 of the threshold after the pass."""
        level, q = self.level[unit][p], abs(self.level[unit][p])
        if not q:
            return 0
        row = self.model.recon[ratio_bin(self.model.log_ratio(unit, self.known_depth(unit, p)))]
        v = 256 * q + row[min(q, RECON_LEVELS) - 1] >> (4 if self.plane_known[unit][p] else 3)
        return -v if level < 0 else v

    def causal_extra(self, unit, kind, p):
        if not self.is_causal or not self.neighbours[p]:
            return 0
        values = [self.known[at] for at in self.around[p]]
        v = 2048 + sum(w * x for w, x in zip(self.model.causal_weight[unit], values)) >> 12
        q = self.level[unit][p]
        if kind == SIGNIFICANCE:
            place = abs(v) >> 2
        elif kind == SIGN:
            place = (v >> 2) + 8
        else:
            place = ((-v if q < 0 else v) - 16 * (2 * abs(q) + 1) >> 2) + 8
        place = min(max(place, 0), PLACES - 1)
        distance = max(values[:4]) - min(values[:4])
        spread = sum(distance >= edge for edge in SPREAD)
        logits = self.model.causal_logit[kind * CAUSAL_BANDS + band_of(unit)]
        return logits[place * SPREADS + spread] * 256

    # 10.6 A pass

    def decode_pass(self, rc, trace):
        """True when the pass is complete, False when the bytes ran out."""
        _, step, unit = self.model.order[self.passes]
        depth, fraction = divmod(step, self.model.fractions)
        self.predict(unit, depth)
        for first in range(0, self.n, BLOCK):
            block, bits = range(first, min(first + BLOCK, self.n)), self.bits
            coded = [] if self.is_causal else [
                (p, context) for p in block
                if (context := self.magnitude_context(unit, fraction, p)) is not None]
            k, most = max((context for _, context in coded), default=(BANDS, 0))
            if k < BANDS and most <= FLAG_BIN:          # unlikely bits of significance alone
                self.position = first
                flag = rc.adaptive(self.flags[k][most])
                if flag < 0:
                    return False
                if trace:
                    print("pass %d unit %d depth %d position %d: flag %d"
                          % (self.passes, unit, depth, first, flag))
                if not flag:
                    for p, _ in coded:
                        self.plane_known[unit][p] = 1
                    continue
                bits = self.within
            for p in block:
                if not self.decode_position(rc, unit, depth, fraction, p, bits, trace):
                    return False
        self.finish_pass(unit, fraction)
        return True

    def decode_position(self, rc, unit, depth, fraction, p, bits, trace):
        """False when the bytes ran out."""
        context = self.magnitude_context(unit, fraction, p)
        if context is None:
            return True
        adaptive, level = bits[context[0]][context[1]], self.level[unit]
        self.position = p               # where the next bit belongs
        p1 = adaptive.p1
        before = (rc.range >> 16) * p1, rc.code
        bit = rc.adaptive(adaptive)
        if bit < 0:
            return False
        was, sign = level[p], ""
        if was == 0 and bit:
            adaptive = self.sign_bit(unit, p)
            positive = rc.adaptive(adaptive) if adaptive else rc.bit(P_HALF)
            if positive < 0:
                return False            # significant, but the sign is unknown: still 0
            level[p] = 1 if positive else -1
            sign = "+" if positive else "-"
        else:
            level[p] = 2 * was + (-bit if was < 0 else bit)
        if trace:
            print("pass %d unit %d depth %d position %d: bound %x code %x p1 %d bit %d%s level %d"
                  % (self.passes, unit, depth, p, *before, p1, bit, sign, level[p]))
        self.plane_known[unit][p] = 1
        if self.is_causal:
            self.known[p] = self.known_value(unit, p)
        return True

    # 10.8 Binary models

    def decode_binary_pass(self, rc, trace):
        unit = self.model.order[self.passes][2]
        mixed = MixedBit(self.model.density[unit])
        for p in range(self.n):
            p1, before, self.position = mixed.p1, rc.code, p
            bit = rc.adaptive(mixed)
            if bit < 0:
                return False
            self.level[unit][p] = bit
            if trace:
                print("pass %d position %d: code %x p1 %d trust %d bit %d"
                      % (self.passes, p, before, p1, mixed.trust, bit))
            self.plane_known[unit][p] = 1
        self.depth[unit], self.plane_known[unit] = 1, [0] * self.n
        self.passes += 1
        self.position = 0
        return True

    # 10.9 The conditional model

    def predict_conditional(self, unit):
        """What is added to the logits of the pass: of magnitude bits, and of signs."""
        number = self.model_pass[self.passes]                 # of the pass in the model's order
        if (not self.model.conditional or number >= self.model.predictor.end or
                self.model_pass[self.passes + 1] == number):
            return [0] * self.n, [0] * self.n
        c = self.model.predictor
        stage = max(s for s, begin in enumerate(c.begin) if begin <= number)
        if stage != self.stage:
            self.stage, self.hidden = stage, self.last_layers(c, stage)
        logits = []
        for kind in range(3):
            shift, weights = c.out[3 * unit + kind]
            bias = 64 * c.bias[kind][1][number]
            logits.append([(256 * dot(weights, h) >> shift) + bias for h in self.hidden])
        level = self.level[unit]
        return [b if q else a for q, a, b in zip(level, logits[0], logits[2])], logits[1]

    def last_layers(self, c, stage):
        """h2 of every position."""
        seen = [self.seen(p, c.own) for p in range(self.n)]
        inputs = [[v for a in window for v in (a, abs(a))] for window in seen]
        hidden = []
        for p in range(self.n):
            sums, place = [0] * c.hidden, list(c.stage[stage][1])
            for side in range(9):
                other = self.at_side(p, side)
                if other is None:
                    continue
                first = 0 if side == 4 else 2 * (c.own + (side - (side > 4)) * c.neighbour_units)
                x = inputs[other][:2 * (c.own if side == 4 else c.neighbour_units)]
                place = [a + b for a, b in zip(place, c.place[side][1])]
                if any(x):
                    sums = [s + dot(row[first:first + len(x)], x)
                            for s, (_, row) in zip(sums, c.first)]
            h = [activate((8 * s >> shift) + b) for s, (shift, _), b in zip(sums, c.first, place)]
            for weights, ((_, bias),) in c.middle:
                h = [min(v + activate((16 * dot(row, h) >> shift) + b), ACTIVATION_MAX)
                     for v, (shift, row), b in zip(h, weights, bias)]
            hidden.append(h)
        return hidden

    def known_depth(self, unit, p):
        return self.depth[unit] + self.plane_known[unit][p]

    def seen(self, p, own):
        """a of the first units of a window."""
        out = []
        for unit in range(own):
            level = self.level[unit][p]
            a = 0
            if level:
                ratio = self.model.log_ratio(unit, self.known_depth(unit, p))
                q = abs(level)
                c = self.model.recon[ratio_bin(ratio)][min(q, RECON_LEVELS) - 1]
                t = min(scale_exp2(((q << 8) + c) * 1024, ratio) >> 8, 1 << 20)
                a = min(log16(256 + t) - 128, ACTIVATION_MAX)
            out.append(-a if level < 0 else a)
        return out

    def at_side(self, p, side):
        """The window on a side of p, or None."""
        x, y = side % 3, side // 3
        for way in ([0] if x == 0 else [1] if x == 2 else []) + \
                   ([2] if y == 0 else [3] if y == 2 else []):
            p = self.neighbour[way][p] if p < self.n else p
        return p if p < self.n else None

    # 10.7 After a pass

    def finish_pass(self, unit, fraction):
        model = self.model
        last = fraction == model.fractions - 1
        self.fraction[unit] = 0 if last else fraction + 1
        ratio = model.log_ratio(unit, self.depth[unit] + 1)
        recon, zero = model.recon[ratio_bin(ratio)], model.zero_norm[ratio_bin(ratio)]

        def scaled(q, one, most):
            c = recon[min(q, RECON_LEVELS) - 1]
            return min(scale_exp2(((q << 8) + c) * one, ratio) >> 8, most)

        sizes = {0: (zero, 0)}
        for p, level in enumerate(self.level[unit]):
            q = abs(level)
            if not (last or self.plane_known[unit][p]):
                continue
            if q not in sizes:
                sizes[q] = scaled(q, NORM_ONE, NORM_MAX), scaled(q, SIGNED_ONE, SIGNED_MAX)
            self.norm[unit][p] = sizes[q][0]
            if unit < SIGNED_UNITS:
                self.signed_norm[unit][p] = -sizes[q][1] if level < 0 else sizes[q][1]
        if last:
            self.depth[unit] += 1
            self.plane_known[unit] = [0] * self.n
        self.passes += 1
        self.position = 0

    def least_bits(self, end):
        """Bits and flags of planes that begin and end in passes from the present one to end - 1."""
        model, bits, flags = self.model, 0, (self.n - 1) // BLOCK + 1
        for _, step, unit in model.order[self.passes:end]:
            depth, fraction = divmod(step, model.fractions)
            begun = self.fraction[unit] and depth == self.depth[unit]
            if fraction == model.fractions - 1 and not begun:
                has_flags = not (model.binary or model.causal and self.linked and unit < CAUSAL_UNITS)
                bits += flags if has_flags else self.n
        return bits

    def decode_chunk(self, data, whole, end, trace):
        rc = RangeDecoder(data, whole)
        decode_pass = self.decode_binary_pass if self.model.binary else self.decode_pass
        while self.passes < end:
            if not decode_pass(rc, trace):
                self.starved = True
                return

    # ----- 11. From levels to pixels

    def has_head(self):
        """Whether the model's head has learned to correct so few passes."""
        return self.model.head and self.model_pass[self.passes] < self.model.corrector.end

    def reconstruction(self, unit, p):
        """256 |q| + c of a level that is not 0."""
        q = abs(self.level[unit][p])
        recon = self.model.recon[ratio_bin(self.model.log_ratio(unit, self.known_depth(unit, p)))]
        return 256 * q + recon[min(q, RECON_LEVELS) - 1]

    # linear models

    def coefficient(self, unit, p):
        """X of a unit at position p."""
        model, level, x = self.model, self.level[unit][p], 0
        if level:
            depth, (mantissa, exponent) = self.known_depth(unit, p), model.step_parts[unit]
            e = exponent + model.planes[unit] - depth + model.bits[unit] - 8
            x = min(scaled(self.reconstruction(unit, p) * mantissa, e), (1 << COEFFICIENT_LIMIT) - 1)
            x = -x if level < 0 else x
        if self.has_head() and self.plane_known[unit][p]:
            rest = dot(model.corrector.out[unit][1], self.head_h2[p])
            shallow, deeper = (scaled(rest * m, e) for m, e in self.head_scale[unit])
            x = clamp(x + clamp(deeper - shallow, 1 << COEFFICIENT_LIMIT), (1 << COEFFICIENT_LIMIT) - 1)
        return x

    def prepare_head(self):
        """Whatever the head needs in the present state: h2, the uncertainties, the rows F."""
        model, c = self.model, self.model.corrector
        if self.rendered == (self.passes, self.position):
            return
        stage = max(s for s, begin in enumerate(c.begin) if begin <= self.model_pass[self.passes])
        self.rendered = self.passes, self.position
        self.head_h2 = self.last_layers(c, stage)
        if model.linear:
            self.head_scale = [[self.head_factor(unit, self.depth[unit] + more) for more in (0, 1)]
                               for unit in range(model.units)]
            self.fold_head()

    def head_factor(self, unit, depth):
        """The uncertainty U as M and e = w - shift - 4."""
        model = self.model
        mantissa, exponent = model.step_parts[unit]
        if depth > model.deepest[unit] or depth > model.planes[unit]:
            return 0, 0
        v = min(scale_exp2(1 << 16, model.log_scale[unit]), 1 << 40)
        if depth:
            v = min(v, 1 << model.planes[unit] - depth + 15)
        if not v:
            return 0, 0
        drop = v.bit_length() - 16
        top = v >> drop if drop > 0 else v << -drop
        shift = model.corrector.out[unit][0]
        return top * (mantissa >> 8) >> 16, drop + 8 + exponent + model.bits[unit] - shift - 4

    def fold_head(self):
        """The rows F of the head and their shift."""
        units = [(m, e, row, weights) for (m, e), row, (_, weights) in
                 zip((scale[0] for scale in self.head_scale), self.model.weight_row,
                     self.model.corrector.out) if m]
        self.head_shift, self.head_rows = 0, []
        if not units:
            return
        g = 13 - max((127 * m).bit_length() + e for m, e, _, _ in units)
        raw = []
        for h in range(self.model.corrector.hidden):
            sums = [0] * self.model.inputs
            for m, e, row, weights in units:
                k = scaled(weights[h] * m, e + g)
                if k:
                    sums = [s + k * w for s, w in zip(sums, row)]
            raw.append([wrapped(s) for s in sums])
        most = max(abs(v) for row in raw for v in row)
        while self.head_shift < HEAD_SHIFT and scaled(most, -g - self.head_shift) > 32767:
            self.head_shift += 1
        self.head_rows = [[clamp(scaled(v, -g - self.head_shift), 32767) for v in row] for row in raw]

    def linear_values(self, p):
        """The values of window p: channel after channel, row after row."""
        sums = self.model.mean_row
        for unit, row in enumerate(self.model.weight_row):
            if self.level[unit][p] or self.plane_known[unit][p]:
                x = self.coefficient(unit, p)
                sums = [s + x * w for s, w in zip(sums, row)]
        if self.has_head():
            for h, row in zip(self.head_h2[p], self.head_rows):
                if h:
                    x = h << self.head_shift
                    sums = [s + x * f for s, f in zip(sums, row)]
        return [to_16_bits(wrapped(s) + (1 << 15) >> 16) for s in sums]

    # other models

    def dequantise(self, p):
        """The code of position p."""
        model = self.model
        if model.binary:
            return [level[p] - model.centre if self.known_depth(unit, p) else 0.0
                    for unit, level in enumerate(self.level)]
        code = []
        for unit in range(model.units):
            level = self.level[unit][p]
            if level == 0:
                code.append(0.0)
                continue
            threshold = model.step[unit] * (1 << model.planes[unit] - self.known_depth(unit, p))
            x = self.reconstruction(unit, p) / 256 * threshold
            code.append(-x if level < 0 else x)
        return [x + rest for x, rest in zip(code, self.rests(p))] if self.has_head() else code

    def rests(self, p):
        """The correction of each unit by the head."""
        model, out = self.model, []
        for unit, (shift, row) in enumerate(model.corrector.out):
            depth = self.known_depth(unit, p)
            scale = scale_exp2(1 << 16, model.log_scale[unit]) / 65536
            uncertainty = min((1 << model.planes[unit] - depth) / 2, scale) if depth else scale
            expected = (256 * dot(row, self.head_h2[p]) >> shift) / 4096
            out.append(model.step[unit] * uncertainty * expected
                       if depth <= model.deepest[unit] else 0.0)
        return out

    def mixed(self, x, p):
        """The code of position p as units with feedback give it to the network: 0 where none was sent."""
        sent = sum(self.known_depth(unit, p) for unit in range(self.model.units))
        return [x[k] + sum(m * v for m, v in zip(self.model.mixing[k], x)) if k < sent else 0.0
                for k in range(self.model.units)]

    def network_values(self, p):
        """The same as linear_values, of a model with a decoder's stack."""
        model, code = self.model, self.dequantise(p)
        y = list(model.mean)
        for x, row in zip(code, model.synthesis):
            if x:
                y = [a + x * g for a, g in zip(y, row)]
        x = self.mixed(code, p) if model.feedback else code
        for i, (weights, bias) in enumerate(model.stack):
            x = [b + sum(w * v for w, v in zip(row, x)) for row, b in zip(weights, bias)]
            if i + 1 < len(model.stack):
                x = activated(x, model.activation)
        y = [VALUE_ONE * (a + b - 128) + 0.5 for a, b in zip(y, x)]
        return [math.floor(v) if -32768 < v < 32768 else 32767 if v > 0 else -32768 for v in y]

    # all models

    def picture(self, i, geometry):
        """The values of image i, in full windows: for each channel, rows of them."""
        model = self.model
        columns, plane = (geometry[0] - 1) // model.width + 1, model.width * model.height
        if self.has_head():
            self.prepare_head()
        values = self.linear_values if model.linear else self.network_values
        picture = [[] for _ in range(model.channels)]
        for first in range(self.first[i], self.first[i + 1], columns):
            windows = [values(p) for p in range(first, first + columns)]
            for c, rows in enumerate(picture):
                for at in range(c * plane, (c + 1) * plane, model.width):
                    rows.append([v for window in windows for v in window[at:at + model.width]])
        return picture

    def lap(self, rows):
        """The rows of a channel, filtered across every edge between two windows."""
        rows = [self.mix(row, self.model.width) for row in rows]
        columns = [self.mix(column, self.model.height) for column in zip(*rows)]
        return [list(row) for row in zip(*columns)]

    def mix(self, line, window):
        """A line of values that crosses edges, one every `window` values."""
        matrix, line = self.model.lap, list(line)
        for edge in range(window, len(line), window):
            d = [to_16_bits(line[edge - 1 - k] - line[edge + k]) for k in range(len(matrix))]
            for k, row in enumerate(matrix):
                c = to_16_bits(wrapped(dot(row, d) - LAP_ONE * d[k] + LAP_ONE) >> 13)
                line[edge - 1 - k] = to_16_bits(line[edge - 1 - k] + c)
                line[edge + k] = to_16_bits(line[edge + k] - c)
        return line

    def restore(self, picture):
        """Add the predicted correction to a picture (restoration)."""
        net = self.model.restoration
        down, across = len(picture[0]) // PATCH, len(picture[0][0]) // PATCH
        places = [(c, y, x) for c in range(len(picture)) for y in range(PATCH) for x in range(PATCH)]
        patches = [(y, x) for y in range(down) for x in range(across)]
        inputs = {(y, x): [max(-PIXEL_MAX - 1, min(
            PIXEL_MAX, picture[c][y * PATCH + dy][x * PATCH + dx])) for c, dy, dx in places]
            for y, x in patches}
        bias, gain = net.at(self.model_pass[self.passes])
        h = {at: [0] * net.hidden for at in patches}
        for number, (weights, of_layer) in enumerate(net.layers):
            outside, one = [0] * len(inputs[0, 0]), 8 << BYTE_SHIFT if number else 8
            z = {}
            for y, x in patches:
                around = [v for dy in (-1, 0, 1) for dx in (-1, 0, 1)
                          for v in inputs.get((y + dy, x + dx), outside)]
                z[y, x] = [(one * dot(row, around) >> shift) + b
                           for (shift, row), b in zip(weights, of_layer or bias)]
            if number + 1 < len(net.layers):
                h = {at: [clamp(old + (new + 4 >> 3), RESTORED_MAX)
                          for old, new in zip(h[at], z[at])] for at in patches}
                half = 1 << BYTE_SHIFT - 1
                inputs = {at: [min(max(v, 0) + half >> BYTE_SHIFT, BYTE_MAX) for v in h[at]]
                          for at in patches}
        for y, x in patches:
            for (c, dy, dx), v in zip(places, z[y, x]):
                row, at = picture[c][y * PATCH + dy], x * PATCH + dx
                change = gain * clamp(v, Z_MAX) + (1 << GAIN_BITS - 5) >> GAIN_BITS - 4
                row[at] = to_16_bits(row[at] + to_16_bits(change))

    def image(self, picture, geometry):
        """A picture as rows of samples."""
        width, height, channels, depth = geometry[:4]
        if self.model.lap:
            picture = [self.lap(rows) for rows in picture]
        if self.model.restoration:
            self.restore(picture)
        if channels < len(picture):
            picture = [[[to_16_bits(sum(v) * 10923 + 16384 >> 15) for v in zip(*lines)]
                        for lines in zip(*picture)]]
        one, top = (1, 255) if depth == 8 else (257, 65535)
        zero, half = 128 * VALUE_ONE, VALUE_ONE // 2
        return [[min(max(((v + zero) * one + half) // VALUE_ONE, 0), top)
                 for pixel in zip(*(rows[y][:width] for rows in picture)) for v in pixel]
                for y in range(height)]


class Strips:
    """A group as its strips (10.12), each coded like a group of its own."""

    def __init__(self, model, sizes, raised=None):
        width, height = sizes[0]
        columns, rows = (width - 1) // model.width + 1, (height - 1) // model.height + 1
        most = math.isqrt(columns * rows // STRIP_WINDOWS)
        n = max(min(most, rows // STRIP_ROWS), 1) if len(sizes) == 1 else 1
        ends = [rows * b // n for b in range(n + 1)]
        self.strips = [Group(model, [(width, (end - begin) * model.height)] if n > 1 else sizes, raised)
                      for begin, end in zip(ends, ends[1:])]
        self.model_pass = self.strips[0].model_pass
        self.starved = False

    def least_bytes(self, end):
        """Bytes that the passes up to `end` take at least, with those left off."""
        return sum(strip.least_bits(end) // BITS_PER_BYTE - TRIMMED for strip in self.strips)

    def decode_chunk(self, data, whole, end, trace):
        strings = [data] if len(self.strips) == 1 else self.strings_of(data)
        for strip, string in zip(self.strips, strings):
            strip.decode_chunk(string, whole, end, trace)
            self.starved = self.starved or strip.starved

    def strings_of(self, data):
        """The strings of a chunk, as far as it is known."""
        n, strings, reader = len(self.strips), [b"" for _ in self.strips], Reader(data, "a chunk")
        while True:
            try:
                lengths = [reader.varint(SEGMENT_MOST) for _ in range(n)]
            except Illegal:                             # the end, or the string of an odd encoder
                return strings
            if not sum(lengths):
                return strings
            rounds = (sum(lengths) - 1) // (SEGMENT_PIECE * n) + 1
            for r in range(rounds):
                for b, length in enumerate(lengths):
                    piece = (r + 1) * length // rounds - r * length // rounds
                    known = min(piece, len(data) - reader.at)
                    strings[b] += reader.bytes(known)
                    if known < piece:
                        return strings

    def image(self, i, geometry):
        """Image i as rows of samples."""
        last = min(self.strips, key=lambda strip: strip.passes)
        pictures = [strip.picture(i, geometry) for strip in self.strips]
        return last.image([sum(rows, []) for rows in zip(*pictures)], geometry)


# 10.13 Pixel layers

class Starved(Exception):
    """The string is too short for the next bit."""


class PixelBits:
    """The string of a chunk of a pixel layer: bits with given and with mixed probabilities."""

    def __init__(self, data, whole):
        self.rc, self.count = RangeDecoder(data, whole), 0
        self.most = BITS_PER_BYTE * (len(data) + TRIMMED) if whole else math.inf

    def bit(self, p1):
        self.count += 1
        bit = self.rc.bit(p1) if self.count <= self.most else STARVED
        if bit < 0:
            raise Starved
        return bit

    def adaptive(self, model):
        bit = self.bit(model.p1)
        model.update(bit)
        return bit

    def mixed(self, inputs, weights):
        logits = [LOGIT[b.p1 >> 4] if b.count else 0 for b in inputs]
        p = squash(sum(x * w for x, w in zip(logits, weights)) >> 16)
        bit = self.bit(p)
        error = (bit << 16) - p
        for i, x in enumerate(logits):
            weights[i] = clamp(weights[i] + (error * x >> MIXER_RATE), MIXER_MOST)
            inputs[i].update(bit)
            inputs[i].count = min(inputs[i].count, MIXER_LIMIT)
        return bit


def make_logits():
    """Of each p in 1/4096: the least x with squash(x) >= 16 p, at most 767."""
    table, x = [], -768
    for p in range(4096):
        while x < 767 and squash(x) < 16 * p:
            x += 1
        table.append(x)
    return table


LOGIT = make_logits()


def new_bits():
    return collections.defaultdict(lambda: Bit(32768, 0))


def mix_hash(h, value):
    h = (h ^ value) * 0x9E3779B1 & 0xffffffff
    return h ^ h >> 15


def place_of(h, bits):
    return (h * 0x85EBCA6B & 0xffffffff) >> 32 - bits


def median(a, b, c):
    return min(max(a + b - c, min(a, b)), max(a, b))


class NewColours:
    """10.15: colours by their samples."""

    def __init__(self):
        self.bits, self.last = new_bits(), 0
        self.weights = collections.defaultdict(lambda: [65536 * 2 // 5] * 3)

    def step(self, b, channel, places, step):
        inputs = [self.bits[view, channel, place, step] for view, place in enumerate(places)]
        return b.mixed(inputs, self.weights[channel, step])

    def sample(self, b, channel, bits, places, predicted):
        if self.step(b, channel, places, "zero"):
            return predicted
        minus, n = self.step(b, channel, places, "sign"), 0
        while n < bits - 1 and self.step(b, channel, places, ("length", n)):
            n += 1
        value = 1 if n else 0
        for k in range(n - 1):
            value = 2 * value + (b.bit(32768) if k else self.step(b, channel, places, ("digit", n - 1)))
        return (predicted + (-value - 1 if minus else value + 1)) % (1 << bits)

    @staticmethod
    def steepness(seen, bits):
        left, above, corner = seen
        return min((abs(left - corner) + abs(above - corner) >> max(bits - 8, 0)).bit_length(), 8)

    def plain(self, b, channel, bits, seen):
        predicted = median(*seen)
        places = (predicted >> max(bits - 8, 0)).bit_length(), self.steepness(seen, bits), 0
        return self.sample(b, channel, bits, places, predicted)

    def code(self, b, kind, neighbours):
        channels, has_alpha, bits = kind
        if not channels:
            return self.plain(b, 0, bits, neighbours)
        alpha = self.plain(b, 3, 8, [c >> 24 for c in neighbours]) if has_alpha else 255
        if not alpha:
            return 0
        usual = next((c for c in neighbours if c), self.last)
        seen = [c or usual for c in neighbours]
        colour, moved, before = alpha << 24, 0, 0
        for k, c in enumerate((0,) if channels == 1 else (1, 0, 2)):
            samples = [s >> 8 * c & 255 for s in seen]
            plain = median(*samples)
            predicted = min(max(plain + moved, 0), 255)
            size = (min(abs(before).bit_length(), 8) + 1) // 2
            places = alpha.bit_length(), self.steepness(samples, 8), size + 4 * (before < 0)
            value = self.sample(b, c, 8, places, predicted)
            before = value - (predicted if k else plain)
            moved = moved if k else value - plain
            colour |= value << 8 * c if channels == 3 else value * 0x010101
        self.last = colour
        return colour


class ColourModel:
    """10.14: planes of colours; the statistics go on from image to image."""
    NEIGHBOURS = ((-1, 0), (0, -1), (-1, -1), (1, -1), (-2, 0), (0, -2), (2, -1), (-2, -1), (-3, 0),
                  (-1, -2), (1, -2), (3, -1), (0, -3))

    def __init__(self, pixels):
        self.table_bits = min(max((pixels).bit_length() + 2, 12), 18)
        self.bits, self.fresh = new_bits(), NewColours()
        self.weights = collections.defaultdict(lambda: [65536 // 4] * 7)
        self.by_all, self.by_four = (collections.defaultdict(lambda: [0, 0]) for _ in range(2))
        self.list, self.run = [], 0

    def plane(self, b, plane):
        """Decode a plane: a list of rows, the background, and the number of pixels known."""
        plane.background = self.background(b, plane.kind)
        if b.adaptive(self.bits["constant"]):
            plane.known = plane.width * plane.height
            return
        for y in range(plane.height):
            for x in range(plane.width):
                plane.colour[x, y] = self.pixel(b, plane, x, y)
                plane.known += 1

    def look(self, seen):
        """The contexts that 13 neighbours make, and what followed them."""
        h, hashes = 0, []
        for colour in seen:
            h = mix_hash(h, colour)
            hashes.append(h)
        self.seen, self.two, self.four, self.seven, self.all = seen, *(hashes[k] for k in (1, 3, 6, 12))
        shape = 0
        for i in range(1, 8):
            shape = shape << 3 | seen.index(seen[i])
        self.shape, self.flat = mix_hash(1, shape), shape == 0
        self.after_all = self.by_all[place_of(self.all, self.table_bits)]
        self.after_four = self.by_four[place_of(self.four, self.table_bits)]
        self.refused = []

    def background(self, b, kind):
        self.seen, self.two, self.four, self.seven, self.all, self.shape = [0] * 13, 0, 0, 0, 0, 0
        self.after_all = self.after_four = [0, 0]
        self.refused = []
        return self.listed(b, kind)

    def pixel(self, b, plane, x, y):
        self.look([plane.at(x + dx, y + dy) for dx, dy in self.NEIGHBOURS])
        if self.flat:
            c = self.seen[0]
            if b.adaptive(self.bits["flat", mix_hash(0, c) >> 24]):
                return c
            self.refused.append(c)
            for after in (self.after_all, self.after_four):
                if after[0] == c:
                    after[1] = 0
        colour = self.candidates(b, plane.kind)
        for after in (self.after_all, self.after_four):
            if after[1] and after[0] == colour:
                after[1] = min(after[1] + 1, 255)
            elif after[1] > 1:
                after[1] //= 4
            else:
                after[:] = colour, 1
        return colour

    def candidates(self, b, kind):
        which = [(0, self.after_all[0])] if self.after_all[1] else []
        which += [(1, self.after_four[0])] if self.after_four[1] else []
        which += [(2 + k, self.seen[i]) for k, i in enumerate((0, 1, 3, 2))]
        for number, c in which:
            if c not in self.refused and self.is_it(b, number, c):
                return c
        return self.listed(b, kind)

    @staticmethod
    def confidence(after):
        return after[1] if after[1] < 2 else 2 if after[1] < 6 else 3

    def choose(self, b, hashes, plain, weights):
        inputs = [self.bits[i, place_of(h, self.table_bits)] for i, h in enumerate(hashes)]
        return b.mixed(inputs + [self.bits[plain]], self.weights[weights])

    def is_it(self, b, which, c):
        sure = self.confidence(self.after_four if which == 1 else self.after_all)
        agrees = [after[1] and after[0] == c for after in (self.after_all, self.after_four)]
        agrees += [self.seen[i] == c for i in (0, 1, 2, 3, 4, 5)]
        mask = sum(1 << i for i, equal in enumerate(agrees) if equal)
        own = mix_hash(which + 1, c)
        hashes = [own] + [mix_hash(own, h) for h in (self.two, self.four, self.seven, self.all)]
        hashes.append(mix_hash(self.shape, which << 8 | mask))
        if self.choose(b, hashes, ("plain", which, sure, mask), (which, sure)):
            return True
        self.refused.append(c)
        return False

    def listed(self, b, kind):
        """A colour of the list, or a new one; it moves to the front."""
        if not self.list or self.is_new(b):
            colour = self.fresh.code(b, kind, self.seen[:3])
            self.list = [colour] + self.list[:LIST - 1]
            return colour
        i, slot = 0, 6
        while i < len(self.list) and slot < 18:
            if self.list[i] not in self.refused:
                if self.is_it(b, slot, self.list[i]):
                    return self.use(i)
                slot += 1
            i += 1
        n = 0
        while n < 10 and b.adaptive(self.bits["length", n]):
            n += 1
        value = 1 if n else 0
        for k in range(n - 1):
            value = 2 * value + (b.bit(32768) if k else b.adaptive(self.bits["digit", n]))
        return self.use(min(i + value, len(self.list) - 1))

    def use(self, i):
        self.list.insert(0, self.list.pop(i))
        return self.list[0]

    def is_new(self, b):
        tried, sure = len(self.refused), self.confidence(self.after_all)
        own = mix_hash(0, tried)
        hashes = [own] + [mix_hash(own, h) for h in (self.two, self.four, self.seven, self.seen[1])]
        hashes.append(mix_hash(self.shape, tried))
        bit = self.choose(b, hashes, ("plain", 18, sure, self.run), (18, sure))
        self.run = (self.run << 1 | bit) & 255
        return bit


class Plane:
    """A plane of an image: colours of an indexed one, or alpha or its upper bits."""

    def __init__(self, geometry):
        self.width, self.height, channels, depth, has_alpha, self.indexed = geometry
        self.kind = (channels, has_alpha, 8) if self.indexed else (0, 0, depth)
        self.background, self.known, self.colour = None, 0, {}
        self.shift, self.low = 0, []

    def at(self, x, y):
        return self.colour.get((x, y), self.background)


class AlphaBits:
    """10.16: the lower bits of soft alpha."""
    AT = ((-1, 0), (0, -1), (-1, -1), (1, -1), (-2, 0), (0, -2), (1, -2), (-2, -1), (-1, -2))

    def __init__(self):
        self.bits = new_bits()
        self.weights = collections.defaultdict(lambda: [65536 // 5] * 7)
        self.taps = [65536, -65536, 0, 0, 0, 0]

    def plane(self, b, p):
        for i in range(p.known):
            p.low.append(self.pixel(b, p, i % p.width, i // p.width))

    @staticmethod
    def neighbours(p, x, y):
        def value(x, y):
            return p.at(x, y) << p.shift | p.low[y * p.width + x]
        other = value(x - 1, y) if x else value(x, y - 1) if y else (2 * p.at(x, y) + 1) << p.shift - 1
        return [value(x + i, y + j) if 0 <= x + i < p.width and 0 <= y + j else other for i, j in AlphaBits.AT]

    @staticmethod
    def around(p, x, y):
        u = p.at(x, y)
        right = p.at(x + 1, y) if x + 1 < p.width else u
        below = p.at(x, y + 1) if y + 1 < p.height else u
        return 3 * ((right >= u) + (right > u)) + (below >= u) + (below > u)

    @staticmethod
    def bin(d):
        n = abs(d).bit_length()
        return min(n if n < 2 else 2 * n - 2 + (abs(d) >> n - 2 & 1), 31) + 32 * (d < 0)

    def pixel(self, b, p, x, y):
        v, around, s = self.neighbours(p, x, y), self.around(p, x, y), p.shift
        d = [n - v[0] for n in v[1:7]]
        f = (65536 * v[0] + sum(g * n for g, n in zip(self.taps, d))) >> 12
        q = [f] + [16 * n for n in (median(v[0], v[1], v[2]), v[0] + v[1] - v[2], v[0] + v[3] - v[1],
                                    2 * v[0] - v[4], 2 * v[1] - v[5])]
        least = p.at(x, y) << s
        q = [min(max(n - 16 * least, 0), 16 * ((1 << s) - 1)) for n in q]
        wrong = (abs(v[0] - v[4] - v[2] + v[7]) + abs(v[1] - v[2] - v[5] + v[8]) +
                 abs(v[3] - v[1] - v[6] + v[5])) >> max(s - 5, 0)
        error, z = min(wrong.bit_length(), 7), 0
        for k in range(s - 1, -1, -1):
            h = (16 << k) * (2 * z + 1) - 8
            inputs = [self.bits["near", k, error, i, self.bin(q[i] - h)] for i in range(6)]
            inputs.append(self.bits["around", k, around, self.bin(q[1] - h)])
            z = 2 * z + b.mixed(inputs, self.weights[k, error])
        r, norm = 16 * (least + z) - f, 4 + sum(n * n for n in d)
        for i, n in enumerate(d):
            change = abs(128 * r * n) // norm
            g = self.taps[i] + (change if r * n > 0 else -change)
            self.taps[i] = max(-262144, min(g, 262144))
        return z


class PixelGroup:
    """What pixel layers hold of the images of a group."""

    def __init__(self, geometries):
        self.plane = [Plane(g) if g[4] or g[5] else None for g in geometries]

    def decode(self, kind, data, whole):
        """False: a whole chunk stands for more than its bytes can."""
        planes = [p for p in self.plane if p]
        if not data or not planes:
            return True
        b = PixelBits(data, whole)
        try:
            if kind == 1:
                self.first(b, planes)
            else:
                low = AlphaBits()
                for p in planes:
                    if p.shift:
                        low.plane(b, p)
        except Starved:
            pass
        if b.count <= b.most:
            return True
        for p in planes:
            p.low = []
            if kind == 1:
                p.background, p.known, p.colour, p.shift = None, 0, {}, 0
        return False

    @staticmethod
    def first(b, planes):
        pixels = [sum(p.width * p.height for p in planes if bool(p.indexed) == own) for own in (0, 1)]
        models, soft = [ColourModel(n) for n in pixels], Bit(32768, 0)
        for p in planes:
            if not p.indexed and b.adaptive(soft):
                p.shift = p.kind[2] - UPPER_BITS
                p.kind = (0, 0, UPPER_BITS)
            models[bool(p.indexed)].plane(b, p)

    def alpha_at(self, p, depth, x, y):
        most = (1 << depth) - 1
        if p.background is None:
            return most
        i = y * p.width + x
        if p.shift and i < len(p.low):
            return p.at(x, y) << p.shift | p.low[i]
        return p.at(x, y) * most // ((1 << depth - p.shift) - 1) if p.shift else p.at(x, y)

    def colours(self, i, geometry):
        """An indexed image as rows of samples."""
        p, channels = self.plane[i], (0,) if geometry[2] == 1 else (0, 1, 2)
        channels += (3,) if geometry[4] else ()
        return [[(0xff808080 if p.background is None else p.at(x, y)) >> 8 * c & 255
                 for x in range(p.width) for c in channels] for y in range(p.height)]

    def with_alpha(self, i, geometry, rows):
        """Alpha among the samples of an image."""
        p, n = self.plane[i], geometry[2]
        return [[v for x in range(p.width)
                 for v in rows[y][n * x:n * x + n] + [self.alpha_at(p, geometry[3], x, y)]]
                for y in range(p.height)]


# 10.17 The exact layer

def exact_steps(v, most):
    """0 1 2 3, then two steps an octave."""
    if v > 3:
        octave = v.bit_length() - 1
        v = 2 * octave + (v >> octave - 1 & 1)
    return min(v, most)


class ExactRows:
    """What is known around a sample of one image and channel: rows y, y - 1 and y - 2 of numbers of each sample. Those
    to the left of row y are what the row above has in its first column."""

    def __init__(self, width):
        self.width, self.row = width, [[0] * width for _ in range(3)]

    def at(self, x, dx, dy):
        if x + dx < 0 and dy == 0:
            return self.row[1][0]
        return self.row[-dy][min(max(x + dx, 0), self.width - 1)]

    def next(self):
        self.row = [[0] * self.width] + self.row[:2]


class ExactChannel:
    def __init__(self, lossy):
        self.lossy, self.width, self.height = lossy, len(lossy[0]), len(lossy)
        self.residual, self.error = ExactRows(self.width), ExactRows(self.width)
        self.missed = [ExactRows(self.width) for _ in range(9)]

    def l(self, x, y, dx=0, dy=0):
        return self.lossy[min(max(y + dy, 0), self.height - 1)][min(max(x + dx, 0), self.width - 1)]

    def s(self, x, y, dx, dy):
        """A sample that is known."""
        return self.l(x, y, dx, dy) + self.residual.at(x, dx, dy)

    def next(self):
        for rows in [self.residual, self.error] + self.missed:
            rows.next()


OWN_RESIDUALS = ((-1, 0), (0, -1), (-1, -1), (1, -1), (-2, 0), (0, -2), (1, -2), (-1, -2), (2, -1), (-2, -1))
OWN_LOSSY = ((-1, 0), (1, 0), (0, -1), (0, 1), (-1, -1), (1, -1), (-1, 1), (1, 1), (-2, 0), (2, 0), (0, -2), (0, 2))
EARLIER_RESIDUALS = ((0, 0), (-1, 0), (0, -1), (-1, -1), (1, -1))
EARLIER_LOSSY = ((-1, 0), (0, -1), (1, 0), (0, 1))
LATER = ((-1, 0), (0, -1))


class Exact:
    """The exact layer of a group: its chunk, as far as it is known."""

    def __init__(self, data, whole):
        self.b = PixelBits(data, whole)
        self.same, self.renewed = [Bit(32768, 0) for _ in range(4)], Bit(32768, 0)
        self.zero = [Bit(32768, 0) for _ in range(2)]
        self.length = [[Bit(32768, 0) for _ in range(16)] for _ in range(2)]
        self.bits = new_bits()
        self.sets = collections.defaultdict(lambda: [13107] * 8)
        self.weights, self.channels, self.is_over = [], 0, False
        try:
            self.is_plain = self.b.bit(32768)
        except Starved:
            self.is_over = True

    def image(self, rows, geometry):
        """Make an image, which is rows of samples, exact in place as far as the bytes reach."""
        n, self.depth = len(rows[0]) // geometry[0], geometry[3]
        self.most = (1 << self.depth) - 1
        self.order = ((0,), (0, 1), (1, 0, 2), (1, 0, 2, 3))[n - 1]
        if self.is_over:
            return
        try:
            same = [self.b.adaptive(self.same[c]) for c in range(n)]
            if not all(same):
                self.rows(rows, n, same, geometry)
        except Starved:
            self.is_over = True

    def rows(self, rows, n, same, geometry):
        width, height = geometry[:2]
        self.channel = [ExactChannel([row[place::n] for row in rows]) for place in self.order]
        for y in range(height):
            if not self.is_plain and y % max(2 ** 18 // width, 1) == 0 and self.b.adaptive(self.renewed):
                self.read_weights(n)
            for x in range(width):
                pixel = [(place, self.sample(c, x, y)) for c, place in enumerate(self.order) if not same[c]]
                for place, value in pixel:
                    rows[y][n * x + place] = value
            for channel in self.channel:
                channel.next()

    def coloured(self, c):
        return len(self.order) > 2 and c < 3

    def number_of_inputs(self, n, c):
        return 22 + (9 * c + 4 * (2 - c) if n > 2 and c < 3 else 0)

    def read_weights(self, n):
        classes = (7 if self.b.bit(32768) else 1) if self.b.bit(32768) else 0
        told = []
        for k in range(classes):
            told.append([])
            for c in range(n):
                told[k].append([])
                for i in range(self.number_of_inputs(n, c)):
                    before = told[0][c][i] if k else 0
                    told[k][c].append(clamp(before + self.number(k > 0), 32767))
        self.weights = [[[w << 13 for w in own] for own in of] for of in told]
        self.channels = n

    def number(self, kind):
        if self.b.adaptive(self.zero[kind]):
            return 0
        negative, digits, value = self.b.bit(32768), 0, 1
        while digits < 15 and self.b.adaptive(self.length[kind][digits]):
            digits += 1
        for _ in range(digits):
            value = 2 * value + self.b.bit(32768)
        return -value if negative else value

    def sample(self, c, x, y):
        if self.is_plain:
            value = 0
            for _ in range(self.depth):
                value = 2 * value + self.b.bit(32768)
            return value
        guesses, inputs, weights = self.predict(c, x, y)
        mean = self.mean_of(c, x, guesses)
        value = self.residual(c, x, y, guesses, mean)
        if weights:
            energy = 40 + sum(v * v for v in inputs)
            error = 16 * value - (guesses[0] + mean >> 1)
            step = abs(error) * 2 ** 24 // (48 * energy) * (1 if error > 0 else -1)
            for i, v in enumerate(inputs):
                weights[i] = clamp(weights[i] + (step * v >> 8), 2 ** 26)
        channel = self.channel[c]
        for rows, guess in zip(channel.missed, guesses):
            rows.row[0][x] = min(abs(16 * value - guess), 2 ** 24)
        channel.error.row[0][x] = 16 * value - mean
        channel.residual.row[0][x] = value - channel.l(x, y)
        return value

    def inputs(self, c, x, y):
        own, out = self.channel[c], []
        for o in [c] + ([o for o in range(3) if o != c] if self.coloured(c) else []):
            channel = self.channel[o]
            residuals, lossy = ((OWN_RESIDUALS, OWN_LOSSY) if o == c else
                                (EARLIER_RESIDUALS, EARLIER_LOSSY) if o < c else (LATER, LATER))
            out += [channel.residual.at(x, *d) for d in residuals]
            out += [channel.l(x, y, *d) - channel.l(x, y) for d in lossy]
        return out

    def place_class(self, c, x, y):
        own = self.channel[c]
        across = (abs(own.l(x, y, -1) - own.l(x, y)) + abs(own.l(x, y, 1) - own.l(x, y))
                  + abs(own.residual.at(x, -1, 0)))
        down = (abs(own.l(x, y, 0, -1) - own.l(x, y)) + abs(own.l(x, y, 0, 1) - own.l(x, y))
                + abs(own.residual.at(x, 0, -1)))
        across, down = across >> self.depth - 8, down >> self.depth - 8
        if across + down < 8:
            return 0
        direction = 1 if across > 2 * down else 2 if down > 2 * across else 3
        return direction + 3 * (across + down > 40)

    def predict(self, c, x, y):
        own, inputs, weights = self.channel[c], [], None
        first = 16 * own.l(x, y)
        if self.weights and self.channels == len(self.order):
            inputs = self.inputs(c, x, y)
            weights = self.weights[self.place_class(c, x, y) if len(self.weights) > 1 else 0][c]
            first += clamp(sum(w * v for w, v in zip(weights, inputs)) >> 16, 2 ** 22)
        left, above = own.s(x, y, -1, 0), own.s(x, y, 0, -1)
        corner, right = own.s(x, y, -1, -1), own.s(x, y, 1, -1)
        e = own.residual
        guesses = [first, 16 * (own.l(x, y) + e.at(x, -1, 0) + e.at(x, 0, -1) - e.at(x, -1, -1)),
                   16 * (left + above - corner), 16 * (left + right - above), 16 * above, 16 * left]
        for other in self.channel[:c] if self.coloured(c) else []:
            differ = left - other.s(x, y, -1, 0) + above - other.s(x, y, 0, -1)
            guesses.append(16 * other.s(x, y, 0, 0) + 8 * differ)
        return guesses, inputs, weights

    def mean_of(self, c, x, guesses):
        misses = []
        for rows in self.channel[c].missed[:len(guesses)]:
            near = rows.at(x, -1, 0) + rows.at(x, 0, -1) + rows.at(x, -1, -1) + rows.at(x, 1, -1)
            misses.append(log16(2 * near + rows.at(x, -2, 0) + rows.at(x, 0, -2) + 32))
        misses[0] -= 10
        shares = [scale_exp2(65536, -4 * (m - min(misses))) for m in misses]
        mean = sum(s * g for s, g in zip(shares, guesses)) // sum(shares)
        return min(max(mean, 0), 16 * self.most)

    def contexts(self, c, x, y, guesses, mean):
        own, coloured = self.channel[c], self.coloured(c) and c > 0
        base = mean + 8 >> 4
        self.flip = mean < 16 * base
        e = own.error
        near = (2 * (abs(e.at(x, -1, 0)) + abs(e.at(x, 0, -1))) + abs(e.at(x, -1, -1)) + abs(e.at(x, 1, -1))
                + abs(e.at(x, -2, 0)) + abs(e.at(x, 0, -2)))
        before = self.channel[c - 1].error.row[0][x] if coloured else 0
        others = abs(self.channel[0].error.row[0][x]) if coloured else 0
        if coloured and c > 1:
            others = (others + abs(before)) // 2
        energy = exact_steps(((near + 4 * others) // 2 if coloured else near) // 8, 31)
        other = exact_steps(others // 8, 15)
        spread = exact_steps(sum(abs(g - mean) for g in guesses) // (2 * len(guesses)), 19)

        def side(value, divisor, most):
            return exact_steps(abs(value - mean) // divisor, most), (value < mean) != self.flip
        before = -before if self.flip else before
        size = (before != 0) + (abs(before) > 16) + (abs(before) > 48)
        left, above = 16 * own.s(x, y, -1, 0), 16 * own.s(x, y, 0, -1)
        a, z = (6 if coloured else 1), c > 1 and coloured
        return energy, other, [
            (exact_steps(near // 16, 19), other),
            (side(left, 8, 9), side(above, 8, 9), energy // 4),
            (side(guesses[a], 4, 9), side(guesses[7 if z else 3], 4, 9), energy // 4),
            (side(guesses[0], 4, 9), side(guesses[1 if z else 2], 4, 9), energy // 4),
            (side(16 * own.l(x, y), 4, 11), energy),
            (size, before < 0, energy, abs(mean - 16 * base)),
            (spread, energy)]

    def residual(self, c, x, y, guesses, mean):
        energy, other, places = self.contexts(c, x, y, guesses, mean)
        slot, base = c if c < 3 else 0, mean + 8 >> 4

        def bit(kind):
            inputs = [self.bits[i, place, slot, kind] for i, place in enumerate(places)]
            logits = [LOGIT[b.p1 >> 4] for b in inputs] + [64]
            sets = [self.sets["energy", kind, slot, energy], self.sets["other", kind, other]]
            sums = [clamp(sum(w * v for w, v in zip(weights, logits)) >> 16, 767) for weights in sets]
            told = self.b.bit(squash(sum(sums) >> 1))
            for weights, logit in zip(sets, sums):
                error = 65536 * told - squash(logit)
                for i, v in enumerate(logits):
                    weights[i] = clamp(weights[i] + (error * v + 8192 >> 14), MIXER_MOST)
            for b in inputs:
                b.update(told)
            return told
        if bit(0):
            return base
        up = base == 0 if base in (0, self.most) else bit(1) != self.flip
        least, k = 1, 0
        while k < 39 and bit(2 + min(k, 13)):
            least += 1 << self.digits(k)
            k += 1
        away = 0
        for d in range(self.digits(k)):
            away = 2 * away + (self.b.bit(32768) if d else bit(16 + min(k - 6, 7)))
        return min(max(base + least + away if up else base - least - away, 0), self.most)

    @staticmethod
    def digits(k):
        return 0 if k < 6 else (k - 6) // 2 + 1


# ----- 13. Cuts: which chunks there are, and how much of them -------------------------------------

class WholeGroup(Strips):
    """The windows of a group, and its pixels in pixel layers."""

    def __init__(self, model, geometries, raised):
        windowed = [g[:2] for g in geometries if not g[5]]
        self.has_windows = bool(windowed)
        super().__init__(model, windowed or [(1, 1)], raised)
        self.pixels = PixelGroup(geometries)
        self.geometries = geometries
        self.exact, self.exact_images = None, []        # the exact layer (10.17)

    def image(self, i, geometry):
        """Image i as rows of samples, exact as far as the exact layer goes."""
        if self.exact and not self.exact_images:
            for k, of in enumerate(self.geometries):
                self.exact_images.append(self.lossy(k, of))
                self.exact.image(self.exact_images[-1], of)
        return self.exact_images[i] if self.exact else self.lossy(i, geometry)

    def lossy(self, i, geometry):
        if geometry[5]:
            return self.pixels.colours(i, geometry)
        in_windows = sum(not g[5] for g in self.geometries[:i])
        rows = super().image(in_windows, geometry)
        return self.pixels.with_alpha(i, geometry, rows) if geometry[4] else rows


def decode_group(front, model, data, g, trace=False):
    """Decode group g from the available bytes; returns it, and an error or None."""
    first, last = front.group_first[g], front.group_first[g + 1]
    group = WholeGroup(model, [front.geometry[i] for i in front.image_at[first:last]],
                       front.raised[g])
    for layer in range(front.layers):
        if front.layer_kind[layer] == 4:
            continue                                    # a stage of the model
        chunk = layer * front.groups + g
        begin, end = front.size + front.chunk_at[chunk], front.size + front.chunk_at[chunk + 1]
        if begin > len(data) or end > begin == len(data):
            break
        if begin < end <= len(data) and not block_holds(front, data, layer, g):
            return group, "layer %d of group %d fails its checksum" % (layer, g)
        was_cut = front.tail and layer + 1 == front.layers and g >= front.first_cut
        whole = end <= len(data) and not was_cut
        if end == begin and not whole:
            break                                       # none of its bytes are available
        if front.layer_kind[layer] == 3:
            if begin < end:
                group.exact = Exact(data[begin:end], whole)
            continue
        if front.layer_kind[layer]:
            if not group.pixels.decode(front.layer_kind[layer], data[begin:end], whole):
                return group, "layer %d of group %d is too short for its pixels" % (layer, g)
            if not whole:
                break
            continue
        if not group.has_windows:
            continue
        layer_end = sum(own < front.passes_of(g, layer + 1) for own in group.model_pass)
        if whole and group.least_bytes(layer_end) > end - begin:
            return group, "layer %d of group %d is too short for its passes" % (layer, g)
        known = group.strips[0].known_passes()
        group.decode_chunk(data[begin:end], whole, min(layer_end, known), trace)
        if group.starved or known < layer_end:
            break
    return group, None


def block_holds(front, data, layer, g):
    """The checksum over the chunks that chunk (layer, g) shares it with, if they are all there."""
    block = g // front.per_checksum
    first = layer * front.groups + block * front.per_checksum
    last = layer * front.groups + min((block + 1) * front.per_checksum, front.groups)
    begin, end = front.size + front.chunk_at[first], front.size + front.chunk_at[last]
    if end > len(data):
        return True
    return crc32c(data[begin:end]) == front.checksum[layer * front.blocks + block]


def match(front, model):
    require(front.model_id == model.id,
            "the container was made with model %016x, this is %016x" % (front.model_id, model.id))
    require(not model.embedding, "the container's model has no decoder")
    require(max(ends[-1] for ends in front.layer_end) <= len(model.order),
            "the container has more passes than its model")
    require(all(model.fits(raised) for raised in front.raised), "planes are raised too far")
    require(all(g[2] <= model.channels for g in front.geometry), "a colour image with a grey model")


# ----- Output -------------------------------------------------------------------------------------

def write_png(path, geometry, rows):
    width, height, colours, depth, has_alpha = geometry[:5]
    channels = colours + bool(has_alpha)

    def piece(kind, body):
        check = struct.pack(">I", zlib.crc32(kind + body))
        return struct.pack(">I", len(body)) + kind + body + check

    form = ">%d%s" % (width * channels, "B" if depth == 8 else "H")
    raw = b"".join(b"\0" + struct.pack(form, *row) for row in rows)
    head = struct.pack(">IIBBBBB", width, height, depth, (0, 4, 2, 6)[channels - 1], 0, 0, 0)
    with open(path, "wb") as out:
        out.write(b"\x89PNG\r\n\x1a\n" + piece(b"IHDR", head) + piece(b"IDAT", zlib.compress(raw))
                  + piece(b"IEND", b""))


ESCAPE = re.compile(rb"\\x(0[1-9a-f]|1[0-9a-f]|5c|7f)")  # 5.4: of a name
IMAGE_SUFFIX = re.compile(r"(?<=[^/])\.(png|pnm|pbm|pgm|ppm|pam|jpg|jpe|jpeg|jfif)$", re.I)


def file_names(front):
    """5.4: x.png stays; x.jpg is x.png where no other image is or becomes that, else x.jpg.png."""
    if not front.names and not front.also:
        return ["%06d.png" % (i + 1) for i in range(front.images)]
    names = front.names or [b"%06d.png" % (i + 1) for i in range(front.images)]
    stored = [ESCAPE.sub(lambda found: bytes([int(found[1], 16)]), name).decode("utf-8", "surrogateescape")
              for name in names + [also["name"] for also in front.also]]
    short = [IMAGE_SUFFIX.sub("", name) + ".png" for name in stored]
    kept = [name.lower().endswith(".png") and not name.lower().endswith("/.png") for name in stored]
    taken = {name for name, is_kept in zip(stored, kept) if is_kept}
    wanted = collections.Counter(name for name, is_kept in zip(short, kept) if not is_kept)
    given, files = set(), []
    for name, brief, is_kept in zip(stored, short, kept):
        if not is_kept:
            name = brief if wanted[brief] == 1 and brief not in taken else name + ".png"
        file, number = name, 2
        while file in given:
            file, number = IMAGE_SUFFIX.sub("", name) + "-%d.png" % number, number + 1
        given.add(file)
        files.append(file)
    return files


def path_for(folder, name):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    return path


def print_model(model):
    if model.embedding:
        print("model %016x: embedding%s, %d channels, window %d x %d, %d units, %d layers, %s, "
              "alpha %g, %d classes"
              % (model.id, " of gradients" if model.across else "", model.channels,
                 model.width, model.height, model.units,
                 len(model.encoder), model.objective.decode() or "objective not said", model.alpha,
                 model.classes))
        return
    print("model %016x: family %s%s, %d channels, window %d x %d, %d units, %d passes, %d layers"
          % (model.id, ("pca", "dense", "conv")[model.family], ("", ", binary")[model.binary],
             model.channels, model.width, model.height,
             model.units, len(model.order), len(model.stack)))


def print_front(front, size):
    whole = front.size + front.chunk_at[-1]
    print("container of %d images in %d groups and %d layers, layout %s, model %016x%s"
          % (front.images, front.groups, front.layers, ("set", "image", "gallery")[front.layout],
             front.model_id, " (inside)" if front.model else ""))
    print("front matter %d bytes, data %d bytes, here %d of %d bytes%s"
          % (front.size, front.chunk_at[-1], min(size, whole), whole,
             ", its last layer cut" if front.tail else ""))
    print("sections: " + ", ".join(kind.decode() for kind in front.sections))
    for i, image in enumerate(front.metadata or []):
        print("metadata of image %d: %s" % (i, ", ".join(
            "%s %s" % (kind, "%d bytes" % len(v) if kind in ("icc", "exif", "xmp") else v)
            for kind, v in image.items()) or "none"))
    if front.part_of_set:
        print("part %d of %d of %d images, %d left out" % (front.part_of_set[1] + 1,
              front.part_of_set[0], front.part_of_set[2], front.part_of_set[3]))
    for also in front.also:
        print("image %d is also %s" % (also["image"], also["name"].decode("utf-8", "replace")))
    for layer in range(front.layers):
        begin, end = (front.chunk_at[(layer + k) * front.groups] for k in (0, 1))
        print("layer %d: passes %d to %d, %d bytes, ends at %d"
              % (layer, front.layer_end[0][layer], front.layer_end[0][layer + 1] - 1, end - begin,
                 front.size + end))


def levels_text(g, group):
    """All integers of the entropy decoder, in which two decoders must agree, strip after strip. A +
    marks a position with one more known plane."""
    lines = []
    for strip in group.strips if group.has_windows else []:
        lines.append("group %d passes %d position %d" % (g, strip.passes, strip.position))
        for unit, (level, known) in enumerate(zip(strip.level, strip.plane_known)):
            lines.append("unit %d depth %d:%s" % (unit, strip.depth[unit], "".join(
                " %d%s" % (v, "+" * more) for v, more in zip(level, known))))
    return "".join(line + "\n" for line in lines)


def main():
    parser = argparse.ArgumentParser(description="decode a taper container, slowly and readably")
    parser.add_argument("file", help="a container, or with --info a model")
    parser.add_argument("-m", "--model", help="its model, unless the container carries it")
    parser.add_argument("-o", "--output", help="folder for the PNG files")
    parser.add_argument("--image", type=int, metavar="N", help="only this image, counted from 1")
    parser.add_argument("--bytes", type=int, metavar="N", help="use the first N bytes alone")
    parser.add_argument("--info", action="store_true", help="say what is in the file")
    parser.add_argument("--levels", action="store_true", help="print the decoded integers")
    parser.add_argument("--trace", action="store_true", help="print every decoded bit")
    args = parser.parse_args()
    with open(args.file, "rb") as file:
        data = file.read()
    if data[:4] == MODEL_MAGIC[:4]:
        print_model(Model(data))
        return 0
    data = data[:args.bytes] if args.bytes is not None else data
    front = Front(data)
    if args.info:
        print_front(front, len(data))
    if not (args.output or args.levels or args.trace):
        return 0
    if args.model:
        with open(args.model, "rb") as file:
            model = Model(file.read())
    else:
        require(front.model is not None, "the container does not carry its model: give it with -m")
        model = Model(front.model_file(data))
    match(front, model)
    data = front.drawn(data)
    require(args.image is None or 1 <= args.image <= front.images, "there is no such image")
    damaged, names = False, file_names(front)
    for g in range(front.groups) if args.image is None else [front.group_of(args.image - 1)]:
        group, wrong = decode_group(front, model, data, g, args.trace)
        if wrong:
            print("teaching_decoder.py: " + wrong, file=sys.stderr)
            damaged = True
        if args.levels:
            sys.stdout.write(levels_text(g, group))
        places = range(front.group_first[g], front.group_first[g + 1]) if args.output else []
        for place in places:
            i = front.image_at[place]
            if args.image is None or i == args.image - 1:
                pixels = group.image(place - front.group_first[g], front.geometry[i])
                for file in [i] + [front.images + k for k, also in enumerate(front.also)
                                   if also["image"] == i]:
                    write_png(path_for(args.output, names[file]), front.geometry[i], pixels)
    return 3 if damaged else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Illegal as problem:
        print("teaching_decoder.py: %s" % problem, file=sys.stderr)
        sys.exit(4 if isinstance(problem, Incomplete) else 3)
    except BrokenPipeError:
        sys.exit(1)
