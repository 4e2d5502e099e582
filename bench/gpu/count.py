#!/usr/bin/env python3
"""What a step of training must cost on a GPU, counted before there is one.

    python3 bench/gpu/count.py BUILD_DIR IMAGES [OPTIONS of taper train]

Runs the program with kernels on the execution model (BUILD_DIR/tests/taper_model), which then runs no kernel and
counts each operation: the bytes of its arrays, all read or written once, and the multiply-adds of products. What a
run of two epochs has more than one of one epoch is an epoch: with --batch as large as the set, a step, with the
look at held-out rows that follows it. Prints a table, and the times that an H200 needs at the least: 4.8 TB/s,
and 67, 494 and 989 TFLOP/s for float32, TF32 and bfloat16. Seconds.
"""
import collections
import os
import subprocess
import sys
import tempfile

BYTES_PER_SECOND = 4.8e12
FLOPS = {"float32": 67e12, "tf32": 494e12, "bf16": 989e12}


def counted(build, images, options, epochs):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "count")
        subprocess.run([os.path.join(build, "tests", "taper_model"), "train", "-q", "-f", "--device", "cuda",
                        "-o", os.path.join(folder, "m.tpm"), "--epochs", str(epochs), *options, images],
                       env=dict(os.environ, TAPER_MODEL_COUNT=path), check=False)
        total = collections.defaultdict(lambda: [0, 0, 0])
        for line in open(path, encoding="utf-8"):
            name, size, multiply_adds = line.split()
            entry = total[name]
            entry[0] += 1
            entry[1] += int(size)
            entry[2] += int(multiply_adds)
        return total


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    build, images, options = sys.argv[1], sys.argv[2], sys.argv[3:]
    one, two = counted(build, images, options, 1), counted(build, images, options, 2)
    rows, bytes_, launches, adds = [], 0, 0, 0
    for name in two:
        count, size, more = (two[name][i] - one[name][i] for i in range(3))
        if name == "product":
            adds = more
        elif count:
            rows.append((size, name, count))
            bytes_ += 0 if name in ("gemm", "affine", "weight_gradient") else size
            launches += count
    print("| operation | calls | GB | at least, ms |\n|---|---|---|---|")
    for size, name, count in sorted(rows, reverse=True):
        print(f"| {name} | {count} | {size / 1e9:.3f} | {1e3 * size / BYTES_PER_SECOND:.3f} |")
    print(f"\n{launches} operations. Beside the products {bytes_ / 1e9:.2f} GB: "
          f"{1e3 * bytes_ / BYTES_PER_SECOND:.2f} ms. Products: {2 * adds / 1e12:.3f} TFLOP:",
          ", ".join(f"{1e3 * 2 * adds / rate:.2f} ms as {name}" for name, rate in FLOPS.items()) + ".")


main()
