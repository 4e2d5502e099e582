#!/bin/sh
# run.sh -- every benchmark, as JSON lines on standard output; words go to standard error.
#
#   TAPER_DATA=FOLDER sh bench/run.sh BUILD_DIR      `make bench` calls this
#
# FOLDER holds cifar10/data_batch_{1..5}.bin and cifar10/test_batch.bin, and the image files of MNIST
# in mnist/; .xz in place of a .bin will do, and is unpacked to build/data. What is absent is named,
# and the generated samples take its place, so that a run always measures something: compare figures
# of the same "test" only. What was measured for the record is in bench/results/.
#
# Settings, from the environment:
#   BENCH_THREADS=2   threads of bench_rates, bench_training, bench_knn, bench_embedding,
#                     bench_linear_nca and bench_rbm
#   BENCH_LONG=1      also what takes more than ten minutes: windows of whole CIFAR images,
#                     family dense on MNIST, linear MCML on USPS, and linear NCA of 100,000 rows
set -eu
[ $# -eq 1 ] && [ -d "$1" ] || { echo "usage: sh bench/run.sh BUILD_DIR" >&2; exit 2; }
B=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
DATA=${TAPER_DATA:-} BENCH_THREADS=${BENCH_THREADS:-2}
TAPER_COMMIT=$(git describe --always --dirty 2>/dev/null || echo unknown)
export BENCH_THREADS TAPER_COMMIT
say() { echo "bench: $*" >&2; }

# The file $1 of the data folder, unpacked: its path is printed. Fails when it is absent.
have() {
    for path in "$DATA/$1" "build/data/$1" "build/data/${1##*/}"; do
        [ ! -f "$path" ] || { echo "$path"; return 0; }
    done
    [ -f "$DATA/$1.xz" ] || return 1
    mkdir -p "build/data/$(dirname "$1")"
    xz -dc "$DATA/$1.xz" >"build/data/$1.part" && mv "build/data/$1.part" "build/data/$1"
    echo "build/data/$1"
}

# All of the files, or nothing and a reason.
need() { # name of the set, files...
    what=$1 found=
    shift
    for file; do
        path=$(have "$file") || {
            say "SKIP $what: no $file in TAPER_DATA (${DATA:-not set})"
            return 1
        }
        found="$found $path"
    done
    echo "$found"
}

rates() {
    say "bench_rates $*"
    "$B/bench/bench_rates" "$@"
}

skipped=
batch=cifar10/data_batch
if files=$(need CIFAR-10 ${batch}_1.bin ${batch}_2.bin ${batch}_3.bin ${batch}_4.bin ${batch}_5.bin \
    cifar10/test_batch.bin); then
    train=${files% *} test=${files##* }
    # shellcheck disable=SC2086
    rates $train -- "$test" --window 8
    # shellcheck disable=SC2086
    [ -z "${BENCH_LONG:-}" ] || rates $train -- "$test" --window whole --units 1024
else
    skipped=1
fi

if files=$(need MNIST mnist/train-images-idx3-ubyte.gz mnist/t10k-images-idx3-ubyte.gz); then
    train=${files% *} test=${files##* }
    # shellcheck disable=SC2086
    rates $train -- "$test" --window whole --qualities 18,20,23,24
    if [ -n "${BENCH_LONG:-}" ]; then
        mkdir -p build/bench
        # shellcheck disable=SC2086
        "$B/taper" train -q -f -T "$BENCH_THREADS" --family dense --window whole \
            -o build/bench/mnist.tpm $train
        rates -- "$test" --model build/bench/mnist.tpm --qualities 18,20,23,24
    fi
else
    skipped=1
fi

if [ -n "$skipped" ]; then
    mkdir -p build/bench
    set=build/bench/samples
    [ -f $set/cifar/test.bin ] || "$B/make_samples" small $set --format cifar >&2
    rates $set/cifar/train.bin -- $set/cifar/test.bin --window 8
fi

say "bench_small"
[ -d build/bench/scenes ] || "$B/make_samples" scenes build/bench/scenes --count 8 >&2
"$B/taper" encode -q -f --best -o build/bench/scenes.taper build/bench/scenes
"$B/bench/bench_small" build/bench/scenes.taper

say "bench_front"
"$B/bench/bench_front"

say "bench_training $BENCH_THREADS"
"$B/bench/bench_training" "$BENCH_THREADS"

for width in 784 30; do
    say "bench_knn speed 10000 60000 $width 5 $BENCH_THREADS"
    "$B/bench/bench_knn" speed 10000 60000 $width 5 "$BENCH_THREADS"
done
if files=$(need "MNIST with labels" mnist/train-images-idx3-ubyte.gz mnist/train-labels-idx1-ubyte.gz \
    mnist/t10k-images-idx3-ubyte.gz mnist/t10k-labels-idx1-ubyte.gz); then
    "$B/bench/bench_knn" error "$(dirname "${files##* }")" "$BENCH_THREADS"
fi

if [ -n "${BENCH_LONG:-}" ] &&
    files=$(need "USPS with labels" usps/usps-images-idx3-ubyte.gz usps/usps-labels-idx1-ubyte.gz); then
    say "bench_metric"
    # shellcheck disable=SC2086
    "$B/bench/bench_metric" $files 1 "$BENCH_THREADS"
fi

say "bench_embedding $BENCH_THREADS"
"$B/bench/bench_embedding" "$BENCH_THREADS"
if [ -n "${BENCH_LONG:-}" ]; then
    say "bench_linear_nca gradient"
    "$B/bench/bench_linear_nca" gradient 100000 32 "$BENCH_THREADS"
fi
say "bench_rbm $BENCH_THREADS"
"$B/bench/bench_rbm" "$BENCH_THREADS"
