#!/bin/sh
# compare_cifar10.sh -- BD-rates against JPEG and WebP on the CIFAR-10 test set: one `taper compare --json`
# object a line. Two models: windows of 8x8, and whole images with 1,024 units.
#
#   sh bench/compare_cifar10.sh TAPER FOLDER     (FOLDER: data_batch_1..5.bin, test_batch.bin)
#
# Price: 4 minutes on two cores.
set -eu
taper=$1 data=$2 out=build/compare
mkdir -p "$out"
"$taper" train -q -f -o "$out/windows-8x8.tpm" -w 8 "$data"/data_batch_[1-5].bin
"$taper" train -q -f -o "$out/whole.tpm" -w whole -k 1024 "$data"/data_batch_[1-5].bin
for model in windows-8x8 whole; do
    "$taper" compare -q -f -m "$out/$model.tpm" -r jpeg,webp -o "$out/$model" --json "$data/test_batch.bin"
done
