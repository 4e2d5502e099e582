#!/usr/bin/env python3
"""Draws bench/results/scale.jsonl: bytes and seconds against the number of images, both axes logarithmic.

    python3 bench/scale_svg.py >bench/results/scale.svg
"""
import json
import math
import os

RECORD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results", "scale.jsonl")
IMAGE = {"layout": "image", "names": "numbers"}
# a panel: title, unit, exponents of the axis, and lines: what, metric, config
PANELS = (
    ("Bytes", "bytes", (3, 11), (
        ("directory", "directory_bytes", IMAGE),
        ("read for one image", "one_read", IMAGE),
        ("memory for one image", "one_memory", IMAGE),
        ("memory, all front matter read", "whole_open_memory", IMAGE),
        ("memory of merge", "merge_memory", {"layout": "image"}),
        ("index of 256 bits", "index_bytes", {"bits": 256}))),
    ("Seconds", "seconds", (-5, 4), (
        ("make the directory", "directory_seconds", IMAGE),
        ("draw one image", "one_seconds", IMAGE),
        ("the same, all front matter read", "whole_open_seconds", IMAGE),
        ("merge ten files", "merge_seconds", {"layout": "image"}),
        ("build the index", "index_seconds", {"bits": 256}),
        ("one query", "query_seconds", {"indexes": 1}))))
COLOURS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b")
LEFT, TOP, WIDE, HIGH, LEGEND = 60, 40, 360, 320, 150
X = (4, 8)


def points(records, metric, config):
    found = {r["config"]["images"]: r["value"] for r in records
             if r["metric"] == metric and all(r["config"].get(k) == v for k, v in config.items())}
    return sorted((n, v) for n, v in found.items() if v > 0)


def panel(records, left, of):
    title, unit, (low, high), lines = of
    out = ['<text x="%d" y="%d" font-weight="bold">%s</text>' % (left, TOP - 16, title)]

    def at(n, v):
        return (left + WIDE * (math.log10(n) - X[0]) / (X[1] - X[0]), TOP + HIGH * (high - math.log10(v)) / (high - low))

    for e in range(low, high + 1):
        y = at(10, 10.0 ** e)[1]
        out.append('<path d="M%d %.1fh%d" stroke="#ddd"/><text x="%d" y="%.1f" text-anchor="end">10<tspan dy="-4" '
                   'font-size="8">%d</tspan></text>' % (left, y, WIDE, left - 4, y + 4, e))
    for e in range(X[0], X[1] + 1):
        x = at(10 ** e, 1)[0]
        out.append('<path d="M%.1f %dv%d" stroke="#ddd"/><text x="%.1f" y="%d" text-anchor="middle">10<tspan dy="-4" '
                   'font-size="8">%d</tspan></text>' % (x, TOP, HIGH, x, TOP + HIGH + 16, e))
    out.append('<text x="%d" y="%d" text-anchor="middle">images</text>' % (left + WIDE / 2, TOP + HIGH + 32))
    for k, (what, metric, config) in enumerate(lines):
        line = [at(*p) for p in points(records, metric, config)]
        path = " ".join("%.1f,%.1f" % p for p in line)
        out.append('<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>' % (path, COLOURS[k]))
        out += ['<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>' % (*p, COLOURS[k]) for p in line]
        y = TOP + HIGH + 52 + 16 * k
        out.append('<path d="M%d %dh20" stroke="%s" stroke-width="2"/><text x="%d" y="%d">%s, %s</text>' %
                   (left, y - 4, COLOURS[k], left + 26, y, what, unit))
    return out


def main():
    with open(RECORD, encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    width, height = 2 * (LEFT + WIDE) + 40, TOP + HIGH + LEGEND
    print('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">' % (width, height))
    print('<rect width="100%" height="100%" fill="white"/>')
    for k, of in enumerate(PANELS):
        print("\n".join(panel(records, LEFT + k * (LEFT + WIDE + 20), of)))
    print("</svg>")


if __name__ == "__main__":
    main()
