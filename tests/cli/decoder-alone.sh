# The decoder builds alone, as plain C11: no CUDA, no encoder, no training, no image
# libraries; only zstd, xxHash and libm are linked. It decodes what the whole taper wrote.
CC=${CC:-cc}
sources=$(sed "s|^|$ROOT/|" "$ROOT/tests/decoder_sources.txt")
flags="-std=c11 -I$ROOT -Wall -Wextra -Wpedantic -Werror -ffp-contract=off"
# shellcheck disable=SC2086
$CC $flags -O1 -o alone "$ROOT/tests/decoder_alone.c" $sources -lzstd -lxxhash -lm -pthread

# a linear model of windows, and a nonlinear one of small dots, which no linear model can follow
"$SAMPLES" small pca --count 40 --format png
"$TAPER" train -q --window 8 -o pca.tpm pca/png
mkdir -p dense/png
awk 'BEGIN {
    srand(7)
    for (i = 0; i < 500; i++) {
        file = sprintf("dense/png/%03d.pgm", i)
        x = 3 + 6 * rand(); y = 3 + 6 * rand()
        print "P2 12 12 255" >file
        for (r = 0; r < 12; r++)
            for (c = 0; c < 12; c++) print int(255 * exp(-((c - x) ^ 2 + (r - y) ^ 2) / 3)) >file
        close(file)
    }
}'
"$TAPER" train --family dense --window whole --units 16 --hidden 64 --epochs 10 --batch 32 \
    --rate 0.003 -o dense.tpm dense/png 2>said
if grep 'gained nothing' said; then exit 1; fi

for set in pca dense; do
    for layout in set image; do
        "$TAPER" encode --best -q --embed-model --layout $layout -m $set.tpm -o set.taper -f $set/png
        "$TAPER" decode -q --format idx -o all.idx -f set.taper
        header=$([ $set = pca ] && echo 20 || echo 16) # four dimensions in colour, three in grey
        tail -c +$((header + 1)) all.idx >pixels
        # the pixels of linear models are equal everywhere
        ./alone set.taper pixels "$([ $set = pca ] && echo 0 || echo 1)"
    done
done
# it can tell: one pixel brighter by 2 is seen
first=$(od -An -tu1 -N1 pixels)
wrong=$((first > 100 ? first - 2 : first + 2))
{ printf "\\$(printf %03o "$wrong")"; tail -c +2 pixels; } >other
if ./alone set.taper other 1 >said; then cat said; exit 1; fi
