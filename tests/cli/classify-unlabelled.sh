# classify --unlabelled: the labelled images of a set vote for the others; what is written is a label file of the set,
# as it stands, corrected, and out of a spreadsheet.
. "$ROOT/tests/cli_helpers.sh"
small_set 120
"$TAPER" train -q -w whole -k 9 -o whole.tpm set/png
suggest() { "$TAPER" classify -m whole.tpm --unlabelled "$@"; }
mkdir known new both
for class in arrow bolt cross ring star; do
    mkdir known/$class
    cp set/png/$class/000[1-8].png known/$class
    cp set/png/$class/0009.png "new/a, $class.png"
    cp set/png/$class/0010.png new/$class.jpeg
done
for i in 5 6 7 8; do cp known/star/0001.png known/star/000$i.png; done
cp known/star/0001.png 'new/a, star.png' # of which all are sure
cp -r known/* new/* both

# the same votes as those for a set of their own; the least certain first, then what was given
expect 0 'taper classify: 10 suggestions by 5 votes of 40 labelled images; * not unanimous: these come first' \
    suggest -o all.csv both
"$TAPER" classify -q -m whole.tpm --among known new >want.csv
sed '1d; /,,,,$/d' all.csv | sort >got
sed 1d want.csv | sort | cmp - got
test "$(wc -l <got)" -eq 10
sed '1d; 12,$d' all.csv | sed 's/.*,\([0-9]*\),5,.*/\1/' >votes
sort -n votes | cmp - votes
test "$(sort -u votes | wc -l)" -gt 1
unsure=$(grep -vcx 5 votes || true)
grep -q "; $unsure not unanimous" expect.err
sed 1,11d all.csv >given
"$TAPER" embed -q -m whole.tpm -o k.npy --labels-out k.csv known
sed '1d; s/$/,,,,/' k.csv | cmp - given
suggest -q -T 7 both | cmp - all.csv
suggest -q -k 1 both | grep -q '^"a, ring.png",[a-z]*,1,1,'

# it is read again as it stands, where a label is corrected, and with what spreadsheets make of it
"$TAPER" embed -q -m whole.tpm -o b.npy --labels all.csv --labels-out b.csv both
cut -d , -f 1-3 all.csv | grep -v '^"' | cut -d , -f 1,2 | sort >labels
grep -v '^"' b.csv | sort | cmp - labels
test "$(grep -c '^"a, ' b.csv)" -eq 5
first=$(sed -n 's/^\([a-z]*.jpeg\),.*/\1/p' all.csv | head -n 1)
awk -F , -v OFS=, -v name="$first" '$1 == name { $2 = "mended" } { print } END { print ",,,,," }' all.csv |
    sed '1s/^/\xef\xbb\xbf/; s/$/\r/' >mended.csv
"$TAPER" embed -q -f -m whole.tpm -o b.npy --labels mended.csv --labels-out b2.csv both
grep -qx "$first,mended" b2.csv
grep -v "^$first," b.csv >rest
grep -v "^$first," b2.csv | cmp - rest
"$TAPER" train-labels -q -o nca.tpm --objective nca --start pca -k 4 -e 1 --labels mended.csv both
"$TAPER" info nca.tpm | grep -q '6 classes'

# some labels in a file, none for others, images that cannot be used among them; IDX by number
cp -r both damaged
echo none >damaged/ring/0000.png
head -c 300 set/png/star/0001.png >damaged/half.png
{ echo name,label; sed '1d; s,/.*,&,' k.csv | grep -v '^bolt/0003'; echo bolt/0003.png,; echo half.png,
    for class in arrow bolt cross ring star; do echo "\"a, $class.png\","; echo "$class.jpeg,"; done; } >some.csv
expect 1 'taper classify: damaged/half.png: *' suggest --labels some.csv -o some-all.csv damaged
test "$(wc -l <some-all.csv)" -eq 52
grep -qx 'half.png,,,,,' some-all.csv
sed -n 2,12p some-all.csv | grep -q '^bolt/0003.png,[a-z]*,[1-5],5,'
rm damaged/half.png
"$TAPER" embed -q -f -m whole.tpm -o b.npy --labels some-all.csv --labels-out b.csv damaged 2>err || test $? -eq 1
grep -q '^bolt/0003.png,[a-z]' b.csv
awk 'BEGIN { print "name,label"; for (i = 1; i <= 120; i++) print "set/idx/images.idx#" i "," (i % 3 ? "" : i % 2) }' >numbers.csv
suggest -q --labels numbers.csv -o idx.csv set/idx/images.idx
awk -F '[,#]' '$5 == 5 && ($2 % 3 == 0 || $7 % 3) { print; wrong = 1 } END { exit wrong }' idx.csv
test "$(grep -c '^set/idx/images.idx#[0-9]*,[01],[1-5],5,' idx.csv)" -eq 80
suggest -q --labels idx.csv set/idx/images.idx 2>err || test $? -eq 2
grep -q 'all images that can be used have labels: there is nothing to suggest' err
sed 's/,.*//' idx.csv | sort | uniq -d | wc -l | grep -qx 0

# JSON
suggest --json both >lines.json 2>err
not grep -qv 'classes have fewer than 30 labelled images' err
test "$(grep -c '^{"schema":1,"kind":"label","name":"[^/]*","label":"[a-z]*","votes":[1-5],"of":5,"nearest":"[a-z]*/000[1-8].png","distance":[0-9.]*}$' lines.json)" -eq 10
test "$(grep -c '^{"schema":1,"kind":"given","name":"[a-z]*/000[1-8].png","label":"[a-z]*"}$' lines.json)" -eq 40
test "$(wc -l <lines.json)" -eq 50

# what cannot be done
expect 2 'taper classify: all images that can be used have labels: there is nothing to suggest; *' suggest known
expect 2 'taper classify: new/a, arrow.png: no image has a label, so there are no votes: give --labels FILE *' suggest new
expect 2 'taper classify: -k 41: there are only 40 labelled images; give at most that number' suggest -k 41 both
expect 2 '*--unlabelled takes one set*omit --among*' suggest --among known new
expect 2 '*--unlabelled takes one set*' suggest --leave-one-out known
expect 2 '*give images, some of them with labels*' suggest
{ echo name,label; ls new | sed 's/.*/"&",/; 1s/,$/,one/; 2s/,$/,one/'; } >one.csv
expect 2 "taper classify: all labelled images are of one class, 'one': *" suggest -k 2 --labels one.csv new
expect 0 'taper classify: warning: without effect here: --among-labels (for --among)' \
    suggest --among-labels one.csv both
expect 5 '*all.csv: *exists*' suggest -o all.csv both
expect 2 '*some.csv: is an input too*' suggest -f -o some.csv --labels some.csv damaged
if [ -c /dev/full ]; then
    expect 5 '*/dev/full: *No space left*' suggest -o /dev/full both
    expect 5 '*cannot write to standard output*' sh -c '"$0" classify -m whole.tpm --unlabelled both >/dev/full' "$TAPER"
fi
nothing_left

# names and classes of any bytes but NUL and / come back as they went
odd=$(printf 'two\nlines, "\033[1m\351\\x0a ')
cp -r both odd
mv odd/arrow "odd/$odd"
mv odd/bolt.jpeg "odd/$(printf 'b\nolt').jpeg"
suggest -q -o odd.csv odd
"$TAPER" embed -q -m whole.tpm -o o.npy --labels odd.csv --labels-out read.csv odd
"$TAPER" train-labels -q -o odd.tpm --objective nca --start random -k 2 -e 1 --labels odd.csv odd
"$TAPER" info odd.tpm | grep -q '5 classes'
if command -v python3 >/dev/null; then
    cat >same.py <<'P'
import csv, os, sys
rows = lambda path: list(csv.reader(open(path, encoding='latin-1', newline='')))[1:]
suggested, read = [{r[0]: r[1] for r in rows(path)} for path in ('odd.csv', 'read.csv')]
def printed(name):
    return ''.join('\\x%02x' % ord(c) if c < ' ' or c == '\\' else c for c in name)
odd = sys.argv[1].encode(errors='surrogateescape').decode('latin-1')
assert suggested == read, (suggested, read)
assert list(read.values()).count(odd) >= 8 and printed(odd) + '/0001.png' in read, read
assert printed('b\nolt.jpeg') in read, read
P
    python3 same.py "$odd"
fi

# lines that name no image here are told, not passed over in silence
{ cat all.csv; echo 'gone.png,star,,,,'; echo 'gone too.png,star,,,,'; } >more.csv
"$TAPER" embed -f -m whole.tpm -o b.npy --labels more.csv both 2>err
grep -q '^taper embed: 2 lines of the label file name no image here (the first: gone.png)$' err
{ cat all.csv; grep -m 1 '^known\|^star\|^[a-z]*/' all.csv | sed 's/,.*/,other,,,,/'; } >twice.csv # the last line counts, and it is told
"$TAPER" embed -f -m whole.tpm -o b.npy --labels twice.csv --labels-out b.csv both 2>err
grep -q '^taper embed: warning: 1 line of the label file gives a label that a later line of the same name contradicts' err
grep -q ',other$' b.csv
"$TAPER" embed -f -m whole.tpm -o b.npy --labels all.csv both 2>err
not grep -q 'label file' err
