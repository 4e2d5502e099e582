#!/usr/bin/env python3
"""speed.py -- instructions, times and memory of coding and searching, against a build from before.

    python3 bench/speed.py BUILD_DIR KODAK CIFAR [--before PROGRAM --called COMMIT] >bench/results/speed.jsonl

KODAK has kodim05.png, for the part large its other images, CIFAR the binary batches of CIFAR-10 (.bin or .bin.xz). --parts: some of decode, cifar, threads,
large, rivals, memory, encode, load, search, scaled. Each program decodes what it encoded: equal bytes.

Instructions are those that callgrind counts, one thread, by the kernels for AVX2: valgrind has no AVX-512. A stage's are
those below one function. They repeat to 0.1 %. Times are the least of --rounds runs, in turn with the rival's. Ratios of
processor time hold where the machine does other work, too; a second thread gains only where a processor is idle.

Needs valgrind and, for the parts rivals and large, ImageMagick and openjp2-tools, libjxl-tools, webp, libjpeg-turbo-progs (Debian):
what is missing is left out. Price: 6 minutes, some 15 beside other work, 0.5 GB of disk."""
import argparse
import functools
import glob
import lzma
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import record

BPP = ("1", "0.25")
STAGES = {"entropy decoding": "codec_chunk_decode", "restoration": "codec_restoration_apply", "windows": "render_block"}
COMMAND = "python3 bench/speed.py build/opt KODAK CIFAR --before PROGRAM"
RECORD, IMAGES, COUNTED, IMAGE_BYTES = 3073, 1000, 200, 150 # a thousand images would take minutes to count
# name, suffix, encoder, least and most setting, are more bytes at a higher one?, how many are tried, decoder
RIVALS = (
    ("djpeg", "jpg", "cjpeg -optimize -quality %(q).0f -outfile %(file)s %(ppm)s", 2, 98, True,
     "djpeg -outfile rival.ppm %(file)s"),
    ("dwebp", "webp", "cwebp -quiet -m 6 -q %(q).1f %(ppm)s -o %(file)s", 0, 100, True,
     "dwebp -quiet -ppm %(file)s -o rival.ppm"),
    ("djxl", "jxl", "cjxl %(ppm)s %(file)s -d %(q).3f -e 7", 0.3, 25, False, "djxl --num_threads=0 %(file)s rival.ppm"),
    ("opj_decompress", "jp2", "opj_compress -i %(ppm)s -o %(file)s -r %(q).2f", 10, 200, False,
     "opj_decompress -threads 1 -i %(file)s -o rival.ppm"),
)


def run(command):
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


# ----- what is measured -------------------------------------------------------------------------------------------


@functools.lru_cache(maxsize=None)
def instructions(*command):
    """Millions of instructions of each function and what it calls; of the whole run under the name "all"."""
    run(["valgrind", "--tool=callgrind", "--callgrind-out-file=counts", *command])
    lines = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--auto=no", "--threshold=100", "counts"],
                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=True).stdout
    counts = {}
    for count, name in re.findall(r"^ *([\d,]+) \(.*?\)  .*?([\w.' ]+)(?: \[.*\])?$", lines, re.M):
        name = "all" if name == "PROGRAM TOTALS" else name.split(".")[0]
        # lines that were inlined from another file are a function of their own, of fewer instructions
        counts[name] = max(counts.get(name, 0), int(count.replace(",", "")) / 1e6)
    return counts


def take(command):
    """Seconds of processor time, and by the clock."""
    begun, process = time.monotonic(), subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit("exit code %d: %s" % (process.returncode, " ".join(command)))
    return usage.ru_utime + usage.ru_stime, time.monotonic() - begun


def in_turn(commands, rounds, clock=0):
    """Least seconds of each command, by the processor's clock (0) or the wall's (1)."""
    times = [[take(command)[clock] for command in commands] for _ in range(rounds)]
    return [min(column) for column in zip(*times)]


def peak(command):
    """MiB of memory of a command that writes to standard output. (The usage of a child counts Python's own memory.)"""
    most = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        while process.stdout.read(1 << 16):
            with open("/proc/%d/status" % process.pid, encoding="utf-8") as status:
                most = max([most] + [int(line.split()[1]) for line in status if line.startswith("VmHWM")])
    if process.returncode:
        sys.exit("exit code %d: %s" % (process.returncode, " ".join(command)))
    return most / 1024


# ----- the parts ----------------------------------------------------------------------------------------------------


class Speed:
    """Programs by name ("now", and perhaps one from before) and the files that each of them made."""

    def __init__(self, options):
        self.programs = {"now": os.path.abspath(options.build) + "/taper"}
        if options.before:
            self.programs[options.called] = os.path.abspath(options.before)
        self.before = options.called if options.before else None
        self.rounds, self.image = options.rounds, os.path.abspath(options.kodak) + "/kodim05.png"
        self.cifar = sorted(glob.glob(os.path.abspath(options.cifar) + "/*_batch*.bin*"))

    @functools.lru_cache(maxsize=None)
    def coded(self, name, bpp):
        """A container of kodim05, coded by this program."""
        run([*self.encode(name, bpp), "-o", "%s-%s.taper" % (name, bpp), self.image])
        return "%s-%s.taper" % (name, bpp)

    def encode(self, name, bpp):
        return [self.programs[name], "encode", "-q", "-f", "-T", "1", "--quick", "--bpp", bpp]

    def decode(self, name, *arguments, threads=1):
        return (self.programs[name], "decode", "-q", "-f", "-T", str(threads), "-o", "out.ppm", *arguments)

    def say_counts(self, bench, commands, function="all", **config):
        """Instructions of each program's command, and the share of those from before."""
        counts = {name: instructions(*command).get(function, 0) for name, command in commands.items()}
        for name, count in counts.items():
            self.say(bench, "instructions", count, "Minstr", program=name, **config)
        if self.before and counts[self.before] > 0:
            self.say(bench, "share_of_before", counts["now"] / counts[self.before], "x", rival=self.before, **config)

    @staticmethod
    def say(bench, metric, value, unit, **config):
        record.say("speed/" + bench, metric, float("%.4g" % value), unit, config, COMMAND)

    def of_picture(self):
        for bpp in BPP:
            commands = {name: self.decode(name, self.coded(name, bpp)) for name in self.programs}
            for stage, function in {"all": "all", **STAGES}.items():
                self.say_counts("decode", commands, function, image="kodim05", bpp=float(bpp), stage=stage)
            if bpp == BPP[0]:
                self.say_counts("restoration", commands, STAGES["restoration"], image="kodim05", bpp=float(bpp))

    def images(self, batch):
        """Records of a batch file: the label and three planes of 32x32."""
        with (lzma.open if batch.endswith(".xz") else open)(batch, "rb") as file:
            data = file.read()
        return [data[i:i + RECORD] for i in range(0, len(data), RECORD)]

    def coded_set(self, name, count):
        """A container of the first test images of CIFAR-10; the command that decodes it."""
        test = [batch for batch in self.cifar if "test_batch" in batch][0]
        with open("test.bin", "wb") as file:
            file.write(b"".join(self.images(test)[:count]))
        container = "%s-%d.taper" % (name, count)
        run([self.programs[name], "encode", "-q", "-f", "-T", "1", "-m", "tiny", "--bytes-per-image", str(IMAGE_BYTES),
             "-o", container, "test.bin"])
        return [self.programs[name], "decode", "-q", "-f", "-T", "1", "-o", "out.bin", container]

    def of_cifar(self):
        config = {"set": "cifar10", "model": "tiny", "images": IMAGES, "bytes_per_image": IMAGE_BYTES}
        seconds = in_turn([self.coded_set(name, IMAGES) for name in self.programs], self.rounds)
        rates = {name: IMAGES / time_ for name, time_ in zip(self.programs, seconds)}
        for name, rate in rates.items():
            self.say("decode", "images_per_core_second", rate, "images/s", program=name, **config)
            counted = instructions(*self.coded_set(name, COUNTED))["all"] / COUNTED
            self.say("decode", "instructions_per_image", counted, "Minstr", program=name, **{**config, "images": COUNTED})
        if self.before:
            self.say("decode", "times_faster", rates["now"] / rates[self.before], "x", rival=self.before, **config)

    def of_threads(self):
        for name in self.programs:
            load, runs = os.getloadavg()[0], [self.decode(name, self.coded(name, "1"), threads=n) for n in (1, 2)]
            one, two = in_turn(runs, self.rounds, clock=1)
            self.say("decode", "second_thread", one / two, "x", image="kodim05", bpp=1, program=name, rival="one thread",
                     ms=round(1e3 * two, 1), load_before=round(load, 1))

    def of_large(self):
        """All images of the folder as one picture: threads, time, and PSNR at equal bytes."""
        files = sorted(glob.glob(os.path.dirname(self.image) + "/*.png"))
        if not shutil.which("montage"):
            return
        run(["montage", *files, "-tile", "6x", "-geometry", "768x512!+0+0", "-depth", "8", "large.ppm"])
        config, coded = {"image": "%d images of Kodak as one, 6 a row" % len(files)}, {}
        for name in self.programs:
            for bpp in ("0.01", "0.1", "0.3", "1"):
                coded[name] = "large-%s.taper" % name
                run([*self.encode(name, bpp), "-o", coded[name], "large.ppm"])
                run(self.decode(name, coded[name]))
                told = subprocess.run(["compare", "-metric", "PSNR", "large.ppm", "out.ppm", "null:"], check=False,
                                      stderr=subprocess.PIPE, text=True).stderr
                self.say("decode", "psnr", float(told.split()[0]), "dB", bpp=float(bpp), program=name, **config)
        runs = [self.decode(name, coded[name], threads=n) for name in self.programs for n in (1, 2)]
        times = in_turn(runs, max(self.rounds // 3, 1), clock=1)
        for i, name in enumerate(self.programs):
            self.say("decode", "second_thread", times[2 * i] / times[2 * i + 1], "x", bpp=1, program=name,
                     rival="one thread", ms=round(1e3 * times[2 * i + 1], 1), **config)
        if self.before:
            self.say("decode", "times_faster", times[2] / times[0], "x", bpp=1, rival=self.before, threads=1, **config)

    def of_rivals(self):
        if not shutil.which("convert"):
            return
        run(["convert", self.image, "kodim05.ppm"])
        for bpp in BPP:
            file = self.coded("now", bpp)
            rivals = {rival[0]: rival_file(rival, os.path.getsize(file)) for rival in RIVALS
                      if all(shutil.which(rival[i].split()[0]) for i in (2, 6))}
            commands = [self.decode("now", file)] + [command.split() for _, command in rivals.values()]
            times = in_turn(commands, self.rounds)
            for rival, seconds in zip(rivals, times[1:]):
                self.say("decode", "time_over", times[0] / seconds, "x", image="kodim05", bpp=float(bpp), rival=rival,
                         bytes=os.path.getsize(file), rival_bytes=rivals[rival][0], ms=round(1e3 * times[0], 1))

    def of_memory(self):
        sizes = {}
        for name, program in self.programs.items():
            sizes[name] = peak([program, "decode", "-q", "-T", "1", "--format", "pnm", "-o", "-", self.coded(name, "1")])
            self.say("decode", "memory", sizes[name], "MiB", image="kodim05", bpp=1, program=name)
        if self.before:
            self.say("decode", "memory_over", sizes["now"] / sizes[self.before], "x", image="kodim05", bpp=1,
                     rival=self.before)

    def of_encoding(self):
        commands = {name: (*self.encode(name, "1"), "-o", "out.taper", self.image) for name in self.programs}
        self.say_counts("encode", commands, image="kodim05", bpp=1, options="--quick")

    def of_loading(self):
        commands = {name: self.decode(name, self.coded(name, "1")) for name in self.programs}
        self.say_counts("load", commands, "cli_model_of", model="photo", what="the built-in model is opened")
        self.say_counts("load", {name: (program, "--version") for name, program in self.programs.items()},
                        what="the program starts and prints its version")

    def of_search(self):
        """One image of the index as a query: 60,000 files of CIFAR-10, 256 bits."""
        number = 0
        for batch in self.cifar:
            for image in self.images(batch):
                number += 1
                os.makedirs("set/%02d" % (number // 1000), exist_ok=True)
                with open("set/%02d/photograph-%05d.ppm" % (number // 1000, number), "wb") as file:
                    planes = (image[1:1025], image[1025:2049], image[2049:])
                    file.write(b"P6 32 32 255\n" + bytes(level for pixel in zip(*planes) for level in pixel))
        commands = {}
        for name, program in self.programs.items():
            run([program, "train", "-q", "-f", "-T", "1", "--family", "dense", "--code", "binary", "-w", "whole", "-k", "256",
                 "--independent", "-e", "1", "--hidden", "4", "-o", "bits.tpm", "set/00", "set/01", "set/02"])
            run([program, "index", "-q", "-f", "-T", "1", "-m", "bits.tpm", "-o", name + ".tpx", "set"])
            commands[name] = (program, "search", "-q", "-T", "1", "-i", "12345", name + ".tpx")
        self.say_counts("search", commands, images=number, bits=256, query="an image of the index")

    def of_scaled(self):
        text = subprocess.run([self.programs["now"], "decode", "--help"], stdout=subprocess.PIPE, text=True, check=True)
        if "--scale" not in text.stdout:
            print("speed/scaled: left out, as the program has no --scale", file=sys.stderr)
            return
        first = (self.coded("now", "1"), "--bytes", "10240")
        whole = instructions(*self.decode("now", *first))["all"]
        small = instructions(*self.decode("now", "--scale", "1/8", *first))["all"]
        self.say("scaled", "instructions", small, "Minstr", image="kodim05", bytes=10240, scale="1/8", program="now")
        self.say("scaled", "share_of_whole", small / whole, "x", image="kodim05", bytes=10240, scale="1/8",
                 rival="the whole picture of as many bytes")


def rival_file(rival, size):
    """A file of about as many bytes, by the setting that comes nearest; its bytes, and the command that decodes it."""
    name, suffix, encoder, low, high, rises, decoder = rival
    file, tried = name + "." + suffix, []
    for step in range(11):
        q = (low + high) / 2 if step < 10 else min(tried)[1]
        run((encoder % {"q": q, "file": file, "ppm": "kodim05.ppm"}).split())
        tried.append((abs(os.path.getsize(file) - size), q))
        low, high = (low, q) if (os.path.getsize(file) > size) == rises else (q, high)
    kept = "%d.%s" % (size, suffix)
    os.replace(file, kept)
    return os.path.getsize(kept), decoder % {"file": kept}


PARTS = {"decode": Speed.of_picture, "cifar": Speed.of_cifar, "threads": Speed.of_threads, "large": Speed.of_large,
         "rivals": Speed.of_rivals, "memory": Speed.of_memory, "encode": Speed.of_encoding, "load": Speed.of_loading, "search": Speed.of_search,
         "scaled": Speed.of_scaled}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("build", "kodak", "cifar"):
        parser.add_argument(name)
    parser.add_argument("--before", help="program to compare with")
    parser.add_argument("--called", default="before", help="its name in the records, such as its commit")
    parser.add_argument("--parts", default=",".join(PARTS))
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    if not shutil.which("valgrind"):
        sys.exit("speed.py: valgrind is not installed")
    speed = Speed(options)
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        for part in options.parts.split(","):
            PARTS[part](speed)


if __name__ == "__main__":
    main()
