# A container needs its own model: another one, none, or a broken one is named.
. "$ROOT/tests/cli_helpers.sh"
small_set 60
"$TAPER" train -q --window 4 -o other.tpm set/png
"$TAPER" encode --best -q -m model.tpm -o set.taper set/png
"$TAPER" encode --best -q -m model.tpm --embed-model -o own.taper set/png
expect 2 '*set.taper: *was made with model*this is*' "$TAPER" decode -m other.tpm -o none set.taper
expect 2 '*set.taper: container does not carry its model*-m*' "$TAPER" decode -o none set.taper
expect 5 '*nothing.tpm: cannot open*' "$TAPER" decode -m nothing.tpm -o none set.taper
head -c 700 model.tpm >cut.tpm
expect 3 '*cut.tpm: *' "$TAPER" decode -m cut.tpm -o none set.taper
expect 3 '*not a taper container*' "$TAPER" decode -m model.tpm -o none model.tpm
expect 2 '*give one container*' "$TAPER" decode -m model.tpm -o none
expect 2 '*-o DIR*' "$TAPER" decode -m model.tpm set.taper
test ! -e none
# a changed byte of the model: refused, never believed
for at in 9 13 21 33 100 $(($(wc -c <model.tpm) - 1)); do
    cp model.tpm flip.tpm
    printf '\125' | dd of=flip.tpm bs=1 seek="$at" conv=notrunc 2>/dev/null
    cmp -s model.tpm flip.tpm || expect 3 '*flip.tpm: *' "$TAPER" decode -m flip.tpm -o none set.taper
done
"$TAPER" decode -q -o own own.taper
"$TAPER" decode -q -m model.tpm -o plain set.taper
diff -r own plain
