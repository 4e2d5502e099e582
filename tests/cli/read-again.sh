# What a verb wrote is read again by its own rules before it takes the place of anything: here the limits
# that were given, which the result is above.
. "$ROOT/tests/cli_helpers.sh"
small_set 24
"$TAPER" encode --best -q -m model.tpm -o set.taper set/png
printf 'what was there' >old
for from in "set.taper set.taper" "-f -o old set.taper set.taper"; do
    # shellcheck disable=SC2086
    expect 6 'taper merge: *cannot be read again*48 images*--max-images*' \
        "$TAPER" merge --max-images 30 -o new.taper $from
done
grep -q 'what was there' old
"$TAPER" merge --max-images 30 -o - set.taper set.taper >piped 2>said && exit 1
test ! -s piped # not even the beginning
"$TAPER" merge -q --max-images 48 -o new.taper set.taper set.taper

expect 6 'taper train: old: *new model cannot be read, *--max-model*' \
    "$TAPER" train -f -q --window 8 --max-model 1000 -o old set/png
grep -q 'what was there' old
nothing_left
