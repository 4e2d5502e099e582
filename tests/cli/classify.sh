# classify: labels by neighbours, as a few lines of Python find them; errors; what cannot be labelled.
. "$ROOT/tests/cli_helpers.sh"
small_set 120
"$TAPER" train -q -w whole -k 9 -o whole.tpm set/png
known_and_new
classify() { "$TAPER" classify -m whole.tpm "$@"; }
only_warnings() { not grep -qv 'classes have fewer than 30 labelled images\|the interval is of' "$1"; } # the set is small
lines() { test "$(wc -l <"$1")" -eq "$2" || { echo "not $2 lines:"; cat "$1"; exit 1; }; }

# by definition
classify --among known -k 5,1,3 new >labels.csv 2>report
lines labels.csv 11
grep -qx 'name,label,votes,of,nearest,distance,truth' labels.csv
grep -Eq '^error [0-9.]+ % by 5 votes: [0-9]+ of 10; 95 % interval [0-9.]+ to [0-9.]+ %$' report
grep -q '^error .* by 1 vote: ' report
lines report 21
classify --among known --leave-one-out -k 3 >own.csv 2>own-report
lines own.csv 41
if command -v python3 >/dev/null; then
    "$TAPER" embed -q -m whole.tpm -o known.csv known
    "$TAPER" embed -q -m whole.tpm -o new.csv new
    cat >plain.py <<'P'
import csv, math, re
def codes(path):
    return [(r[0], r[1], [float(x) for x in r[2:]]) for r in list(csv.reader(open(path)))[1:]]
def label(code, among, k):
    near = sorted((sum((a - b) ** 2 for a, b in zip(code, c)), i) for i, (_, _, c) in enumerate(among))
    votes = [among[i][1] for _, i in near[:k]]
    best = max(votes, key=lambda v: (votes.count(v), -votes.index(v)))
    return best, votes.count(best), among[near[0][1]][0], math.sqrt(near[0][0])
def check(path, queries, k, among_of):
    rows = list(csv.DictReader(open(path)))
    assert len(rows) == len(queries)
    for row, (name, truth, code) in zip(rows, queries):
        want = label(code, among_of(name), k)
        assert (row["name"], row["truth"], row["of"]) == (name, truth, str(k)), row
        assert (row["label"], int(row["votes"]), row["nearest"]) == want[:3], (row, want)
        assert abs(float(row["distance"]) - want[3]) < 1e-6 * want[3], (row, want)
    return sum(row["label"] != row["truth"] for row in rows)
known, new = codes("known.csv"), codes("new.csv")
wrong = check("labels.csv", new, 5, lambda name: known)
report = open("report").read()
assert "by 5 votes: %d of 10;" % wrong in report
for k in 1, 3:
    wrong = sum(label(code, known, k)[0] != truth for _, truth, code in new)
    assert re.search(r"by %d votes?: %d of 10;" % (k, wrong), report), report
rows = [line.split() for line in report.splitlines()[16:]]
assert [r[0] for r in rows] == ["arrow", "bolt", "cross", "ring", "star"], rows
assert all(sum(map(int, r[1:])) == 2 for r in rows), rows
wrong = check("own.csv", known, 3, lambda name: [r for r in known if r[0] != name])
assert 0 < wrong < 40 and "by 3 votes: %d of 40;" % wrong in open("own-report").read()
P
    python3 plain.py
else
    echo "SKIP no python3 to find neighbours with"
fi

# the same in a file, for any number of threads; without labels of the inputs there is no truth
classify -q -T 1 --among known -k 5,1,3 -o one.csv new 2>err
only_warnings err
cmp one.csv labels.csv
classify -q -T 7 --among known -k 5,1,3 new | cmp - labels.csv
mkdir flat
for class in arrow bolt; do cp new/$class/0009.png flat/$class.png; done
classify --among known -k 5 flat >flat.csv 2>err
only_warnings err
sed 1d flat.csv | cut -d , -f 2- >a
grep -E '^(arrow|bolt)/0009' labels.csv | cut -d , -f 2-6 | cmp - a
classify -q --among known/arrow --among known/bolt --among-labels /dev/stdin -k 1 flat >two.csv <<L
$(for class in arrow bolt; do for i in 1 2 3 4 5 6 7 8; do echo "$class"; done; done)
L
lines two.csv 3
printf '%s\n' flat/arrow.png flat/bolt.png | classify -q --among known -k 5 --filelist - >list.csv
sed 's,^flat/,,' list.csv | cmp - flat.csv

# JSON: a line for each, and the errors
classify --among known -k 5,1 --json new >lines.json 2>err
only_warnings err
lines lines.json 11
grep -c '^{"schema":1,"kind":"label","name":"[a-z]*/0[0-9]*.png","label":"[a-z]*","votes":[1-5],"of":5,"nearest":"[a-z]*/000[1-8].png","distance":[0-9.]*,"truth":"[a-z]*"}$' lines.json | grep -qx 10
tail -n 1 lines.json | grep -q '^{"schema":1,"kind":"errors","tested":10,"errors":\[{"k":5,"wrong":[0-9]*,"percent":.*{"k":1,.*"classes":\["arrow","bolt","cross","ring","star"\],"confusion":\[\[.*\]\]}$'
wrong=$(sed 1d labels.csv | awk -F , '$2 != $7' | wc -l)
test "$(tail -n 1 lines.json | json_number wrong)" -eq "$wrong"

# pixels; IDX and CIFAR with their numbers; the images themselves are their nearest
"$TAPER" classify --among set/idx/images.idx.gz --among-labels set/idx/labels.idx \
    --labels set/idx/labels.idx.gz -k 1 set/idx/images.idx >pixels.csv 2>report
grep -q '^error 0.00 % by 1 vote: 0 of 120; 95 % interval 0.00 to 3.10 %$' report
sed -n 3p pixels.csv | grep -q '^set/idx/images.idx#2,\([0-9]\),1,1,set/idx/images.idx.gz#2,0,\1$'
cat set/cifar/train.bin >all.bin
"$TAPER" classify --among all.bin --leave-one-out -k 2 >cifar.csv 2>report
grep -q '^all.bin#7,[0-9],[12],2,all.bin#[0-9]*,[0-9.]*,[0-9]$' cifar.csv

# many, in blocks: each image has a copy in the other half, which is its nearest, whatever k is
awk 'BEGIN { for (i = 0; i < 1100; i++) printf "%c%c%c%c", 33 + i % 89, 33 + i / 89 % 89, 33 + i * 7 % 89, 33 }' >half
{ printf '\0\0\10\3\0\0\10\230\0\0\0\2\0\0\0\2'; cat half half; } >copies.idx
{ seq 1100; seq 1100; } | awk '{ print $1 % 7 }' >copies
"$TAPER" classify --among copies.idx --among-labels copies --leave-one-out -k 1,1024 >copies.csv 2>report
lines copies.csv 2201
grep -q '^error 0.00 % by 1 vote: 0 of 2200;' report
awk -F '[,#]' 'NR > 1 && ($2 - $7 != 1100 && $7 - $2 != 1100 || $8 != 0) { print; wrong = 1 } END { exit wrong }' copies.csv
"$TAPER" classify -q --among copies.idx --among-labels copies -k 1,1024 --labels copies copies.idx >same.csv
awk -F '[,#]' 'NR > 1 && ($7 != ($2 - 1) % 1100 + 1 || $8 != 0) { print; wrong = 1 } END { exit wrong }' same.csv

# classes go by name: numbers of one set are not those of the other
mkdir renamed
cp -r new/star renamed/arrow0
cp -r new/ring renamed/ring
expect 0 'taper classify: warning: 2 inputs are of a class that no labelled image has: counted as wrong' \
    classify --among known renamed
grep -q '^ring/0009.png,.*,ring$' expect.out
grep -q '^arrow0/0009.png,.*,arrow0$' expect.out
expect 2 "taper classify: no class of the inputs ('0', ...) is one of the labelled images ('arrow', ...): *" \
    classify --among known all.bin

# what is left out is named, and the rest is labelled
cp -r new some
echo none >some/bolt/0011.png
printf 'P5\n4 4\n255\n0123456789abcdef' >some/star/0011.pgm
expect 1 'taper classify: some/bolt/0011.png: *' classify --among known -k 5,1,3 some
grep -q 'some/star/0011.pgm: image is 4 x 4 pixels but a code of the model is of 32 x 32' expect.err
cmp expect.out labels.csv
cp some/star/0011.pgm known/star
expect 1 '*known/star/0011.pgm: image is 4 x 4 pixels*' classify --among known -k 5,1,3 new
cmp expect.out labels.csv
expect 1 '*known/star/0011.pgm: image is 4 x 4 pixels but the first one is 32 x 32; bring all to one size*' \
    "$TAPER" classify --among known new
rm known/star/0011.pgm

# labels of which nothing can be learnt
expect 2 'taper classify: flat/arrow.png: the labelled images have no labels: give --among-labels FILE, or *' \
    classify --among flat new
expect 2 '*the labelled images have no labels*' classify --among known/arrow --leave-one-out
yes one | head -n 8 >ones
mkdir alone
cp -r known/arrow alone
expect 2 "taper classify: all labelled images are of one class, 'arrow': *" classify --among alone --leave-one-out
expect 2 "*all labelled images are of one class, 'one': give two classes or more*" \
    classify --among known/arrow --among-labels ones --leave-one-out
head -n 7 ones >seven
expect 2 "taper classify: labels 'seven': 7 labels for 8 images; give one label for each image" \
    classify --among known/arrow --among-labels seven --leave-one-out
sed '3s/.*/-1/; 4s/.*/4/' ones >minus
expect 2 "taper classify: minus: the label '-1' is a negative number: *" \
    classify --among known/arrow --among-labels minus --leave-one-out
expect 2 "taper classify: minus: the label '-1' is a negative number: *" \
    classify --among known --labels minus known/arrow
expect 2 'taper classify: -k 41: there are only 40 labelled images; give at most that number' \
    classify --among known -k 1,41 new
expect 2 'taper classify: -k 40: there are only 39 labelled images*' \
    classify --among known -k 40 --leave-one-out
classify -q --among known -k 40 new >all.csv
expect 2 '*--neighbours takes whole numbers*' classify --among known -k 2.5 new
expect 2 '*--neighbours takes numbers with commas*from 1 to 65536*' classify --among known -k 0 new
sed '1,7s/.*/two/' ones >rare
expect 0 "taper classify: warning: 1 class is of one image, for which no other image can vote ('one')" \
    classify --among known/arrow --among-labels rare --leave-one-out -k 1
cp known/arrow/0001.png known/none.png
expect 0 'taper classify: warning: 1 of the labelled images has no label, and does not vote' \
    classify --among known -k 5,1,3 new
cmp expect.out labels.csv
rm known/none.png
expect 6 '*codes of 40 labelled images of 3072 numbers each do not fit into --max-memory*give --max-memory 1M *' \
    "$TAPER" classify --max-memory 300K --among known new

# what cannot be carried out
expect 2 '*give labelled images: --among*' classify new
expect 2 '*give the images to label, or --leave-one-out*' classify --among known
expect 2 '*--leave-one-out labels the labelled images*' classify --among known --leave-one-out new
expect 2 '*standard input is named twice*' classify --among - -
expect 0 'taper classify: warning: without effect here: --labels (for a run without --leave-one-out)' \
    classify --among known --leave-one-out --labels ones
expect 5 '*labels.csv: *exists*' classify --among known -o labels.csv new
expect 2 '*known/star/0001.png: is an input too*' classify -f --among known -o known/star/0001.png new
expect 2 '*new/star/0009.png: is an input too*' classify -f --among known -o new/star/0009.png new
cp whole.tpm own.tpm
expect 2 '*own.tpm: is an input too*' "$TAPER" classify -f -m own.tpm -o own.tpm --among known new
cmp own.tpm whole.tpm
if [ -c /dev/full ]; then
    expect 5 '*/dev/full: *No space left*' classify --among known -o /dev/full new
    expect 5 '*cannot write to standard output*' sh -c '"$0" classify -m whole.tpm --among known new >/dev/full' "$TAPER"
fi
nothing_left
