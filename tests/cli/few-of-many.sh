# Few images of a container in pages: read in parts, with the files that reading all of it gives.
. "$ROOT/tests/cli_helpers.sh"
mkdir set
python3 - <<'PY'
import os
for i in range(2100):
    pixels = bytes((i * 37 + 5 * k * (i % 11)) % 256 for k in range(36))
    # jpg, gif and others are names only: rename gives them
    with open("set/%04d.pgm" % i, "wb") as to: to.write(b"P5 6 6 255\n" + pixels)
    os.utime("set/%04d.pgm" % i, ns=(0, 1600000000_000000000 + i * 7_123456789))
PY
"$TAPER" encode -q --best -m tiny --layout image -o ascending.taper set # with the times of files

front=$("$TAPER" info --json ascending.taper | sed -n 's/.*"front_bytes": *\([0-9]*\).*/\1/p')
all() { # container: all its files
    rm -rf whole
    "$TAPER" decode -q -o whole "$1" 2>/dev/null
}
read_in_parts() { # yes or no, container, words: as all of it, and in parts or not
    how=$1 of=$2
    shift 2
    rm -rf few
    "$TAPER" decode -v -o few -i "$@" "$of" 2>said
    found=no
    grep -q 'bytes read for' said && found=yes
    [ $found = "$how" ] || { echo "$of, $*: in parts: $found"; cat said; exit 1; }
    [ "$(find few -type f | wc -l)" -gt 0 ]
    (cd few && find . -type f) | while read -r file; do
        cmp "few/$file" "whole/$file"
        [ "$(stat -c %Y "few/$file")" = "$(stat -c %Y "whole/$file")" ] || { echo "$file: another time"; exit 1; }
    done
}

renamed() { # file, then numbers of images and their new names
    new=$1
    shift
    cp ascending.taper "$new"
    while [ $# -gt 0 ]; do
        "$TAPER" rename -q -f -o x.taper "$new" "$1" "$2" 2>/dev/null
        mv x.taper "$new"
        shift 2
    done
}

# names that ascend, with suffixes that are replaced
all ascending.taper
read_in_parts yes ascending.taper 1500
read_in_parts yes ascending.taper 1,1024,1025,2100
read_in_parts yes ascending.taper 1020-1030
read_in_parts yes ascending.taper 0007.pgm
read_in_parts no ascending.taper '000[7].pgm'
read_in_parts no ascending.taper 1-17
read_in_parts no ascending.taper '*9.pgm'
read_in_parts no ascending.taper 8 --fraction 0.9
"$TAPER" decode -v -o few.png -i 9 ascending.taper 2>said
cmp few.png whole/0008.png
read=$(sed -n 's/.* \([0-9]*\) bytes read for 1 of 2100 images$/\1/p' said)
[ "$read" -lt $((front + 16384)) ]

# names of which others become the same file
renamed rivals.taper 11 0009.png 19 0019 29 0029.jpg 41 0039.pgm.png 51 0050.png.jpg 61 0061.PNG
all rivals.taper
for i in 10 11 18 19 20 29 30 40 41 50 51 52 61 62; do
    rm -rf few
    "$TAPER" decode -q -o few -i $i rivals.taper 2>/dev/null
    file=$(ls few)
    cmp "few/$file" "whole/$file"
done
read_in_parts no rivals.taper 10
expect 2 '*' "$TAPER" decode -q -o none -i nobody.png rivals.taper
[ ! -e none ]

# names in any order: in parts if they stay as they are, or if the output is one file
renamed hashed.taper 1 zebra.png 2 yak.pgm 3 xerus.png
all hashed.taper
read_in_parts yes hashed.taper 1
read_in_parts no hashed.taper 2
read_in_parts yes hashed.taper 3
"$TAPER" decode -v -o two.png -i 2 hashed.taper 2>said
grep -q 'bytes read for 1 of' said
cmp two.png whole/yak.png

# damaged metadata and leaves are told
python3 - <<'PY'
import struct
for wanted in (b"meta", b"LEAF"):
    data = bytearray(open("ascending.taper", "rb").read())
    sections = struct.unpack_from("<I", data, 48)[0]
    at = 56 + 24 * sections
    for i in range(sections):
        kind, _, stored, _ = struct.unpack_from("<4sIQQ", data, 56 + 24 * i)
        if kind == wanted: data[at + stored - 3] ^= 1
        at += stored
    open("damaged-%s.taper" % wanted.decode(), "wb").write(data)
PY
expect 3 '*checksum of section meta*' "$TAPER" decode -q -o none -i 1500 damaged-meta.taper
expect 3 '*leaf * of the front matter*' "$TAPER" decode -q -o none -i 2100 damaged-LEAF.taper
[ ! -e none ]
head -c $((front - 1)) ascending.taper >cut.taper
expect 3 '*incomplete header*' "$TAPER" decode -q -o none -i 1500 cut.taper
# others than the damaged leaf are not concerned
"$TAPER" decode -q -o one.png -i 7 damaged-LEAF.taper
all ascending.taper
cmp one.png whole/0006.png
