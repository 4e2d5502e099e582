# Models of family conv: more quality from the same bytes; cut anywhere, the same for any number of threads, adapted.
"$SAMPLES" small set --count 200 --format png
"$TAPER" train -q --window 8 -o plain.tpm set/png
"$TAPER" train -q --window 8 --family conv --restore 16 --restore-steps 100 --checkpoint c.chk --log log.jsonl -o conv.tpm set/png
grep -q '"restoration_step": *100' log.jsonl
"$TAPER" info conv.tpm | grep -q 'family    conv'
"$TAPER" info conv.tpm | grep -q 'restores  pixels, by convolutions 16 wide'
"$TAPER" info --json plain.tpm | grep -q '"restoration_hidden": *0'

# nothing that is entropy-coded depends on it: the same sizes; more quality
for model in plain conv; do
    "$TAPER" encode --best -q -m $model.tpm --group 20 -o $model.taper set/png
done
for model in plain conv; do # the data: less the front matter, which names the model
    front=$("$TAPER" info --json $model.taper | sed 's/.*"front_bytes": *\([0-9]*\).*/\1/')
    tail -c +$((front + 1)) $model.taper >$model.data
done
cmp conv.data plain.data
psnr() { # MODEL: at 150 bytes an image
    "$TAPER" truncate -q -f --bytes-per-image 150 -o small.taper "$1.taper"
    "$TAPER" decode -q -f -m "$1.tpm" -o "$1" small.taper
    python3 -B "$ROOT/tests/mean_psnr.py" set/png "$1"
}
if command -v python3 >/dev/null; then
    psnr plain >a
    psnr conv >b
    awk 'NR == FNR { plain = $1; next } { exit !($1 > plain) }' a b
else
    echo "SKIP quality of what is restored: no python3 here"
fi

# cuts; threads; layouts
front=$("$TAPER" info --json conv.taper | sed 's/.*"front_bytes": *\([0-9]*\).*/\1/')
for more in 0 1 777 5000 20000; do
    head -c $((front + more)) conv.taper | "$TAPER" decode -q -f -m conv.tpm -o cut -
    test "$(find cut -name '*.png' | wc -l)" -eq "$(find set/png -name '*.png' | wc -l)"
done
"$TAPER" decode -q -m conv.tpm -T 1 -o one conv.taper
"$TAPER" decode -q -m conv.tpm -T 3 -o three conv.taper
diff -r one three
"$TAPER" repack -q -m conv.tpm --layout image -o image.taper conv.taper
"$TAPER" decode -q -m conv.tpm -o apart image.taper
diff -r one apart
"$SAMPLES" scenes wide --count 1
large=$(find wide -type f | head -1)
"$TAPER" encode --best -q -m conv.tpm -o large.taper "$large"
for threads in 1 2 5; do
    "$TAPER" decode -q -f -m conv.tpm -T $threads -o wide-$threads large.taper
    diff -r wide-1 wide-$threads
done

# it learns on; a run that goes on where it stopped is done at once
"$TAPER" train --from conv.tpm --restore-steps 20 -o adapted.tpm set/png/star 2>said
"$TAPER" info adapted.tpm | grep -q 'family    conv' || grep -q 'the model is of family pca' said
"$TAPER" train -q -f --window 8 --family conv --restore 16 --restore-steps 100 --checkpoint c.chk --resume -o again.tpm set/png
cmp conv.tpm again.tpm

# what is none
refused() { # WORDS OPTION...
    words=$1 code=0
    shift
    "$TAPER" train -q -o no.tpm "$@" set/png 2>said || code=$?
    test "$code" -eq 2
    grep -q -- "$words" said
    test ! -e no.tpm
}
refused 'multiple of 8' --family conv --restore 12
refused 'even sides' --family conv --window 7
refused 'omit --family' --family conv --from conv.tpm
refused 'without networks' --family conv --fast
