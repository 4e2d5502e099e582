# A set of more than 1,024 images has its front matter in pages, through all verbs; a smaller one in one piece.
. "$ROOT/tests/cli_helpers.sh"
mkdir more less
python3 - <<'PY'
for i in range(2118):
    pixels = bytes((i * 37 + 5 * k * (i % 11)) % 256 for k in range(36))
    open("%s/%04d.pgm" % ("more" if i < 2048 else "less", i), "wb").write(b"P5 6 6 255\n" + pixels)
PY
paged() { [ "$(($(od -An -tu1 -j12 -N1 "$1" | tr -d ' ') & 4))" -ne 0 ]; }
in_pages() { paged "$1" || { echo "$1 is in one piece"; exit 1; }; }

# with 2,048 images there are two leaves, however many chunks share a checksum
"$TAPER" encode -q -m tiny --layout image --bytes-per-image 40 -o image.taper more
in_pages image.taper
"$TAPER" verify -q image.taper >verified
"$TAPER" info image.taper | grep -q '^  images    2048, 6 x 6'
"$TAPER" encode -q -m tiny --layout image --bytes-per-image 40 -o small.taper less
if paged small.taper; then echo "70 images are in pages"; exit 1; fi

# the same image from the whole, alone, and by the teaching decoder
"$TAPER" decode -q -o whole image.taper
[ "$(find whole -name '*.png' | wc -l)" -eq 2048 ]
"$TAPER" decode -q -o few -i 1,1227 image.taper
cmp whole/1226.png few/1226.png
python3 -B "$ROOT/formats/teaching_decoder.py" --image 1227 -m "$ROOT/models/tiny.tpm" -o taught image.taper
mkdir one
cp whole/1226.png one
python3 "$ROOT/tests/same_pixels.py" one taught

# names of what is joined do not ascend; what is cut or laid out anew stays in pages
"$TAPER" merge -q -o joined.taper small.taper image.taper
head -c 200 joined.taper | grep -aq find
"$TAPER" truncate -q --fraction 0.6 -o cut.taper image.taper
"$TAPER" repack -q --layout gallery -o other.taper image.taper
for name in joined cut other; do
    in_pages $name.taper
    "$TAPER" verify -q $name.taper >verified
done
"$TAPER" decode -q -o joined joined.taper
cmp whole/0003.png joined/0003.png
[ "$(find joined -name '*.png' | wc -l)" -eq 2118 ]

# damage is told with the leaf, as it is of all verbs
python3 - <<'PY'
import struct
data = bytearray(open("image.taper", "rb").read())
sections = struct.unpack_from("<I", data, 48)[0]
at = 56 + 24 * sections
for i in range(sections):
    kind, _, stored, _ = struct.unpack_from("<4sIQQ", data, 56 + 24 * i)
    if kind == b"LEAF":
        data[at + stored - 3] ^= 1
    at += stored
open("damaged.taper", "wb").write(data)
PY
for verb in "decode -o none" "verify" "truncate --fraction 0.5 -o none"; do
    # shellcheck disable=SC2086
    if "$TAPER" $verb damaged.taper >out 2>words; then echo "$verb takes it"; exit 1; fi
    cat out words | grep -q 'leaf 1 of the front matter, images 1[0-9]* to 2048, is damaged' ||
        { cat out words; exit 1; }
done
