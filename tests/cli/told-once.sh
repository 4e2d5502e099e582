# Under -v every input that is left out or passed over is told, and none a second time in a summary; a whole file
# is not told as if passes were missing.
. "$ROOT/tests/cli_helpers.sh"
small_set 40
mkdir mixed
cp set/png/ring/0001.png mixed/good.png
for i in 1 2 3; do cp "$ROOT/tests/fuzz/corpus/png/rgba8.png" mixed/alpha$i.png; done
printf '%%PDF-1.4' >mixed/a.svg
echo text >mixed/notes.txt
echo text >mixed/more.txt
encode() { "$TAPER" encode -f --alpha refuse -m model.tpm -o out.taper "$@" mixed 2>said || [ $? -eq 1 ]; }
encode -v
for name in alpha1.png alpha2.png alpha3.png a.svg notes.txt more.txt; do
    [ "$(grep -c "mixed/$name" said)" -eq 1 ] || { echo "$name"; cat said; exit 1; }
done
if grep -q 'the first' said; then cat said; exit 1; fi
grep -q '4 of 5 inputs failed and were left out' said
encode
grep -q '3 of 5 inputs were left out (the first: mixed/alpha1.png)' said
grep -q '2 files that are no images were passed over' said

# passes: all that the file has, or how many of them
"$TAPER" encode --best -q -m model.tpm -o whole.taper set/png
"$TAPER" truncate -q --quick -b 9000 -o cut.taper whole.taper
for whole in whole cut; do
    expect 0 '*' "$TAPER" decode -f -vv -m model.tpm -o out $whole.taper
    if grep -q '[0-9] of [0-9]* pass' expect.err; then grep pass expect.err; exit 1; fi
    grep -q "40 images from .*: [0-9]* passes, in out$" expect.err
    "$TAPER" decode -f -p -m model.tpm -o out - <$whole.taper 2>said
    tail -n 1 said | grep -q '100.0 %: [0-9]* passes$' || { cat said; exit 1; }
done
head -c 9000 whole.taper >prefix.taper
expect 0 '*40 images from 9000 of *: [0-9]* of [0-9]* passes, in out' "$TAPER" decode -f -m model.tpm -o out prefix.taper
