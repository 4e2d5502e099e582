# Embeddings with convolutional layers: trained, told, stopped and resumed; their codes are those of SPEC.md 6.11.
. "$ROOT/tests/cli_helpers.sh"
"$SAMPLES" letters set --count 520 --format png >/dev/null
train() { "$TAPER" train-labels -T 1 --objective dt-nca --hold-out 0.25 --rate 0.003 "$@"; }
train -q --json -e 60 --convolutions 8,12 -o pixels.tpm set/png >pixels.json
train -q --json -e 40 --convolutions 8 --hidden 40 --cells 5 -o cells.tpm set/png >cells.json
error_of() { sed 's/.*"error_percent":\([0-9.]*\).*/\1/' "$1"; }
awk -v a="$(error_of pixels.json)" -v b="$(error_of cells.json)" 'BEGIN { exit !(a < 60 && b < 45) }'

"$TAPER" info pixels.tpm >told
grep -q '^  family    pooling, for grey images; an embedding model' told
grep -q '^  pooling   2 convolutional layers of 3 x 3, each with pooling of 2 x 2$' told
"$TAPER" info --json cells.tpm | grep -q '"family":"pooling",.*"cells_across":5,"cells_down":5,"convolutions":1,'
"$TAPER" info -v pixels.tpm | grep -q '^  layers    400-800-300-30$'

# the same whatever the threads, and resumed; with motion and dropout, too
for motion in 0 2; do
    train -q -f -e 3 --convolutions 6 --motion $motion --dropout 0.2 -o one.tpm set/png
    train -q -f -e 3 --convolutions 6 --motion $motion --dropout 0.2 -T 3 -o two.tpm set/png
    cmp one.tpm two.tpm
done
train -q -e 3 --convolutions 6 --motion 2 --dropout 0.2 --checkpoint state -o three.tpm set/png
cmp one.tpm three.tpm
expect 2 'taper train-labels: *a run with other options*' \
    train -q -e 3 --convolutions 7 --motion 2 --dropout 0.2 --checkpoint state --resume -o four.tpm set/png

# codes are those of the specification
if command -v python3 >/dev/null && python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))'; then
    mkdir in
    for i in 1 2; do { printf 'P5\n20 20\n255\n'; tail -c +$((900 * i)) cells.tpm | head -c 400; } >in/$i.pgm; done
    cat >same.py <<'P'
import csv, os, sys
sys.path.insert(0, os.path.join(os.environ["ROOT"], "formats"))
sys.dont_write_bytecode = True
import teaching_decoder as teach
for name in "pixels", "cells":
    model = teach.Model(open(name + ".tpm", "rb").read())
    for row in list(csv.reader(open(name + ".csv")))[1:]:
        want = model.codes(open("in/" + row[0][:1] + ".pgm", "rb").read()[-400:])
        found = [float(x) for x in row[2:]]
        assert len(want) == len(found) == 30
        assert all(abs(a - b) <= 1e-3 * (1 + abs(a)) for a, b in zip(want, found)), (want, found)
P
    for name in pixels cells; do
        "$TAPER" embed -q -m $name.tpm -o $name.csv in
        python3 -B "$ROOT/formats/teaching_decoder.py" $name.tpm | grep -q 'embedding.*dt-nca'
    done
    ROOT=$ROOT python3 same.py
else
    echo "SKIP no python3 to check codes with"
fi

# as bits, in an index
train -q -e 4 --convolutions 6 --code binary -k 32 -o bits.tpm set/png
"$TAPER" index -q -m bits.tpm -o set.tpx set/png
"$TAPER" search -k 1 -i 1 set.tpx | grep -q ",1,"

# what they cannot do, with the remedy
expect 2 'taper train-labels: *--convolutions begin with random weights: omit --start rbm*' \
    train -q --convolutions 4 --start rbm -o x.tpm set/png
expect 2 'taper train-labels: *--convolutions learn from labels alone: omit --guess-labels*' \
    train -q --convolutions 4 --guess-labels -o x.tpm set/png
expect 2 'taper train-labels: *--convolutions learn from labels alone: omit --reconstruct*' \
    train -q --convolutions 4 --reconstruct 0.1 -o x.tpm set/png
expect 2 'taper train-labels: *convolutional layers included*' \
    train -q --convolutions 1,1,1,1,1,1,1,1 -o x.tpm set/png
test ! -e x.tpm
