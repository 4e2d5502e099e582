# truncate --psnr: with the originals the cut that encode finds; without, against what the whole file shows.
. "$ROOT/tests/cli_helpers.sh"
small_set 120
"$TAPER" encode --best -q -m model.tpm -o set.taper set/png
"$TAPER" encode -q -m model.tpm --psnr 30 -o encoded.taper set/png
"$TAPER" truncate -q -m model.tpm --psnr 30 --originals set/png -o 30.taper set.taper
cmp 30.taper encoded.taper

# images without names go by their order; the model of the container, one thread, pipes
"$TAPER" encode --best -q -m model.tpm --embed-model -o cifar.taper set/cifar/test.bin
"$TAPER" encode -q -m model.tpm --embed-model --psnr 33 -o encoded.taper -f set/cifar/test.bin
"$TAPER" truncate -q -T 1 --psnr 33 --originals set/cifar/test.bin -o - - <cifar.taper >33.taper
cmp 33.taper encoded.taper

# Mean over images of PSNR, of two files of CIFAR records with colour.
psnr() { # file, file
    python3 -c '
import math, sys
a, b = (open(name, "rb").read() for name in sys.argv[1:])
records = range(0, len(a), 3073)
mse = [sum((x - y) ** 2 for x, y in zip(a[i + 1:i + 3073], b[i + 1:i + 3073])) / 3072 for i in records]
print(sum(min(100, 10 * math.log10(65025 / m)) if m else 100 for m in mse) / len(mse))' "$1" "$2"
}
decode() { "$TAPER" decode -q -f -m model.tpm --format cifar -o "$2" "$1"; }
"$TAPER" truncate -m model.tpm --psnr 36 -o 36.taper set.taper 2>said
grep -q ' dB against the whole file, measured on 120 of 120 images' said
decode set.taper whole.bin
decode 36.taper 36.bin
"$TAPER" truncate -q -b $(($(wc -c <36.taper) * 98 / 100)) -o less.taper set.taper
decode less.taper less.bin
at=$(psnr whole.bin 36.bin) below=$(psnr whole.bin less.bin)
awk "BEGIN { exit !($at >= 35.98 && $at < 36.2 && $below < $at) }" || { echo "$at $below"; exit 1; }

# out of reach: all of it, and a word; of itself the whole is never out of reach
expect 0 '*set.taper: *reaches * dB, not 90*' \
    "$TAPER" truncate -m model.tpm --psnr 90 --originals set/png -o all.taper set.taper
cmp all.taper set.taper
"$TAPER" truncate -q -m model.tpm --psnr 100 -o itself.taper set.taper

# refusals
refused() { expect "$1" "$2" "$TAPER" truncate -o none.taper --psnr 30 $3 "$4"; }
refused 2 '*set.taper: *-m*' '' set.taper
refused 2 "*set.taper: *'* is not among the originals*" '-m model.tpm --originals set/png/ring' set.taper
refused 2 "*'nowhere': no image*" '-m model.tpm --originals nowhere' set.taper
refused 2 '*give one of --bytes*' '-m model.tpm -b 10K' set.taper
"$TAPER" encode --best -q -m model.tpm --layout image -o image.taper set/png/ring
refused 2 '*image.taper: *taper repack --layout set*' '-m model.tpm' image.taper
expect 0 '*--originals*--psnr*' "$TAPER" truncate --quick -b 10K --originals set/png -o 10.taper set.taper
test ! -e none.taper
nothing_left
