# `train-bits --class-units`: the first bits of a binary code tell classes apart, the whole of it is still the picture; runs
# repeat, with any number of threads; and what cannot be learned from is said in words that name the remedy.
. "$ROOT/tests/cli_helpers.sh"
bars set 120
bars other 30
quick="-w whole -k 24 --hidden 40 --untied -e 25 --batch 90 --rate 0.01 -T 1"

# --- classes at the front ---
"$TAPER" train-bits -q -o plain.tpm $quick set
"$TAPER" train-bits -q -o front.tpm $quick --class-units 8 --class-weight 3 --log front.jsonl set
"$TAPER" train-bits -q -o again.tpm $quick -T 2 --class-units 8 --class-weight 3 set
cmp front.tpm again.tpm
errors() { # model
    "$TAPER" classify -q --json -m "$1" --units 8 --among set other 2>/dev/null | tail -1 |
        json_number wrong
}
echo "wrong of 90: $(errors front.tpm) by the first 8 bits, $(errors plain.tpm) without labels"
test $((2 * $(errors front.tpm))) -lt "$(errors plain.tpm)"

# --- and the picture behind them ---
"$TAPER" encode --best -q -m front.tpm -o front.taper other
"$TAPER" decode -q -m front.tpm -o back front.taper
test "$(find back -name '*.png' | wc -l)" -eq 90
"$TAPER" info front.tpm | grep -q "24 units of one bit"

# --- labels of a weight of 0 change nothing that is learned, but for units that see none before them ---
"$TAPER" train-bits -q -o bare.tpm $quick -e 2 --independent set
"$TAPER" train-bits -q -o nought.tpm $quick -e 2 --independent --class-units 8 --class-weight 0 set
"$TAPER" embed -q -m bare.tpm -o bare.npy other
"$TAPER" embed -q -m nought.tpm -o nought.npy other
cmp bare.npy nought.npy

# --- labels from a file are theirs; without class units they are without effect, which is said ---
mkdir bare
cp set/both/*.pgm bare
yes both | head -120 >one.txt
yes "left
right" | head -120 >two.txt
"$TAPER" train-bits -o two.tpm $quick -e 1 --class-units 8 --nested 4 --class-weight 1 --labels two.txt bare 2>words
not grep -q "without effect" words
"$TAPER" train-bits -o idle.tpm $quick -e 1 --nested 4 --class-weight 2 --labels two.txt bare 2>words
grep -q "without effect here: .*--class-weight" words
grep -q "without effect here: .*--nested" words

# --- lengths of one's own ---
"$TAPER" train-bits -q -o own.tpm $quick -e 2 --class-units 8 --nested 3,5 set
"$TAPER" train-bits -q -o one.tpm $quick -e 2 --class-units 8 set
not cmp -s own.tpm one.tpm
"$TAPER" train-bits -q -o same.tpm $quick -e 2 --class-units 8 --nested 8 set
cmp same.tpm one.tpm

# --- refusals ---
refused() { # words, arguments...
    words=$1
    shift
    code=0
    "$TAPER" train-bits -q -o never.tpm "$@" >out 2>err || code=$?
    test "$code" -eq 2
    grep -q -e "$words" err || { echo "no '$words' in:"; cat err; exit 1; }
    test ! -e never.tpm
}
refused "25 class units of a code of 24 units" $quick --class-units 25 set
refused "no image has one; put images into a folder for each class" $quick --class-units 8 bare
refused "are of one class" $quick --class-units 8 --labels one.txt bare
refused "leave --sweep out" $quick --class-units 8 --sweep set
refused "and --gradient through" $quick --independent --class-units 8 --gradient stop set
refused "rise from 1 to all 8 class units" $quick --class-units 8 --nested 3,3 set
refused "class-weight" $quick --class-units 8 --class-weight -1 set
mkdir one-class
cp -r "$(ls -d set/* | head -n 1)" one-class/a
refused "have one class, 'a': give" $quick --class-units 2 one-class
refused "needs --code binary" --code units -w whole --class-units 8 set
mkdir -p lone/a lone/b
cp "$(find set -name '*.p?m' -o -name '*.png' | sort | head -n 1)" lone/a
cp "$(find set -name '*.p?m' -o -name '*.png' | sort | tail -n 1)" lone/b
refused "every class has only one image" $quick --class-units 8 lone
