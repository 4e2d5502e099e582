# What messages propose about training is taken from them and run: a binary model of images of several sizes, and of
# large ones; a side where --window whole is refused.
. "$ROOT/tests/cli_helpers.sh"
small_set 60
"$SAMPLES" scenes scenes --count 4
mkdir mixed large
cp set/png/arrow/*.png scenes/*.png mixed/
for n in 1 2 3; do cp "$(ls scenes/*.png | head -n 1)" large/$n.png; done
quick='-q -f -e 1 -k 64'

# the command that index proposes where a model has no bits
expect 2 '*train one with*' "$TAPER" index -m photo -o set.tpx mixed
proposed=$(sed -n "s/.*train one with 'taper \(train-bits [^']*\)'.*/\1/p" expect.err)
for folder in mixed large; do
    "$TAPER" $proposed $quick -o bits.tpm $folder
    "$TAPER" index -q -f -m bits.tpm -o set.tpx $folder
    "$TAPER" search -q -m bits.tpm -k 1 set.tpx "$(ls $folder/*.png | head -n 1)" >found
    test "$(wc -l <found)" -eq 2
done
"$TAPER" $proposed -f -e 1 -k 64 -o bits.tpm mixed 2>said
grep -q '^taper train-bits: the images were scaled to 32 x 32 pixels, as an index scales them$' said

# a side that the refusal of --window whole names
for folder in mixed large; do
    expect 2 '*give a side such as --window *' "$TAPER" train -q -f --window whole -o out.tpm $folder
    side=$(sed -n 's/.*give a side such as \(--window [0-9]*\).*/\1/p' expect.err)
    "$TAPER" train -q -f $side --basis principal -o out.tpm $folder
done
nothing_left
