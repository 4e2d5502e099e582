# Every cut that holds the front matter decodes to the whole set; shorter ones say what is missing.
# A damaged file gives what can be had, and says so.
. "$ROOT/tests/cli_helpers.sh"
small_set 60
"$TAPER" encode --best -q -m model.tpm -o set.taper set/png
front=$("$TAPER" info --json set.taper | json_number front_bytes)
size=$(wc -c <set.taper)
for bytes in 0 1 55 56 57 $((front - 1)); do
    head -c $bytes set.taper >cut.taper
    expect 3 '*cut.taper: incomplete header, need * more byte*' \
        "$TAPER" decode -m model.tpm -o none cut.taper
done
grep -q 'need 1 more' expect.err
test ! -e none
for bytes in $front $((front + 1)) $((front + 1000)) $((size / 2)) $((size - 1)); do
    head -c "$bytes" set.taper >cut.taper
    "$TAPER" decode -q -f -m model.tpm -o out cut.taper
    test "$(count_png out)" -eq 60
    expect 4 '*' "$TAPER" decode -f --strict -m model.tpm -o out cut.taper
done
"$TAPER" decode -q -f --strict -m model.tpm -o out set.taper

# four bytes of one group are damaged: the other groups are as they were
"$TAPER" encode --best -q -m model.tpm --group 20 -o groups.taper set/png
cp groups.taper bad.taper
printf 'xxxx' | dd of=bad.taper bs=1 seek=$((front + 4000)) conv=notrunc 2>/dev/null
"$TAPER" decode -q -m model.tpm -o good groups.taper
expect 3 '*bad.taper: layer * is damaged (checksum); fetch the file again*' \
    "$TAPER" decode -m model.tpm -o bad bad.taper
grep -q 'taper decode: bad.taper: [1-9][0-9]* images lack the data after a failed checksum' expect.err
test "$(count_png bad)" -eq 60
same=0
for file in $(cd good && find . -name '*.png'); do
    if cmp -s "good/$file" "bad/$file"; then same=$((same + 1)); fi
done
test "$same" -ge 20
test "$same" -lt 60

# bytes behind the end are pointed out
{ cat set.taper; echo more; } >longer.taper
expect 0 '*warning: 5 bytes follow*' "$TAPER" decode -f -m model.tpm -o out longer.taper
nothing_left
