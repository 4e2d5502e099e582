#!/usr/bin/env python3
"""killed_ranks.py -- training by MPI whose processes are killed at random, and resumed: is it the same model?

    python3 bench/killed_ranks.py TAPER [INPUT...] [--times 20] [--ranks 2] [--kinds dense conv] >bench/results/killed-ranks.jsonl

Each kind of model is trained once without a break. Then, --times times: it is started; one rank, drawn at random, gets SIGKILL; it is
resumed; in half of the runs that is killed again, once or twice; the last is left to its end. The model and the checkpoints at the
end must be the same bytes as those of the run without a break. A kill comes at a moment drawn from the length of that run; or while
a checkpoint is written, drawn from all of them; or when a checkpoint has just been written. `mpirun` must end with a code that is
not 0 and a sentence; a model that is there after a kill must be the whole one. --others runs are resumed by another number of ranks, whose model differs by rounding: the
losses at its end must be near.

Without INPUT, drawn letters and scenes. Prints JSON lines. Exit code 1: something was not as it must be. Needs mpirun (Open MPI).
Price: runs of 6 to 10 s, two to four of them for each time: twenty minutes for 20 times and both kinds on two processors.
"""
import argparse
import glob
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import record

DENSE = "--family dense --window whole --units 8 --hidden 256,128 --quality 12,22 --epochs 60 --batch 64 --conditional 8 --predict-epochs 40"
CONV = "--family conv --window 8 --units 16 --head 8 --predict-epochs 20 --restore 8 --restore-steps 64"
KINDS = {"dense": ("letters", DENSE), "conv": ("scenes", CONV)}
WAYS = ("moment", "moment", "writing", "written")
NEAR = 1e-3
COMMAND = "python3 bench/killed_ranks.py " + " ".join(["TAPER"] + sys.argv[2:])


class Run:
    """One start of mpirun in a folder. Files: model.tpm, run and run.* (checkpoints), log."""

    def __init__(self, job, folder, ranks, resume):
        words = ["mpirun", "--bind-to", "none", "-n", str(ranks), job["taper"], "train", "-q", "-f", "--quick", "-T1", *job["options"].split(),
                 "--checkpoint", "run", "--log", "log", "-o", "model.tpm", *job["inputs"]]
        with open(os.path.join(folder, "said"), "wb") as said:
            self.process = subprocess.Popen(words + ["--resume"] * resume, cwd=folder, stdout=said, stderr=said)
        self.folder, self.ranks = folder, ranks

    def is_over(self):
        return self.process.poll() is not None

    def pids(self):
        """Of the ranks, in their order; shorter while they start."""
        found = {}
        children = "/proc/%d/task/%d/children" % (self.process.pid, self.process.pid)
        try:
            for pid in open(children, encoding="ascii").read().split():
                for word in open("/proc/%s/environ" % pid, "rb").read().split(b"\0"):
                    if word.startswith(b"OMPI_COMM_WORLD_RANK="):
                        found[int(word.split(b"=")[1])] = int(pid)
        except OSError:
            pass  # mpirun or a rank has just ended
        return [found[rank] for rank in sorted(found)]

    def begin(self):
        """Waits until all ranks are there."""
        while len(self.pids()) < self.ranks and not self.is_over():
            time.sleep(0.002)
        return self.pids()

    def finish(self):
        code = self.process.wait()
        with open(os.path.join(self.folder, "said"), encoding="utf-8", errors="replace") as said:
            return code, said.read()


def temporary(folder):
    """Checkpoints that are being written, or were when their process was killed."""
    return {name for name in os.listdir(folder) if name.startswith(".taper-")}


def checkpoints(folder):
    """Each checkpoint's identity, which another one does not have."""
    there = {}
    for path in glob.glob(os.path.join(folder, "run*")):
        try:
            there[os.path.basename(path)] = (os.stat(path).st_ino, os.stat(path).st_mtime_ns)
        except FileNotFoundError:
            pass
    return there


def wait_for_change(run, look, number):
    """Until what `look` finds has changed so many times, changes to nothing not counted."""
    before = look(run.folder)
    while number and not run.is_over():
        now = look(run.folder)
        number -= bool(now) and now != before
        before = now


def wait_for_moment(run, way, draw, whole):
    """whole: seconds and number of checkpoints of the run without a break."""
    if way == "moment":
        end = time.monotonic() + draw.uniform(0, whole["seconds"])
        while time.monotonic() < end and not run.is_over():
            time.sleep(0.001)
    else:
        look = temporary if way == "writing" else checkpoints
        wait_for_change(run, look, draw.randint(1, max(1, whole["checkpoints"] * 3 // 4)))


def kill_one(run, way, draw, whole):
    """None if the run was over before. Otherwise what was killed and how the others ended."""
    model = os.path.join(run.folder, "model.tpm")
    pids = run.begin()
    rank = draw.randrange(run.ranks)
    left = temporary(run.folder)
    if len(pids) == run.ranks:
        wait_for_moment(run, way, draw, whole)
    if run.is_over() or len(pids) < run.ranks:
        return None
    killed = time.monotonic()
    try:
        os.kill(pids[rank], signal.SIGKILL)
    except ProcessLookupError:  # it has ended
        run.finish()
        return None
    code, said = run.finish()
    if code == 0:
        return None  # it had done its work
    has_model = os.path.exists(model)
    is_whole = not has_model or open(model, "rb").read() == whole["files"]["model.tpm"]
    return {"rank": rank, "way": way, "seconds": time.monotonic() - killed, "after": has_model,
            "right": is_whole and ("signal 9" in said or "taper train: " in said),
            "cut": bool(temporary(run.folder) - left), "first": not checkpoints(run.folder)}


def content(folder):
    """Bytes of the model and of the checkpoints."""
    files = ["model.tpm"] + sorted(os.path.basename(path) for path in glob.glob(os.path.join(folder, "run*")))
    return {name: open(os.path.join(folder, name), "rb").read() for name in files}


def losses(folder):
    """The figures of the last entry of each kind in the log; the last entry counts after a resume."""
    last = {}
    for line in open(os.path.join(folder, "log"), encoding="utf-8"):
        entry = json.loads(line)
        last[tuple(sorted(entry))] = {key: value for key, value in entry.items() if isinstance(value, float) and "second" not in key}
    return last


def train_whole(job, folder, ranks):
    """The run without a break, and its length in seconds and checkpoints."""
    os.mkdir(folder)
    begun, number, seen = time.monotonic(), 0, {}
    run = Run(job, folder, ranks, False)
    while not run.is_over():
        now = checkpoints(folder)
        number += now != seen
        seen = now
        time.sleep(0.001)
    code, said = run.finish()
    if code:
        sys.exit("the run without a break failed:\n" + said)
    return {"seconds": time.monotonic() - begun, "checkpoints": number, "files": content(folder), "losses": losses(folder)}


def train_killed(job, folder, draw, whole, ranks, last_ranks):
    """A run that is killed once to three times. Returns the kills."""
    kills = []
    wanted = draw.choice((1, 1, 2, 3))
    while True:
        if not kills:  # also when one was over before its kill
            shutil.rmtree(folder, ignore_errors=True)
            os.mkdir(folder)
        run = Run(job, folder, ranks, bool(kills))
        kill = kill_one(run, draw.choice(WAYS), draw, whole)
        if kill:
            kills.append(kill)
        if kills and (not kill or len(kills) == wanted):
            break
    if kill or ranks != last_ranks:
        run = Run(job, folder, last_ranks, True)
    code, said = run.finish()
    if code:
        sys.exit("it could not be resumed:\n" + said)
    return kills


def are_near(one, other):
    return one.keys() == other.keys() and all(abs(value - other[kind][key]) <= NEAR * abs(value)
                                              for kind, entry in one.items() for key, value in entry.items())


def report(kind, job, ranks, runs, others, whole):
    """Prints the figures; returns 1 if one is not as it must be."""
    config = {"kind": kind, "ranks": ranks, "runs": len(runs), "options": job["options"], "inputs": job["named"],
              "whole_seconds": round(whole["seconds"], 1), "checkpoints": whole["checkpoints"]}
    kills = [kill for run in runs + others for kill in run["kills"]]
    number = {"same_model": sum(run["model"] for run in runs), "same_checkpoints": sum(run["checkpoints"] for run in runs),
              "killed_more_than_once": sum(len(run["kills"]) > 1 for run in runs), "near_by_other_ranks": sum(run["near"] for run in others),
              "kills": len(kills), "kills_of_rank_0": sum(not kill["rank"] for kill in kills),
              "kills_before_a_checkpoint": sum(kill["first"] for kill in kills),
              "kills_that_cut_a_checkpoint": sum(kill["cut"] for kill in kills),
              "kills_after_the_model": sum(kill["after"] for kill in kills),
              "ended_with_code_and_sentence": sum(kill["right"] for kill in kills)}
    for metric, value in number.items():
        record.say("killed_ranks", metric, value, "", dict(config, others=len(others)), COMMAND)
    record.say("killed_ranks", "most_seconds_to_end", round(max(kill["seconds"] for kill in kills), 2), "s", config, COMMAND)
    return not (number["same_model"] == number["same_checkpoints"] == len(runs) and number["near_by_other_ranks"] == len(others) and
                number["ended_with_code_and_sentence"] == len(kills))


def measure(kind, job, asked, draw):
    whole = train_whole(job, kind, asked.ranks)
    runs, others = [], []
    for number in range(asked.times + asked.others):
        is_other = number >= asked.times
        folder = "%s-%d" % (kind, number)
        last_ranks = draw.choice([n for n in (1, 2, 3) if n != asked.ranks]) if is_other else asked.ranks
        kills = train_killed(job, folder, draw, whole, asked.ranks, last_ranks)
        files = content(folder)
        run = {"kills": kills, "model": files["model.tpm"] == whole["files"]["model.tpm"], "checkpoints": files == whole["files"],
               "near": are_near(whole["losses"], losses(folder))}
        print(folder, "by", last_ranks, run, file=sys.stderr, flush=True)
        (others if is_other else runs).append(run)
    return report(kind, job, asked.ranks, runs, others, whole)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("taper")
    parser.add_argument("inputs", nargs="*")
    parser.add_argument("--times", type=int, default=20)
    parser.add_argument("--others", type=int, default=3)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    asked = parser.parse_args()
    os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1")
    taper = os.path.realpath(asked.taper)
    inputs, bad = [os.path.realpath(path) for path in asked.inputs], 0
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        samples = os.path.join(os.path.dirname(taper), "make_samples")
        for kind in asked.kinds:
            name, options = KINDS[kind]
            if not inputs:
                subprocess.run([samples, name, name, "--count", "520" if name == "letters" else "2"], check=True, stdout=subprocess.DEVNULL)
            job = {"taper": taper, "options": options, "inputs": inputs or [os.path.join(work, name, "png" if name == "letters" else "")],
                   "named": [os.path.basename(path) for path in inputs] or [name]}
            bad |= measure(kind, job, asked, random.Random("%d %s" % (asked.seed, kind)))
    return bad


if __name__ == "__main__":
    sys.exit(main())
