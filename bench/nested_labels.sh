#!/bin/sh
# nested_labels.sh -- MNIST by a binary code whose first 64 bits learn from labels (train-bits --class-units): 5-NN error by its first
# 8, 16, 32 and 64 bits against models trained for that length alone; PSNR at 32 and UNITS / 8 bytes an image with labels and without.
#
#   sh bench/nested_labels.sh BUILD_DIR FOLDER        JSON lines on standard output
#
# FOLDER: MNIST's files as they are published. Price: six models, a quarter of an hour on one core; with HIDDEN=1000 EPOCHS=30
# 1,600 bits take 33 MFLOP an image and epoch, 256 bits 13: 210 TFLOP in all, two hours. Checkpointed: run it again after an
# interruption and it goes on. BENCH_THREADS=2, EPOCHS=15, UNITS=1600, HIDDEN=none (or widths: 1000), WEIGHT=1 (of labels), OUT=build/nested-labels.
# What is trained for one length alone has 256 bits, and the weight that was best for that on training images left out, 10.
# ROWS=15000 learns from so many of the training images and measures on the 5,000 after them, for choosing settings: the test set
# is for one run of all 60,000. Needs python3.
set -eu
[ $# -eq 2 ] && [ -x "$1/taper" ] && [ -f "$2/train-images-idx3-ubyte.gz" ] || {
    echo "usage: sh bench/nested_labels.sh BUILD_DIR FOLDER" >&2
    exit 2
}
here=$(cd "$(dirname "$0")" && pwd) taper=$1/taper data=$2
rows=${ROWS:-60000} units=${UNITS:-1600} threads=${BENCH_THREADS:-2} epochs=${EPOCHS:-15}
out=${OUT:-build/nested-labels} hidden=${HIDDEN:-none}
mkdir -p "$out"
TAPER_COMMIT=$(cd "$here" && git describe --always --dirty 2>/dev/null || echo unknown)
COMMAND="EPOCHS=$epochs UNITS=$units HIDDEN=$hidden WEIGHT=${WEIGHT:-1} ROWS=$rows sh bench/nested_labels.sh BUILD_DIR FOLDER"
export TAPER_COMMIT COMMAND HIDDEN="$hidden"

number() { # four bytes, the highest first
    printf "$(printf '\\%03o\\%03o\\%03o\\%03o' $(($1 >> 24 & 255)) $(($1 >> 16 & 255)) $(($1 >> 8 & 255)) $(($1 & 255)))"
}
part() { # of the training images: name, first, count
    { number 2051; number "$3"; number 28; number 28
      gzip -dc "$data/train-images-idx3-ubyte.gz" | tail -c +$((17 + 784 * $2)) | head -c $((784 * $3)); } >"$out/$1-images"
    { number 2049; number "$3"
      gzip -dc "$data/train-labels-idx1-ubyte.gz" | tail -c +$((9 + $2)) | head -c "$3"; } >"$out/$1-labels"
}
part known 0 "$rows"
if [ "$rows" -lt 60000 ]; then
    part tested "$rows" 5000
else
    gzip -dc "$data/t10k-images-idx3-ubyte.gz" >"$out/tested-images"
    gzip -dc "$data/t10k-labels-idx1-ubyte.gz" >"$out/tested-labels"
fi

learn() { # name, bits, options...
    name=$1 bits=$2
    shift 2
    [ ! -f "$out/$name.tpm" ] || return 0
    [ "$hidden" = none ] || set -- --hidden "$hidden" "$@"
    "$taper" train-bits -q -o "$out/$name.tpm" -w whole -k "$bits" --untied -e "$epochs" --batch 500 -T "$threads" --checkpoint "$out/$name.chk" --resume \
        --log "$out/$name.jsonl" "$@" "$out/known-images" >&2
}
learn nested "$units" --labels "$out/known-labels" --class-units 64 --class-weight "${WEIGHT:-1}"
learn unlabelled "$units"
for bits in 8 16 32 64; do
    learn alone-$bits 256 --labels "$out/known-labels" --class-units $bits --nested $bits --class-weight 10
done
exec python3 "$here/nested_labels.py" "$taper" "$out" "$rows" "$epochs" "$units" "$threads"
