# `encode --dedup`: equal images are stored once and come back under all their names, classes and times; other verbs
# take the further names for images.
. "$ROOT/tests/cli_helpers.sh"
"$SAMPLES" scenes made --count 4
mkdir -p in/cat in/dog
cp made/01-* in/cat/a.png
cp made/02-* in/cat/b.png
cp made/01-* in/dog/c.png
cp made/01-* in/dog/d.png
cp made/03-* in/dog/e.png
# the same pixels, packed otherwise, are equal; other metadata are not
/usr/bin/python3 - <<'END'
from PIL import Image, PngImagePlugin
image = Image.open("in/cat/b.png")
image.save("in/dog/f.png", compress_level=1)
image.save("in/dog/g.png", dpi=(300, 300))
END
touch -d '2001-02-03 04:05:06 UTC' in/cat/*
touch -d '2004-05-06 07:08:09 UTC' in/dog/*
expect 0 'taper encode: 4 images and 3 equal to one of them, * bytes for * of inputs, *' \
    "$TAPER" encode --dedup -o once.taper in
"$TAPER" encode -q -o all.taper in
"$TAPER" verify --strict once.taper >said
test "$(wc -c <once.taper)" -lt "$(($(wc -c <all.taper) * 3 / 4))"
"$TAPER" info once.taper | grep -q '3 more files, equal to one of them'
"$TAPER" info --json once.taper | grep -q '"images":4,"further_names":3,'

# the same files as without it; also by pipe, bytes arriving, and cut
"$TAPER" decode -q -o all all.taper
"$TAPER" decode -q -o once once.taper
diff -r all once
test "$(find once -newermt '2004-05-06 07:08:08 UTC' ! -newermt '2004-05-06 07:08:10 UTC' -type f | wc -l)" -eq 5
test "$(stat -c %Y once/cat/a.png)" -eq "$(date -d '2001-02-03 04:05:06 UTC' +%s)"
cat once.taper | "$TAPER" decode -q --progressive -o arrived -
diff -r all arrived
head -c $(($(wc -c <once.taper) / 2)) once.taper | "$TAPER" decode -q -o half -
cmp half/cat/a.png half/dog/d.png
"$TAPER" decode -q --class-folders -o classes once.taper
test -s classes/dog/c.png

# numbers go on behind the images
cat >want <<'END'
cat/a.png
cat/b.png
dog/e.png
dog/g.png
dog/c.png
dog/d.png
dog/f.png
END
"$TAPER" ls once.taper | cmp - want
"$TAPER" ls -l once.taper | grep -q '^ *5  .* =1  dog  *2004-05-06 .* dog/c.png$'
"$TAPER" ls --json -i 7 once.taper | grep -q '"image":7,"name":"dog/f.png",.*"class":"dog","bytes":0,.*"same_as":2,'
"$TAPER" ls --json -i 1 once.taper | grep -q '"same_as":null,'
"$TAPER" extract -q -o some once.taper 6 'dog/f*'
test "$(find some -type f | wc -l)" -eq 2
cmp some/dog/d.png once/cat/a.png
"$TAPER" extract -q -o six.png once.taper 6
cmp six.png once/cat/a.png
"$TAPER" sheet -q -o sheet.html once.taper
test "$(grep -o 'dog/[cdf].png' sheet.html | sort -u | wc -l)" -eq 3

# an image that is removed leaves its place to the first of its further names
cp once.taper less.taper
expect 0 'taper remove: 2 of 7 images removed, *; 0 of * groups coded again' "$TAPER" remove less.taper cat/a.png dog/d.png
"$TAPER" ls -l less.taper | sed -n 2p | grep -q '^ *1 .* dog  *2004-05-06 .* dog/c.png$'
"$TAPER" decode -q -o less less.taper
rm all/cat/a.png all/dog/d.png
diff -r all less
"$TAPER" rename -q less.taper dog/f.png bird/h.png
"$TAPER" extract -q -o renamed less.taper bird/h.png
cmp renamed/bird/h.png all/cat/b.png
expect 2 '*image 2 is *cat/b.png* already*' "$TAPER" rename less.taper bird/h.png cat/b.png
expect 2 '*image 5 is *bird/h.png* already*' "$TAPER" rename less.taper cat/b.png bird/h.png
expect 2 '*no image would be left*' "$TAPER" remove less.taper '*'

# repack, merge, truncate and add carry them
"$TAPER" repack -q --layout image -o each.taper once.taper
"$TAPER" truncate -q --fraction 0.6 -o cut.taper once.taper
for file in each cut; do "$TAPER" ls $file.taper | cmp - want; done
"$TAPER" merge -q -o both.taper once.taper once.taper
test "$("$TAPER" ls both.taper | wc -l)" -eq 14
"$TAPER" extract -q -o from-both both.taper shard-2/dog/c.png
cmp from-both/shard-2/dog/c.png once/cat/a.png
mkdir more
cp made/04-* more/x.png
cp made/04-* more/y.png
cp once.taper grown.taper
expect 5 "taper add: grown.taper: has an image 'cat/a.png' already; *" "$TAPER" add grown.taper in/
cmp once.taper grown.taper
expect 0 'taper add: 2 images added to 7: *' "$TAPER" add --dedup grown.taper more
"$TAPER" ls -l grown.taper | grep -q ' =5 .* y.png$'
mkdir edit edit/dog edit/cat
cp made/04-* edit/dog/c.png
cp made/04-* edit/cat/a.png
expect 0 'taper add: 2 images added to 9, 2 replaced: *' "$TAPER" add -f --dedup grown.taper edit
"$TAPER" ls grown.taper | sort >names
test "$(wc -l <names)" -eq 9
test "$(uniq names | wc -l)" -eq 9
"$TAPER" decode -q -o grown grown.taper
cmp grown/cat/a.png grown/dog/c.png
cmp grown/x.png grown/y.png
cmp grown/dog/d.png once/dog/d.png

# times are not kept, and count as little, with --strip; no files, no names, no comparison
"$TAPER" encode -q --dedup --strip -o bare.taper in
test "$("$TAPER" ls -l bare.taper | grep -c ' =')" -eq 4
"$TAPER" repack -q --strip -o stripped.taper once.taper
"$TAPER" ls --json stripped.taper | grep -c '"modified":null' | grep -qx 7
# exact copies are exact under all names
"$TAPER" encode -q --dedup --lossless -o exact.taper in
"$TAPER" decode -q -o exact exact.taper
test "$("$TAPER" ls -l exact.taper | grep -c '  exact  ')" -eq 7
"$TAPER" ls --json -i 7 exact.taper | grep -q '"exact":true,.*"same_as":2,'
head -c $(($(wc -c <exact.taper) - 1)) exact.taper | "$TAPER" ls -l - | sed -n 8p | grep -q ' =2  -  '
"$TAPER" ls -l once.taper | sed -n 1p | grep -q quality && exit 1
for name in cat/a dog/c dog/d dog/f; do /usr/bin/python3 -c 'import sys; from PIL import Image
a, b = (Image.open(n).convert("RGB").tobytes() for n in sys.argv[1:]); assert a == b' in/$name.png exact/$name.png; done
small_set 60
"$TAPER" encode -q --best --dedup -m model.tpm -o idx.taper set/idx/images.idx
"$TAPER" info --json idx.taper | grep -q '"further_names":0,'
nothing_left
