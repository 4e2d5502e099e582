#!/usr/bin/env python3
"""mpi_step.py -- steps of training by several processes of MPI against one process, both with one thread a process.

    python3 bench/mpi_step.py TAPER INPUT... [--pairs 5] [--ranks 2] [--kinds dense restoring] >bench/results/mpi-step.jsonl

dense: an autoencoder of 3072-1024 numbers in batches of 10,000 images. restoring: the network of `--restore 24`, of which a step has
four parts. The batches are the same for any number of processes. INPUT: CIFAR-10's five files data_batch_*.bin for the record;
`--epochs 1 --batch 500 --steps 20` tries smaller ones. Runs take turns, one process and then several, each process on a core of its
own (mpirun --bind-to core), so do nothing else on the machine.

Prints JSON lines: the median of the ratio of times in a pair, of seconds an epoch or a step by the learning curve, and of the largest
peak memory of a process. Needs mpirun (Open MPI) and as many cores as ranks. Price: 5 pairs of both kinds on two cores a quarter of an hour.
"""
import argparse
import glob
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile

import record

COMMAND = "python3 bench/mpi_step.py " + " ".join(["TAPER"] + [os.path.basename(word) if os.path.exists(word) else word for word in sys.argv[2:]])


def run_rank(words):
    """One process of mpirun: runs the words and writes its peak memory, in bytes."""
    code = subprocess.run(words, check=False).returncode
    with open("peak-" + os.environ["OMPI_COMM_WORLD_RANK"], "w", encoding="ascii") as peak:
        peak.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024))
    return code


def dense(asked):
    options = "--quick --fast --family dense --window whole -k 1024 --epochs %d --batch %d" % (asked.epochs, asked.batch)
    return {"options": options, "unit": "epoch", "key": "epoch", "inputs": asked.inputs}


def restoring(asked):
    """Learns the network of a model, as the model itself would take longer than the network."""
    subprocess.run([asked.taper, "train", "-q", "-f", "--quick", "--fast", "--window", "8", "-o", "start.tpm", asked.inputs[0]], check=True)
    return {"options": "--quick --from start.tpm --restore 24 --restore-steps %d" % asked.steps, "unit": "step", "key": "restoration_step",
            "inputs": asked.inputs[:1]}


KINDS = {"dense": dense, "restoring": restoring}


def train(asked, kind, ranks):
    """Seconds an epoch or a step, and the peak memory of each rank."""
    for path in glob.glob("peak-*"):
        os.remove(path)
    words = ["mpirun", "--bind-to", "core", "-n", str(ranks), sys.executable, os.path.abspath(__file__), "--rank", asked.taper, "train", "-q",
             "-f", "-T1", *kind["options"].split(), "--log", "log", "-o", "model.tpm", *kind["inputs"]]
    subprocess.run(words, check=True)
    with open("log", encoding="utf-8") as log:
        last = [entry for entry in map(json.loads, log) if kind["key"] in entry][-1]
    peaks = [int(open("peak-%d" % rank, encoding="ascii").read()) for rank in range(ranks)]
    return last["seconds"] / last[kind["key"]], peaks


def measure(asked, name):
    kind = KINDS[name](asked)
    config = {"kind": name, "options": kind["options"], "inputs": [os.path.basename(path) for path in kind["inputs"]], "pairs": asked.pairs,
              "ranks": asked.ranks, "threads": 1}
    one, many = [], []
    for _ in range(asked.pairs):
        one.append(train(asked, kind, 1))
        many.append(train(asked, kind, asked.ranks))
        print(name, "by one", one[-1], "by", asked.ranks, many[-1], file=sys.stderr, flush=True)
    faster = [alone[0] / together[0] for alone, together in zip(one, many)]

    def say(metric, value, unit, **more):
        record.say("mpi_step", metric, value, unit, dict(config, **more), COMMAND)

    say("times_as_fast", round(statistics.median(faster), 3), "", least=round(min(faster), 3), most=round(max(faster), 3))
    for ranks, runs in ((1, one), (asked.ranks, many)):
        say("seconds_a_" + kind["unit"], float("%.4g" % statistics.median(run[0] for run in runs)), "s", processes=ranks)
        say("peak_memory_of_a_process", round(statistics.median(max(run[1]) for run in runs) / 1e6), "MB", processes=ranks)


def main():
    if sys.argv[1:2] == ["--rank"]:
        return run_rank(sys.argv[2:])
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("taper")
    parser.add_argument("inputs", nargs="+")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--batch", type=int, default=10000)
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    asked = parser.parse_args()
    asked.taper, asked.inputs = os.path.realpath(asked.taper), [os.path.realpath(path) for path in asked.inputs]
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_plm_rsh_agent="/bin/false")
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        for name in asked.kinds:
            measure(asked, name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
