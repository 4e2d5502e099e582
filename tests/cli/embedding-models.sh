# Models without a decoder, of the conformance corpus: what they are, the codes they make, and who refuses them.
. "$ROOT/tests/cli_helpers.sh"
cp "$ROOT/tests/conformance/files/embedding.tpm" "$ROOT/tests/conformance/files/embedding-pixel.tpm" .
mkdir in
for i in 1 2 3; do
    { printf 'P5\n4 4\n255\n'; tail -c +$((40 + 20 * i)) embedding.tpm | head -c 16; } >in/$i.pgm
done

# what they are
"$TAPER" info embedding.tpm >told
grep -q '^  family    dense, for grey images; an embedding model: it has no decoder$' told
grep -q '^  code      3 units, by 3 layers$' told
grep -q '^  trained   for dt-nca, alpha 2, on 10 classes$' told
grep -q passes told && exit 1
"$TAPER" info -vv embedding.tpm | grep -q '^  layers    16-6-6-3$'
"$TAPER" info --json embedding.tpm |
    grep -q '"passes":0,.*,"embedding":1,"objective":"dt-nca","alpha":2,"trained_classes":10}$'
"$TAPER" info --json embedding-pixel.tpm | grep -q '"alpha":null'
"$TAPER" info --json photo | grep -q '"embedding":0}$'
"$TAPER" verify embedding.tpm | grep -q 'whole: a model'

# codes are those of the specification
"$TAPER" embed -q -m embedding.tpm -o codes.csv in
test "$(wc -l <codes.csv)" -eq 4
if command -v python3 >/dev/null && python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))'; then
    python3 -B "$ROOT/formats/teaching_decoder.py" embedding.tpm | grep -q 'embedding, .*dt-nca, alpha 2, 10 classes'
    cat >same.py <<'P'
import csv, os, sys
sys.path.insert(0, os.path.join(os.environ["ROOT"], "formats"))
sys.dont_write_bytecode = True
import teaching_decoder as teach
model = teach.Model(open("embedding.tpm", "rb").read())
for row in list(csv.reader(open("codes.csv")))[1:]:
    want = model.codes(open("in/" + row[0][:1] + ".pgm", "rb").read()[-16:])
    found = [float(x) for x in row[2:]]
    assert len(want) == len(found) == 3
    assert all(abs(a - b) <= 1e-4 * (1 + abs(a)) for a, b in zip(want, found)), (want, found)
P
    ROOT=$ROOT python3 same.py
else
    echo "SKIP no python3 to check codes with"
fi

# who needs a decoder says so, with the remedy, before anything is read or written
no='embedding.tpm: an embedding model has no decoder*`taper embed`*`taper classify`*'
grey=$ROOT/tests/conformance/files/bad-made-by-embedding.taper
expect 2 "taper encode: $no" "$TAPER" encode -m embedding.tpm -o x.taper in
expect 2 "taper decode: $no" "$TAPER" decode -m embedding.tpm -o x "$grey"
expect 2 "taper decode: $no" "$TAPER" decode --progressive -m embedding.tpm -o x - <"$grey"
expect 2 "taper repack: $no" "$TAPER" repack -m embedding.tpm --layout image -o x.taper "$grey"
expect 2 "taper truncate: $no" "$TAPER" truncate -m embedding.tpm --psnr 30 -o x.taper "$grey"
expect 2 "taper compare: $no" "$TAPER" compare -m embedding.tpm -o x in
expect 2 "taper train: $no" "$TAPER" train --from embedding.tpm -o x.tpm in
for output in x.taper x x.tpm; do test ! -e $output; done

# containers that carry one are damaged
carries=$ROOT/tests/conformance/files/bad-carries-embedding.taper
expect 3 'taper verify: *no decoder' "$TAPER" verify "$carries"
expect 3 'taper decode: *no decoder' "$TAPER" decode -o x "$carries"
expect 3 'taper repack: *no decoder' "$TAPER" repack --layout image -o x.taper "$carries"
expect 3 'taper truncate: *no decoder' "$TAPER" truncate --psnr 30 -o x.taper "$carries"
nothing_left
