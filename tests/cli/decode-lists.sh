# decode of several images, into one file where the name says so, labels beside IDX, class folders.
. "$ROOT/tests/cli_helpers.sh"
small_set 60
"$TAPER" encode -q -m model.tpm --group 7 -o set.taper set/png
decode() { "$TAPER" decode -q -m model.tpm "$@"; }
decode -o all set.taper
files() { (cd "$1" && find . -type f | sort | tr '\n' ' '); }

# numbers, ranges and names, in one argument or several, each image once
decode -i 3,7-9,bolt/0002.png -i 8-8 -i 60 -o some set.taper
test "$(files some)" = './arrow/0003.png ./bolt/0001.png ./bolt/0002.png ./bolt/0003.png ./star/0006.png '
for file in $(files some); do cmp "some/$file" "all/$file"; done
decode -i 3,7-9 -T 3 -p -o arriving set.taper
test "$(files arriving)" = './arrow/0003.png ./bolt/0001.png ./bolt/0002.png ./bolt/0003.png '
for file in $(files arriving); do cmp "arriving/$file" "all/$file"; done
for bad in 0 61 0-3 59-61 9-7 3,x 3,61 , 1- bolt; do
    expect 2 "*there is no image '*'; give numbers from 1 to 60*" \
        "$TAPER" decode -m model.tpm -i "$bad" -o none set.taper
done
test ! -e none
# a name may hold a comma, or look like a range
mkdir names
cp all/arrow/0001.png 'names/1,2.png'
cp all/arrow/0002.png 'names/x.png'
"$TAPER" encode -q -m model.tpm -o names.taper names
decode -i '1,2.png' -o comma names.taper
test "$(files comma)" = './1,2.png '

# the end of a path that one image has; the name when decoded, or before; a pattern; several are said
decode -i 'bolt/*3.png,./star//0006.png' -o found set.taper
test "$(files found)" = './bolt/0003.png ./star/0006.png '
decode -i 'b*t/000?.png' -i 1 -o found2 set.taper
test "$(files found2 | tr ' ' '\n' | grep -c 'bolt\|arrow')" -eq 7
expect 2 "*'0001.png' may be * images, such as '*/0001.png' and '*'; give more of the name" \
    "$TAPER" decode -m model.tpm -i 0001.png -o none set.taper
mkdir deep deep/er
cp all/arrow/0001.png deep/er/p.jpg
cp all/bolt/0001.png "deep/er/$(printf 'e\314\201\nx.png')"
"$TAPER" encode -q -m model.tpm -o deep.taper deep
for name in er/p.jpg p.jpg p.png er/p.png 'er/p.*'; do decode -f -i "$name" -o p.png deep.taper 2>/dev/null; done
decode -i "$(printf '\303\251')\\x0ax.png" -o marks deep.taper # as lists print it, in another normal form
test -f "marks/er/$(printf 'e\314\201\nx.png')"
"$TAPER" info -v deep.taper | grep -q 'x0ax.png$'

# names that look alike: the bytes decide; what has the bytes of neither is refused, and the bytes are told
mkdir alike alike/in
cp all/arrow/0001.png "alike/in/$(printf '\303\251.png')"
cp all/bolt/0001.png "alike/in/$(printf 'e\314\201.png')"
"$TAPER" encode -q -m model.tpm -o alike.taper alike
decode -i "$(printf '\303\251.png')" -o nfc.png alike.taper
decode -i "$(printf 'e\314\201.png')" -o nfd.png alike.taper
if cmp -s nfc.png nfd.png; then exit 9; fi
cp all/arrow/0001.png "alike/in/$(printf '\303\247\314\201.png')"
cp all/bolt/0001.png "alike/in/$(printf 'c\314\247\314\201.png')"
"$TAPER" encode -q -f -m model.tpm -o alike.taper alike
expect 2 '*may be 2 images, such as *c?xcc?xa7?xcc?x81.png* and *?xc3?xa7?xcc?x81.png*, which look alike; give the number*' \
    "$TAPER" decode -m model.tpm -i "$(printf '\341\270\211.png')" -o none.png alike.taper

# a file where the name says so
"$TAPER" encode -q -m model.tpm -o one.taper names/x.png
decode -o x.png one.taper
decode -o x.ppm one.taper
decode -o - one.taper | cmp - x.png
decode -i bolt/0001.png -o b.png set.taper
cmp b.png all/bolt/0001.png
test -f x.png
head -n 1 x.ppm | grep -q '^P6$'
expect 2 'taper decode: x2.png: names one file, and there are 60 images*' "$TAPER" decode -m model.tpm -o x2.png set.taper
expect 2 '*names one file, and there are 2 images*' "$TAPER" decode -m model.tpm -i 1,2 -o x2.png set.taper
expect 2 '*only one image goes to standard output, and there are 60*' "$TAPER" decode -m model.tpm -o - set.taper
"$TAPER" decode -q -m model.tpm -i 1 -o x.jpg set.taper
test "$(head -c 3 x.jpg | od -An -tx1 | tr -d ' ')" = ffd8ff
expect 2 '*--progressive rewrites PNG or PNM*' "$TAPER" decode -p -m model.tpm -o x.idx set.taper
mkdir folder.png
decode -i 1-2 -o folder.png set.taper
test "$(files folder.png)" = './arrow/0001.png ./arrow/0002.png '

# IDX by name, its labels beside it, and both back again
expect 0 '*labels in all-labels.idx*' "$TAPER" decode -m model.tpm -o all.idx set.taper
decode -o all.idx.gz set.taper
gzip -dc all.idx.gz | cmp - all.idx
gzip -dc all-labels.idx.gz | cmp - all-labels.idx
test "$(wc -c <all-labels.idx)" -eq 68
test "$(od -An -tu1 -j 8 all-labels.idx | tr -s ' \n' ' ' | cut -c 1-26)" = ' 0 0 0 0 0 0 1 1 1 1 1 1 2'
mkdir mnist
decode --format idx -o mnist/t10k-images-idx3-ubyte set.taper
cmp mnist/t10k-images-idx3-ubyte all.idx
cmp mnist/t10k-labels-idx1-ubyte all-labels.idx
"$TAPER" encode -q -m model.tpm --labels all-labels.idx -o back.taper all.idx
"$TAPER" info back.taper | grep -q '^  labels    10 classes: 0 (6), 1 (6)'
decode -i 7,13 -o two.idx set.taper
test "$(od -An -tu1 -j 8 two-labels.idx)" = '   1   2'
rm two.idx
expect 5 '*two-labels.idx*' "$TAPER" decode -m model.tpm -i 7,13 -o two.idx set.taper
test ! -e two.idx
decode -f -i 7,13 -o two.idx set.taper # the labels are those
cp two.idx two.before
cp two-labels.idx labels.before
expect 5 '*two-labels.idx: exists with other content, and is not the file that was named: *remove it, or*' \
    "$TAPER" decode -f -m model.tpm -i 13,7-8 -o two.idx set.taper
echo mine >mine-labels.idx.gz
expect 5 '*mine-labels.idx.gz: exists with other content*' "$TAPER" decode -f -m model.tpm -o mine.idx.gz set.taper
test ! -e mine.idx.gz
cmp two.idx two.before
cmp two-labels.idx labels.before
rm two.idx
expect 0 '*without labels: give -o FILE*' "$TAPER" decode -m model.tpm --format idx -o - set.taper
cmp expect.out all.idx
decode -o x.idx one.taper
test ! -e x-labels.idx
cmp set/cifar/test.bin /dev/null 2>/dev/null || decode -o all.bin set.taper
test "$(wc -c <all.bin)" -eq $((60 * 3073))

# PNG in class folders: names that begin with their class stay
decode --class-folders -o classes set.taper
diff -r all classes
decode --class-folders -i 1,7 -o numbered back.taper
test "$(files numbered)" = './0/000001.png ./1/000007.png '
expect 2 '*one.taper: has no labels*' "$TAPER" decode --class-folders -m model.tpm -o no one.taper
expect 2 '*--class-folders is for files*' "$TAPER" decode --class-folders -m model.tpm -o no.idx set.taper
nothing_left
