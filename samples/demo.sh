#!/bin/sh
# demo.sh -- the main job on a generated set: train, encode once, cut anywhere, decode, compare.
#
#   sh samples/demo.sh TAPER MAKE_SAMPLES OUT_DIR
#
# Leaves OUT_DIR/index.html and all that went into it; an OUT_DIR of an earlier demo is replaced.
# `make demo` calls this. A minute on two cores.
set -eu
[ $# -eq 3 ] || { echo "usage: sh samples/demo.sh TAPER MAKE_SAMPLES OUT_DIR" >&2; exit 2; }
taper=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
make_samples=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
out=$3
# only ever remove what a demo has made
if [ -e "$out" ] && [ ! -e "$out/.taper-demo" ]; then
    rmdir "$out" 2>/dev/null || { echo "demo: $out exists and is not from a demo; remove it" >&2; exit 1; }
fi
rm -rf "$out"
mkdir -p "$out"
: >"$out/.taper-demo"
cd "$out"

step() { printf '\n%s\n' "$*"; }
run() { # show a command as one would type it, then run it
    printf '  $ taper'
    printf ' %s' "$@"
    printf '\n'
    code=0
    "$taper" "$@" >said 2>&1 || code=$?
    sed 's/^/    /' said
    rm said
    [ "$code" -eq 0 ] || { echo "demo: taper $1 failed with exit code $code" >&2; exit 1; }
}

step "1. A set of 6,000 drawn images, 32 x 32, ten classes; 5,000 to learn from, 1,000 to carry"
"$make_samples" small samples

step "2. Learn how such images are cut into ordered codes"
run train -o model.tpm samples/cifar/train.bin

step "3. Encode the other 1,000 images into one file, once"
run encode -m model.tpm -o test.taper samples/cifar/test.bin

step "4. Cut that file at six sizes, and decode each cut: every one holds all 1,000 images"
size=$(wc -c <test.taper)
mkdir cuts
for bytes in 15000 30000 60000 120000 250000; do
    run truncate -q -b "$bytes" -o "cuts/$bytes.taper" test.taper
    run decode -m model.tpm -o "cuts/$bytes" "cuts/$bytes.taper"
done
echo "  \$ head -c 500000 test.taper >cuts/500000.taper    # any prefix will do"
head -c 500000 test.taper >cuts/500000.taper
run decode -m model.tpm -o cuts/500000 cuts/500000.taper
for folder in 15000 30000 60000 120000 250000 500000; do
    images=$(find "cuts/$folder" -name '*.png' | wc -l)
    [ "$images" -eq 1000 ] || { echo "demo: cuts/$folder holds $images images" >&2; exit 1; }
done

step "5. Compare with JPEG on the same images"
run compare --rivals jpeg -m model.tpm -o . samples/cifar/test.bin
[ -s index.html ] || { echo "demo: no index.html was written" >&2; exit 1; }

step "Done: $((size)) bytes hold the 1,000 images at their best; look at"
echo "  $out/index.html       the same images side by side at each rate, and the plot"
echo "  $out/cuts/15000/      the 1,000 images from 15,000 bytes, and so on up to 500000/"
