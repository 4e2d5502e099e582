# decode --levels: the integers behind the pixels, which another decoder finds too, whole and cut.
. "$ROOT/tests/cli_helpers.sh"
corpus=$ROOT/tests/fuzz/corpus/container
for name in parts conditional binary restoration lapped; do
    file=$corpus/$name.taper
    size=$(wc -c <"$file")
    front=$("$TAPER" info --json "$file" | json_number front_bytes)
    for bytes in "$size" $((front + (size - front) * 2 / 3)) $((front + (size - front) / 3)); do
        "$TAPER" decode --levels -b "$bytes" "$file" >ours
        grep -q '^group 0 passes [0-9]* position [0-9]*$' ours
        grep -q '^unit 0 depth [0-9]*:\( -\{0,1\}[0-9]*+\{0,1\}\)*$' ours
        command -v python3 >/dev/null || continue
        python3 -B "$ROOT/formats/teaching_decoder.py" --levels --bytes "$bytes" "$file" >theirs
        cmp ours theirs
    done
done
# some cut leaves positions ahead of others
for less in 10 20 30 40 50 60 70; do
    "$TAPER" decode --levels -b $(($(wc -c <"$corpus/parts.taper") - less)) "$corpus/parts.taper"
done | grep -q '[0-9]+'

small_set 12
"$TAPER" encode --best -q -m model.tpm --group 5 -o set.taper set/png
"$TAPER" decode --levels -m model.tpm set.taper >whole
test "$(grep -c '^group' whole)" -eq 3
expect 2 '*carry its model*' "$TAPER" decode --levels set.taper
expect 2 '*--levels*' "$TAPER" decode --levels -m model.tpm -o out set.taper
expect 2 '*--levels*' "$TAPER" decode --levels -m model.tpm --image 1 set.taper
# damage: told, and the other groups are printed
cp set.taper bad.taper
size=$(wc -c <bad.taper)
byte=$(tail -c 3 set.taper | od -An -tu1 -N1 | tr -d ' ')
printf "\\$(printf '%03o' $((byte ^ 1)))" | dd of=bad.taper bs=1 seek=$((size - 3)) conv=notrunc 2>/dev/null
expect 3 '*is damaged (checksum)*' "$TAPER" decode --levels -m model.tpm bad.taper
sed '/^group 2/,$d' whole >two
sed '/^group 2/,$d' expect.out | cmp - two

# a cut within the front matter is told
expect 3 '*incomplete header*' "$TAPER" decode --levels -b 30 -m model.tpm set.taper
