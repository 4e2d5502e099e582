#!/bin/sh
# embedding_sklearn.sh -- what scikit-learn's NCA takes to which objective: linear, from principal components, on MNIST.
# One JSON line an iteration on standard output.
#
#   sh bench/embedding_sklearn.sh FOLDER [ROWS [DIMS [ITERATIONS]]]     ... 5000 32 50
#
# FOLDER: MNIST's files as they are published. BENCH_THREADS=2: threads of its products. PYTHON: the one that has
# scikit-learn (Debian: python3-sklearn), else looked for. Price: 2 to 4 minutes on two cores, and 1.5 GB.
set -eu
[ $# -ge 1 ] && [ $# -le 4 ] && [ -d "$1" ] || {
    echo "usage: sh bench/embedding_sklearn.sh FOLDER [ROWS [DIMS [ITERATIONS]]]" >&2
    exit 2
}
here=$(dirname "$0")
for python in ${PYTHON:-python3 /usr/bin/python3} ""; do
    [ -z "$python" ] || ! "$python" -c 'import sklearn' 2>/dev/null || break
done
if [ -z "$python" ]; then
    echo "embedding_sklearn: no scikit-learn: apt-get install python3-sklearn, or name a PYTHON that has it" >&2
    exit 1
fi
threads=${BENCH_THREADS:-2}
TAPER_COMMIT=$(cd "$here" && git describe --always --dirty 2>/dev/null || echo unknown)
export TAPER_COMMIT OPENBLAS_NUM_THREADS="$threads" OMP_NUM_THREADS="$threads" BENCH_THREADS="$threads"
exec "$python" "$here/embedding_sklearn.py" "$@"
