# Several indexes are searched as one: the same neighbours in the same order as in the index joined of them, in every way
# of searching; the file of each image is named; what does not fit together is refused by name; a thousand indexes take
# no more open files than one.
. "$ROOT/tests/cli_helpers.sh"
small_set 120
"$TAPER" train-bits -q -w whole -k 96 --independent -e 4 --hidden 40 -o bits.tpm set/png
index() { "$TAPER" index -q -m bits.tpm "$@"; }
search() { "$TAPER" search "$@"; }

mkdir one two three parts
cp -r set/png/arrow set/png/bolt one
cp -r set/png/cross set/png/ring two
cp -r set/png/* three
rm -r three/arrow three/bolt three/cross three/ring
cp three/star/0001.png two/cross/copy.png # as near as the other: the lower number is first
for part in one two three; do index -o parts/$part.tpx $part; done
several="parts/one.tpx parts/two.tpx parts/three.tpx"
"$TAPER" index -q -o all.tpx $several

# what is found in several and in the one index, but for the column that names the file
same() { # column of the image's number, arguments of search before and after the indexes...
    column=$1 before=$2
    shift 2
    search -q $before $several "$@" >several.csv
    search -q $before all.tpx "$@" >single.csv
    test "$(wc -l <single.csv)" -gt 1
    sed 's/,[^,]*$//' several.csv | cmp - single.csv
    python3 - "$column" <<'P'
import csv, sys
column = int(sys.argv[1])
lines = list(csv.reader(open('several.csv')))
assert lines[0][-1] == 'index', lines[0]
for line in lines[1:]:
    name = line[2]
    assert line[-1] == 'parts/%s.tpx' % name.split('/')[0], line
P
}
needs python3:python3
same 5 "-k 30" -i star/0001.png
sed 1d several.csv | head -n 1 | grep -q '^three/star/0001.png,1,two/cross/copy.png,cross,0,[0-9]*,parts/two.tpx$'
same 5 "-k 9" -i 1-60
same 5 "-k 122" -i cross/copy.png --exact
same 5 "-m bits.tpm -k 7" set/png/star
same 5 "-m bits.tpm -k 7 --margins" set/png/bolt
same 5 "-m bits.tpm -k 7 --where star" set/png/bolt
same 5 "-k 20" --code f0 --code 0123456789
search -q -m bits.tpm -k 4 parts/one.tpx set/png/star/0001.png parts/two.tpx parts/three.tpx >mixed.csv # anywhere behind the first
search -q -m bits.tpm -k 4 $several set/png/star/0001.png | cmp - mixed.csv
for least in 1 3 20 121; do
    search -q --neighbourhood $least $several -i star/0001.png -i 5 >several.csv
    search -q --neighbourhood $least all.tpx -i star/0001.png -i 5 >single.csv
    sed 's/,[^,]*$//' several.csv | cmp - single.csv
    head -n 1 several.csv | grep -qx 'query,bits,name,label,image,index'
done
search -q --duplicates --within 9 $several >several.csv
search -q --duplicates --within 9 all.tpx >single.csv
sed 's/,[^,]*,[^,]*$//' several.csv | cmp - single.csv
grep -qx 'two/cross/copy.png,three/star/0001.png,0,[0-9]*,[0-9]*,parts/two.tpx,parts/three.tpx' several.csv
search -q --json --duplicates --within 0 $several | grep -q '"index":"parts/two.tpx","other_index":"parts/three.tpx"}'
search -q -k 2 --json $several -i 3 | grep -q '"image":[0-9]*,"index":"parts/[a-z]*.tpx","distance":[0-9]*},'
search -q -k 2 -T 1 $several -i 1-20 >1.csv
search -q -k 2 -T 3 $several -i 1-20 | cmp - 1.csv
# another order of the files: other numbers, the same distances
search -q -k 30 parts/three.tpx parts/one.tpx parts/two.tpx -i star/0001.png | cut -d , -f 5 >other
search -q -k 30 $several -i star/0001.png | cut -d , -f 5 | cmp - other

# a page; its pictures are found by name, and each has the name of its file
search -q -k 5 $several -i star/0001.png --html page.html --images one --images two --images three >/dev/null
test "$(grep -o 'data:image/png;base64' page.html | wc -l)" -eq 6
grep -q 'distance 0, two.tpx' page.html
search -q --neighbourhood 3 $several -i star/0001.png --html nested.html -o nested.csv
grep -q '0 bits: 121 images' nested.html

# one name in two files
mkdir -p again/one/arrow
cp one/arrow/0002.png again/one/arrow/0001.png
(cd again && "$TAPER" index -q -m ../bits.tpm -o two.tpx one)
search -q -k 1 parts/one.tpx again/two.tpx -i one/arrow/0001.png >found.csv
grep -q '^parts/one.tpx:one/arrow/0001.png,1,' found.csv
grep -q '^again/two.tpx:one/arrow/0001.png,1,one/arrow/0002.png,arrow,0,2,parts/one.tpx$' found.csv
expect 2 "taper search: 'arrow/0001.png' may be 2 images, *; give the number of one: 1 or [0-9]*" \
    search parts/one.tpx again/two.tpx -i arrow/0001.png

# what cannot be searched together
expect 2 'taper search: parts/one.tpx: the same index as parts/one.tpx, whose images would be found twice: give it once' \
    search $several parts/one.tpx -i 3
cp parts/two.tpx copy.tpx
expect 2 'taper search: copy.tpx: the same index as parts/two.tpx, *' search $several copy.tpx -i 3
"$TAPER" train-bits -q -w whole -k 96 --independent -e 1 --seed 9 -o other.tpm set/png
"$TAPER" index -q -m other.tpm -o other.tpx one
expect 2 'taper search: other.tpx: its codes have 96 bits, of model *, and those of parts/one.tpx 96 bits, of model *' \
    search $several other.tpx -i 3
index --bits 40 -o forty.tpx two
expect 2 'taper search: forty.tpx: its codes have 40 bits, *' search $several forty.tpx -i 3
index --weights even -o even.tpx one/arrow
expect 2 'taper search: even.tpx: its codes have even weights, and those of parts/one.tpx falling ones: *' \
    search $several even.tpx -i 3
expect 2 "taper search: other.tpm: the index's codes are of model *" search -m other.tpm $several set/png/star/0001.png
expect 5 'taper search: missing.tpx: cannot open: No such file*' search parts/one.tpx missing.tpx parts/two.tpx -i 3
expect 5 'taper search: missing.tpx: cannot open: No such file*' search missing.tpx parts/two.tpx -i 3
: >empty.tpx
expect 3 'taper search: empty.tpx: *' search parts/one.tpx empty.tpx -i 3
head -c 900 parts/two.tpx >short.tpx
expect 3 'taper search: short.tpx: the index is cut: only 900 bytes of it are here; *' search parts/one.tpx short.tpx -i 3
{ head -c 20 parts/two.tpx; printf '\377'; tail -c +22 parts/two.tpx; } >damaged.tpx
expect 3 "taper search: damaged.tpx: the index's header is damaged (checksum); *" search parts/one.tpx damaged.tpx -i 3
expect 2 'taper search: *parts/two.tpx: *' search -f -o parts/two.tpx $several -i 3
expect 2 '*give queries: images, --image or --code; or --duplicates*' search $several
expect 2 '*an index has no pictures*' search --duplicates $several one/arrow
expect 6 'taper search: the indexes have 122 codes, more than the limit of 121; give --max-images 122 *' search --max-images 121 $several parts/../again/two.tpx -i 3
expect 0 'taper search: -k 500: the index has 121 images' search -k 500 $several -i 3
test "$(wc -l <expect.out)" -eq 121

# a thousand of them: no file stays open
mkdir shards
python3 - <<'P'
import ctypes, os, struct
def crc32c(data, table=[]):
    if not table:
        for i in range(256):
            c = i
            for _ in range(8):
                c = c >> 1 ^ 0x82F63B78 * (c & 1)
            table.append(c)
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 255]
    return crc ^ 0xFFFFFFFF
# 1,000 indexes out of one of one image: another first word each, and its checksums
os.mkdir('lone')
os.link('one/arrow/0001.png', 'lone/a.png')
assert not os.system('"$TAPER" index -q -m bits.tpm -o lone.tpx lone')
whole = bytearray(open('lone.tpx', 'rb').read())
pad = lambda n: (n + 63) // 64 * 64
names, labels = struct.unpack('<QQ', whole[40:56])
sizes = [2 * 2, 8 * 2, 4 * 10, 4 * 2, 8 * 2, 4, names, labels]
at = 64 + sum(map(pad, sizes[:4]))
end = 64 + sum(map(pad, sizes))
for i in range(1000):
    word = (i * 0x9E3779B97F4A7C15) % 2 ** 64
    struct.pack_into('<Q', whole, at, word)
    struct.pack_into('<II', whole, 64 + sum(map(pad, sizes[:3])), 0, 1)
    struct.pack_into('<I', whole, end + 16, crc32c(whole[at:at + 16]))
    struct.pack_into('<I', whole, end + 32, crc32c(whole[end:end + 32]))
    open('shards/%04d.tpx' % i, 'wb').write(whole)
P
(
    ulimit -n 24
    search -q -k 1000 --code 0123456789abcdef shards/*.tpx >found.csv
    search -q -k 5 --neighbourhood 5 --code 0123456789abcdef shards/*.tpx >near.csv
)
test "$(wc -l <found.csv)" -eq 1001
sed 1d found.csv | cut -d , -f 6 | sort -n | uniq | wc -l | grep -qx 1000
awk -F , 'NR > 1 && $7 != sprintf("shards/%04d.tpx", $6 - 1) { bad = 1 } END { exit bad }' found.csv
sed 1d found.csv | cut -d , -f 5,6 | sort -s -t , -k 1,1n -k 2,2n >sorted # by distance, then by number
sed 1d found.csv | cut -d , -f 5,6 | cmp - sorted
for four in 0 1 2 3; do # 1,000 are more than `index` joins at once
    "$TAPER" index -q -o quarter$four.tpx $(ls shards/*.tpx | sed -n "$((four * 250 + 1)),$((four * 250 + 250))p")
done
"$TAPER" index -q -o whole.tpx quarter?.tpx
search -q -k 1000 --code 0123456789abcdef whole.tpx | sed 1d | cut -d , -f 2,5,6 >want
sed 1d found.csv | cut -d , -f 2,5,6 | cmp - want
search -q -k 5 --neighbourhood 5 --code 0123456789abcdef whole.tpx | cut -d , -f 2,5 >want
cut -d , -f 2,5 near.csv | cmp - want
# an open one takes less than 1 KB
search -q --max-memory 1M -k 3 --code 01 shards/*.tpx >/dev/null
nothing_left
