# `train-labels --code binary`: an embedding whose codes are bits, in order: an index holds them, a container
# takes them along, and classes are told by either.
. "$ROOT/tests/cli_helpers.sh"
bars set 300
quick="--objective dt-log-nca --code binary --start random --hidden 100 -k 32 -e 200 --rate 0.004 --batch 200 --hold-out 0.25 -T 1"
# shellcheck disable=SC2086
"$TAPER" train-labels -q --json -o one.tpm $quick set >one.json
# shellcheck disable=SC2086
"$TAPER" train-labels -q -o two.tpm $quick -T 2 set
cmp one.tpm two.tpm
grep -q '"units":32,"binary":true' one.json
for bits in 8 16 32; do
    sed "s/.*\"error_percent_of_first_$bits\":\([0-9.]*\).*/\1/" one.json | awk '{ exit !($1 + 0 == $1 && $1 < 50) }' # by chance 67
done
"$TAPER" info one.tpm | grep -q '  code      32 bits, by 2 layers'
"$TAPER" info --json one.tpm | grep -q '"binary":1'

# codes are 0 and 1, those of the teaching decoder
"$TAPER" embed -q -m one.tpm -o codes.csv set
test "$(cut -d, -f3- codes.csv | tail -n +2 | tr , '\n' | sort -u | tr '\n' ' ')" = "0 1 "
if command -v python3 >/dev/null && python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))'; then
    python3 -B "$ROOT/formats/teaching_decoder.py" one.tpm | grep -q 'embedding, .*dt-log-nca, alpha 31, 3 classes'
    cat >same.py <<'P'
import csv, os, sys
sys.path.insert(0, os.path.join(os.environ["ROOT"], "formats"))
sys.dont_write_bytecode = True
import teaching_decoder as teach
model = teach.Model(open("one.tpm", "rb").read())
rows = list(csv.reader(open("codes.csv")))[1:]
differ = 0
for row in rows[::60]:
    want = model.codes(open("set/" + row[0][:-3] + "pgm", "rb").read()[-64:])
    differ += sum(a != float(b) for a, b in zip(want, row[2:]))
    assert len(want) == len(row) - 2 == 32
assert differ <= 1, differ # a number next to 0 may round to the other side
P
    ROOT=$ROOT python3 same.py
else
    echo "SKIP no python3 to check codes with"
fi

# the same again is the same; trials are of bits
"$TAPER" train-labels -o found.tpm --code binary -k 16 --minutes 0.1 set 2>found.txt
grep -q 'to 16 bits' found.txt
words=$(sed -n 's/.*to train it again: //p' found.txt)
echo "$words" | grep -q -- '--code binary'
# shellcheck disable=SC2086
"$TAPER" train-labels -q -o again.tpm $words set
cmp found.tpm again.tpm

# an index: more neighbours share the class than by chance, which would be 53; of equal ones the first in the set are told
"$TAPER" index -q -m one.tpm -o set.tpx set
# shellcheck disable=SC2046
"$TAPER" search -q -k 5 $(seq -f '-i %g' 1 29 900) set.tpx >near.csv
awk -F, 'NR > 1 { split($1, a, "/"); split($3, b, "/"); same += a[2] == b[2]; n++ } END { exit !(n == 160 && same >= 80) }' near.csv

# a container takes the codes along, and their model; classes are told by it alone, also cut
"$TAPER" encode -q --embed-with one.tpm --embed-search-model -o set.taper set
front=$("$TAPER" info --json set.taper | sed 's/.*"front_bytes":\([0-9]*\).*/\1/')
head -c $((front + 100)) set.taper >cut.taper
"$TAPER" classify -q --json -m one.tpm --among set --leave-one-out | tail -1 >errors.json
sed 's/.*"percent":\([0-9.]*\).*/\1/' errors.json | awk '{ exit !($1 + 0 == $1 && $1 < 25) }' # of any order of the images
"$TAPER" classify -q -m one.tpm --among set --leave-one-out -o want.csv
for container in set cut; do
    "$TAPER" classify -q --among $container.taper --leave-one-out -f -o got.csv
    cut -d, -f2-4,6 want.csv >want.part
    cut -d, -f2-4,6 got.csv | cmp - want.part
done
"$TAPER" index -q -o cut.tpx cut.taper
"$TAPER" search -q --exact -k 3 -i 5 cut.tpx | cut -d, -f2,5,6 >got.csv
"$TAPER" search -q --exact -k 3 -i 5 set.tpx | cut -d, -f2,5,6 | cmp - got.csv

# what it is not
expect 2 'taper encode: one.tpm: an embedding model has no decoder: *' "$TAPER" encode -m one.tpm -o no.taper set
expect 2 'taper train-labels: --code takes one of numbers, binary, not *' \
    "$TAPER" train-labels --objective nca --code units -o no.tpm set
expect 2 '*use Adam*' "$TAPER" train-labels --objective dt-nca --hidden 9 -k 8 --start random --code binary --optimiser cg -o no.tpm set
test ! -e no.tpm
nothing_left
