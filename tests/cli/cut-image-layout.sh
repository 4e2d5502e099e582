# A cut file of the layout `image` holds some images whole and others not at all: which, all verbs say.
. "$ROOT/tests/cli_helpers.sh"
small_set 60
"$TAPER" encode --best -q --layout image -m model.tpm -o each.taper set/png
front=$("$TAPER" info --json each.taper | json_number front_bytes)
size=$(wc -c <each.taper)
"$TAPER" encode --best -q --layout image -m model.tpm -o first.taper set/png/arrow/0001.png
first=$(($(wc -c <first.taper) - $("$TAPER" info --json first.taper | json_number front_bytes)))

says() { # bytes, sentence
    head -c "$1" each.taper >cut.taper
    "$TAPER" verify cut.taper >said
    grep -q "^cut.taper: cut: $1 of $size bytes are here; $2\$" said || { cat said; exit 1; }
    "$TAPER" info cut.taper >said
    grep -q "^  state     cut: .*; $2\$" said || { cat said; exit 1; }
    "$TAPER" decode -f -m model.tpm -o out cut.taper 2>said
    grep -q "^taper decode: .*: $2\$" said || { cat said; exit 1; }
    "$TAPER" decode -f --progressive -m model.tpm -o arriving - <cut.taper 2>said
    grep -q "^taper decode: .*: $2\$" said || { cat said; exit 1; }
    "$TAPER" decode -f -m model.tpm -b "$1" -o out each.taper 2>said
    grep -q "^taper decode: .*: $2\$" said || { cat said; exit 1; }
}
says "$front" 'images 1-60 missing'
says $((front + 1)) 'images 1 in part, 2-60 missing'
says $((front + first)) 'images 1 whole, 2-60 missing'
says $((front + first + 1)) 'images 1 whole, 2 in part, 3-60 missing'
says $((size - 1)) 'images 1-59 whole, 60 in part'
"$TAPER" verify each.taper | grep -q ': whole: 1 of 1 layer '
"$TAPER" verify --json cut.taper | grep -q '"images_whole":\[\[1,59\]\],"images_in_part":\[\[60,60\]\],"images_missing":\[\]'
"$TAPER" info --json cut.taper | grep -q '"images_whole":\[\[1,59\]\],"images_in_part":\[\[60,60\]\],"images_missing":\[\]'

"$TAPER" decode -f --progressive -m model.tpm -o arriving - <each.taper 2>said
if grep whole said; then exit 1; fi

# the images that are said to be whole are, and the others are not
half=$((front + (size - front) / 2))
head -c $half each.taper >cut.taper
"$TAPER" decode -q -f -m model.tpm -o out cut.taper
"$TAPER" decode -q -m model.tpm -o plain each.taper
whole=$("$TAPER" verify cut.taper | sed -n 's/.*images 1-\([0-9]*\) whole, .*/\1/p')
test "$whole" -gt 10
number=0
for file in $(cd plain && find . -type f | sort); do
    number=$((number + 1))
    if [ $number -le "$whole" ]; then cmp "plain/$file" "out/$file"
    elif cmp -s "plain/$file" "out/$file"; then echo "$file is whole"; exit 1; fi
done
# the layout `set` has all images at every cut
"$TAPER" encode --best -q -m model.tpm -o set.taper set/png
head -c 9000 set.taper >cut.taper
"$TAPER" verify cut.taper | grep -q 'layers whole for all images'
