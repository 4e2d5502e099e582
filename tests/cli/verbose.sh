# -v and -vv say something in every verb, on standard error, and nothing under -q. Words for one thing are
# singular.
. "$ROOT/tests/cli_helpers.sh"
"$SAMPLES" small set --count 20 --format png
mkdir one
cp "$(find set/png -name '*.png' | sort | head -n 1)" one/it.png
train="$TAPER train -f -w 8 -k 6 -o model.tpm set/png"
encode="$TAPER encode -f -m model.tpm -o set.taper set/png"
$train -q
$encode -q
report="$TAPER compare -r none -m model.tpm set/png"
took='taper *: *.* s, *.* s of processor, at most * of memory'

# what each verb says at -v, and then at -vv only
while read -r verb level like; do
    case $verb in
    train) run=$train ;;
    encode) run=$encode ;;
    truncate) run="$TAPER truncate -f -b 900 -o cut.taper set.taper" ;;
    decode) run="$TAPER decode -f -m model.tpm -o out set.taper" ;;
    verify) run="$TAPER verify set.taper" ;;
    repack) run="$TAPER repack -f -m model.tpm -o re.taper set.taper" ;;
    merge) run="$TAPER merge -f -o merged.taper set.taper set.taper" ;;
    compare) run=$report ;;
    esac
    expect 0 "taper $verb: $like" $run $level
    if [ "$level" = -v ]; then # less is said without
        wc -l <expect.err >with
        expect 0 '*' $run
        test "$(wc -l <expect.err)" -lt "$(cat with)"
    else
        expect 0 "$took" $run $level
    fi
    expect 0 '*' $run -q $level
    if grep -v ': warning: ' expect.err; then exit 1; fi
done <<'T'
train -v window 8x8: 6 units, a model of *; *ends at * dB
train -vv calibration
train -vv layer 2: * bytes an image, * dB
encode -v model model.tpm: family pca, window 8 x 8, 6 units, * passes, * bytes, id *
encode -vv image 20: 32 x 32, RGB, 8 bits, from set/png/*.png
truncate -v set.taper: 20 images in 1 group and * layer*, layout set, front matter of * bytes
truncate -vv set.taper: * of * bytes are here; its model, *, is not in the file
decode -v set.taper: 20 images in 1 group*
decode -vv image 7: 32 x 32, * passes, in out/*.png
verify -v set.taper: chunks: *, of them * whole, 0 bad, 0 cut, 0 missing
verify -vv set.taper: chunks: *, of them * whole, 0 bad, 0 cut, 0 missing
repack -v model model.tpm: *
repack -vv set.taper: 20 images *
merge -v set.taper: 20 images *
merge -vv set.taper: 20 images *
compare -v model model.tpm: *
compare -vv model model.tpm: *
T

# info: on standard output, more and more of it
for file in set.taper model.tpm photo; do
    "$TAPER" info $file >0
    "$TAPER" info -v $file >1
    "$TAPER" info -vv $file >2 2>said
    test "$(wc -l <0)" -lt "$(wc -l <1)"
    test "$(wc -l <1)" -lt "$(wc -l <2)"
    grep -q 's of processor' said
done
grep -q '^photo: model, photo, which is built in$' 0
"$TAPER" info tiny >named
"$TAPER" info "$ROOT/models/tiny.tpm" >file
tail -n +2 named >a
tail -n +2 file | diff a -
"$TAPER" info --json photo | grep -q '"builtin_model":"photo"'
"$TAPER" info --json model.tpm | grep -q '"builtin_model":null'
"$TAPER" info -v model.tpm | grep -q '^      1 '

# one of everything
"$TAPER" train -w 8 -k 1 -o small.tpm one 2>said
grep -q 'small.tpm: 1 image, window 8x8, 1 unit, ' said
"$TAPER" encode -vv -m small.tpm --layout image -o one.taper one 2>>said
"$TAPER" decode -v -m small.tpm -o back one.taper 2>>said
"$TAPER" info one.taper >>said
"$TAPER" info small.tpm >>said
"$TAPER" verify -v one.taper >>said 2>&1
"$TAPER" merge -o again.taper one.taper 2>>said
"$TAPER" repack -m small.tpm -o set1.taper one.taper 2>>said
{ cat one.taper; echo; } | head -c $(($(wc -c <one.taper) + 1)) >longer.taper
"$TAPER" decode -f -m small.tpm -o back longer.taper 2>>said
if "$TAPER" verify longer.taper 2>>said; then exit 1; fi
head -c 55 one.taper >head.taper
if "$TAPER" decode -m small.tpm -o none head.taper 2>>said; then exit 1; fi
echo 'no image' >no.png
if "$TAPER" encode -m small.tpm -o none.taper no.png 2>>said; then exit 1; fi
"$TAPER" compare -r none -m small.tpm one >>said
grep -q '1 byte follows the container' said
grep -q 'need 1 more byte;' said
grep -q '1 container, ' said
grep -q '1 layer of 1 group$' said
if grep -E '(^|[^0-9.,])1 [a-z]+(s|es)([ ,;:.)]|$)' said; then exit 1; fi
