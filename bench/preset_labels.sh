#!/bin/sh
# preset_labels.sh -- what `train-labels` makes of a set in ten minutes: its error on test images, looked at once, beside
# 5-NN by pixels, by principal components and by linear NCA. JSON lines on standard output.
#
#   sh bench/preset_labels.sh BUILD_DIR NAME TRAIN_IMAGES TRAIN_LABELS TEST_IMAGES TEST_LABELS
#
# Labels: a file, or - where folders or CIFAR records say them. "expected" is what the preset said of itself. Price: MINUTES
# (10) and the linear maps, some minutes more. MINUTES=10 THREADS=1 DIMS=30
# LINEAR_EPOCHS=60 OUT=build/preset-labels
set -eu
[ $# -eq 6 ] || {
    echo "usage: sh bench/preset_labels.sh BUILD_DIR NAME TRAIN_IMAGES TRAIN_LABELS TEST_IMAGES TEST_LABELS" >&2
    exit 2
}
B=$1 name=$2 images=$3 labels=$4 tests=$5 truth=$6
OUT=${OUT:-build/preset-labels} minutes=${MINUTES:-10} threads=${THREADS:-1} dims=${DIMS:-30}
mkdir -p "$OUT"
commit=${TAPER_COMMIT:-$(git describe --always --dirty 2>/dev/null || echo unknown)}
machine=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)
linear_epochs=${LINEAR_EPOCHS:-60}
command="MINUTES=$minutes THREADS=$threads DIMS=$dims LINEAR_EPOCHS=$linear_epochs sh bench/preset_labels.sh BUILD_DIR $name TRAIN_IMAGES TRAIN_LABELS TEST_IMAGES TEST_LABELS"
OPENBLAS_NUM_THREADS=$threads
export OPENBLAS_NUM_THREADS

learn() { # method options...
    model=$OUT/$name-$1.tpm
    shift
    [ "$labels" = - ] || set -- "$@" --labels "$labels"
    "$B/taper" train-labels -q -f --json -T "$threads" -o "$model" "$@" "$images"
}

judge() { # method [options...]
    method=$1
    shift
    [ "$labels" = - ] || set -- "$@" --among-labels "$labels"
    [ "$truth" = - ] || set -- "$@" --labels "$truth"
    "$B/taper" classify -q --json -T "$threads" "$@" --among "$images" "$tests" | tail -1 |
        sed -n 's/.*"tested":\([0-9]*\),"errors":.{"k":5,"wrong":[0-9]*,"percent":\([0-9.]*\),"low_percent":\([0-9.]*\),"high_percent":\([0-9.]*\).*/\1 \2 \3 \4/p' |
        while read -r tested error low high; do line test_error_percent "$error" "\"low\":$low,\"high\":$high,\"tested\":$tested"; done
}

line() { # metric value config
    printf '{"bench":"embedding/preset","metric":"%s","value":%.4g,"unit":"%%","config":{"set":"%s","method":"%s","k":5,"labels_percent":100,"minutes":%s,"threads":%s,%s},"commit":"%s","machine":"%s","command":"%s"}\n' \
        "$1" "$2" "$name" "$method" "$minutes" "$threads" "$3" "$commit" "$machine" "$command"
}

number() { # key
    tail -1 "$OUT/found.json" | sed 's/.*"'"$1"'":\([0-9.e+-]*\).*/\1/'
}

learn pca --objective nca -k "$dims" --rate 1e-9 -e 1 --hold-out 0 >/dev/null # its start: principal components
learn linear-nca --objective nca -k "$dims" --rate 0.003 -e "$linear_epochs" --hold-out 0 >/dev/null
learn preset --minutes "$minutes" >"$OUT/found.json"
judge pixels
for method in pca linear-nca preset; do judge $method -m "$OUT/$name-$method.tpm"; done
method=preset
line expected_error_percent "$(number error_percent)" \
    "\"low\":$(number error_percent_low),\"high\":$(number error_percent_high),\"trials\":$(number trials)"
