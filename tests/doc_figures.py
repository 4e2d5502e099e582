#!/usr/bin/env python3
"""Compares the figures of documents with the records in bench/results/.

    python3 tests/doc_figures.py [FILE.md ...]     default: README.md, docs/*.md; prints what is wrong

A comment before a table says which record each row and column shows:

    <!-- figures rd.jsonl bench=rd/cifar10 accounting=file
    columns: - | psnr_db=25 | psnr_db=30
    allocation=even
    allocation=mean
    -->

The first line holds for the whole table, each further line for one row of the table, `columns:` for
each column. The words of the three are joined, in this order. A row line with `|` has words of its
own for each cell instead. Words mean:

    NAME.jsonl, NAME.csv   the file, below bench/results/; the words before it do not count
    KEY=VALUE              only records whose field, or field of config, has this value
    KEY~NUMBER             curves: interpolate between the two records around it, log of the result
    @FIELD                 the field that is shown; several: any of them; default: value
    *NUMBER                the unit: what is shown is the record times this
    mean                   the mean over the matching records, of several seeds for example
    -                      not checked: a label, or a setting

Every number of a checked cell must be that of a matching record, rounded to the digits shown.
One figure in the text is claimed by a comment anywhere in the page:

    <!-- figure 29.66: training-pays.jsonl start=photo -->

In docs/benchmarks.md every table must have such a comment, or <!-- no figures --> before it.
"""
import csv
import glob
import json
import math
import os
import re
import shlex
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
NUMBER = re.compile(r"(?<![\w.])[-+]?\d{1,3}(?:,\d{3})+(?!\d)|(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e-?\d+)?")
loaded = {}


def records(name):
    """The records of a file as flat dictionaries."""
    if name not in loaded:
        with open(os.path.join(ROOT, "bench/results", name), encoding="utf-8") as file:
            if name.endswith(".csv"):
                loaded[name] = list(csv.DictReader(file))
            else:
                lines = [json.loads(line) for line in file if line.strip()]
                loaded[name] = [{**line, **line.get("config", {})} for line in lines]
    return loaded[name]


def number(value):
    try:
        return float(value)
    except (TypeError, ValueError):
        return None


def same(field, wanted):
    a, b = number(field), number(wanted)
    return a == b if a is not None and b is not None else str(field) == wanted


class Claim:
    """What the words of a comment ask for."""

    def __init__(self, words):
        self.file, self.filters, self.between, self.fields = None, {}, None, []
        self.unit, self.is_mean = 1.0, False
        for word in words:
            if word == "mean":
                self.is_mean = True
            elif word.startswith("@"):
                self.fields.append(word[1:])
            elif re.fullmatch(r"\*[\d.e+-]+", word):
                self.unit = float(word[1:])
            elif "=" in word:
                key, _, value = word.partition("=")
                self.filters[key] = value
            elif "~" in word:
                self.between = word.split("~")
            elif word.endswith((".jsonl", ".csv")):
                self.__init__(())
                self.file = word
            else:
                raise ValueError("a word that means nothing: " + word)

    def values(self):
        found = [r for r in records(self.file) if all(same(r.get(k), v) for k, v in self.filters.items())]
        fields = self.fields or ["value"]
        if self.between:
            return interpolate(found, fields[0], self.between[0], float(self.between[1]), self.unit)
        values = [number(r.get(f)) for r in found for f in fields]
        values = [v * self.unit for v in values if v is not None]
        return [sum(values) / len(values)] if self.is_mean and values else values


def interpolate(found, field, key, at, unit):
    points = sorted((float(r[key]), math.log(float(r[field]))) for r in found)
    for (x0, y0), (x1, y1) in zip(points, points[1:]):
        if x0 <= at <= x1:
            return [unit * math.exp(y0 + (y1 - y0) * (at - x0) / (x1 - x0))]
    return []


def is_shown(text, values):
    shown = float(text.replace(",", ""))
    digits = len(text.partition(".")[2]) if "e" not in text else 12
    return any(abs(v - shown) <= 0.5 * 10**-digits * (1 + 1e-9) + 1e-12 for v in values)


def check_cell(cell, words, say):
    """How many figures of the cell were checked."""
    texts = NUMBER.findall(cell)
    if not texts or "-" in words:
        return 0
    try:
        claim = Claim(words)
        values = claim.values()
    except (ValueError, OSError, TypeError) as error:
        say("%s: %s" % (" ".join(words), error))
        return 0
    for text in texts:
        if not is_shown(text, values):
            say("%s in no record of: %s; there: %s" % (text, " ".join(words), values[:6]))
    return len(texts)


def cells(line):
    return [c.strip() for c in line.strip().strip("|").split("|")]


def read_table(lines, at):
    """The rows of the table that begins at line `at` or behind blank lines, without its head."""
    while at < len(lines) and not lines[at].strip():
        at += 1
    end = at
    while end < len(lines) and lines[end].startswith("|"):
        end += 1
    return at, [(n, cells(lines[n])) for n in range(at + 2, end)]


def check_table(name, comment, lines, after):
    """Figures that were checked; faults are printed."""
    head, *rest = [line for line in comment if line.strip()]
    columns = [c.strip() for c in rest[0].partition(":")[2].split("|")] if rest else []
    rows, faults, checked = rest[1:], [], 0
    start, table = read_table(lines, after)
    if len(table) != len(rows):
        faults.append("%s:%d: %d rows in the table, %d in its comment"
                      % (name, start + 1, len(table), len(rows)))
    for (line, row), words in zip(table, rows):
        if len(row) != len(columns):
            faults.append("%s:%d: %d cells, %d columns in the comment"
                          % (name, line + 1, len(row), len(columns)))
        own = [" ".join((head, words, column)) for column in columns]
        if "|" in words:
            own = words.split("|")
        for cell, wanted in zip(row, own):
            say = lambda what, line=line: faults.append("%s:%d: %s" % (name, line + 1, what))
            checked += check_cell(cell, shlex.split(wanted), say)
    return start, checked, faults


def check_text(name, comment, text):
    claim = comment.strip()
    shown, _, words = claim.partition(":")
    if not re.search(r"(?<![\d.])" + re.escape(shown.strip()) + r"(?!\d)", text):
        return 0, ["%s: %s is claimed but not shown" % (name, shown)]
    faults = []
    return check_cell(shown, shlex.split(words), lambda what: faults.append(name + ": " + what)), faults


def check(path):
    with open(path, encoding="utf-8") as file:
        whole = file.read()
    name, lines = os.path.relpath(path, ROOT), whole.split("\n")
    text = re.sub(r"<!--.*?-->", "", whole, flags=re.S)
    checked, faults, known, at = 0, [], set(), 0
    while at < len(lines):
        found = re.match(r"<!-- (figures?) (.*)", lines[at])
        if found:
            comment = [found.group(2)]
            while "-->" not in comment[-1]:
                at += 1
                comment.append(lines[at])
            comment[-1] = comment[-1].partition("-->")[0]
            if found.group(1) == "figures":
                start, n, wrong = check_table(name, comment, lines, at + 1)
                known.add(start)
            else:
                n, wrong = check_text(name, comment[0], text)
            checked, faults = checked + n, faults + wrong
        at += 1
    if name == "docs/benchmarks.md":
        for n, line in enumerate(lines):
            is_known = n - 1 in known or "<!-- no figures" in lines[n - 2]
            if line.startswith("|--") and not is_known:
                faults.append("%s:%d: a table without a comment that names its records" % (name, n))
    return checked, faults


def main():
    pages = [os.path.join(ROOT, "README.md")] + sorted(glob.glob(os.path.join(ROOT, "docs/*.md")))
    paths = sys.argv[1:] or pages
    checked, faults = 0, []
    for path in paths:
        n, wrong = check(path)
        checked, faults = checked + n, faults + wrong
    for fault in faults:
        print(fault)
    print("%d figures compared with records, %d wrong" % (checked, len(faults)))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
