#!/bin/sh
# train.sh -- makes the models that ship. Run again after an interruption, it goes on where it stopped.
#
#   sh models/train.sh BUILD_DIR photo FOLDER            photographs (208 of 512x512 for the model here)
#   sh models/train.sh BUILD_DIR tiny BATCH...           CIFAR-10's data_batch_1.bin to data_batch_5.bin
#   sh models/train.sh BUILD_DIR search FOLDER BATCH...  both; needs python3-pil (search_set.py)
#
# Price on two AVX-512 cores beside other work: photo 70 minutes, tiny 51, search 3. The same commit, images and kind of machine
# give the same bytes. Figures: models/README.md.
set -eu
B=$1 name=$2
shift 2
work=build/models
mkdir -p "$work"
case $name in
photo) shape='--window 16 --predict-epochs 48' ;;
tiny) shape='--window 8 --predict-epochs 24' ;;
search)
    folder=$1
    shift
    python3 models/search_set.py "$B/make_samples" "$folder" "$work" "$work/search_set.bin"
    "$B/taper" train-bits -f -o "$work/search.tpm" -w whole -k 256 --cells 4 --independent --untied \
        --truncation log-uniform:0.5 --rate 0.006 -e 20 --seed 1 --log "$work/search.jsonl" "$@" "$work/search_set.bin"
    cp "$work/search.tpm" models/search.tpm
    exit
    ;;
*) echo "train.sh: no model is called '$name'" >&2; exit 2 ;;
esac
# shellcheck disable=SC2086
"$B/taper" train -f -o "$work/$name.tpm" $shape --conditional 64 --head 64 --seed 1 \
    --family conv --restore 24 --restore-steps 16000 --checkpoint "$work/$name.chk" --resume --log "$work/$name.jsonl" "$@"
cp "$work/$name.tpm" "models/$name.tpm"
