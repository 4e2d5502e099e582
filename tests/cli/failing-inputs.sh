# A disk that cannot be read, or memory that is short, while inputs are read: the run ends, and what
# was there before stays. (Once they were "left out", and a lesser container took the better one's place.)
. "$ROOT/tests/cli_helpers.sh"
small_set 40
mkdir in
cp -r set/png/* in/
{ printf 'P6\n61 47\n255\n'; head -c 8601 /dev/zero; } >in/zz.ppm # 8601 bytes, as nothing else has
"$TAPER" encode -q -m model.tpm -o good.taper in
cp good.taper before
cp model.tpm before.tpm

kept() { # nothing was replaced, nothing is left
    cmp before good.taper
    cmp before.tpm model.tpm
    nothing_left
}

# while inputs are listed: a file that opens and then cannot be read, as Linux has one
if [ -e /proc/self/mem ]; then
    ln -s /proc/self/mem in/mem.png
    expect 5 "*'in/mem.png': cannot read*" "$TAPER" encode -f -m model.tpm -o good.taper in
    expect 5 "*'in/mem.png': cannot read*" "$TAPER" train -f --window 8 -o model.tpm in
    expect 5 "*'in/mem.png': cannot read*" "$TAPER" compare -m model.tpm -r none in
    kept
    rm in/mem.png
fi

# while images are read, by a library that makes reads and allocations fail (not beside sanitizers)
if grep -q __asan_init "$TAPER"; then exit 0; fi
${CC:-cc} -shared -fPIC -o failing.so "$ROOT/tests/cli/failing_reads.c" || { echo "SKIP no compiler for a library"; exit 0; }
failing() { env LD_PRELOAD="$PWD/failing.so" "$@"; }
failing "$TAPER" encode -q -f -m model.tpm -o good.taper in || { echo "SKIP cannot preload a library"; exit 0; }
kept
for threads in 1 2; do
    expect 5 'taper encode: in/zz.ppm: cannot read*' \
        failing FAIL_READ=zz.ppm "$TAPER" encode -f -T $threads -m model.tpm -o good.taper in
    expect 6 'taper encode: in/zz.ppm: no memory*' \
        failing FAIL_MALLOC=8601 "$TAPER" encode -f -T $threads -m model.tpm -o good.taper in
    kept
done
expect 5 '*zz.ppm*cannot read*' failing FAIL_READ=zz.ppm "$TAPER" train -f --window 8 -o model.tpm in
expect 6 '*zz.ppm*no memory*' failing FAIL_MALLOC=8601 "$TAPER" train -f --window 8 -o model.tpm in
expect 5 '*zz.ppm*cannot read*' failing FAIL_READ=zz.ppm "$TAPER" compare -m model.tpm -r none in
expect 6 '*zz.ppm*no memory*' failing FAIL_MALLOC=8601 "$TAPER" compare -m model.tpm -r none in
find in -type f >list
expect 5 '*list*cannot read*' failing FAIL_READ=list "$TAPER" encode -f -m model.tpm -o good.taper --filelist list in
kept

# memory that libpng lacks is no damage: its rows take some bytes more than the image
{ printf 'P5\n20000 1\n255\n'; head -c 20000 /dev/zero; } >wide.pgm
"$TAPER" encode -q -m model.tpm -o wide.taper wide.pgm
"$TAPER" decode -q -m model.tpm -o wide wide.taper
expect 6 '*wide.png: no memory*' \
    failing FAIL_MALLOC=20001 FAIL_UPTO=20300 "$TAPER" encode -f -m model.tpm -o good.taper in wide/wide.png
kept

# a disk that fails at a file's first bytes, by which it is known what it is: no verb calls it another kind
"$TAPER" train-labels -q --objective dt-nca --code binary --units 8 -e 1 -o bits.tpm in || exit 1
"$TAPER" index -q -m bits.tpm -o set.tpx in
for what in "encode -m tiny -o none in" "embed -o none.npy" "index -o none.tpx" "search -i 0" "classify" "verify" "info" \
    "compare -r none"; do
    for file in good.taper set.tpx in/zz.ppm; do
        # shellcheck disable=SC2086  # words
        expect 5 "*$file*: cannot read*" failing FAIL_FRONT=$file "$TAPER" $what $file
    done
done
expect 5 "*good.taper: cannot read*" failing FAIL_FRONT=good.taper "$TAPER" classify -m bits.tpm --among good.taper in
expect 5 "*set.tpx: cannot read*" failing FAIL_FRONT=set.tpx "$TAPER" search -i 0 --images in set.tpx
kept
