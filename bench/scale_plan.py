#!/usr/bin/env python3
"""Bytes, hours and money for large sets, from the unit costs in bench/results/scale.jsonl.

    python3 bench/scale_plan.py [KEY=VALUE ...]     prints JSON lines, as bench/results/scale-plan.jsonl has them

KEY=VALUE replaces a price or an assumption below: core_hour=0.02 cores=1000 images=1e9.
"""
import json
import math
import os
import sys

# Dollars, round numbers of November 2026: no offer of anybody. The reader replaces them.
GIVEN = {"core_hour": 0.04, "gpu_hour": 3.0, "gb_month": 0.02, "gb_sent": 0.08, "cores": 256, "file_images": 1e8,
         "gpu_cores": 500}
SETS = (8e7, 1e10)
RECORD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "results", "scale.jsonl")


def read():
    with open(RECORD, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def unit(records, metric, **config):
    """The value of the only record of this metric with this config."""
    found = [r["value"] for r in records if r["metric"] == metric and all(r["config"].get(k) == v for k, v in config.items())]
    if len(found) != 1:
        sys.exit("%s %s: %d records" % (metric, config, len(found)))
    return found[0]


def plan(records, given, n):
    large = 10 ** 7
    each = {
        "container": unit(records, "encoded_bytes", quality="151 bytes"),
        "directory": unit(records, "directory_bytes", images=large, layout="image", names="numbers") / large,
        "index": unit(records, "index_bytes", images=large) / large,
        "encode": 1 / unit(records, "encode_rate", quality="151 bytes"),
        "decode": 1 / unit(records, "decode_rate", quality="151 bytes"),
        "train": 1 / unit(records, "train_rate"),
        "make_index": 1 / unit(records, "index_rate"),
        "merge": unit(records, "merge_cpu", images=large, layout="image") / large,
        "query": unit(records, "query_cpu", images=large, indexes=1) / large,
    }
    fetched = unit(records, "one_fetched", images=large, layout="image", names="numbers")
    hours = {k: each[k] * n / 3600 for k in ("encode", "decode", "train", "make_index", "merge")}
    gigabytes = {k: each[k] * n / 1e9 for k in ("container", "directory", "index")}
    yield "files", math.ceil(n / given["file_images"]), "files"
    for what, value in gigabytes.items():
        yield what + "_bytes", value, "GB"
    for what, value in hours.items():
        yield "core_hours_" + what, value, "core hours"
    yield "work_hours", (hours["encode"] + hours["make_index"] + hours["merge"]) / given["cores"], "h"
    yield "query_seconds", each["query"] * n, "core seconds"
    for what in ("encode", "make_index", "merge", "decode", "train"):
        yield "dollars_" + what, hours[what] * given["core_hour"], "$"
    yield "train_gpu_dollars", hours["train"] / given["gpu_cores"] * given["gpu_hour"], "$"
    stored = gigabytes["container"] + gigabytes["index"]
    yield "month_dollars", stored * given["gb_month"], "$"
    yield "sent_dollars", gigabytes["container"] * given["gb_sent"], "$"
    yield "drawn_dollars", fetched * 1e6 / 1e9 * given["gb_sent"], "$"


def main():
    given, sets = dict(GIVEN), SETS
    for word in sys.argv[1:]:
        key, _, value = word.partition("=")
        if key == "images":
            sets = (float(value),)
        elif key in given:
            given[key] = float(value)
        else:
            sys.exit("scale_plan.py: unknown: %s; there are images, %s" % (word, ", ".join(given)))
    records = read()
    for n in sets:
        for metric, value, what in plan(records, given, n):
            line = {"bench": "scale-plan", "metric": metric, "value": float("%.4g" % value), "unit": what,
                    "config": {"images": int(n)}}
            print(json.dumps(line, separators=(",", ":")))


if __name__ == "__main__":
    main()
