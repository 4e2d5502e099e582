#!/usr/bin/env python3
"""scikit-learn's NCA, iteration by iteration: the objective that it has reached, and after how long.

    python3 bench/embedding_sklearn.py FOLDER [ROWS [DIMS [ITERATIONS]]]     (embedding_sklearn.sh calls it)

The first ROWS images of MNIST's train part, y / 255, in double as scikit-learn has them. A linear map to DIMS numbers
begins as principal components of unit length. Metric `objective`: sum over rows of p_i, the chance that a row picks a
neighbour of its label under the kernel e^-D (Goldberger et al. 2004; minus what NCA by sums minimises). Each
line's config has the iteration, 0 being the start, the seconds since fit began, principal components and all, and how
often loss and gradient were evaluated until then.
"""
import gzip
import json
import os
import sys
import time

import numpy as np
import sklearn
from sklearn.neighbors import NeighborhoodComponentsAnalysis


def read_idx(folder, name, header):
    with gzip.open(os.path.join(folder, name), "rb") as file:
        return np.frombuffer(file.read(), dtype=np.uint8, offset=header)


def read_mnist(folder, rows):
    labels = read_idx(folder, "train-labels-idx1-ubyte.gz", 8)
    pixels = read_idx(folder, "train-images-idx3-ubyte.gz", 16).reshape(len(labels), -1)
    if not 2 <= rows <= len(labels):
        sys.exit(f"embedding_sklearn: MNIST has 2 to {len(labels)} rows, not {rows}")
    return pixels[:rows] / 255.0, labels[:rows].astype(int)


def machine():
    if os.environ.get("TAPER_MACHINE"):
        return os.environ["TAPER_MACHINE"]
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
    return f"{names[0] if names else 'unknown processor'}, {os.cpu_count()} cores"


class Watched(NeighborhoodComponentsAnalysis):
    """NCA that keeps what it evaluated."""

    def _loss_grad_lbfgs(self, transformation, *args, **named):
        loss, gradient = super()._loss_grad_lbfgs(transformation, *args, **named)
        if not hasattr(self, "evaluated_"):
            self.evaluated_, self.count_ = [], 0
        # scipy hands over minus the objective, as it minimises
        self.evaluated_.append((np.array(transformation).ravel(), abs(loss)))
        self.count_ += 1
        if self.count_ == 1:
            self.callback(self.evaluated_[0][0], 0)
        return loss, gradient


def main(folder, rows=5000, dims=32, iterations=50):
    x, y = read_mnist(folder, int(rows))

    def tell(transformation, iteration):
        seconds = time.monotonic() - begin
        objective = next(o for t, o in reversed(nca.evaluated_) if np.array_equal(t, transformation.ravel()))
        nca.evaluated_ = nca.evaluated_[-1:]
        config = {"method": "sklearn-nca", "version": sklearn.__version__, "rows": len(x), "dims": int(dims),
                  "start": "pca", "iteration": iteration, "seconds": round(seconds, 3),
                  "evaluations": nca.count_, "threads": int(os.environ.get("BENCH_THREADS", "0"))}
        print(json.dumps({"bench": "embedding/speed", "metric": "objective", "value": round(float(objective), 4),
                          "unit": "rows", "config": config, "commit": os.environ.get("TAPER_COMMIT", ""),
                          "machine": named, "command": " ".join(["embedding_sklearn.sh"] + sys.argv[1:])},
                         separators=(",", ":")), flush=True)

    # a tolerance of 0, lest it ends before its iterations
    nca = Watched(n_components=int(dims), init="pca", max_iter=int(iterations), tol=0.0, callback=tell, random_state=0)
    named = machine()
    begin = time.monotonic()
    nca.fit(x, y)


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 5:
        sys.exit("usage: embedding_sklearn.py FOLDER [ROWS [DIMS [ITERATIONS]]]")
    main(*sys.argv[1:])
