#!/usr/bin/env python3
"""How much longer scikit-learn's NCA takes than ours to the same objective.

    python3 bench/embedding_ratios.py RUNS...         (embedding_ratios.sh calls it)

RUNS: files of JSON lines, each a run of embedding_sklearn.py and one of bench_linear_nca learn beside it. Prints, for
the objectives that scikit-learn has after some of its iterations, metric `sklearn_over_taper`: the median over RUNS of
its seconds over ours, ours being those of the first step that has reached that objective. Its config has the seconds of
both, run by run, and BENCH_LOAD, the machine's load before each run.
"""
import json
import os
import statistics
import sys

AFTER = [5, 10, 20, 30, 40, 50]


def read(path):
    """Lines of objectives: theirs and ours, as they came."""
    with open(path, encoding="utf-8") as file:
        lines = [line for line in map(json.loads, file) if line["metric"] == "objective"]
    theirs = [line for line in lines if line["config"]["method"] == "sklearn-nca"]
    ours = [line for line in lines if line["config"]["method"] == "nca"]
    if not theirs or not ours:
        sys.exit(f"embedding_ratios: {path} has not both runs")
    return theirs, ours


def compare(pairs, iteration):
    """The line of one iteration, or None where either is not there in each run."""
    seconds, evaluations, objective = [], [], 0.0
    for theirs, ours in pairs:
        at = [line for line in theirs if line["config"]["iteration"] == iteration]
        if not at:
            return None
        objective = at[0]["value"]
        reached = [line for line in ours if line["value"] >= objective]
        if not reached:
            return None
        seconds.append((at[0]["config"]["seconds"], reached[0]["config"]["seconds"]))
        evaluations = [at[0]["config"]["evaluations"], reached[0]["config"]["evaluations"]]
    first = pairs[0][1][0]
    config = {key: first["config"][key] for key in ("method", "optimiser", "rows", "dims", "start", "threads")}
    config.update(objective=objective, after_sklearn_iterations=iteration, runs=len(pairs),
                  sklearn_seconds=[s[0] for s in seconds], seconds=[s[1] for s in seconds],
                  sklearn_evaluations=evaluations[0], evaluations=evaluations[1],
                  sklearn=pairs[0][0][0]["config"]["version"], load=os.environ.get("BENCH_LOAD", ""))
    value = round(statistics.median(s[0] / s[1] for s in seconds), 2)
    return {"bench": "embedding/speed", "metric": "sklearn_over_taper", "value": value, "unit": "x", "config": config,
            "commit": first["commit"], "machine": first["machine"], "command": "embedding_ratios.sh"}


def main(paths):
    pairs = [read(path) for path in paths]
    for iteration in AFTER:
        line = compare(pairs, iteration)
        if line:
            print(json.dumps(line, separators=(",", ":")))


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: embedding_ratios.py RUNS...")
    main(sys.argv[1:])
