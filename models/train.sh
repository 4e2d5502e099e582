#!/bin/sh
# train.sh -- makes the models that ship. Run again after an interruption, it goes on where it stopped.
#
#   sh models/train.sh BUILD_DIR photo FOLDER       photographs (208 of 512x512 for the model here)
#   sh models/train.sh BUILD_DIR tiny BATCH...      CIFAR-10's data_batch_1.bin to data_batch_5.bin
#
# Price on two AVX-512 cores beside other work: photo 70 minutes, tiny 51. The same commit, images and kind of machine give
# the same bytes. Figures: models/README.md.
set -eu
B=$1 name=$2
shift 2
work=build/models
mkdir -p "$work"
case $name in
photo) shape='--window 16 --predict-epochs 48' ;;
tiny) shape='--window 8 --predict-epochs 24' ;;
*) echo "train.sh: no model is called '$name'" >&2; exit 2 ;;
esac
# shellcheck disable=SC2086
"$B/taper" train -f -o "$work/$name.tpm" $shape --conditional 64 --head 64 --seed 1 \
    --family conv --restore 24 --restore-steps 16000 --checkpoint "$work/$name.chk" --resume --log "$work/$name.jsonl" "$@"
cp "$work/$name.tpm" "models/$name.tpm"
