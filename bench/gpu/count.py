#!/usr/bin/env python3
"""What training must cost on a GPU, counted before there is one.

    python3 bench/gpu/count.py [--step] BUILD_DIR IMAGES [OPTIONS of taper train-bits]

Runs the program with kernels on the execution model (BUILD_DIR/tests/taper_model), which then runs no kernel and
counts each operation: the bytes of its arrays, all read or written once, and the multiply-adds of products.
Prints a table, and the times that an H200 needs at the least: 4.8 TB/s, and 67, 494 and 989 TFLOP/s for float32,
TF32 and bfloat16.

What a run of two epochs has more than one of one epoch is an epoch: with --batch as large as the set, a step, with the
look at held-out rows that follows it. --step: a step alone. Each has one `judge`; what lies between two of them is
a step, and more where there is a look: the mean of those with the fewest operations is taken. The images have to be
more than two batches. Seconds; a minute for all of CIFAR-10.
"""
import collections
import os
import subprocess
import sys
import tempfile

BYTES_PER_SECOND = 4.8e12
FLOPS = {"float32": 67e12, "tf32": 494e12, "bf16": 989e12}


def counted(build, images, options, epochs):
    """[(operation, bytes, multiply-adds)] in the order in which they are put on the stream."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "count")
        subprocess.run([os.path.join(build, "tests", "taper_model"), "train-bits", "-q", "-f", "--device", "cuda",
                        "-o", os.path.join(folder, "m.tpm"), "--epochs", str(epochs), *options, images],
                       env=dict(os.environ, TAPER_MODEL_COUNT=path), check=False)
        with open(path, encoding="utf-8") as file:
            words = [line.split() for line in file]
        return [(name, int(size), int(adds)) for name, size, adds in words]


def totals(operations):
    """{operation: [calls, bytes, multiply-adds]}"""
    total = collections.defaultdict(lambda: [0, 0, 0])
    for name, size, adds in operations:
        for i, more in enumerate((1, size, adds)):
            total[name][i] += more
    return total


def an_epoch(build, images, options):
    one, two = (totals(counted(build, images, options, epochs)) for epochs in (1, 2))
    return {name: [two[name][i] - one[name][i] for i in range(3)] for name in two}


def a_step(build, images, options):
    operations = counted(build, images, options, 1)
    ends = [i for i, operation in enumerate(operations) if operation[0] == "judge"]
    lengths = [end - begin for begin, end in zip(ends, ends[1:])]
    if not lengths:
        sys.exit("count.py: fewer than two steps: give more images, or a smaller --batch")
    alone = [begin for begin, length in zip(ends, lengths) if length == min(lengths)]
    every = totals(operation for begin in alone for operation in operations[begin:begin + min(lengths)])
    return {name: [figure / len(alone) for figure in every[name]] for name in every}


def print_table(total):
    rows, bytes_, calls, adds = [], 0, 0, 0
    for name, (count, size, more) in total.items():
        if name == "product":
            adds = more
        elif count:
            rows.append((size, name, count))
            bytes_ += 0 if name in ("gemm", "affine", "weight_gradient") else size
            calls += count
    print("| operation | calls | GB | at least, ms |\n|---|---|---|---|")
    for size, name, count in sorted(rows, reverse=True):
        print(f"| {name} | {count:g} | {size / 1e9:.3f} | {1e3 * size / BYTES_PER_SECOND:.3f} |")
    print(f"\n{calls:g} operations. Beside the products {bytes_ / 1e9:.2f} GB: "
          f"{1e3 * bytes_ / BYTES_PER_SECOND:.2f} ms. Products: {2 * adds / 1e12:.4f} TFLOP:",
          ", ".join(f"{1e3 * 2 * adds / rate:.3f} ms as {name}" for name, rate in FLOPS.items()) + ".")


def main():
    arguments = sys.argv[1:]
    count = a_step if arguments[:1] == ["--step"] else an_epoch
    if count is a_step:
        del arguments[0]
    if len(arguments) < 2:
        sys.exit(__doc__)
    print_table(count(arguments[0], arguments[1], arguments[2:]))


main()
