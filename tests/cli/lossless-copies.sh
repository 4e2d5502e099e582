# What copies lossless containers keeps every pixel, also where a model is carried in stages, and where a large image is left
# alone in its group: it is then coded in strips, and the layers before the exact one may show another picture.
. "$ROOT/tests/cli_helpers.sh"
"$SAMPLES" scenes two --count 2 >/dev/null
set -- $(cd two && ls)
first=$1 second=$2
is_exact() { # container, files of two
    rm -rf out
    "$TAPER" decode -q -o out "$1"
    container=$1
    shift
    [ "$(ls out | wc -l)" -eq $# ]
    rm -rf here there
    mkdir here there
    for file; do cp "out/$file" here && cp "two/$file" there; done
    python3 "$ROOT/tests/same_pixels.py" here there
    "$TAPER" info --json "$container" | grep -q "\"exact_images\":$#"
    "$TAPER" verify -q "$container"
}
for embed in "" --embed-model; do
    for layout in set image gallery; do
        "$TAPER" encode -q -f --lossless $embed --layout $layout -o all.taper two
        is_exact all.taper "$first" "$second"
        "$TAPER" remove -q -f -o other.taper all.taper 1
        is_exact other.taper "$second"
        "$TAPER" remove -q -f -o one.taper all.taper 2
        "$TAPER" merge -q -f -o both.taper one.taper other.taper
        is_exact both.taper "$first" "$second"
        "$TAPER" add -q one.taper "two/$second"
        is_exact one.taper "$first" "$second"
        for to in set image gallery; do
            [ $to != $layout ] || continue
            "$TAPER" repack -q -f --layout $to -o packed.taper all.taper
            is_exact packed.taper "$first" "$second"
        done
    done
done

# three times the size, so that an image is several strips, with noise
for k in 1 2; do
    "$TAPER" decode -q -i $k -o $k.ppm all.taper
    python3 - $k <<'END'
import sys
k = int(sys.argv[1])
data = open("%d.ppm" % k, "rb").read()
width, height = map(int, data.split(None, 3)[1:3])
pixels, out, state = data[-3 * width * height:], bytearray(), k
for y in range(3 * height):
    row = pixels[y // 3 * 3 * width:(y // 3 + 1) * 3 * width]
    for x in range(3 * width):
        state = state * 1103515245 + 12345 & 0x7FFFFFFF
        out += bytes(min(255, v + (state >> 20) % 9) for v in row[x // 3 * 3:x // 3 * 3 + 3])
open("two/large-%d.ppm" % k, "wb").write(b"P6 %d %d 255\n" % (3 * width, 3 * height) + out)
END
    rm "two/$1"
    shift
done
"$TAPER" encode -q -f --lossless -o all.taper two
rm -r out
"$TAPER" decode -q -o out all.taper
rm two/*.ppm
cp out/*.png two
"$TAPER" remove -q -f -o less.taper all.taper 1
is_exact less.taper large-2.png
