# What cannot be carried out is refused in one sentence with a remedy, before anything is written.
. "$ROOT/tests/cli_helpers.sh"
small_set 60
expect 2 '*-o FILE*' "$TAPER" encode -m model.tpm set/png
expect 2 '*give the images*' "$TAPER" encode -m model.tpm -o out.taper
expect 2 '*give one of --bytes*' "$TAPER" encode -m model.tpm -o out.taper -b 1K --bpp 1 set/png
expect 5 '*nothing.tpm: cannot open*' "$TAPER" encode -m nothing.tpm -o out.taper set/png
expect 3 '*not a*model*' "$TAPER" encode -m set/png/arrow/0001.png -o out.taper set/png
head -c 500 model.tpm >cut.tpm
expect 3 'taper encode: cut.tpm: *' "$TAPER" encode -m cut.tpm -o out.taper set/png
expect 5 '*no/folder/out.taper: *' "$TAPER" encode -m model.tpm -o no/folder/out.taper set/png
expect 5 '*http://x/y.png: images are not read by URL; download the file*' "$TAPER" encode -m model.tpm -o out.taper http://x/y.png
test ! -e out.taper

# labels: too few, too many, a missing name, no such file
head -n 0 /dev/null >labels
for i in 1 2 3; do echo "$i" >>labels; done
expect 2 '*labels*3 labels for 60 images*' "$TAPER" encode -m model.tpm --labels labels -o out.taper set/png
printf 'name,label\narrow/0001.png,x\n' >labels
expect 2 "*labels*of 60 images, 59 are not*" "$TAPER" encode -m model.tpm --labels labels -o out.taper set/png
expect 5 '*nolabels*' "$TAPER" encode -m model.tpm --labels nolabels -o out.taper set/png
test ! -e out.taper

# an existing output, and one that is an input, by any name
echo precious >out.taper
expect 5 'taper encode: out.taper: *' "$TAPER" encode -m model.tpm -o out.taper set/png
echo precious | cmp - out.taper
cp -r set/png in
picture=in/arrow/0001.png
expect 2 '*is an input too*' "$TAPER" encode -f -m model.tpm -o $picture in
expect 2 '*is an input too*' "$TAPER" encode -f -m model.tpm -o $picture $picture
ln -s "$picture" link
expect 2 '*is an input too*' "$TAPER" encode -f -m model.tpm -o link in
expect 2 '*is an input too*' "$TAPER" encode -f -m model.tpm -o model.tpm in
cmp set/png/arrow/0001.png $picture

# -f overwrites; an earlier result among the inputs is no input
"$TAPER" encode -q -f -m model.tpm -o in/out.taper in
cp in/out.taper before
"$TAPER" encode -q -f -m model.tpm -o in/out.taper in
cmp before in/out.taper
nothing_left
