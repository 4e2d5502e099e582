#!/usr/bin/env python3
"""What very many images cost: directory, opening, merge, index, at each power of ten.

    python3 bench/scale.py BUILD PART [MOST] [--least N] [--layouts A,B] [--work DIR] [--pictures FILE] [--vectors N]

BUILD is build/opt, with taper and bench/bench_scale. Prints JSON lines; MOST is the greatest number of images
(1e6 unless given), N the least (1e4). Files are made in DIR (a temporary folder unless given), and removed when they were measured.

    open    containers of drawn codes in three layouts: bytes of the directory, then `taper decode` of one image, of
            the file and of nginx on the loopback; and the same with all of the front matter read
    merge   `taper merge` of ten containers, beside `cat` of the same files
    index   an index of drawn codes of 256 bits; one joined of ten; a query
    rates   images a second of one thread: encode, decode, index, train; of pictures in FILE (a CIFAR file)

Memory is the peak of the process, bytes what it read beside programs and libraries. bench_scale.c draws the codes.
"""
import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

POWERS = (4, 5, 6, 7, 8)
LAYOUTS = ("set", "image", "gallery")
BITS = 256
ROOMY = ["--max-images", "4000000000", "--max-memory", "64G"]
os.chdir(os.path.dirname(os.path.abspath(__file__)) + "/..")
COMMIT = subprocess.run(["git", "rev-parse", "--short=8", "HEAD"], capture_output=True, text=True, check=False).stdout.strip()
MACHINE = os.environ.get("TAPER_MACHINE") or next(
    (line.split(":")[1].strip() for line in open("/proc/cpuinfo", encoding="ascii") if line.startswith("model name")), "")


def say(metric, value, unit, **config):
    line = {"bench": "scale", "metric": metric, "value": float("%.6g" % value), "unit": unit, "config": config,
            "commit": COMMIT, "machine": MACHINE, "date": time.strftime("%Y-%m-%d", time.gmtime())}
    print(json.dumps(line, separators=(",", ":")), flush=True)


class Bench:
    def run(self, words, out=None):
        """Seconds, processor time, peak memory and bytes read of a program, and what it says on standard error."""
        got = subprocess.run([self.program, "run"] + words, stdout=out or subprocess.DEVNULL, stderr=subprocess.PIPE,
                             text=True, check=False)
        if got.returncode:
            sys.exit("%s: exit code %d\n%s" % (" ".join(words), got.returncode, got.stderr))
        seconds, cpu, memory, read = map(float, got.stderr.splitlines()[-1].split())
        return {"seconds": seconds, "cpu": cpu, "memory": memory, "read": read, "said": got.stderr}

    def __init__(self, build, work, layouts):
        self.layouts = layouts
        self.taper = build + "/taper"
        self.program = build + "/bench/bench_scale"
        self.work = work
        self.url = None
        self.server = None
        self.idle = self.run([self.taper, "--version"])["read"]

    def path(self, name):
        return os.path.join(self.work, name)

    def drawn(self, words, shown):
        """Run bench_scale and print its figures with this config."""
        found = {}
        text = subprocess.run([self.program, "run", self.program] + words, capture_output=True, text=True, check=False)
        if text.returncode:
            sys.exit("%s: %s" % (" ".join(words), text.stderr))
        for line in map(json.loads, text.stdout.splitlines()):
            found[line["metric"]] = line["value"]
            if shown is not None:
                say(line["metric"], line["value"], line["unit"], **shown)
        return found

    def serve(self):
        """nginx for the work folder, if it is installed."""
        if not shutil.which("nginx"):
            return
        os.makedirs(self.path("nginx"), exist_ok=True)
        port = random.randrange(20000, 50000)
        temporary = " ".join("%s_temp_path %s/%s;" % (kind, self.path("nginx"), kind)
                             for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        with open(self.path("nginx/conf"), "w", encoding="utf-8") as conf:
            conf.write("user root; daemon off; pid %s/pid; error_log %s/error; events {} http { access_log off; %s "
                       "server { listen 127.0.0.1:%d; root %s; } }" %
                       (self.path("nginx"), self.path("nginx"), temporary, port, self.work))
        self.server = subprocess.Popen(["nginx", "-e", self.path("nginx/error"), "-c", self.path("nginx/conf")],
                                       stderr=subprocess.DEVNULL)
        self.url = "http://127.0.0.1:%d/" % port
        time.sleep(1)

    def close(self):
        if self.server:
            self.server.terminate()
            self.server.wait()


def one_image(bench, name, images, shown):
    """Draw one image in the last tenth, of the file and of the server; the middle one of five is told."""
    i = images * 95 // 100 + 7
    words = ["-i", str(i), "-f", "-o", bench.path("x.png")]
    tries = [bench.run([bench.taper, "decode", "-q"] + ROOMY + words + [bench.path(name)]) for _ in range(5)]
    of_file = sorted(tries, key=lambda t: t["cpu"])[2]
    say("one_read", of_file["read"] - bench.idle, "bytes", **shown)
    say("one_memory", of_file["memory"], "bytes", **shown)
    say("one_seconds", min(t["seconds"] for t in tries), "s", **shown)
    if bench.url:
        got = bench.run([bench.taper, "decode", "-v"] + ROOMY + words + [bench.url + name])
        line = next(l for l in got["said"].splitlines() if " request" in l)
        say("one_requests", int(line.split(" request")[0].split()[-1]), "requests", **shown)
        say("one_fetched", int(line.split(" bytes")[0].split()[-1]), "bytes", **shown)
        say("one_fetched_memory", got["memory"], "bytes", **shown)
    bench.drawn(["check", bench.path(name), str(i - 1)], shown)


def part_open(bench, powers, _):
    bench.serve()
    kinds = [(layout, "numbers") for layout in LAYOUTS] + [("image", "none"), ("image", "hashes")]
    for power in powers:
        for layout, names in kinds:
            images = 10 ** power
            if (images > 10 ** 6 and names != "numbers") or (images > 10 ** 7 and layout != "image"):
                continue
            if layout not in bench.layouts:
                continue
            shown = {"layout": layout, "names": names, "images": images}
            bench.drawn(["container", layout, names, str(images), bench.path("set.taper")], shown)
            one_image(bench, "set.taper", images, shown)
            os.remove(bench.path("set.taper"))


def part_merge(bench, powers, _):
    for power in powers:
        for layout in ("set", "image"):
            images = 10 ** power
            if layout not in bench.layouts:
                continue
            shown = {"layout": layout, "images": images, "shards": 10}
            shards = [bench.path("%d.taper" % k) for k in range(10)]
            for k, shard in enumerate(shards):
                bench.drawn(["container", layout, "numbers", str(images // 10), shard, str(k * images // 10)], None)
            say("merge_input_bytes", sum(map(os.path.getsize, shards)), "bytes", **shown)
            with open(bench.path("copy"), "wb") as copy:
                got = bench.run(["cat"] + shards, copy)
            say("copy_seconds", got["seconds"], "s", **shown)
            os.remove(bench.path("copy"))
            got = bench.run([bench.taper, "merge", "-q", "-f"] + ROOMY + ["-o", bench.path("all.taper")] + shards)
            for metric, unit in (("seconds", "s"), ("cpu", "s"), ("memory", "bytes")):
                say("merge_" + metric, got[metric], unit, **shown)
            for file in shards + [bench.path("all.taper")]:
                os.remove(file)


def part_index(bench, powers, most):
    for power in powers:
        images = 10 ** power
        shown = {"images": images, "bits": BITS}
        file = bench.path("one.tpx")
        bench.drawn(["index", str(images), str(BITS), file], shown)
        bench.drawn(["join", "-", file], dict(shown, indexes=1))
        if images * 10 <= most:
            joined = bench.path("all.tpx")
            bench.drawn(["join", joined] + [file] * 10, {"images": images * 10, "bits": BITS, "indexes": 10})
            os.remove(joined)
        os.remove(file)


def part_rates(bench, pictures, vectors):
    """One thread. Encoding also to a limit of 151 bytes an image, about 30 dB."""
    size = os.path.getsize(pictures) // 3073
    file, out = bench.path("rates.taper"), bench.path("rates")
    for kind, words in (("default", []), ("151 bytes", ["--bytes-per-image", "151"])):
        got = bench.run([bench.taper, "encode", "-q", "-f", "--threads", "1", "-m", "tiny", "-o", file] + words + [pictures])
        say("encode_rate", size / got["cpu"], "images/s", quality=kind)
        say("encoded_bytes", os.path.getsize(file) / size, "bytes/image", quality=kind)
        got = bench.run([bench.taper, "decode", "-q", "-f", "--threads", "1", "-o", out + ".idx", file])
        say("decode_rate", size / got["cpu"], "images/s", quality=kind)
    bits = bench.path("bits.tpm")
    bench.run([bench.taper, "train-bits", "-q", "-o", bits, "--independent", "-w", "whole", "-k", str(BITS), pictures])
    got = bench.run([bench.taper, "index", "-q", "-f", "--threads", "1", "-m", bits, "-o", bench.path("x.tpx"), pictures])
    say("index_rate", size / got["cpu"], "images/s", bits=BITS)
    part = bench.path("train.bin")
    with open(pictures, "rb") as whole, open(part, "wb") as to:
        to.write(whole.read(3073 * vectors))
    base = [bench.taper, "train", "-q", "-f", "--threads", "1", "-o", bench.path("x.tpm"), "--family", "dense", "-w", "whole",
            "-k", "1024", "--hidden", "1024", "--batch", "1000"]
    times = [bench.run(base + ["--epochs", str(epochs), part])["cpu"] for epochs in (1, 5)]
    say("train_rate", 4 * vectors / (times[1] - times[0]), "images/s", learner="dense 3072-1024-1024-3072, an epoch")


def main():
    words = argparse.ArgumentParser()
    words.add_argument("build")
    words.add_argument("part", choices=("open", "merge", "index", "rates"))
    words.add_argument("most", nargs="?", type=float, default=1e6)
    words.add_argument("--least", type=float, default=1e4)
    words.add_argument("--layouts", default=",".join(LAYOUTS))
    words.add_argument("--work")
    words.add_argument("--pictures")
    words.add_argument("--vectors", type=int, default=8000)
    given = words.parse_args()
    powers = [p for p in POWERS if given.least <= 10 ** p <= given.most]
    with tempfile.TemporaryDirectory(dir=given.work) as work:
        os.chmod(work, 0o755)
        bench = Bench(os.path.abspath(given.build), work, given.layouts.split(","))
        try:
            if given.part == "rates":
                part_rates(bench, given.pictures, given.vectors)
            else:
                {"open": part_open, "merge": part_merge, "index": part_index}[given.part](bench, powers, given.most)
        finally:
            bench.close()


if __name__ == "__main__":
    main()
