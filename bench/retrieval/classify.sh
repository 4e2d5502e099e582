#!/bin/sh
# classify.sh -- labels from the front of a container: errors of five nearest neighbours by the first bits of the codes
# that it takes along (encode --embed-with), beside those of the same network's codes of numbers.
#
#   sh bench/retrieval/classify.sh BUILD_DIR WORK FOLDER      JSON lines on standard output; run.sh calls it
#
# FOLDER has MNIST's files as they are published (.gz). Two models a seed, 10 minutes each on one core, kept in WORK.
# SEEDS="1 2". Models learn from all training images; the recipe is the one that `train-labels` found for numbers.
# QUICK=1: FOLDER has CIFAR's records; small networks, to see that all runs.
set -eu
[ $# -eq 3 ] && [ -x "$1/taper" ] && [ -d "$2" ] || { echo "usage: sh bench/retrieval/classify.sh BUILD_DIR WORK FOLDER" >&2; exit 2; }
taper=$1/taper work=$2 data=$3
if [ -n "${QUICK:-}" ]; then
    name=CIFAR-10 known=$data/data_batch_1.bin tested=$data/test_batch.bin known_labels= tested_labels= among_labels=
    recipe="--objective dt-log-nca --hidden 64 --start random -k 64 -e 2 --hold-out 0"
else
    name=MNIST known=$data/train-images-idx3-ubyte.gz tested=$data/t10k-images-idx3-ubyte.gz
    known_labels="--labels $data/train-labels-idx1-ubyte.gz" tested_labels="--labels $data/t10k-labels-idx1-ubyte.gz"
    among_labels="--among-labels $data/train-labels-idx1-ubyte.gz"
    recipe="--objective dt-log-nca --hidden 500,500 --start random -k 64 -e 84 --rate 0.002 --motion 1.2 --hold-out 0"
fi
machine=${TAPER_MACHINE:-$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) cores}

# method, seed, bits, images, bytes of the container that are read; what classify says on standard input
print() {
    awk -v method="$1" -v seed="$2" -v bits="$3" -v n="$4" -v bytes="$5" -v name="$name" -v machine="$machine" \
        -v commit="${TAPER_COMMIT:-unknown}" 'function of(key) { match($0, "\"" key "\":[0-9.]+"); return substr($0, RSTART + length(key) + 3, RLENGTH - length(key) - 3) }
        /"kind":"errors"/ {
            printf "{\"bench\":\"retrieval/classify\",\"metric\":\"error\",\"value\":%s,\"unit\":\"%%\",\"config\":{\"method\":\"%s\",\"data\":\"%s\",\"n\":%d,\"bits\":%d,\"k\":5,\"low\":%s,\"high\":%s,\"bytes_read\":%d,\"seed\":%d},\"commit\":\"%s\",\"machine\":\"%s\",\"command\":\"bench/retrieval/classify.sh\"}\n",
                of("percent"), method, name, n, bits, of("low_percent"), of("high_percent"), bytes, seed, commit, machine
        }'
}

pictures=$work/classified-pictures.tpm
# shellcheck disable=SC2086
[ -f "$pictures" ] || "$taper" train -q --fast -w whole -k 16 -o "$pictures" "$known" >&2
for seed in ${SEEDS:-1 2}; do
    for kind in numbers bits; do
        model=$work/classes-$kind-$seed.tpm code=
        [ $kind = numbers ] || code="--code binary"
        # shellcheck disable=SC2086
        [ -f "$model" ] || "$taper" train-labels -q $recipe $code --seed "$seed" $known_labels -o "$model" "$known" >&2
    done
    # shellcheck disable=SC2086
    "$taper" classify -q --json -k 5 -m "$work/classes-numbers-$seed.tpm" --among "$known" $among_labels $tested_labels "$tested" |
        print "numbers" "$seed" 2048 0 0
    container=$work/classified.taper
    # shellcheck disable=SC2086
    "$taper" encode -q -f -m "$pictures" --embed-with "$work/classes-bits-$seed.tpm" --embed-search-model \
        $known_labels -o "$container" "$known" >&2
    images=$("$taper" info --json "$container" | sed 's/.*"images":\([0-9]*\),"pixels".*/\1/')
    front=$("$taper" info --json "$container" | sed 's/.*"front_bytes":\([0-9]*\).*/\1/')
    head -c "$front" "$container" >"$work/classified-front.taper" # no picture is left
    for bits in 2 4 8 12 16 24 32 48 64; do
        # shellcheck disable=SC2086
        "$taper" classify -q --json -k 5 --units $bits --among "$work/classified-front.taper" $tested_labels "$tested" |
            print "front of a container" "$seed" $bits "$images" "$front"
    done
done
