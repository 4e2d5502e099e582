# verify: whole, cut and damaged files; any changed byte is found.
. "$ROOT/tests/cli_helpers.sh"
small_set 60
"$TAPER" encode --best -q -m model.tpm --group 25 -o set.taper set/png
"$TAPER" encode --best -q -m model.tpm --layout image -o image.taper set/png
"$TAPER" verify --strict set.taper image.taper model.tpm >said
test "$(grep -c ': whole: ' said)" -eq 3
size=$(wc -c <set.taper)
mkfifo pipe
cat set.taper >pipe &
"$TAPER" verify --strict pipe | grep -q '^pipe: whole: '

head -c 10000 set.taper >cut.taper
"$TAPER" verify cut.taper | grep -q "^cut.taper: cut: 10000 of $size bytes are here; [1-9][0-9]* of "
expect 4 '*' "$TAPER" verify --strict cut.taper
head -c 10000 set.taper | "$TAPER" verify --json - | grep -q "\"state\":\"cut\",\"bytes\":10000,\"bytes_missing\":$((size - 10000)),"
head -c 100 set.taper >front.taper
expect 3 '*front.taper: incomplete header*' "$TAPER" verify front.taper

for file in set.taper image.taper; do
    length=$(wc -c <$file)
    for at in 0 9 25 60 $((length / 3)) $((length / 2)) $((length - 1)); do
        cp $file flip.taper
        byte=$(od -An -tu1 -j "$at" -N 1 $file | tr -d ' ')
        printf '%b' "\\0$(printf %o $((byte ^ 16)))" | dd of=flip.taper bs=1 seek="$at" conv=notrunc 2>/dev/null
        code=0
        "$TAPER" verify flip.taper >said 2>&1 || code=$?
        [ "$code" -eq 3 ] || { echo "byte $at of $file: exit code $code"; cat said; exit 1; }
        grep -q '^flip.taper: damaged: \|^taper verify: flip.taper: ' said
    done
done
expect 3 "*" "$TAPER" verify --json flip.taper; cp expect.out said
grep -q '"state":"damaged",.*"chunks_bad":[1-9].*"first_bad_offset":[1-9]' said

# the worst of several counts
expect 3 '*' "$TAPER" verify set.taper cut.taper flip.taper model.tpm
expect 5 '*cannot open*' "$TAPER" verify set.taper nowhere.taper
