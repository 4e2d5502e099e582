# Bad inputs are named, counted and left out; the rest is encoded; exit code 1.
. "$ROOT/tests/cli_helpers.sh"
small_set 60
png=$ROOT/tests/fuzz/corpus/png idx=$ROOT/tests/fuzz/corpus/idx
mkdir in
cp set/png/arrow/0001.png in/
cp "$png/cut.png" "$png/rgba8.png" "$png/bomb.png" in/
: >in/empty.png
echo "no image at all" >in/words.png
ln -s nowhere in/link.png
ln -s loop.png in/loop.png
expect 1 'taper encode: 7 of 8 inputs failed and were left out' \
    "$TAPER" encode -m model.tpm --alpha refuse -o some.taper in
grep -q '^taper encode: in/cut\.png: .' expect.err
grep -q '^taper encode: in/rgba8\.png: .*alpha' expect.err
grep -q '^taper encode: in/bomb\.png: .*--max-pixels' expect.err
grep -q '^taper encode: in/empty\.png: .' expect.err
grep -q '^taper encode: in/words\.png: .' expect.err
grep -q '^taper encode: in/link\.png: .*; check the path' expect.err
grep -q '^taper encode: in/loop\.png: .*; check the path' expect.err
"$TAPER" info --json some.taper | grep -q '"images":1,'

# when none is left, nothing is written, and the code says why: that of all of them, or 2
expect 3 '*' "$TAPER" encode -m model.tpm -o none.taper in/cut.png
expect 5 '*nowhere.png*' "$TAPER" encode -m model.tpm -o none.taper nowhere.png
expect 6 '*bomb.png*' "$TAPER" encode -m model.tpm -o none.taper "$png/bomb.png"
expect 3 '*claims_1gb.idx: *promises*' "$TAPER" encode -m model.tpm -o none.taper "$idx/claims_1gb.idx"
expect 2 '*alpha*' "$TAPER" encode -m model.tpm --alpha refuse -o none.taper in/rgba8.png
expect 3 '*cut.png*' "$TAPER" encode -m model.tpm -o none.taper in/cut.png in/empty.png
expect 2 '*cut.png*' "$TAPER" encode -m model.tpm -o none.taper in/cut.png nowhere.png
expect 3 '*cut.png*' "$TAPER" train -o none.tpm in/cut.png
expect 2 '*give --alpha*' "$TAPER" train -o none.tpm in/rgba8.png
expect 3 '*cut.png*' "$TAPER" compare -m model.tpm -r none in/cut.png
test ! -e none.tpm
expect 2 '*the folder holds no file*' sh -c 'mkdir -p empty; "$0" encode -m model.tpm -o none.taper empty' "$TAPER"
test ! -e none.taper

# transparency: dropped or on white
"$TAPER" encode -q -m model.tpm --alpha drop -o drop.taper in/rgba8.png
"$TAPER" encode -q -m model.tpm --alpha white -o white.taper in/rgba8.png
"$TAPER" info -v drop.taper | grep -q 'RGB'

# a file that cannot be read; root can read all
if [ "$(id -u)" -ne 0 ]; then
    chmod 000 in/0001.png
    expect 5 '*0001.png*permission*' "$TAPER" encode -m model.tpm -o none.taper in/0001.png
fi
nothing_left
