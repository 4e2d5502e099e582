# embed and classify on containers: codes as they stand in the file, whole or cut, beside those of the same images.
. "$ROOT/tests/cli_helpers.sh"
small_set 120
"$TAPER" train -q -w whole -k 9 -o whole.tpm set/png
"$TAPER" train-bits -q -w whole -k 32 -e 3 -o binary.tpm set/png
"$TAPER" train-bits -q -w whole --independent --untied -k 32 -e 3 -o independent.tpm set/png
# --strip: file times would be before the data, and the cuts below have few bytes
for model in whole binary independent; do
    "$TAPER" encode --best --strip -q -m $model.tpm -o $model.taper set/png
    "$TAPER" embed -q -m $model.tpm -o $model-images.csv --labels-out labels.csv set/png
    "$TAPER" embed -q -m $model.tpm -o $model.csv --labels-out own-labels.csv $model.taper
    cmp own-labels.csv labels.csv
    rm labels.csv own-labels.csv
done

# bits are those of the images; of planes what is known lies around the code, within a step
cmp binary.csv binary-images.csv
cmp independent.csv independent-images.csv
"$TAPER" encode --best -q -m binary.tpm --layout image --embed-model -o each.taper set/png
"$TAPER" embed -q -o each.csv each.taper
cmp each.csv binary-images.csv
"$TAPER" embed -q --units 5 -o five.csv each.taper
cut -d , -f 1-7 each.csv | cmp - five.csv
expect 0 'taper embed: whole.taper: 120 codes of 9 known units and * bits in the mean' \
    "$TAPER" embed -m whole.tpm -o again.csv whole.taper
cmp again.csv whole.csv
rm again.csv
cat >near.py <<'P'
import csv, sys
def codes(path): return [[float(x) for x in r[2:]] for r in list(csv.reader(open(path)))[1:]]
images, whole = codes("whole-images.csv"), codes(sys.argv[1])
assert len(images) == len(whole) == 120
worst = max(abs(a - b) for r, s in zip(images, whole) for a, b in zip(r, s))
range_ = max(abs(a) for r in images for a in r)
assert 0 < worst < 1.5 and range_ > 2000, (worst, range_)  # steps of 2, and of as much again around 0
P
python3 near.py whole.csv
"$TAPER" encode -q -m whole.tpm --allocation equal -o equal.taper set/png # not in the order of the images
"$TAPER" embed -q -m whole.tpm -o equal.csv equal.taper
python3 near.py equal.csv
cut -d , -f 1,2 whole-images.csv >rows
cut -d , -f 1,2 equal.csv | cmp - rows

# cuts: what is known is right, the rest is 0, and how much it is is said
said() { sed -n "s/^taper $1: cut.taper: a cut, .* of \\([0-9.]*\\) known units\\{0,1\\} and \\([0-9.]*\\) bits in the mean\$/\\1 \\2/p" "$2"; }
cat >prefix.py <<'P'
import csv, sys
images, cut = ([r[2:] for r in list(csv.reader(open(p)))[1:]] for p in ("binary-images.csv", "cut.csv"))
known = [sum(x != "0" for x in r) for r in cut]
assert all(r[:k] == s[:k] and set(r[k:]) <= {"0"} for r, s, k in zip(cut, images, known))
assert abs(sum(known) / len(known) - float(sys.argv[1])) < 0.01, (sum(known), sys.argv)
P
before=0
for bytes in 500 700 900; do
    head -c $bytes binary.taper >cut.taper
    "$TAPER" embed -f -m binary.tpm -o cut.csv cut.taper 2>err
    bits=$(said embed err)
    test "${bits% *}" = "${bits#* }"
    python3 prefix.py "${bits% *}"
    test "${bits%%[. ]*}" -gt "$before"
    before=${bits%%[. ]*}
done
"$TAPER" embed -q -f --json -m binary.tpm -o cut.csv cut.taper >json
test "$(json_number known_bits <json)" = "$(json_number known_bits <json | grep '^2[0-9]\.')"
front=$("$TAPER" info --json binary.taper | json_number front_bytes)
head -c "$front" binary.taper >cut.taper
expect 3 'taper embed: cut.taper: the file is cut before its first code, or holds none: nothing was written' \
    "$TAPER" embed -m binary.tpm -o none.csv cut.taper
head -c $((front - 5)) binary.taper >cut.taper
expect 3 'taper embed: cut.taper: incomplete header, need 5 more bytes*' "$TAPER" embed -m binary.tpm -o none.csv cut.taper
head -c $(($(wc -c <each.taper) - 100)) each.taper >cut.taper
expect 1 'taper embed: the cut holds nothing of [1-9]* of 120 images: they are left out' \
    "$TAPER" embed -o cut.csv -f cut.taper
head -n "$(wc -l <cut.csv)" binary-images.csv | sed '$d' >want
test "$(wc -l <want)" -gt 60
sed '$d' cut.csv | cmp - want # the last one may be cut itself
test ! -e none.csv

# several are one set, with classes by name: as if they were merged; images of none have numbers
cp -r set/png half
rm -r half/bolt half/star
cp -r half other
mv other/ring other/sun
"$TAPER" encode --best -q -m binary.tpm -o half.taper half
"$TAPER" encode --best -q -m binary.tpm -o other.taper other
"$TAPER" merge -q -o both.taper half.taper other.taper
"$TAPER" embed -q -m binary.tpm -o both.csv both.taper
"$TAPER" embed -q -m binary.tpm -o two.csv --labels-out two.npy half.taper other.taper
"$TAPER" embed -q -m binary.tpm -o both-2.csv --labels-out both.npy both.taper
cmp two.npy both.npy
cut -d , -f 2- both.csv >want
cut -d , -f 2- two.csv | cmp - want
"$TAPER" encode --best -q -m binary.tpm -o numbers.taper --labels set/idx/labels.idx set/idx/images.idx
"$TAPER" embed -q -m binary.tpm -o - --format csv numbers.taper | sed -n 3p | grep -q '^numbers.taper#2,[0-9],'

# classify: a container votes as its images do, and is labelled as they are
known_and_new
"$TAPER" encode --best -q -m binary.tpm --embed-model -o known.taper known
"$TAPER" encode --best -q -m binary.tpm -o new.taper new
"$TAPER" classify -q -m binary.tpm --among known new >want.csv
"$TAPER" classify --among known.taper new 2>err | cmp - want.csv
grep -q '^taper classify: known.taper: 40 codes of 32 known units and 32 bits in the mean$' err
grep -q '^error .* by 5 votes: ' err
"$TAPER" classify -q --among known.taper new.taper | cmp - want.csv
"$TAPER" classify -q -m binary.tpm --among known new.taper | cmp - want.csv
"$TAPER" classify -q -m binary.tpm --leave-one-out --among known >own.csv
"$TAPER" classify -q --leave-one-out --among known.taper | cmp - own.csv
"$TAPER" classify -q -m binary.tpm --units 16 --among known new >short.csv
"$TAPER" classify -q --units 16 --among known.taper new.taper | cmp - short.csv
head -c $(($(wc -c <new.taper) - 5)) new.taper >cut.taper
"$TAPER" classify -q --units 16 --among known.taper cut.taper | cmp - short.csv
cp -r known mixed
cp new/star/0009.png mixed/loose.png
"$TAPER" encode --best -q -m binary.tpm -o mixed.taper mixed
"$TAPER" classify -q -m binary.tpm --unlabelled mixed >want.csv
"$TAPER" classify -q -m binary.tpm --unlabelled mixed.taper | cmp - want.csv
"$TAPER" classify -q -m whole.tpm --among whole.taper -k 1 set/png >same.csv # near, and nothing is nearer
awk -F , 'NR > 1 && ($1 != $5 || $6 > 4) { print; wrong = 1 } END { exit wrong }' same.csv

# a page: pictures are decoded for it
"$TAPER" embed -q -m whole.tpm --map map.html whole.taper
grep -q '"n":120,"k":12,"width":32,"height":32' map.html

# what cannot be
expect 2 '*whole.taper: *container does not carry its model *; give *with -m' "$TAPER" embed -o none.csv whole.taper
expect 2 '*whole.taper: container was made with model *, this is *' "$TAPER" embed -m binary.tpm -o none.csv whole.taper
expect 2 '*whole.taper: container was made with model *' "$TAPER" classify --among known.taper whole.taper
expect 2 '*whole.taper: containers and images are mixed: *' "$TAPER" embed -m whole.tpm -o none.csv set/png whole.taper
expect 2 '*whole.taper: containers and images are mixed: *' "$TAPER" embed -m whole.tpm -o none.csv whole.taper set/png
expect 2 '*labels: containers bring their labels; leave the label file out' \
    "$TAPER" classify -m whole.tpm --among set/png --labels labels whole.taper
expect 2 '*known.taper: codes have only 32 units' "$TAPER" classify --units 33 --among set/png known.taper
"$TAPER" encode --best -q -m model.tpm -o tiles.taper set/png
expect 2 '*120 of 120 inputs were left out (the first: arrow/0001.png): image is 32 x 32 pixels but a code of the model is of 8 x 8; *' \
    "$TAPER" embed -m model.tpm -o none.csv tiles.taper
"$TAPER" train-labels -q -o nca.tpm --objective nca --start pca -k 3 -e 1 set/png
expect 2 '*whole.taper: container was made with model *' "$TAPER" embed -m nca.tpm -o none.csv whole.taper
"$TAPER" encode --best -q -m whole.tpm -o flat.taper set/png/bolt
expect 2 '*flat.taper: the labelled images have no labels: *' "$TAPER" classify -m whole.tpm --leave-one-out --among flat.taper
cp each.taper damaged.taper
printf '\1\2\3\4' | dd of=damaged.taper bs=1 seek=$(($(wc -c <each.taper) - 40)) conv=notrunc 2>/dev/null
expect 3 'taper embed: *.png: *is damaged (checksum)*' "$TAPER" embed -o none.csv damaged.taper
expect 2 '*whole.taper: is an input too*' "$TAPER" embed -f -m whole.tpm -o whole.taper whole.taper
test ! -e none.csv
nothing_left
