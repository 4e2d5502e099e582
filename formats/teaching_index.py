#!/usr/bin/env python3
"""teaching_index.py -- reads .tpx indexes and searches them: section 15 of SPEC.md as a program.

    python3 teaching_index.py FILE.tpx info                        say what is in it
    python3 teaching_index.py FILE.tpx search CODE [K]             the K nearest images; K: 10
    python3 teaching_index.py FILE.tpx neighbourhood CODE LEAST    the deepest with LEAST or more

CODE is a code in hexadecimal digits, its first bit first. Of a code of fewer digits than the
index's only these bits are known.

Python 3 and its standard library only, and teaching_decoder.py beside it for what indexes share
with containers. It reads all and checks all, before it answers; every code is looked at. The
numbers in the headings are the sections of SPEC.md. Where this file, SPEC.md and the C library
differ, one of them has a bug.
"""
import bisect
import sys

sys.dont_write_bytecode = True      # leave no __pycache__ beside the sources
from teaching_decoder import (MOST_PARTS, MOST_SET, Front, Illegal, Incomplete,  # noqa: E402
                              Reader, crc32c, require)

# of the table of constants, section 3.5
INDEX_HEADER = 64
INDEX_ALIGN = 64
INDEX_MOST_BITS = 65536
INDEX_MOST_TABLE_BITS = 24
INDEX_EFFORTS = 10
INDEX_MOST_SHARE = 1000000
INDEX_PART_AT = 88
INDEX_PART_BYTES = 40

INDEX_MAGIC = b"\x89TPX\r\n\x1a\n"


class Index:
    read_names, read_labels = Front.read_names, Front.read_labels       # 5.4, 5.5

    def __init__(self, data):
        self.names, self.labels, self.classes = None, None, []
        self.header(data)
        parts = self.parts(data)
        self.part_of_set(data[INDEX_PART_AT:INDEX_PART_AT + INDEX_PART_BYTES])
        self.numbers(parts)
        self.read_codes(parts["codes"])
        for what, read in (("names", self.read_names), ("labels", self.read_labels)):
            if parts[what].data:
                read(parts[what])
        for part in parts.values():
            part.end()
        self.check_order()

    # 15.1
    def header(self, data):
        require(data[:8] == INDEX_MAGIC, "not a taper index")
        need(data, INDEX_HEADER)
        r = Reader(data[8:INDEX_HEADER], "header")
        version, features, crc = r.unpack("HHI")
        require(version <= 1 and features == 0, "an index of another version")
        (self.bits, self.table_bits, self.images, self.model_id, self.names_size,
         self.labels_size, reserved) = r.unpack("IIQQQQQ")
        require(version == 1 and reserved == 0
                and crc32c(data[:12] + bytes(4) + data[16:INDEX_HEADER]) == crc,
                "the header is damaged")
        require(1 <= self.bits <= INDEX_MOST_BITS and self.table_bits <= INDEX_MOST_TABLE_BITS
                and 1 <= self.images < 1 << 32, "a number of the header is illegal")
        self.words = -(-self.bits // 64)
        self.layers = [(0, 1)]                  # of each layer its first word and its end
        while self.layers[-1][1] < self.words:
            first = self.layers[-1][1]
            self.layers.append((first, min(2 * first, self.words)))

    # 15.2
    def parts(self, data):
        """A reader of each part; the checksums hold."""
        sizes = {"weights": 2 * len(self.layers), "shares": 8 * len(self.layers),
                 "recalls": 4 * INDEX_EFFORTS, "table": 4 * ((1 << self.table_bits) + 1),
                 "codes": 8 * self.words * self.images, "images": 4 * self.images,
                 "names": self.names_size, "labels": self.labels_size}
        at, parts = INDEX_HEADER, {}
        for what, size in sizes.items():
            parts[what] = Reader(data[at:at + size], what)
            at += size + -size % INDEX_ALIGN
        need(data, at + 4 * len(sizes) + 4)
        r = Reader(data[at:], "trailer")
        sums, crc = r.unpack("%dI" % len(sizes)), r.unpack("I")[0]
        require(crc32c(data[at:at + 4 * len(sizes)]) == crc, "the trailer is damaged")
        r.end()
        for (what, part), crc in zip(parts.items(), sums):
            require(crc32c(part.data) == crc, "the part of " + what + " fails its checksum")
        return parts

    def numbers(self, parts):
        self.weights = parts["weights"].unpack("%dH" % len(self.layers))
        shares = parts["shares"].unpack("%df" % (2 * len(self.layers)))
        self.recalls = parts["recalls"].unpack("%df" % INDEX_EFFORTS)
        self.table = parts["table"].unpack("%dI" % ((1 << self.table_bits) + 1))
        self.image = parts["images"].unpack("%dI" % self.images)
        require(min(self.weights) > 0, "a weight is 0")
        require(all(0 <= x <= INDEX_MOST_SHARE for x in shares), "a share is illegal")
        require(all(0 <= x <= 1 for x in self.recalls), "a recall is illegal")
        require(sorted(self.image) == list(range(self.images)), "images are not each there once")

    # 15.9
    def part_of_set(self, record):
        """The part of a set that it has: N, I, M and the digests; None: it does not say."""
        self.part = None
        if not any(record):
            return
        r = Reader(record, "part of a set")
        crc, parts, both = r.unpack("IIQ")
        number, images = both % MOST_PARTS, both // MOST_PARTS
        require(crc32c(record[4:]) == crc, "the part of a set fails its checksum")
        require(number < parts <= MOST_PARTS and 1 <= images <= MOST_SET,
                "there is no such part of a set")
        require(self.images <= (number + 1) * images // parts - number * images // parts,
                "the part of a set has fewer images")
        self.part = parts, number, images, r.unpack("3Q")

    # 15.3
    def read_codes(self, r):
        """The code at each place, as one number: its first bit is the highest."""
        self.codes = [0] * self.images
        for first, end in self.layers:
            for place in range(self.images):
                for word in r.unpack("%dQ" % (end - first)):
                    self.codes[place] = self.codes[place] << 64 | word

    def check_order(self):
        beyond = (1 << 64 * self.words - self.bits) - 1
        require(not any(code & beyond for code in self.codes), "a code has bits behind its last")
        order = list(zip(self.codes, self.image))
        require(order == sorted(order), "the codes are not in order")
        # 15.4
        unit = 1 << 64 * self.words - self.table_bits
        require(all(below == bisect.bisect_left(self.codes, e * unit)
                    for e, below in enumerate(self.table)), "the table is not that of the codes")

    def query(self, digits):
        """A code and how many of its bits are known, from hexadecimal digits."""
        most, total = -(-self.bits // 4), 64 * self.words
        require(1 <= len(digits) <= most and set(digits) <= set("0123456789abcdefABCDEF"),
                "a query is 1 to %d hexadecimal digits" % most)
        known = min(4 * len(digits), self.bits)
        code = int(digits, 16) << total - 4 * len(digits)
        require(code % (1 << total - known) == 0, "the query has bits behind its last")
        return code, known

    # 15.5
    def distance(self, query, known, place):
        total, differing = 64 * self.words, self.codes[place] ^ query
        differing = differing >> total - known << total - known
        distance = 0
        for weight, (first, end) in zip(self.weights, self.layers):
            layer = differing >> 64 * (self.words - end) & (1 << 64 * (end - first)) - 1
            distance += weight * bin(layer).count("1")
        return distance

    def nearest(self, query, known, k):
        """(distance, image) of the k nearest."""
        found = [(self.distance(query, known, place), image)
                 for place, image in enumerate(self.image)]
        return sorted(found)[:k]

    # 15.6
    def sharing(self, query, depth):
        """Where the codes that share the query's first `depth` bits begin, and where they end."""
        free = 64 * self.words - depth
        low = query >> free << free
        high = low + (1 << free)
        return bisect.bisect_left(self.codes, low), bisect.bisect_left(self.codes, high)

    def neighbourhood(self, query, known, least):
        """Its depth, where it begins, its size."""
        depth, too_deep = 0, known + 1
        while too_deep - depth > 1:
            middle = (depth + too_deep) // 2
            begin, end = self.sharing(query, middle)
            if end - begin >= least:
                depth = middle
            else:
                too_deep = middle
        begin, end = self.sharing(query, depth)
        return depth, begin, end - begin


def need(data, size):
    if len(data) < size:
        raise Incomplete("incomplete index, need %d more bytes" % (size - len(data)))


def printable(name):
    return "".join(c if c.isprintable() else "?" for c in name.decode("utf-8", "replace"))


def print_info(index):
    print("index of %d images, %d bits each, model %016x" % (index.images, index.bits,
                                                             index.model_id))
    print("layers: " + ", ".join(
        "%d bits of weight %d" % (min(64 * end, index.bits) - 64 * first, weight)
        for weight, (first, end) in zip(index.weights, index.layers)))
    print("table by %d bits, best recall measured %g" % (index.table_bits, max(index.recalls)))
    if index.part:
        print("part %d of %d of a set of %d" % (index.part[1] + 1, index.part[0], index.part[2]))
    print("names: %s, labels: %s" % ("no" if index.names is None else "yes",
                                     "no" if index.labels is None else
                                     "of %d classes" % len(index.classes)))


def number_of(text, least, most, what):
    require(text.isdigit() and least <= int(text) <= most, "%s: %d to %d" % (what, least, most))
    return int(text)


def main(arguments):
    verb = arguments[1] if len(arguments) > 1 else ""
    if not (verb == "info" and len(arguments) == 2 or verb == "search" and len(arguments) in (3, 4)
            or verb == "neighbourhood" and len(arguments) == 4):
        print(__doc__.split("\n\n")[1], file=sys.stderr)
        return 2
    with open(arguments[0], "rb") as file:
        index = Index(file.read())
    if verb == "info":
        print_info(index)
        return 0
    query, known = index.query(arguments[2])
    if verb == "neighbourhood":
        least = number_of(arguments[3], 1, index.images, "least")
        print("depth %d first %d size %d" % index.neighbourhood(query, known, least))
        return 0
    k = number_of(arguments[3], 1, index.images, "K") if len(arguments) == 4 else 10
    for distance, image in index.nearest(query, known, k):
        name = "" if index.names is None else "\t" + printable(index.names[image])
        print("%d\t%d%s" % (image, distance, name))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Illegal as problem:
        print("teaching_index.py: %s" % problem, file=sys.stderr)
        sys.exit(4 if isinstance(problem, Incomplete) else 3)
    except BrokenPipeError:
        sys.exit(1)
