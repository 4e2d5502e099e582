# A model with a conditional model and a head: smaller files, more quality; cut anywhere, repacked, merged.
"$SAMPLES" small set --count 200 --format png
"$TAPER" train -q --window 8 -o plain.tpm set/png
"$TAPER" train -q --window 8 --conditional 16 --head 16 --predict-epochs 30 -o both.tpm set/png
"$TAPER" info both.tpm | grep -q 'predicts  bits, by a network of 16 hidden units'
"$TAPER" info both.tpm | grep -q 'refines   what is decoded, by a network of 16'
"$TAPER" info --json plain.tpm | grep -q '"conditional_hidden": *0'

for model in plain both; do
    "$TAPER" encode --best -q -m $model.tpm --group 20 -o $model.taper set/png
done
test "$(wc -c <both.taper)" -lt "$(wc -c <plain.taper)"

# the same bytes again, for any number of threads; a whole file and its cuts decode
"$TAPER" encode --best -q -m both.tpm --group 20 -T 1 -o again.taper set/png
cmp both.taper again.taper
"$TAPER" verify -q both.taper
front=$("$TAPER" info --json both.taper | sed 's/.*"front_bytes": *\([0-9]*\).*/\1/')
for more in 0 1 777 5000 20000; do
    head -c $((front + more)) both.taper | "$TAPER" decode -q -f -m both.tpm -o cut -
    test "$(find cut -name '*.png' | wc -l)" -eq "$(find set/png -name '*.png' | wc -l)"
done

# layouts change without the images, and back to the same bytes
"$TAPER" repack -q -m both.tpm --layout image -o image.taper both.taper
"$TAPER" decode -q -m both.tpm -o whole both.taper
"$TAPER" decode -q -m both.tpm -o apart image.taper
diff -r whole apart
"$TAPER" decode -q -f -m both.tpm -T 1 -o alone both.taper
diff -r whole alone
"$TAPER" truncate -q -b $((front + 9000)) -o short.taper both.taper
"$TAPER" decode -q -m both.tpm -o short short.taper

# one image, several threads
"$SAMPLES" scenes one --count 1
large=$(find one -type f | head -1)
"$TAPER" encode --best -q -m both.tpm -o one.taper "$large"
for threads in 1 2 5; do
    "$TAPER" decode -q -f -m both.tpm -T $threads -o one-$threads one.taper
    diff -r one-1 one-$threads
done

# what was written with one model is refused with another
code=0
"$TAPER" decode -q -m plain.tpm -o wrong both.taper 2>said || code=$?
test "$code" -eq 2
grep -q "give the container's model with -m" said

# widths that are none
code=0
"$TAPER" train -q --window 8 --conditional 12 -o odd.tpm set/png 2>said || code=$?
test "$code" -ne 0
grep -q '8 to 256, in steps of 8' said
test ! -e odd.tpm

# codes of whole units have no bit planes to predict
code=0
"$TAPER" train-bits --head 16 -o odd.tpm set/png 2>said || code=$?
test "$code" -eq 2
grep -q "unknown option '--head'" said

# the window is chosen first, then the networks learn, once: a resumed run finds its own checkpoints
learn='train -q --conditional 8 --head 8 --predict-epochs 2 --checkpoint run.chk --resume'
"$TAPER" $learn -o first.tpm set/png
"$TAPER" $learn -o second.tpm set/png
cmp first.tpm second.tpm
