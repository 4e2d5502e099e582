#!/usr/bin/env python3
"""spec_examples.py -- is formats/SPEC.md true?

    python3 spec_examples.py ROOT DIR

Compares SPEC.md's constants with the C sources and with teaching_decoder.py or teaching_index.py,
and its tables with the former, and writes the files of its hex dumps into DIR.
"""
import glob
import os
import re
import sys


def number(text, names):
    """A constant of the C sources: numbers, names known before, * << + - ."""
    words = re.findall(r"\w+|<<|[-+*]", text.split("/*")[0])
    return eval(" ".join(word if not word[0].isalpha() else str(names[word]) for word in words))


def check_constants(spec, root, decoder, index):
    rows = re.findall(r"^\| `(\w+)` \| (\d+) \|.*\| `(\w+)` (\S+) \|$", spec, re.M)
    names = {}
    for name, value, c_name, file in rows:
        paths = [path for floor in ("formats", "codec")
                 for path in glob.glob(os.path.join(root, floor, "**", file), recursive=True)]
        found = [re.search(r"\b%s\s*=\s*([^,;}]+)" % c_name, open(path).read()) for path in paths]
        if sum(map(bool, found)) != 1:
            sys.exit("%s has no %s" % (file, c_name))
        names[c_name] = number(next(filter(None, found)).group(1), names)
        reader = index if name.startswith("INDEX_") else decoder
        if int(value) != names[c_name] or int(value) != getattr(reader, name):
            sys.exit("%s: SPEC.md says %s, %s %d, %s.py %d"
                     % (name, value, file, names[c_name], reader.__name__, getattr(reader, name)))
    return len(rows)


def flat(value):
    return [x for v in value for x in flat(v)] if isinstance(value, tuple) else [value]


def check_tables(spec, decoder):
    tables = re.findall(r"^```table (\w+)\n(.*?)^```", spec, re.M | re.S)
    for name, numbers in tables:
        if [int(n) for n in numbers.split()] != flat(getattr(decoder, name)):
            sys.exit("table %s of SPEC.md is not that of teaching_decoder.py" % name)
    return len(tables)


def dump_bytes(text):
    """What a line of a dump stands for: pairs of digits, or `00 * N`."""
    byte, _, times = text.partition("*")
    return bytes.fromhex(byte) * int(times or 1)


def write_dumps(spec, folder):
    dumps = re.findall(r"^```hexdump (\S+)\n(.*?)^```", spec, re.M | re.S)
    for name, lines in dumps:
        data = b""
        for line in lines.splitlines():
            at, digits = re.match(r"([0-9a-f]{2,3})  ((?:[0-9a-f]{2} )+(?:\* \d+ )?) ",
                                  line).groups()
            if int(at, 16) != len(data):
                sys.exit("%s: offset %s should be %x" % (name, at, len(data)))
            data += dump_bytes(digits)
        with open(os.path.join(folder, name), "wb") as out:
            out.write(data)
    return len(dumps)


def main(root, folder):
    sys.dont_write_bytecode = True      # leave no __pycache__ in the repository
    sys.path.insert(0, os.path.join(root, "formats"))
    import teaching_decoder
    import teaching_index
    spec = open(os.path.join(root, "formats", "SPEC.md")).read()
    counts = (check_constants(spec, root, teaching_decoder, teaching_index),
              check_tables(spec, teaching_decoder), write_dumps(spec, folder))
    print("%d constants, %d tables, %d dumps" % counts)
    if not all(counts):
        sys.exit("SPEC.md has lost its constants, tables or dumps")


main(*sys.argv[1:])
