# `taper remove` and `taper rename`: in place or to another file; the other images decode as before; refusals.
. "$ROOT/tests/cli_helpers.sh"
small_set 60
"$TAPER" encode -q -m model.tpm --embed-model --group 8 -o set.taper set/png
"$TAPER" decode -q -o before set.taper
cp set.taper kept.taper
chmod 640 set.taper

# remove in place: the rest as before; all of `ring`, one of `star`
expect 0 'taper remove: * of 60 images removed, * in set.taper; * of * groups coded again' \
    "$TAPER" remove set.taper 'ring/*' star/0001.png
test "$(stat -c %a set.taper)" = 640
"$TAPER" verify --strict set.taper | grep -q ': whole'
"$TAPER" ls set.taper >names
not grep -q 'ring/\|star/0001' names
not grep -aq 'ring/0001\|star/0001' set.taper
"$TAPER" decode -q -o after set.taper
rm -r before/ring before/star/0001.png
python3 "$ROOT/tests/same_pixels.py" before after
# the classes of those that stay
"$TAPER" ls --json set.taper | grep -c '"class":"star"' | grep -qx "$(ls before/star | wc -l)"

# to another file, from standard input; every layout; a container on rate classes; one that was truncated
for layout in set image gallery; do
    "$TAPER" encode -q -m model.tpm --layout $layout --allocation equal -o l-$layout.taper set/png/star set/png/ring
    "$TAPER" decode -q -m model.tpm -o l-$layout.before l-$layout.taper
    "$TAPER" remove -q -m model.tpm -o l-$layout.less - 2,4-6 <l-$layout.taper
    "$TAPER" decode -q -m model.tpm -o l-$layout.after l-$layout.less
    "$TAPER" ls -i 2,4-6 l-$layout.taper | while read -r name; do rm "l-$layout.before/$name"; done
    python3 "$ROOT/tests/same_pixels.py" l-$layout.before l-$layout.after
done
"$TAPER" truncate -q --fraction 0.5 -o half.taper kept.taper
"$TAPER" remove -q half.taper 3 17 40-44
"$TAPER" verify half.taper >said
"$TAPER" merge -q -o joined.taper half.taper set.taper
"$TAPER" decode -q -o joined joined.taper

# rename: only the front matter
cp set.taper renamed.taper
expect 0 'taper rename: image 1, arrow/0001.png, is a name/with spaces.png, in renamed.taper' \
    "$TAPER" rename renamed.taper arrow/0001.png 'a name/with spaces.png'
"$TAPER" extract -q -o one renamed.taper 'a name/*'
cmp 'one/a name/with spaces.png' after/arrow/0001.png
data=$(($(wc -c <set.taper) - $("$TAPER" info --json set.taper | json_number front_bytes)))
tail -c "$data" set.taper >data
tail -c "$data" renamed.taper | cmp - data
head -c $(($(wc -c <set.taper) - data / 2)) set.taper >cut.taper
"$TAPER" rename -q cut.taper 2 x.png
"$TAPER" ls -i x.png cut.taper | grep -qx x.png
"$TAPER" rename -q -o - renamed.taper 1 'back\x0aslash' | "$TAPER" ls - | grep -qx 'back\\x0aslash'

# refusals change nothing
cp kept.taper same.taper
expect 2 "taper remove: same.taper: there is no image 'nope'*" "$TAPER" remove same.taper nope
expect 2 'taper remove: same.taper: no image would be left*' "$TAPER" remove same.taper '*'
expect 2 '*give a container, and the images*' "$TAPER" remove same.taper
expect 2 'taper remove: standard input: cannot be changed in its place; give -o FILE' "$TAPER" remove - 1 <same.taper
expect 2 'taper remove: cut.taper: the container is cut: * bytes are missing; *truncate --fraction 1*' \
    "$TAPER" remove cut.taper 1
expect 5 '*set.taper*exist*' "$TAPER" remove -o set.taper same.taper 1
expect 2 "*image 2 is 'arrow/0002.png' already*" "$TAPER" rename same.taper 1 arrow/0002.png
expect 2 "*cannot be a name*" "$TAPER" rename same.taper 1 ../x
expect 2 '*fits * images*' "$TAPER" rename same.taper 'star/*' x
expect 2 '*give a container, an image of it, and its new name*' "$TAPER" rename same.taper 1
cmp same.taper kept.taper
"$TAPER" encode -q -m model.tpm --group 8 -o bare.taper set/png
expect 2 'taper remove: bare.taper: *model*' "$TAPER" remove bare.taper 1
printf damage | dd of=same.taper bs=1 seek=$(($(wc -c <same.taper) - 20)) conv=notrunc 2>dd.err
expect 3 'taper remove: same.taper: *damaged*' "$TAPER" remove same.taper 1
nothing_left

# a set of more than 1,024 images, whose front matter is in pages
"$TAPER" encode -q -m model.tpm --layout image -o many.taper set/png
for n in 1 2 3 4 5; do "$TAPER" merge -q -f -o twice.taper many.taper many.taper; mv twice.taper many.taper; done
"$TAPER" remove -q many.taper 1-700
test "$("$TAPER" ls many.taper | wc -l)" -eq 1220
"$TAPER" rename -q many.taper 1220 last.png
"$TAPER" extract -q -m model.tpm -o last many.taper last.png
"$TAPER" verify many.taper >said
