# Binary and direct models: encode, cut, recut and decode with the program and with the teaching decoder. The
# models are untrained ones of the fuzz corpora (behind one byte that is not theirs); make_corpus.c made them.
corpus=$ROOT/tests/fuzz/corpus
for name in binary binary-tied direct feedback; do tail -c +2 "$corpus/model/$name.tpm" >"$name.tpm"; done

"$TAPER" info binary.tpm | grep -q '64 units of one bit, 64 passes'
"$TAPER" info --json binary-tied.tpm | grep -q '"binary":1'
"$TAPER" info --json direct.tpm | grep -q '"binary":0,"feedback":0'
"$TAPER" info --json feedback.tpm | grep -q '"binary":1,"feedback":1'
"$TAPER" info feedback.tpm | grep -q '^  feedback  '
test "$("$TAPER" info binary.tpm | grep -c feedback)" -eq 0

# grey pictures, which all four models take
mkdir in
for size in 8x6 13x9 16x16 1x1 20x33; do
    width=${size%x*} height=${size#*x}
    { printf 'P5\n%d %d\n255\n' "$width" "$height"; head -c $((width * height)) direct.tpm; } >"in/$size.pgm"
done

# the layouts carry the same bits: there and back again
for name in binary binary-tied feedback; do
    "$TAPER" encode --best -q -m $name.tpm --group 2 -o $name.taper in
    "$TAPER" encode --best -q -m $name.tpm --layout image -o $name.image.taper in
    "$TAPER" repack -q -m $name.tpm --layout image -o again.taper $name.taper
    cmp again.taper $name.image.taper
    "$TAPER" verify -q $name.taper
    "$TAPER" truncate -q -b $(($(wc -c <$name.taper) - 20)) -o shorter.taper $name.taper
    "$TAPER" verify -q shorter.taper
    "$TAPER" merge -q -o both.taper $name.taper $name.taper
    "$TAPER" decode -q -m $name.tpm -o both both.taper
    test "$(find both -name '*.png' | wc -l)" -eq 10
    rm -r again.taper shorter.taper both.taper both
done
# K bits a window and no more: 1 + 4 + 6 + 1 + 18 windows of 70 bits, each image ending with its own byte
data=$("$TAPER" info --json binary-tied.image.taper | sed 's/.*"front_bytes": *\([0-9]*\).*/\1/')
test $(($(wc -c <binary-tied.image.taper) - data)) -le $((30 * 70 / 8 + 2 * 5))

command -v python3 >/dev/null || { echo "SKIP no python3 here"; exit 0; }
python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))' || { echo "SKIP python3 is too old"; exit 0; }
for name in binary binary-tied direct feedback; do
    "$TAPER" encode --best -q -m $name.tpm --embed-model --group 2 -o all.taper in
    size=$(wc -c <all.taper)
    front=$("$TAPER" info --json all.taper | sed 's/.*"front_bytes": *\([0-9]*\).*/\1/')
    for part in 3 35 80 100; do
        bytes=$((front + (size - front) * part / 100))
        rm -rf ours theirs
        mkdir ours theirs
        python3 -B "$ROOT/formats/teaching_decoder.py" -o theirs --bytes "$bytes" all.taper
        head -c "$bytes" all.taper | "$TAPER" decode -q -o ours -
        python3 "$ROOT/tests/same_pixels.py" ours theirs 1
    done
    rm all.taper
done
