#!/bin/sh
# nested_units.sh -- a nested embedding (train-labels --nested) against a model of its own for each length: test error of
# 5-NN by the first units of the one and by all units of the other, on MNIST. JSON lines on standard output.
#
#   sh bench/nested_units.sh BUILD_DIR FOLDER [EPOCHS [TRAINING OPTIONS...]]
#
# FOLDER: MNIST's files as they are published, .gz. EPOCHS: 60. OPTIONS: --motion 4 --hold-out 0. The test images are looked at
# once, by networks of the last epoch. Price: 6 runs of 60 epochs, 12 minutes each on one core. Models are kept in
# OUT (build/nested-units): run it again after an interruption and it goes on. LENGTHS="2 4 8 16 30" THREADS=1 SEED=1
# OWN: lengths that get models of their own, all of LENGTHS.
# OBJECTIVE=dt-nca HIDDEN=500,500,2000 RATE=0.005
set -eu
[ $# -ge 2 ] || { echo "usage: sh bench/nested_units.sh BUILD_DIR FOLDER [EPOCHS [OPTIONS...]]" >&2; exit 2; }
B=$1 D=$2 epochs=${3:-60}
shift $(($# < 3 ? 2 : 3))
[ $# -gt 0 ] || set -- --motion 4 --hold-out 0
threads=${THREADS:-1} seed=${SEED:-1} lengths=${LENGTHS:-2 4 8 16 30}
own=${OWN-$lengths}
rate=${RATE:-0.005} objective=${OBJECTIVE:-dt-nca} hidden=${HIDDEN:-500,500,2000}
OUT=${OUT:-build/nested-units}/$objective-$hidden-$rate-$epochs-$seed # of other settings are other models
mkdir -p "$OUT"
commit=${TAPER_COMMIT:-$(git describe --always --dirty 2>/dev/null || echo unknown)}
machine=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1)

train() { # model options...
    [ ! -f "$1" ] || return 0
    model=$1
    shift
    "$B/taper" train-labels -q -T "$threads" -o "$model.part.tpm" --objective "$objective" --window whole --hidden "$hidden" \
        --start random -e "$epochs" --seed "$seed" --labels "$D/train-labels-idx1-ubyte.gz" \
        --checkpoint "$model.chk" --resume "$@" "$D/train-images-idx3-ubyte.gz"
    mv "$model.part.tpm" "$model"
}

# Errors by the first N units in percent, and their 95 % interval: "E LOW HIGH"
judge() { # model units
    "$B/taper" classify -q -T "$threads" --json -m "$1" --units "$2" --among "$D/train-images-idx3-ubyte.gz" \
        --among-labels "$D/train-labels-idx1-ubyte.gz" --labels "$D/t10k-labels-idx1-ubyte.gz" \
        "$D/t10k-images-idx3-ubyte.gz" | tail -1 |
        sed -n 's/.*"percent":\([0-9.]*\),"low_percent":\([0-9.]*\),"high_percent":\([0-9.]*\).*/\1 \2 \3/p'
}

line() { # method units error low high
    printf '{"bench":"embedding/nested","metric":"test_error_percent","value":%.4g,"unit":"%%","config":{"method":"%s","objective":"%s","hidden":"%s","rate":%s,"dims":%s,"k":5,"labels_percent":100,"tested":10000,"low":%.4g,"high":%.4g,"seed":%s,"epochs":%s,"options":"%s"},"commit":"%s","machine":"%s","command":"%s"}\n' \
        "$3" "$1" "$objective" "$hidden" "$rate" "$2" "$4" "$5" "$seed" "$epochs" "$options" "$commit" "$machine" \
        "OBJECTIVE=$objective HIDDEN=$hidden RATE=$rate THREADS=$threads SEED=$seed sh bench/nested_units.sh BUILD_DIR FOLDER $epochs $options"
}

options=$*
most=${lengths##* }
train "$OUT/nested.tpm" -k "$most" --rate "$rate" --nested "$(echo "${lengths% *}" | tr ' ' ',')" "$@"
# shellcheck disable=SC2046
for n in $lengths; do line nested "$n" $(judge "$OUT/nested.tpm" "$n"); done
for n in $own; do
    train "$OUT/own-$n.tpm" -k "$n" --rate "$rate" "$@"
    # shellcheck disable=SC2046
    line own "$n" $(judge "$OUT/own-$n.tpm" "$n")
done
