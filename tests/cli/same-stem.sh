# Files that differ by their suffix alone, or by their folder: each comes back under a name of its own; a
# changed name is told; no file that decode did not write is replaced.
. "$ROOT/tests/cli_helpers.sh"
small_set 60
mkdir c1 c2
cp set/png/arrow/0001.png c1/a.png
cp set/png/bolt/0001.png c1/a.jpg
cp set/png/cross/0001.png c1/b.jpg
cp set/png/ring/0001.png c2/a.png
files() { (cd "$1" && find . -type f | sort | tr '\n' ' '); }
sums() { cat "$1"/* | cksum; }

expect 0 '*' "$TAPER" encode -m model.tpm -o one.taper c1
"$TAPER" info -v one.taper | grep -q ' a.jpg$'
expect 0 "taper decode: one.taper: warning: 1 file is named differently from the image, because another image * a.jpg is a.jpg.png" \
    "$TAPER" decode -m model.tpm -o out one.taper
grep -q 'taper decode: 1 file has the suffix of the format that is written: b.jpg is b.png' expect.err
test "$(files out)" = './a.jpg.png ./a.png ./b.png '
"$TAPER" decode -q -m model.tpm -i a.png -o alone.png one.taper
cmp alone.png out/a.png
"$TAPER" decode -v -m model.tpm -o named one.taper 2>&1 | grep -qx 'taper decode: b.jpg is b.png'
"$TAPER" decode -q -m model.tpm -i a.jpg,b.jpg -o some one.taper 2>/dev/null # as in the whole set
test "$(files some)" = './a.jpg.png ./b.png '

# nothing that decode did not write goes, even with -f; what it wrote does
before=$(sums c1)
expect 5 'taper decode: c1/a.png: exists, and is not as `taper decode` wrote it: *-o' \
    "$TAPER" decode -f -m model.tpm -o c1 one.taper
expect 5 '*c1/a.png: exists, and*' "$TAPER" decode -f -p -m model.tpm -o c1 one.taper
test "$(files c1)" = './a.jpg ./a.png ./b.jpg '
test "$(sums c1)" = "$before"
for format in png pnm; do
    "$TAPER" decode -q --format $format -m model.tpm --fraction 0.3 -o again one.taper 2>/dev/null
    "$TAPER" decode -q -f --format $format -m model.tpm -o again one.taper 2>/dev/null
done
for file in $(files out); do cmp "again/$file" "out/$file"; done
cp c1/b.jpg again/b.pnm
expect 5 '*again/b.pnm: exists, and*' "$TAPER" decode -q -f --format pnm -m model.tpm -o again one.taper
rm again/b.pnm # what decode wrote and someone changed since stays: pixels, or what is said beside them
for format in png pnm; do
    for edit in first middle longer shorter; do
        rm -rf edited
        "$TAPER" decode -q --format $format -m model.tpm -o edited one.taper 2>/dev/null
        python3 - edited/b.$format $edit <<'P'
import sys
path, edit = sys.argv[1:]
b = bytearray(open(path, "rb").read())
if edit == "longer":
    b += b"\n"
elif edit == "shorter":
    del b[-1]
else:
    b[1 if edit == "first" else len(b) // 2] ^= 1
open(path, "wb").write(b)
P
        before=$(sums edited)
        expect 5 "*edited/b.$format: exists, and is not as*" \
            "$TAPER" decode -q -f --format $format -m model.tpm -o edited one.taper
        test "$(sums edited)" = "$before"
    done
done
mkdir edited-checksum # every byte counts, that of the mark's own checksum, too
cp out/b.png edited-checksum
python3 - edited-checksum/b.png <<'P'
import sys
b = bytearray(open(sys.argv[1], "rb").read())
at = b.index(b"tEXt")
b[at + 4 + int.from_bytes(b[at - 4:at], "big")] ^= 1
open(sys.argv[1], "wb").write(b)
P
expect 5 '*edited-checksum/b.png: exists, and is not as*' \
    "$TAPER" decode -q -f -m model.tpm -o edited-checksum one.taper
# a file that is made or changed while decode runs is kept, with -f and in a new folder
mkfifo feed
"$TAPER" decode -q -p -m model.tpm -o grown - <feed 2>grown.err &
{
    head -c "$(($(wc -c <one.taper) * 2 / 3))" one.taper
    tries=0
    while [ ! -s grown/b.png ] && [ $tries -lt 400 ]; do sleep 0.05; tries=$((tries + 1)); done
    echo precious >grown/b.png
    tail -c "+$(($(wc -c <one.taper) * 2 / 3 + 1))" one.taper
} >feed
wait $! && { echo "decode -p replaced a file that was changed meanwhile"; exit 1; }
test "$(cat grown/b.png)" = precious
grep -q 'grown/b.png: exists, and is not as' grown.err
python3 - out/b.png <<'P' # the mark is a legal chunk
import struct, sys, zlib
b = open(sys.argv[1], "rb").read()
at, kinds = 8, []
while at < len(b):
    n, kind = struct.unpack(">I4s", b[at:at + 8])
    assert zlib.crc32(b[at + 4:at + 8 + n]) == struct.unpack(">I", b[at + 8 + n:at + 12 + n])[0], kind
    kinds.append(kind)
    at += 12 + n
assert b"tEXt" in kinds and kinds[-1] == b"IEND"
P
cp c1/a.png named.png # named on the command line
"$TAPER" decode -q -f -m model.tpm -i a.png -o named.png one.taper
cmp named.png alone.png

# equal names in two folders keep these
expect 0 'taper encode: 4 names have a prefix, the folder of the input, because inputs have equal names: c1/a.jpg, ...' \
    "$TAPER" encode -m model.tpm -o two.taper c1 c2
"$TAPER" decode -q -m model.tpm -o two two.taper 2>/dev/null
test "$(files two)" = './c1/a.jpg.png ./c1/a.png ./c1/b.png ./c2/a.png '
expect 0 'taper encode: twice.taper: warning: 1 name has a number, because the same name occurs twice: a-2.png' \
    "$TAPER" encode -q -m model.tpm -o twice.taper c1/a.png c1/a.png

# a line of labels is for the file that it names
printf 'a.png,red\nb.jpg,blue\n' >labels.csv
expect 2 "*of 3 images, 1 is not among the 2 names, for example 'a.jpg'*" \
    "$TAPER" encode -f -m model.tpm --labels labels.csv -o one.taper c1
nothing_left
