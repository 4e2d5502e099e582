#!/usr/bin/env python3
"""Compares how many instructions encoding and decoding take with tests/instruction_counts.txt.

    python3 tests/instruction_counts.py build/opt/taper                                 compare: exit code 1 says what differs
    python3 tests/instruction_counts.py --renew build/opt/taper >tests/instruction_counts.txt

A drawn picture of 128x96 pixels is encoded and decoded with each built-in model at two rates, in one thread under
callgrind. Counted is what is more than `taper --version` takes. valgrind shows every processor as one of the same kind,
with AVX2 and without AVX-512; processors without AVX2 would run other kernels. A count depends on the compiler: the
table names it with its options, as the debug information of the program does, and holds for that one only. For others,
and where something is missing, a line "SKIP reason" is printed."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "instruction_counts.txt")
RENEW = "python3 tests/instruction_counts.py --renew build/opt/taper >tests/instruction_counts.txt"
APART = 0.03
WIDTH, HEIGHT = 128, 96
MODELS, RATES = ("photo", "tiny"), ("0.5", "2")


def skip(reason):
    print("SKIP " + reason)
    sys.exit(0)


def compiler(program):
    """Version and options of the compiler of the codec; None without debug information."""
    with open(program, "rb") as file:
        found = re.findall(rb"GNU C11 [0-9][\x20-\x7e]*", file.read())
    exact = sorted({text.decode() for text in found if b"-ffp-contract=off" in text})
    return " | ".join(exact) or None


def draw(path):
    """A slope, waves, a disc, bars and some noise, in integers: the same everywhere."""
    noise, levels = 1, bytearray()
    for y in range(HEIGHT):
        for x in range(WIDTH):
            noise = (noise * 1103515245 + 12345) & 0x7fffffff
            wave = abs((x * x + 3 * y * y) // 16 % 64 - 32)
            disc = 60 if (x - 80) ** 2 + (y - 40) ** 2 < 700 else 0
            bars = 40 if y > 64 and x // 6 % 2 else 0
            for slope in (x + y // 2, 150 - x, 40 + y):
                levels.append(min(255, max(0, slope // 2 + wave + disc + bars + (noise >> 20) % 12)))
    with open(path, "wb") as file:
        file.write(b"P6 %d %d 255\n" % (WIDTH, HEIGHT) + levels)


def count(*command):
    """Instructions of ./taper with these arguments, in an empty environment."""
    run = subprocess.run([shutil.which("valgrind"), "--tool=callgrind", "--callgrind-out-file=/dev/null", "./taper", *command],
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env={"LC_ALL": "C"})
    found = re.search(r"Collected : (\d+)", run.stderr)
    if run.returncode or not found:
        sys.exit("valgrind ... taper %s: exit code %d\n%s" % (" ".join(command), run.returncode, run.stderr))
    return int(found.group(1))


def measure(program):
    """Counts by name, in a temporary folder where all names are of the same lengths everywhere."""
    here, counts = os.getcwd(), {}
    with tempfile.TemporaryDirectory() as work:
        os.chdir(work)
        os.symlink(program, "taper")
        draw("in.ppm")
        start = count("--version")
        for model in MODELS:
            for rate in RATES:
                fixed = ("-q", "-f", "-T", "1")
                name = "%s %s" % (model, rate)
                counts["encode " + name] = count("encode", *fixed, "-m", model, "--bpp", rate, "-o", "x.taper", "in.ppm") - start
                counts["decode " + name] = count("decode", *fixed, "-o", "out.ppm", "x.taper") - start
        os.chdir(here)
    return counts


def read_table():
    """The compiler, and counts by name."""
    with open(TABLE, encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in file if line.strip() and not line.startswith("#")]
    return lines[0], {name: int(number) for name, number in (line.rsplit(" ", 1) for line in lines[1:])}


def compare(counts, table):
    """Print what differs; are all as in the table?"""
    wrong = sorted(set(counts) ^ set(table))
    for name in wrong:
        print("%s: only in %s" % (name, "the table" if name in table else "the test"))
    for name in sorted(set(counts) & set(table)):
        share = counts[name] / table[name] - 1
        print("%s: %d instructions, table %d, %+.2f %%" % (name, counts[name], table[name], 100 * share))
        if abs(share) > APART:
            wrong.append(name)
    if wrong:
        print("more than %g %% apart: %s\nif that is meant, renew the table: %s" % (100 * APART, ", ".join(wrong), RENEW))
    return not wrong


def main():
    renew = sys.argv[1:2] == ["--renew"]
    if len(sys.argv) != 2 + renew:
        sys.exit(__doc__)
    program = os.path.abspath(sys.argv[-1])
    if not shutil.which("valgrind"):
        skip("no valgrind")
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        if " avx2 " not in file.read():
            skip("the processor has no AVX2")
    built = compiler(program)
    if not built:
        skip("the program has no debug information that names GCC and its options")
    if renew:
        print("# Instructions of encoding and decoding a small picture, by tests/instruction_counts.py. Renew:\n"
              "# %s\n%s" % (RENEW, built))
        for name, number in measure(program).items():
            print(name, number)
        return
    of, table = read_table()
    if of != built:
        skip("the table of instruction counts is of another compiler or other options: %s; here %s" % (of, built))
    sys.exit(0 if compare(measure(program), table) else 1)


if __name__ == "__main__":
    main()
