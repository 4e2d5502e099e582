# index and search: images, containers, whole and cut, codes, names; what is found is checked against the codes
# themselves; an index grows by merging; what cannot be done has a sentence.
. "$ROOT/tests/cli_helpers.sh"
small_set 120
"$TAPER" train-bits -q -w whole -k 96 --independent -e 4 --hidden 40 -o bits.tpm set/png
index() { "$TAPER" index -m bits.tpm "$@"; }
search() { "$TAPER" search "$@"; }

expect 0 'taper index: all.tpx: 120 images, 96 bits each, *' index -o all.tpx set/png
"$TAPER" info all.tpx >info
grep -qx 'all.tpx: an index of 120 images' info
grep -q 'labels of [0-9]* classes' info
"$TAPER" verify all.tpx | grep -qx 'all.tpx: whole: an index'
index -q -T 3 -o - set/png | cmp - all.tpx # whatever the threads

# a query that is in the index is none of its own neighbours; an image of it finds itself
search -i star/0001.png -k 3 all.tpx >found.csv
head -n 1 found.csv | grep -qx 'query,rank,name,label,distance,image'
test "$(wc -l <found.csv)" -eq 4
sed 1d found.csv | cut -d , -f 3 | not grep -qx set/png/star/0001.png
search -q -m bits.tpm -k 1 all.tpx set/png/star/0001.png | sed 1d | grep -q '^set/png/star/0001.png,1,set/png/star/0001.png,star,0,'
search -q -k 3 -i 'set/png/s*r/0001.png' all.tpx | cmp - found.csv # a pattern
search -q -k 1 -i 1-3,5 all.tpx | sed 1d | wc -l | grep -qx 4
expect 2 "taper search: there is no image '0'; give numbers from 1 to 120, *" search -i 0 all.tpx
number=$(search -q --json -k 120 -m bits.tpm all.tpx set/png/star/0001.png | sed 's/.*"name":"set\/png\/star\/0001.png","label":"star","image":\([0-9]*\).*/\1/')
search -q -i "$number" -k 3 all.tpx | cmp - found.csv

# what is found is what the codes say: bits that differ, those of the second word at half the price
if command -v python3 >/dev/null; then
    "$TAPER" embed -q -m bits.tpm -o codes.csv set/png
    for weights in falling even; do
        index -q --weights $weights -o $weights.tpx set/png
        search -q --exact -m bits.tpm -k 20 $weights.tpx set/png/cross >$weights.csv
        search -q -m bits.tpm --recall 0.5 -k 20 $weights.tpx set/png/cross >some.csv
        search -q -m bits.tpm --neighbourhood 9 $weights.tpx set/png/cross/0002.png >near.csv
        search -q --where label=bolt -m bits.tpm -k 5 $weights.tpx set/png/cross >bolts.csv
        cat >check.py <<'P'
import csv, sys
weight = {'falling': (2, 1), 'even': (1, 1)}[sys.argv[1]]
rows = list(csv.reader(open('codes.csv')))[1:]
names = [r[0] for r in rows]
label = {r[0]: r[1] for r in rows}
bits = {r[0]: [float(x) > 0 for x in r[2:]] for r in rows}
def distance(a, b):
    return sum(weight[j // 64] for j in range(96) if bits[a][j] != bits[b][j])
def short(name):
    assert name.startswith('set/png/'), name
    return name[8:]
def read(path):
    found = {}
    for r in list(csv.reader(open(path)))[1:]:
        found.setdefault(short(r[0]), []).append(r[:2] + [short(r[2])] + r[3:])
    return found
for query, lines in read(sys.argv[1] + '.csv').items():
    want = sorted((distance(query, n), i) for i, n in enumerate(names))[:20]
    assert [(int(r[4]), int(r[5]) - 1) for r in lines] == want, query
    assert all(names[int(r[5]) - 1] == r[2] and label[r[2]] == r[3] for r in lines)
for query, lines in read('some.csv').items():
    got = [int(r[4]) for r in lines]
    assert got == sorted(got) and all(distance(query, r[2]) == int(r[4]) for r in lines)
for query, lines in read('bolts.csv').items():
    want = sorted((distance(query, n), i) for i, n in enumerate(names) if label[n] == 'bolt')[:5]
    assert [int(r[4]) for r in lines] == [d for d, i in want] and all(r[3] == 'bolt' for r in lines)
near = list(csv.reader(open('near.csv')))[1:]
depth, query = int(near[0][1]), 'cross/0002.png'
def sharing(b):
    return sorted(n for n in names if bits[n][:b] == bits[query][:b])
assert sorted(short(r[2]) for r in near) == sharing(depth) and len(near) >= 9
assert depth == 96 or len(sharing(depth + 1)) < 9
P
        python3 check.py $weights
    done
else
    echo 'no python3: what was found is not compared with the codes' # told, and the rest goes on
fi

# codes: those of a file, of fewer bits, of digits
"$TAPER" encode -q -m bits.tpm --embed-model -o set.taper set/png
"$TAPER" index -q -o of-container.tpx set.taper
search -q -k 4 -i star/0001.png of-container.tpx | cut -d , -f 3,5 >want
cut -d , -f 3,5 found.csv | sed '1d; s,^set/png/,,' >got
sed 1d want | head -n 3 | cmp - got
search -q -k 4 -i star/0001.png set.taper | cut -d , -f 3,5 | cmp - want # made for this one search
size=$(wc -c <set.taper)
front=$("$TAPER" info --json set.taper | sed 's/.*"front_bytes":\([0-9]*\).*/\1/')
head -c $((front + (size - front) / 3)) set.taper >cut.taper
"$TAPER" index -o cut.tpx cut.taper 2>err
bits=$("$TAPER" info --json cut.tpx | sed 's/.*"bits":\([0-9]*\),.*/\1/')
test "$bits" -gt 4 -a "$bits" -lt 96
search -q -k 1 -m bits.tpm cut.tpx set/png/star/0001.png >cut.csv
grep -q ',0,[0-9]*$' cut.csv # its first bits are those of the image
search -q -k 1 -m bits.tpm all.tpx cut.taper >all-by-cut.csv # the queries are cut
test "$(wc -l <all-by-cut.csv)" -eq 121
search -q -k 5 -m bits.tpm --recall 0.5 all.tpx cut.taper >some-by-cut.csv # shares are of whole codes: it is exact
search -q -k 5 -m bits.tpm --exact all.tpx cut.taper | cmp - some-by-cut.csv
search -q -k 2 --code ffffffffffffffffffffffff all.tpx | grep -q '^ffffffffffffffffffffffff,1,'
search -q -k 2 --code f0 all.tpx >/dev/null

# margins rank what is found anew, where the query is an image; all else is as without
search -q -k 7 -i star/0001.png --code f0 all.tpx >plain.csv
search -q -k 7 --margins -i star/0001.png --code f0 all.tpx | cmp - plain.csv
search -q -k 7 -m bits.tpm all.tpx cut.taper >plain.csv
search -q -k 7 --margins -m bits.tpm all.tpx cut.taper | cmp - plain.csv
search -q -k 120 -m bits.tpm all.tpx set/png/star/0001.png >plain.csv
search -q -k 120 --margins -m bits.tpm all.tpx set/png/star/0001.png >ranked.csv
cut -d , -f 3-6 plain.csv | sort >plain.sorted
cut -d , -f 3-6 ranked.csv | sort | cmp - plain.sorted
not cmp -s ranked.csv plain.csv
sed -n 2p ranked.csv | grep -q 'star/0001.png,star,0,'

# an index grows: parts joined are the whole, in any number of parts, also where memory is short
mkdir one two
cp -r set/png/arrow set/png/bolt one
cp -r set/png/* two
rm -r two/arrow two/bolt
index -q -o one.tpx one
index -q -o two.tpx two
index -q -f -o grown.tpx one.tpx two
"$TAPER" index -q -o joined.tpx one.tpx two.tpx
expect 0 'taper index: * names are changed, because an earlier index has the same: one/* is shard-2/one/*, ...' \
    "$TAPER" index -o twice.tpx one.tpx one.tpx
cmp joined.tpx grown.tpx
index -q -o small.tpx --max-memory 64K one two 2>err || { cat err; exit 1; }
for made in joined grown small; do
    "$TAPER" verify -q $made.tpx >/dev/null
    search -q --exact -i star/0001.png -k 50 $made.tpx | cut -d , -f 3-5 | sort >$made.csv
done
search -q --exact -i star/0001.png -k 50 all.tpx | cut -d , -f 3-5 | sort >all.csv
awk -F , '{ print $2 "," $3 }' all.csv | sort >all-distances
for made in joined grown; do awk -F , '{ print $2 "," $3 }' $made.csv | sort | cmp - all-distances; done

# pages and JSON
search -q --json -k 2 -i star/0001.png all.tpx | grep -q '^{"schema":1,"kind":"neighbours","query":"set/png/star/0001.png","known_bits":96,"neighbours":\[{"name":"set/png/[a-z]*/[0-9]*.png","label":"[a-z]*","image":[0-9]*,"distance":[0-9]*},'
search -q --json --neighbourhood 5 -i star/0001.png all.tpx | grep -q '"kind":"neighbourhood","query":"set/png/star/0001.png","bits":[0-9]*,"size":[0-9]*,"images":\[{"name":'
expect 2 'taper search: standard input: cannot be an index or a container: give its file' search --code b2 - <all.tpx
# nested neighbourhoods as a page: of 5 images and more, of four times as many, to all 120; not the query itself
search -q -f --neighbourhood 5 -i star/0001.png --html nested.html --images set/png -o near.csv all.tpx
grep -q '>0 bits: 120 images<' nested.html
test "$(grep -o '[0-9]* bits*: [0-9]* images' nested.html | wc -l)" -ge 2
first=$(sed -n 2p near.csv | cut -d , -f 2)
grep -q ">$first bits: $(sed 1d near.csv | wc -l) images<" nested.html
test "$(grep -o 'alt="set/png/star/0001.png"' nested.html | wc -l)" -eq 1
if grep -oE '(src|href)="[^"]{0,40}' nested.html | grep -v '="data:'; then echo "the page needs files"; exit 1; fi
search -q -k 7 -i star/0001.png -i 3 --html page.html --images set/png all.tpx >/dev/null
test "$(grep -o 'data:image/png;base64' page.html | wc -l)" -eq 16
not grep -qE 'https?://' page.html
test "$(grep -c '@media (prefers-color-scheme: dark)' page.html)" -eq 1
third=$(search -q -k 1 -i 3 all.tpx | sed -n 2p | cut -d , -f 1)
for name in set/png/star/0001.png "$third"; do # rows have the names of their queries
    grep -qF "<h3>$(echo "$name" | sed 's,/,/<wbr>,g')</h3>" page.html
done
if grep -q '<table' page.html; then echo "pictures wrap, and are in no table"; exit 1; fi
search -q -k 3 --html page2.html -i 3 set.taper >/dev/null
test "$(grep -o 'data:image/png;base64' page2.html | wc -l)" -eq 4
expect 0 'taper search: page3.html: warning: none of what was found has its picture there: *' search -k 3 --html page3.html -i 3 all.tpx
grep -q '[a-z]*/<wbr>[0-9]*.png' page3.html
# pictures that cannot be read are named, once each; the page and what was found are written all the same
mv set/png/star/0002.png whole.png
head -c 400 whole.png >set/png/star/0002.png
expect 1 'taper search: set/png/star/0002.png: the page shows no picture of it: *ends early*' \
    search -k 119 -i 'set/png/star/000*.png' --html lacking.html --images set/png -o lacking.csv all.tpx
test "$(grep -c 'shows no picture' expect.err)" -eq 1
test "$(grep -o 'data:image/png;base64' lacking.html | wc -l)" -gt 30
test "$(wc -l <lacking.csv)" -eq $((9 * 119 + 1))
mv whole.png set/png/star/0002.png

# the example program finds what the verb finds, but for the query itself
if [ -x "$B/alike" ]; then
    "$B/alike" all.tpx set/png/star/0001.png 4 | awk '{ print $3 "," $1 }' | grep -v '^set/png/star/0001.png,' | sort >got
    sed 1d found.csv | cut -d , -f 3,5 | sort | cmp - got
    expect 1 'alike: no image 120 in this index' "$B/alike" all.tpx 120
    head -c 999 all.tpx >part.tpx
    expect 1 'alike: part.tpx: the index is cut: *' "$B/alike" part.tpx 1
else
    echo "there is no $B/alike" >&2
    exit 1
fi

# what cannot be done
expect 2 '*give an index, or images to search*' search
expect 2 '*give queries: images, --image or --code; or --duplicates*' search all.tpx
expect 2 'taper search: queries that are images need the model that made the index: -m MODEL' search all.tpx set/png/star/0001.png
"$TAPER" train-bits -q -w whole -k 96 --independent -e 1 --seed 9 -o other.tpm set/png
expect 2 "taper search: other.tpm: the index's codes are of model *" search -m other.tpm all.tpx set/png/star/0001.png
expect 2 'taper index: model.tpm: the codes of this model are real numbers, but an index needs binary codes: *' \
    "$TAPER" index -m model.tpm -o no.tpx set/png
expect 2 '*give images to index, or two indexes to join*' "$TAPER" index -o no.tpx all.tpx
expect 2 "taper search: there is no image 'none.png'; give numbers from 1 to 120, *" search -i none.png all.tpx
expect 2 'taper search: --code 12x: *' search --code 12x all.tpx
expect 2 "taper search: --where: none of the index's * classes ('*', ...) is 'stars'" search --where stars -i 3 all.tpx
index -q -o plain.tpx set/idx/images.idx
expect 2 'taper search: --where: the index has no labels' search --where star -i 3 plain.tpx
expect 0 'taper search: -k 500: the index has 120 images' search -k 500 -i 3 all.tpx
test "$(wc -l <expect.out)" -eq 120
expect 5 '*all.tpx: *exists*' index -o all.tpx set/png
expect 2 'taper search: *all.tpx: *' search -f -i 3 -o all.tpx all.tpx
expect 2 "taper search: '0001.png' may be * images, such as '*' and '*'; give more of the name" search -i 0001.png all.tpx
expect 2 'taper index: the first index has 96 bits, of falling weights, *' index --bits 40 -o no.tpx all.tpx one
expect 2 '*indexes have their labels; omit --labels*' index --labels x.csv -o no.tpx all.tpx two.tpx
expect 0 'taper search: warning: without effect here: *--exact*' search --neighbourhood 3 --exact -i 3 all.tpx
index -q --bits 40 --weights even -o forty.tpx one
index -q -o more.tpx forty.tpx two # takes its bits and weights from the first
"$TAPER" info more.tpx | grep -q '  codes     40 bits each'
mkdir lone
cp set/png/star/0001.png lone
index -q -o lone.tpx lone
search -q -i 1 lone.tpx | wc -l | grep -qx 1 # its own neighbour it is not
expect 5 'taper search: nothing.tpx: cannot open: No such file*' search nothing.tpx -i 3
head -c 3000 all.tpx >short.tpx
expect 3 'taper search: short.tpx: the index is cut: only 3000 bytes of it are here; *' search -i 3 short.tpx
head -c 3 all.tpx >three.tpx
expect 3 'taper search: three.tpx: the file is no image of a known kind' search -i 3 three.tpx
{ head -c 20 all.tpx; printf '\377'; tail -c +22 all.tpx; } >damaged.tpx
expect 3 "taper search: damaged.tpx: the index's header is damaged (checksum); *" search -i 3 damaged.tpx
python3 - <<'P' 2>/dev/null || printf 'no python3\n'
b = bytearray(open('all.tpx', 'rb').read())
b[320 + 700] ^= 1
open('wrong.tpx', 'wb').write(b)
P
if [ -f wrong.tpx ]; then
    expect 3 "taper verify: wrong.tpx: the index is damaged: the checksum of its codes does not hold; *" "$TAPER" verify wrong.tpx
    expect 3 'taper index: wrong.tpx: the index is damaged: *' "$TAPER" index -o no.tpx wrong.tpx two.tpx
fi
expect 3 "taper verify: damaged.tpx: the index's header is damaged (checksum); *" "$TAPER" verify damaged.tpx
"$TAPER" index -q -m other.tpm -o other.tpx one
expect 2 '*index 2 is of 96 bits of model *, the first of 96 bits of *: only indexes of one model and code length can be joined' \
    "$TAPER" index -o no.tpx all.tpx other.tpx
mkdir empty
expect 2 '*' index -o no.tpx empty
test ! -e no.tpx
if [ -c /dev/full ]; then expect 5 '*/dev/full: *No space left*' index -f -o /dev/full set/png; fi
nothing_left
