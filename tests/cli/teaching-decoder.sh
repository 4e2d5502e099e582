# The teaching decoder, SPEC.md and the C library agree: on constants, on the examples, on whole and cut files.
command -v python3 >/dev/null || { echo "SKIP no python3 here"; exit 0; }
python3 -c 'import sys; sys.exit(sys.version_info < (3, 8))' || { echo "SKIP python3 is too old"; exit 0; }
teach="python3 -B $ROOT/formats/teaching_decoder.py"

# same FILE BYTES [OPTION...]: both decoders, given the first BYTES of FILE. All models here are linear: equal pixels
same() {
    file=$1 bytes=$2
    shift 2
    rm -rf ours theirs
    mkdir ours theirs
    $teach -o theirs --bytes "$bytes" "$@" "$file"
    head -c "$bytes" "$file" | "$TAPER" decode -q -o ours "$@" -
    python3 "$ROOT/tests/same_pixels.py" ours theirs
}

# cuts FILE [OPTION...]: in an early chunk, in a later one, whole
cuts() {
    file=$1
    shift
    size=$(wc -c <"$file")
    front=$("$TAPER" info --json "$file" | sed 's/.*"front_bytes": *\([0-9]*\).*/\1/')
    for part in 5 40 100; do
        same "$file" $((front + (size - front) * part / 100)) "$@"
    done
}

# constants, tables and dumps of the specification; the container of the example is what encode writes
python3 "$ROOT/tests/spec_examples.py" "$ROOT" .
printf 'P5\n1 1\n255\n\310' >a.png # what a file is its first bytes say
"$TAPER" encode --best --strip -q -m smallest.tpm -o again.taper a.png
cmp again.taper smallest.taper
"$TAPER" verify -q smallest.taper
printf '\312' >202
"$TAPER" decode -q -m smallest.tpm -o - --image 1 --format pnm smallest.taper | tail -c 1 | cmp - 202
same smallest.taper 125 -m smallest.tpm
same smallest.taper 126 -m smallest.tpm

# a real model; five images in groups of two, and one after the other
"$SAMPLES" small set --count 40 --format png
"$TAPER" train --window 8 --units 60 -q -o m.tpm set/png
mkdir few
for class in arrow cross knot ring star; do cp "set/png/$class/0001.png" "few/$class.png"; done
"$TAPER" encode --best -q -m m.tpm --group 2 -o set.taper few
cuts set.taper -m m.tpm
"$TAPER" encode --best -q -m m.tpm --layout image -o image.taper few
cuts image.taper -m m.tpm
same image.taper 999999 -m m.tpm --image 3

# further names of images that were equal
mkdir twice
for name in a/1 a/2 b/1; do mkdir -p twice/${name%/*} && cp few/knot.png twice/$name.png; done
cp few/ring.png twice/b/2.png
"$TAPER" encode --best -q --dedup -m m.tpm -o twice.taper twice
same twice.taper 999999 -m m.tpm
test "$(find ours -name '*.png' | wc -l)" -eq 4
$teach --info twice.taper | grep -q '^image 0 is also b/1.png$'

# a file that was truncated, and one that was cut after it had been truncated
"$TAPER" truncate -q -b 1500 -o short.taper image.taper
cuts short.taper -m m.tpm
head -c 800 short.taper >cut.taper
"$TAPER" truncate -q -b 1200 -o mended.taper cut.taper
same mended.taper 1200 -m m.tpm
"$TAPER" decode -q -o cut -m m.tpm cut.taper
"$TAPER" decode -q -o mended -m m.tpm mended.taper
python3 "$ROOT/tests/same_pixels.py" cut mended

# shards that were cut and joined: whole chunks count as cut behind such, layers without passes in a rate class
"$TAPER" merge -q -o joined.taper short.taper image.taper
cuts joined.taper -m m.tpm
"$TAPER" encode --best -q -m m.tpm --group 500 -o ring.taper few/ring.png few/star.png
"$TAPER" truncate -q --fraction 0.6 -o front.taper set.taper
"$TAPER" merge -q -o shards.taper front.taper set.taper ring.taper
cuts shards.taper -m m.tpm
"$TAPER" info --json shards.taper | grep -q '"rate_classes":2'

# sizes that the window does not divide, grey, a single window, 16 bits; the model inside
for size in 13x9 8x8 1x1 20x33; do
    width=${size%x*} height=${size#*x}
    { printf 'P5\n%d %d\n255\n' "$width" "$height"; head -c $((width * height)) m.tpm; } >"few/$size.pgm"
done
{ printf 'P6\n9 17\n65535\n'; head -c $((9 * 17 * 6)) m.tpm; } >few/deep.ppm
"$TAPER" encode --best -q -m m.tpm --embed-model -o all.taper few/*.p[gp]m few/ring.png
cuts all.taper

# images that go ahead of others
"$TAPER" encode -q -m m.tpm --allocation mean --group 2 -o tracks.taper few/*.p[gp]m few/ring.png
cuts tracks.taper -m m.tpm
same tracks.taper 99999 -m m.tpm --image 3

# a conditional model and a head, in groups of linked windows and of single ones
"$TAPER" train --window 8 --units 60 --conditional 16 --head 16 --predict-epochs 3 -q -o c.tpm set/png
"$TAPER" encode --best -q -m c.tpm -o linked.taper few/*.p[gp]m few/ring.png
cuts linked.taper -m c.tpm
"$TAPER" encode --best -q -m c.tpm -o single.taper few/8x8.pgm few/1x1.pgm
cuts single.taper -m c.tpm

# family conv: pixels restored, by random weights and by those of a model that ships
restoring=$ROOT/tests/fuzz/corpus/container/restoration.taper
$teach --info -o none "$restoring" | grep -q 'container of 2 images'
for bytes in 2485 99999; do same "$restoring" $bytes; done
"$TAPER" info "$ROOT/models/tiny.tpm" | grep -q 'family    conv'
# black and white pixels, whose coefficients exceed 16 bits
{ printf 'P5\n16 8\n255\n'; awk 'BEGIN { for (i = 0; i < 128; i++) printf i * i % 7 < 3 ? " " : "~" }' |
    LC_ALL=C tr ' ~' '\0\377'; } >few/chart.pgm
"$TAPER" encode --best -q -m "$ROOT/models/tiny.tpm" -o restored.taper few/ring.png few/13x9.pgm few/chart.pgm
cuts restored.taper -m "$ROOT/models/tiny.tpm"

# half of the front matter, a model that is not the container's
code=0; $teach -o none --bytes 90 set.taper -m m.tpm || code=$?
test "$code" -eq 4
code=0; $teach -o none set.taper -m smallest.tpm || code=$?
test "$code" -eq 3
# damage is found: one bit of the last chunk
cp set.taper bad.taper
size=$(wc -c <bad.taper)
byte=$(tail -c 3 set.taper | od -An -tu1 -N1 | tr -d ' ')
printf "\\$(printf '%03o' $((byte ^ 1)))" | dd of=bad.taper bs=1 seek=$((size - 3)) conv=notrunc 2>/dev/null
code=0; $teach -o damaged -m m.tpm bad.taper || code=$?
test "$code" -eq 3
code=0; "$TAPER" decode -q -o damaged-too -m m.tpm bad.taper || code=$?
test "$code" -eq 3
python3 "$ROOT/tests/same_pixels.py" damaged damaged-too
