# --allocation: the same images at full length, shared out otherwise on the way; repacked, truncated, merged.
"$SAMPLES" small set --count 200 --format png
"$TAPER" train -q --fast --window 8 -o m.tpm set/png
for allocation in even mean equal; do
    "$TAPER" encode -q -m m.tpm --best --allocation $allocation -o $allocation.taper set/png
    "$TAPER" verify -q $allocation.taper
    "$TAPER" decode -q -m m.tpm -o $allocation $allocation.taper
done
diff -r even mean
diff -r even equal
"$TAPER" info mean.taper | grep -q 'groups in [0-9]* rate classes$'
"$TAPER" info --json mean.taper | grep -q '"rate_classes": *[0-9]'

# the same bytes for any number of threads; cuts decode, and differ from those of the even one
"$TAPER" encode -q -m m.tpm --allocation mean -T 1 -o again.taper set/png
cmp again.taper mean.taper
for bytes in 15000 25000; do
    for allocation in even mean equal; do
        head -c $bytes $allocation.taper | "$TAPER" decode -q -f -m m.tpm -o cut-$allocation -
        test "$(find cut-$allocation -name '*.png' | wc -l)" -eq "$(find set/png -name '*.png' | wc -l)"
    done
    diff -rq cut-even cut-mean >differ && exit 1
    diff -rq cut-even cut-equal >differ && exit 1
done

# to one image after the other and back, whole and truncated; a single image of it
"$TAPER" repack -q -m m.tpm --layout image -o image.taper mean.taper
"$TAPER" repack -q -m m.tpm -o back.taper image.taper
"$TAPER" truncate -q -b 20000 -o short.taper mean.taper
test "$(wc -c <short.taper)" -le 20000
"$TAPER" repack -q -m m.tpm --layout image -o short-image.taper short.taper
for file in image back; do
    "$TAPER" decode -q -f -m m.tpm -o other $file.taper
    diff -r even other
done
"$TAPER" decode -q -m m.tpm -o one --image 150 short.taper
"$TAPER" decode -q -m m.tpm -o short short.taper
one=$(cd one && find . -name '*.png')
cmp "one/$one" "short/$one"
"$TAPER" decode -q -m m.tpm -o apart short-image.taper

# --psnr finds the cut of a set whose images are in rate classes
"$TAPER" encode -q -m m.tpm --allocation equal --psnr 28 -o 28.taper set/png
test "$(wc -c <28.taper)" -lt "$(wc -c <equal.taper)"

# shards of different sets have different rate classes: refused with the remedy
mkdir half
cp -r set/png/arrow set/png/cross half
"$TAPER" encode -q -m m.tpm --allocation mean -o half.taper half
code=0
"$TAPER" merge -q -o both.taper half.taper mean.taper 2>said || code=$?
test "$code" -ne 0
grep -q -- '--shard 1/1' said
"$TAPER" encode -q -m m.tpm --allocation mean --shard 1/1 -o half-1.taper half
"$TAPER" encode -q -m m.tpm --allocation mean --shard 1/1 -o mean-1.taper set/png
"$TAPER" merge -q -o both.taper half-1.taper mean-1.taper
"$TAPER" merge -q -o twice.taper mean.taper mean.taper
"$TAPER" verify -q twice.taper
