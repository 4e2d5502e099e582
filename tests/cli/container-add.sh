# `taper add`: new images join a container of any kind; those that are there decode as before; names that clash.
. "$ROOT/tests/cli_helpers.sh"
small_set 60
mkdir new
cp -r set/png/ring set/png/star new
rm -r set/png/ring set/png/star
for layout in set image gallery; do
    "$TAPER" encode -q --best -m model.tpm --embed-model --layout $layout -o $layout.taper set/png
    "$TAPER" decode -q -o $layout.before $layout.taper
    "$TAPER" add -q --best $layout.taper new
    "$TAPER" verify --strict $layout.taper >said
    "$TAPER" decode -q -o $layout.after $layout.taper
    test -s $layout.after/ring/0001.png
    "$TAPER" ls --json -i ring/0001.png $layout.taper | grep -q '"class":"ring"'
    rm -r $layout.after/ring $layout.after/star
    python3 "$ROOT/tests/same_pixels.py" $layout.before $layout.after
done
# the same as encoding them, and joining
"$TAPER" encode -q --best -m model.tpm -o old.taper set/png
"$TAPER" encode -q --best -m model.tpm -o new.taper new
"$TAPER" merge -q -o joined.taper old.taper new.taper
expect 0 'taper add: * images added to *: * bytes after *, in added.taper' "$TAPER" add --best -m model.tpm -o added.taper old.taper new
cmp added.taper joined.taper
not "$TAPER" add -q -o none.taper old.taper new 2>err # its model is neither built in nor carried
grep -q 'give .*model.* with -m' err

# a container that ends early: the new images end as early, or where an option says
"$TAPER" truncate -q --fraction 0.4 -o early.taper set.taper
cp early.taper more.taper
mkdir extra
cp new/ring/0001.png extra/x.png
"$TAPER" add -q more.taper extra
"$TAPER" add -q --bytes 1M -o most.taper early.taper extra
"$TAPER" decode -q -o more more.taper
"$TAPER" decode -q -o most most.taper
"$TAPER" decode -q -o early early.taper
rm more/x.png
python3 "$ROOT/tests/same_pixels.py" early more
each() { "$TAPER" ls --json -i x.png "$1" | json_number bytes; }
test "$(each more.taper)" -lt "$(each most.taper)"

# names that clash, and -f
cp old.taper same.taper
mkdir -p clash/arrow
cp new/ring/0001.png clash/arrow/0002.png
cp new/ring/0002.png clash/fresh.png
expect 5 "taper add: same.taper: has an image 'arrow/0002.png' already; give -f to replace it, *" \
    "$TAPER" add -m model.tpm same.taper clash
cmp same.taper old.taper
expect 0 'taper add: 2 images added to *, 1 replaced: *' "$TAPER" add -f -m model.tpm same.taper clash
"$TAPER" ls same.taper >names
test "$(grep -cx arrow/0002.png names)" -eq 1
test "$(wc -l <names)" -eq $(($("$TAPER" ls old.taper | wc -l) + 1))
"$TAPER" encode -q -m model.tpm -o pair.taper clash
"$TAPER" extract -q -m model.tpm -o from-pair pair.taper arrow/0002.png
"$TAPER" extract -q -m model.tpm -o from-same same.taper arrow/0002.png
python3 "$ROOT/tests/same_pixels.py" from-pair from-same
"$TAPER" add -q -f -m model.tpm pair.taper clash # all are replaced
test "$("$TAPER" ls pair.taper | wc -l)" -eq 2

# codes for search: by the model that the container carries, or that is given
"$TAPER" train-bits -q -w 8 -k 32 -o bits.tpm set/png
"$TAPER" encode -q --best -m model.tpm --embed-with bits.tpm --search-bits 24 -o coded.taper set/png
expect 2 'taper add: coded.taper: has codes for search by model *; give that model with --embed-with' \
    "$TAPER" add -m model.tpm coded.taper new
"$TAPER" add -q -m model.tpm --embed-with bits.tpm coded.taper new
"$TAPER" info --json coded.taper | grep -q '"search_bits":24'
"$TAPER" encode -q --best -m model.tpm --embed-with bits.tpm --embed-search-model -o carried.taper set/png
"$TAPER" add -q -m model.tpm carried.taper new
"$TAPER" search -q -k 1 carried.taper -i ring/0001.png >found
test "$(wc -l <found)" -eq 2

head -c $(($(wc -c <old.taper) - 9)) old.taper >cut.taper
expect 2 'taper add: cut.taper: *is cut*' "$TAPER" add -m model.tpm cut.taper new
expect 2 '*give the images*' "$TAPER" add old.taper
expect 2 '*give a container*' "$TAPER" add
expect 2 'taper add: standard input: cannot be changed in its place; give -o FILE' "$TAPER" add - new <old.taper
expect 5 'taper add: nowhere.taper: *' "$TAPER" add nowhere.taper new
nothing_left
