# Codes of whole units: a binary model has exactly its units in bits, runs repeat and resume, and what
# cannot be done is said in words that name the remedy.
. "$ROOT/tests/cli_helpers.sh"
"$SAMPLES" small set --count 300 --format cifar
images=set/cifar/train.bin
n=$(($(wc -c <$images) / 3073))
quick="-w whole -k 32 -e 3 --batch 50 --rate 0.01 -T 1"

# --- a binary model: 32 bits an image, at most; the front matter beside it ---
"$TAPER" train-bits -q -o bits.tpm $quick --sweep --log bits.jsonl --plot bits $images
"$TAPER" info bits.tpm | grep -q "32 units of one bit"
"$TAPER" encode -q -m bits.tpm -o bits.taper $images
"$TAPER" info --json bits.taper >info.json
front=$("$TAPER" info bits.taper | awk '$1 == "front" { print $2 }')
test $(($(wc -c <bits.taper) - front)) -le $((n * 32 / 8 + n * 32 / 800 + 64))
"$TAPER" decode -q -m bits.tpm --format cifar -o back.bin bits.taper
test "$(wc -c <back.bin)" -gt 0
head -c $(((front + $(wc -c <bits.taper)) / 2)) bits.taper >cut.taper
"$TAPER" decode -q -m bits.tpm --format cifar -o coarse.bin cut.taper
test "$(wc -l <bits.jsonl)" -eq 3
grep -q '"units_swept":31' bits.jsonl
test -s bits.csv
grep -q "units swept" bits-sweep.csv

# --- the same again, and with another number of threads; conjugate gradients; a deep network ---
"$TAPER" train-bits -q -o again.tpm $quick -T 2 --sweep $images
cmp bits.tpm again.tpm
"$TAPER" train-bits -o deep.tpm $quick --preset paper --hidden 24 -k 16 $images 2>words
grep -q "short codes get worse" words
"$TAPER" info deep.tpm | grep -q "16 units of one bit"
"$TAPER" train-bits -q -o units.tpm $quick --code units --untied --activation logistic --unit relu --hidden 20 \
    --regularise adaptive-l2:0.1 --invariance 0.1 --truncation geometric:0.9 $images
"$TAPER" encode -q -m units.tpm -o units.taper $images
"$TAPER" decode -q -m units.tpm --format cifar -o back2.bin units.taper

# --- an orthonormal decoder, and where there is none ---
"$TAPER" train-bits -q -o frame.tpm $quick --code units --orthonormal $images
"$TAPER" train-bits -q -o free.tpm $quick --code units $images
not cmp -s frame.tpm free.tpm
not "$TAPER" train-bits -q -o none.tpm $quick --code units --orthonormal --sweep $images 2>words
grep -q "orthonormal decoders are for" words
not "$TAPER" train-bits -q -o none.tpm $quick --code units --unit relu --orthonormal $images 2>words
grep -q "orthonormal decoders are for" words

# --- populations: over units, and in bytes for planes ---
awk 'BEGIN { for (i = 1; i <= 32; i++) print 1 / 32 }' >even.txt
"$TAPER" train-bits -q -o own.tpm $quick --truncation file:even.txt $images
"$TAPER" train-bits -q -o cut.tpm $quick --truncation log-uniform:0.8 $images
"$TAPER" train -q -o planes.tpm --family dense $quick --hidden 8 --truncation ladder:4,8,16 $images

# --- refusals: exit 2 or 1 of the verb, words on standard error ---
refused() { # words, arguments...
    words=$1
    shift
    code=0
    "$TAPER" train-bits -q -o never.tpm "$@" $images >out 2>err || code=$?
    test "$code" -ne 0
    grep -q -e "$words" err || { echo "no '$words' in:"; cat err; exit 1; }
    test ! -e never.tpm
}
awk 'BEGIN { for (i = 1; i <= 32; i++) print 1 / 16 }' >twice.txt
awk 'BEGIN { for (i = 1; i <= 32; i++) print i == 7 ? 0 : 1 / 31 }' >zero.txt
refused "sum to 2" $quick --truncation file:twice.txt
refused "line 7: 0 is not above 0" $quick --truncation file:zero.txt
refused "32 numbers where 16 are wanted" $quick -k 16 --truncation file:even.txt
refused "between 0 and 1" $quick --truncation geometric:1
refused "between 0 and 1" $quick --truncation geometric:0
refused "is no distribution of code lengths" $quick --truncation normal:3
refused "adaptive-l1:RATIO" $quick --regularise l3:1
# --- a run that leaves the finite numbers: the step and the last good checkpoint are named ---
wild="--code units --hidden 64,64,64,64,64,64 --activation linear --rate 1 -e 60 --batch 200"
refused "diverged in step .* run.chk; lower the rate" $quick $wild --checkpoint run.chk
refused "no checkpoint was written" $quick $wild --batch 20
test -s run.chk
# what is left of it is whole: the run goes on from there, to the same end
refused "diverged in step" $quick $wild --checkpoint run.chk --resume
