# Embeddings of gradient orientations: trained, told, stopped and resumed; their codes are those of SPEC.md 6.10.
. "$ROOT/tests/cli_helpers.sh"
"$SAMPLES" letters set --count 260 --format png >/dev/null
train() { "$TAPER" train-labels -T 1 --objective dt-log-nca --hidden 40 --start random --hold-out 0.25 "$@"; }
train -q --json -e 6 --cells 4 -o cells.tpm set/png >cells.json
train -q --json -e 6 -o pixels.tpm set/png >pixels.json
error_of() { sed 's/.*"error_percent":\([0-9.]*\).*/\1/' "$1"; }
awk -v a="$(error_of cells.json)" -v b="$(error_of pixels.json)" 'BEGIN { exit !(a < b) }'

"$TAPER" info cells.tpm >told
grep -q '^  family    gradients, for grey images; an embedding model' told
grep -q '^  inputs    gradient orientations in 4 x 4 cells$' told
"$TAPER" info --json cells.tpm | grep -q '"family":"gradients",.*"cells_across":4,"cells_down":4,'
"$TAPER" info -v cells.tpm | grep -q '^  layers    512-40-30$'

# the same whatever the threads, and stopped and resumed; with motion, too
for motion in 0 2; do
    train -q -f -e 4 --cells 3 --motion $motion -o one.tpm set/png
    train -q -f -e 4 --cells 3 --motion $motion -T 3 -o two.tpm set/png
    cmp one.tpm two.tpm
done
cmp -s cells.tpm one.tpm && exit 1
train -q -e 4 --cells 3 --motion 2 --checkpoint state -o three.tpm set/png
cmp one.tpm three.tpm
expect 2 'taper train-labels: *a run with other options*' train -q -e 4 --cells 2 --motion 2 --checkpoint state --resume -o four.tpm set/png

# codes are those of the specification; images of any size have one
if command -v python3 >/dev/null && python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))'; then
    mkdir in
    for i in 1 2 3; do { printf 'P5\n20 20\n255\n'; tail -c +$((900 * i)) cells.tpm | head -c 400; } >in/$i.pgm; done
    "$TAPER" embed -q -m cells.tpm -o codes.csv in
    python3 -B "$ROOT/formats/teaching_decoder.py" cells.tpm | grep -q 'embedding of gradients, .*dt-log-nca'
    cat >same.py <<'P'
import csv, os, sys
sys.path.insert(0, os.path.join(os.environ["ROOT"], "formats"))
sys.dont_write_bytecode = True
import teaching_decoder as teach
model = teach.Model(open("cells.tpm", "rb").read())
for row in list(csv.reader(open("codes.csv")))[1:]:
    want = model.codes(open("in/" + row[0][:1] + ".pgm", "rb").read()[-400:])
    found = [float(x) for x in row[2:]]
    assert len(want) == len(found) == 30
    assert all(abs(a - b) <= 1e-3 * (1 + abs(a)) for a, b in zip(want, found)), (want, found)
P
    ROOT=$ROOT python3 same.py
else
    echo "SKIP no python3 to check codes with"
fi

# as bits, in an index and in a container
train -q -e 4 --cells 4 --code binary -k 32 -o bits.tpm set/png
"$TAPER" index -q -m bits.tpm -o set.tpx set/png
"$TAPER" search -k 1 -i 1 set.tpx | grep -q ",1,"
"$TAPER" encode -q --embed-with bits.tpm -o set.taper set/png
"$TAPER" search -q -k 3 -m bits.tpm -i 5 set.taper >found
test "$(wc -l <found)" -eq 4

# bits without labels: the same codes as the specification's, the same model whatever the threads
bits() { "$TAPER" train-bits -q --independent --untied -w whole -k 24 -e 2 "$@" set/png; }
bits -T 1 --cells 4 -o free.tpm
bits -T 2 --cells 4 -o free2.tpm
cmp free.tpm free2.tpm
"$TAPER" info free.tpm | grep -q '^  code      24 bits, by 1 layer$'
"$TAPER" index -q -m free.tpm -o free.tpx set/png
"$TAPER" search -k 1 -i 7 free.tpx | grep -q ',1,'
expect 2 'taper train-bits: *--cells is for bits of whole images*' \
    "$TAPER" train-bits -q --cells 4 -w whole -k 24 -o x.tpm set/png
expect 2 'taper train-bits: *cannot have 11 x 11 cells*' bits --cells 11 -o x.tpm
test ! -e x.tpm

# cells that are too small, with the remedy
expect 2 'taper train-labels: *images of 20 x 20 pixels cannot have 11 x 11 cells: *at least 2 pixels*' \
    train -q --cells 11 -o x.tpm set/png
test ! -e x.tpm
