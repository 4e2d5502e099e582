# search --duplicates: copies that were planted come in one group each, whatever their number, and images that are
# drawn anew in none; links are told from copies; the page shows a row for each group.
. "$ROOT/tests/cli_helpers.sh"
for python in python3 /usr/bin/python3 none; do
    $python -c 'from PIL import Image' 2>/dev/null && break
done
[ $python != none ] || { echo "SKIP no python3 with PIL (python3-pil)"; exit 0; }
search() { "$TAPER" search "$@"; }
mkdir set
"$SAMPLES" scenes set --count 24
ls set >drawn
search -q --duplicates set >none.csv
test "$(cat none.csv)" = group,image,keep

# scaled, packed, in grey, cropped, by another program; one is larger than its original
$python - set <<'END'
import sys
from PIL import Image
folder = sys.argv[1] + "/"
def taken(name):
    return Image.open(folder + name).convert("RGB")
leaves = taken("01-leaves.png")
w, h = leaves.size
leaves.resize((w // 2, h // 2)).save(folder + "half.png")
leaves.convert("L").save(folder + "grey.jpg", quality=40)
leaves.crop((w // 25, h // 25, w - w // 25, h - h // 25)).save(folder + "crop.png")
END
search -q --duplicates set >copies.csv
cat >wanted <<'END'
group,image,keep
1,set/01-leaves.png,1
1,set/crop.png,0
1,set/grey.jpg,0
1,set/half.png,0
END
cmp copies.csv wanted
search -q -T 1 --duplicates set | cmp - wanted
search -q -T 3 --duplicates -o out.csv set
cmp out.csv wanted
search -q --json --duplicates set >lines
test "$(grep -c '"kind":"copy","group":1,' lines)" -eq 4
grep -q '"image":"set/01-leaves.png","number":1,"keep":true,"score":1,"equal":true,"width":[0-9]*,"height":[0-9]*}' lines
python3 - lines <<'END'
import json, sys
for line in open(sys.argv[1]):
    assert 0.85 <= json.loads(line)["score"] <= 1, line
END

# mirrored and turned copies: with --turned only
$python - set <<'END'
import sys
from PIL import Image
image = Image.open(sys.argv[1] + "/01-leaves.png").convert("RGB").resize((200, 150))
image.transpose(Image.ROTATE_270).save("turned.png") # clockwise by 90
image.transpose(Image.FLIP_LEFT_RIGHT).save("mirrored.png")
END
search -q --duplicates set turned.png mirrored.png | cmp - wanted
search -q --json --turned --duplicates set turned.png mirrored.png >lines
grep -q '"image":"turned.png",.*"turned":90,"mirrored":false}' lines
grep -q '"image":"mirrored.png",.*"turned":0,"mirrored":true}' lines
test "$(wc -l <lines)" -eq 6

# many equal images are one group; links are no copies
mkdir many
for n in $(seq 101 600); do cp set/half.png many/$n.png; done
search -q --duplicates many >many.csv
test "$(grep -c '^1,many/' many.csv)" -eq 500
test "$(grep -c ',1$' many.csv)" -eq 1
mkdir linked
cp set/crop.png linked/b.png
ln linked/b.png linked/c.png
ln -s b.png linked/a.png
cp set/half.png linked/d.png
search --duplicates linked >linked.csv 2>err
printf '%s\n' group,image,keep 1,linked/b.png,1 1,linked/a.png,link 1,linked/c.png,link 1,linked/d.png,0 | cmp - linked.csv
grep -q '^taper search: 2 of these are another name of a file of the group (link)$' err
search -q --json --duplicates linked | grep -q '"image":"linked/a.png",.*,"link_to":"linked/b.png"}'

# flat images are copies if they are equal, tiny ones too; transparency does not stop it
$python - <<'END'
import os
from PIL import Image
os.mkdir("flat")
for name, size, colour in (("a", 40, (9, 9, 9)), ("b", 40, (9, 9, 10)), ("c", 40, (9, 9, 9)), ("d", 41, (9, 9, 9)), ("e", 1, (1, 2, 3)), ("f", 1, (1, 2, 3))):
    Image.new("RGB", (size, size), colour).save("flat/%s.png" % name)
image = Image.open("set/half.png").convert("RGBA")
image.putalpha(200)
image.save("flat/g.png")
image.resize((90, 60)).save("flat/h.png")
END
search -q --duplicates flat >flat.csv
printf '%s\n' group,image,keep 1,flat/a.png,1 1,flat/c.png,0 2,flat/e.png,1 2,flat/f.png,0 3,flat/g.png,1 3,flat/h.png,0 | cmp - flat.csv

# containers, also those that carry a search model, and a cut; indexes with the pictures
"$TAPER" encode -q -o set.taper set
search -q --duplicates set.taper | sed 's|^1,|1,set/|' | cmp - wanted
"$TAPER" train-bits -q -w whole -k 64 --independent -e 1 -o bits.tpm set
"$TAPER" encode -q --embed-with bits.tpm --embed-search-model -o search.taper set
search -q --duplicates search.taper >container.csv
grep -q '^1,01-leaves.png,1$' container.csv
grep -q '^1,half.png,0$' container.csv
"$TAPER" index -q -m bits.tpm -o set.tpx set
expect 2 '*an index has no pictures*--images SET*--within D*' search --duplicates set.tpx
search -q --duplicates --images set set.tpx | cmp - wanted
expect 0 'taper search: -m is not needed: copies are found by pixels' search -m bits.tpm --duplicates set

# pairs of codes, as before
search -q --duplicates --within 4 set.tpx >pairs.csv
head -n 1 pairs.csv | grep -qx 'name,other,distance,image,other_image'
grep -q '^set/01-leaves.png,set/half.png,[0-4],1,' pairs.csv

# a page
search -q --duplicates --html page.html -o page.csv set linked
test "$(grep -c 'Group 1: 8 images' page.html)" -eq 1
test "$(grep -o 'data:image/png' page.html | wc -l)" -eq 8
grep -q 'http' page.html && exit 1

# what cannot be read is named, and the rest is compared
mkdir broken
cp set/half.png set/crop.png broken
head -c 2000 set/01-leaves.png >broken/cut.png
expect 1 'taper search: broken/cut.png: *' search --duplicates broken
test "$(wc -l <expect.out)" -eq 3
mkdir nothing
expect 2 '*' search --duplicates nothing
expect 2 'taper search: set/half.png: is an input too*' search -f --duplicates -o set/half.png set
expect 6 '*--max-memory*' search --duplicates --max-memory 1K set
expect 2 '*--duplicates compares all images*' search --duplicates -i 3 set
nothing_left
