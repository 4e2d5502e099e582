#!/bin/sh
# embedding_ratios.sh -- linear NCA of MNIST by scikit-learn and by us, in turn on the same threads, both from principal
# components: seconds to the same objectives, as JSON lines on standard output.
#
#   sh bench/embedding_ratios.sh BUILD_DIR FOLDER [RUNS [ROWS [DIMS [ITERATIONS]]]]     ... 3 5000 32 30
#
# FOLDER: MNIST's files as they are published. BENCH_THREADS=2, PYTHON: as embedding_sklearn.sh has them. All lines of
# the runs are kept in BUILD_DIR/bench/sklearn-1.jsonl and so on. Price: a run is 1 to 2 minutes on two cores.
set -eu
[ $# -ge 2 ] && [ $# -le 6 ] && [ -x "$1/bench/bench_linear_nca" ] && [ -d "$2" ] || {
    echo "usage: sh bench/embedding_ratios.sh BUILD_DIR FOLDER [RUNS [ROWS [DIMS [ITERATIONS]]]]" >&2
    echo "BUILD_DIR has bench/bench_linear_nca (make bench, or make BUILD_DIR/bench/bench_linear_nca)" >&2
    exit 2
}
here=$(dirname "$0") build=$1 folder=$2 runs=${3:-3} rows=${4:-5000} dims=${5:-32} iterations=${6:-30}
threads=${BENCH_THREADS:-2}
TAPER_COMMIT=$(cd "$here" && git describe --always --dirty 2>/dev/null || echo unknown)
export TAPER_COMMIT BENCH_THREADS="$threads"
load() { [ ! -r /proc/loadavg ] || cut -d ' ' -f 1 /proc/loadavg; }
files='' BENCH_LOAD=''
for run in $(seq "$runs"); do
    to=$build/bench/sklearn-$run.jsonl
    BENCH_LOAD="$BENCH_LOAD$(load) "
    sh "$here/embedding_sklearn.sh" "$folder" "$rows" "$dims" "$iterations" >"$to"
    "$build/bench/bench_linear_nca" learn "$folder" "$rows" "$dims" "$threads" $((2 * iterations)) >>"$to"
    files="$files $to"
done
export BENCH_LOAD
# shellcheck disable=SC2086
python3 "$here/embedding_ratios.py" $files
