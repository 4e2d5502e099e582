# embed: codes and their labels as arrays, whatever the inputs; what has no code is named and left out.
. "$ROOT/tests/cli_helpers.sh"
small_set 60
"$TAPER" train -q -w whole -k 7 -o whole.tpm set/png
embed() { "$TAPER" embed -m whole.tpm "$@"; }

# .npy and CSV hold the same numbers, and the labels are those of the rows
expect 0 'taper embed: 60 codes of 7 numbers, in c.npy' embed -o c.npy --labels-out l.npy set/png
grep -q '^taper embed: labels: 0 arrow, 1 bolt, .*, 9 star$' expect.err
embed -q -o c.csv --labels-out l.csv set/png
head -n 1 c.csv | grep -qx 'name,label,c0,c1,c2,c3,c4,c5,c6'
test "$(wc -l <c.csv)" -eq 61
cut -d , -f 1,2 c.csv | cmp - l.csv
grep -q '^bolt/0003.png,bolt$' l.csv
if command -v python3 >/dev/null; then
    cat >arrays.py <<'P'
import ast, csv, struct, sys
def load(path):  # what numpy.load does of format 1.0
    data = open(path, "rb").read()
    assert data[:8] == b"\x93NUMPY\x01\x00", data[:8]
    size, = struct.unpack("<H", data[8:10])
    assert (10 + size) % 64 == 0 and data[9 + size:10 + size] == b"\n"
    head = ast.literal_eval(data[10:10 + size].decode())
    assert not head["fortran_order"]
    n = len(data[10 + size:]) // 4
    product = 1
    for side in head["shape"]:
        product *= side
    assert product == n, (head, n)
    return head, struct.unpack("<%d%s" % (n, {"<f4": "f", "<i4": "i"}[head["descr"]]), data[10 + size:])
head, codes = load("c.npy")
assert head["shape"] == (60, 7) and head["descr"] == "<f4", head
label_head, labels = load("l.npy")
assert label_head["shape"] == (60,) and label_head["descr"] == "<i4", label_head
rows = list(csv.reader(open("c.csv")))[1:]
float32 = lambda text: struct.unpack("f", struct.pack("f", float(text)))[0]
assert tuple(float32(x) for row in rows for x in row[2:]) == codes
classes = sorted({row[1] for row in rows})
assert tuple(classes.index(row[1]) for row in rows) == labels
assert len(set(codes)) > 400
P
    python3 arrays.py
else
    echo "SKIP no python3 to read arrays with"
fi

# IDX, CIFAR, lists, standard input and output, any number of threads; labels that are numbers stay these
embed -q -o idx.npy --labels set/idx/labels.idx.gz --labels-out idx-l.npy set/idx/images.idx.gz
embed -q -T 1 -o one.npy set/idx/images.idx
embed -q -T 5 -o - - <set/idx/images.idx >five.npy
cmp idx.npy one.npy
cmp idx.npy five.npy
tail -c +9 set/idx/labels.idx | od -An -v -tu1 -w1 | tr -d ' ' >want
tail -c +129 idx-l.npy | od -An -v -td4 -w4 | tr -d ' ' | cmp - want
sed 's/^/1/' want >tens # 10 to 19: no ranks
embed -q -f -o tens.npy --labels tens --labels-out tens-l.npy set/idx/images.idx
tail -c +129 tens-l.npy | od -An -v -td4 -w4 | tr -d ' ' | cmp - tens
embed -q -o - --format csv set/idx/images.idx >idx.csv
sed -n '3s/,.*//p' idx.csv | grep -qx 'set/idx/images.idx#2'
find set/png -name '*.png' | sort >list
"$TAPER" embed -q -m whole.tpm -o list.npy --filelist list
cmp list.npy c.npy
cat set/cifar/train.bin set/cifar/test.bin >all.bin
embed -q -o cifar.csv all.bin
test "$(grep -c '^all.bin#[0-9]*,[0-9],' cifar.csv)" -eq 60

# labels with names go in again
embed -q -f -o again.npy --labels l.csv --labels-out again.csv set/png
cmp again.csv l.csv
embed -q -f -o again.npy --labels set/idx/labels.idx --labels-out idx-l.csv set/idx/images.idx
embed -q -f -o again.npy --labels idx-l.csv --labels-out again.csv set/idx/images.idx
cmp again.csv idx-l.csv
mkdir odd
cp set/png/arrow/0001.png 'odd/a, "b".png'
cp set/png/bolt/0001.png 'odd/c d.png'
embed -q -o odd.csv odd
sed -n 2p odd.csv | grep -q '^"a, ""b"".png",,'
sed -n 3p odd.csv | grep -q '^c d.png,,'
printf 'name,label,votes\nc d.png,2,1\n"a, ""b"".png",,\n' >odd-l.csv # one without a label
embed -q -f -o again.npy --labels odd-l.csv --labels-out again.csv odd
printf 'name,label\n"a, ""b"".png",\nc d.png,2\n' | cmp - again.csv
embed -q -f -o again.npy --labels again.csv --labels-out odd-l.csv odd
cmp again.csv odd-l.csv

# --json
test "$(embed -q -f -o c2.npy --labels-out l2.npy --json odd/../set/png | json_number images)" -eq 60
embed -q -f -o c2.npy --json odd | grep -q '"kind":"codes","images":2,"units":7,"left_out":0,"labels_file":null,"classes":\[\]}$'

# what has no code is left out, and the rest stays with its labels
cp -r set/png some
printf 'P5\n4 4\n255\n0123456789abcdef' >some/bolt/0000.pgm
echo none >some/bolt/0000.png
expect 1 'taper embed: some/bolt/0000.png: *' embed -o some.npy --labels-out some.csv some
grep -q 'some/bolt/0000.pgm: image is 4 x 4 pixels but a code of the model is of 32 x 32; bring it*' expect.err
cmp some.npy c.npy
cmp some.csv l.csv
expect 2 '*image is 32 x 32 pixels but a code of the model is of 8 x 8; bring it * or train a model with --window whole*' \
    "$TAPER" embed -m model.tpm -o none.npy set/png
grep -q '^taper embed: no input could be used: nothing was written$' expect.err
test ! -e none.npy
expect 3 '*0000.png*' embed -o none.npy some/bolt/0000.png

# grey and colour
mkdir grey
for i in 1 2 3 4; do { printf 'P5\n32 32\n255\n'; head -c $((1024 * i)) set/idx/images.idx | tail -c 1024; } >grey/$i.pgm; done
expect 0 'taper embed: warning: 4 of 4 images are grey, and codes are of colours: each fills all channels' \
    embed -o grey.npy grey
"$TAPER" train -q -w whole -k 3 -o grey.tpm grey
expect 2 '*image is in colour but the model is for grey images; use a colour model, or make it grey' \
    "$TAPER" embed -m grey.tpm -o none.npy set/png

# labels that are none
cp set/png/bolt/0003.png odd/photo.jpeg
printf 'c d.png,1\n"a, ""b"".png",2\n' >two
expect 2 "taper embed: labels 'two': of 3 images, 1 is not among the 2 names, for example 'photo.jpeg'; *" \
    embed -o none.npy --labels two odd
printf 'c d.png;1\na;2\nphoto;3\n' >semicolons
expect 3 "taper embed: labels 'semicolons': line 1 of the labels has a semicolon where a comma is expected; *" \
    embed -o none.npy --labels semicolons odd
rm odd/photo.jpeg
printf '%s\n' 1 2 3 >three
expect 2 "taper embed: labels 'three': 3 labels for 60 images; give one *" \
    embed -o none.npy --labels three set/png
sed 's/^1$/-1/' want >minus
expect 2 "taper embed: minus: the label '-1' is a negative number: leave out images without a label*" \
    embed -o none.npy --labels minus --labels-out none-l.npy set/idx/images.idx
expect 2 'taper embed: the inputs have no labels to write to none-l.npy: give --labels FILE, or *' \
    embed -o none.npy --labels-out none-l.npy set/idx/images.idx

# what cannot be carried out
expect 2 '*give the model that makes the codes: -m MODEL*' "$TAPER" embed -o none.npy set/png
expect 2 '*give an output: -o FILE*' embed set/png
expect 2 '*give the images*' embed -o none.npy
expect 2 '*--output and --labels-out are the same*' embed -o x -f --labels-out x set/png
expect 2 '*--json and the codes both go*' embed -o - --json set/png
expect 5 '*c.npy: *exists*' embed -o c.npy set/png
expect 5 '*l.npy: *exists*' embed -o none.npy --labels-out l.npy set/png
expect 5 '*no/such/c.npy*' embed -o no/such/c.npy set/png
expect 2 '*odd/c d.png: is an input too*' embed -f -o 'odd/c d.png' odd
expect 2 '*three: is an input too*' embed -f -o none.npy --labels-out three --labels three set/png/arrow/000[123].png
cp whole.tpm own.tpm
cp list own-list
expect 2 '*own.tpm: is an input too*' "$TAPER" embed -f -m own.tpm -o own.tpm set/png
expect 2 '*own.tpm: is an input too*' "$TAPER" embed -f -m own.tpm -o none.npy --labels-out ./own.tpm set/png
expect 2 '*own-list: is an input too*' embed -f -o own-list --filelist own-list
cmp own.tpm whole.tpm
cmp own-list list
if [ -c /dev/full ]; then
    expect 5 '*/dev/full: *No space left*' embed -o /dev/full set/png
    expect 5 '*/dev/full: *No space left*' embed -o /dev/full --format csv set/png
    expect 5 '*/dev/full: *No space left*' embed -o none.npy --labels-out /dev/full set/png
fi
test ! -e none.npy
nothing_left
