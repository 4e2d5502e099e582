# A message about a limit names the option and the amount; what it names is run until the image is taken, and decoded.
. "$ROOT/tests/cli_helpers.sh"
python3 - <<'END'
import struct, zlib
def png(path, width, height):
    rows = b"".join(b"\0" + bytes((x * 3 + y) & 255 for x in range(width)) for y in range(height))
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    open(path, "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
                           + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
png("plain.png", 600, 400)
END
# Run VERB with the options that its messages propose until it is done; each proposes more than was given.
number() { echo "$1" | sed 's/.* //; s/M$/ * 1048576/; s/K$/ * 1024/'; }
follow() { # the limits to begin with, the most rounds, VERB ARGUMENTS...
    given=$1 most=$2 verb=$3 rounds=0 code=0
    shift 3
    while [ $rounds -le "$most" ]; do
        # shellcheck disable=SC2086
        "$TAPER" $verb $given "$@" >out.text 2>err && break || code=$?
        grep -qE 'give --max-[a-z]+ [0-9]+M?' err || { echo "$code: $verb $given $*"; cat err; exit 1; }
        more=$(sed -n 's/.*give \(--max-[a-z]* [0-9]*M\{0,1\}\).*/\1/p' err | head -n 1)
        before=$(echo "$given" | sed -n "s/.*\(${more% *} [0-9]*[KM]\{0,1\}\).*/\1/p")
        [ -z "$before" ] || [ $(($(number "$more"))) -gt $(($(number "$before"))) ] ||
            { echo "$more where $before was given: $verb $*"; cat err; exit 1; }
        given="$given $more" rounds=$((rounds + 1)) # the last one of an option counts
    done
    [ $rounds -ge "${fewest-1}" ] && [ $rounds -le "$most" ] || { echo "$rounds rounds: $verb $given $*"; cat err; exit 1; }
}
for limits in '--max-pixels 1000' '--max-memory 100000' '--max-pixels 1000 --max-memory 100000' '--max-memory 1000000'; do
    follow "$limits" 4 encode -f -T 1 -m tiny -o out.taper plain.png
    limits=${given#"$limits "}
    # shellcheck disable=SC2086
    "$TAPER" decode -q -f -T 1 $limits -o out out.taper
done

# containers, labels, lists, models, indexes
small_set 40
draw() { python3 "$ROOT/tests/hostile_files.py" "$@"; }
"$TAPER" train -q -T 1 -w whole -k 2 -o whole.tpm set/png
draw front 200000 front.taper whole.tpm
draw idx 20000 many.gz
gunzip -c many.gz >many.idx
head -c 50000 /dev/zero | tr '\000' '\n' | head -n 20000 | sed 's/^/1/' >numbers.csv
"$TAPER" train-bits -q -T 1 -w whole -k 16 --independent -e 1 --hidden 4 -o bits.tpm set/png
"$TAPER" index -q -m bits.tpm -o few.tpx set/png
"$TAPER" encode --best -q -m model.tpm -o set.taper set/png
"$TAPER" encode --best -q -m model.tpm --layout image -o each.taper set/png
"$TAPER" encode --best -q -m bits.tpm -o bits.taper set/png
"$TAPER" encode --best -q -m tiny -o plain.taper plain.png
follow '--max-images 3' 1 encode -f -m model.tpm -o out.taper set/cifar/test.bin
follow '--max-images 100' 12 encode -f -m whole.tpm --labels numbers.csv -o out.taper many.gz
follow '--max-images 30' 1 encode -f -m model.tpm -o out.taper set/idx/images.idx
follow '--max-images 3' 8 encode -f -m model.tpm -o out.taper set/png
follow '--max-images 3' 1 info set.taper
follow '--max-images 3' 1 search -i 1 few.tpx
follow '--max-pixels 100' 1 info set.taper
follow '--max-pixels 100' 1 verify set.taper
follow '--max-model 1000' 3 info model.tpm
follow '--max-model 1000' 3 encode -f -m model.tpm -o out.taper set/png
follow '--max-work 10' 1 info model.tpm
follow '--max-work 10' 1 decode -f -m model.tpm -o out set.taper
# each with less memory than it takes, until it has enough
least='100 64K 2M'
short() { # VERB ARGUMENTS...
    "$TAPER" "$@" >out.text 2>err || { cat err; exit 1; }
    fewest=0
    for limit in $least; do follow "--max-memory $limit" 6 "$@"; done
    unset fewest
}
short decode -f -T 1 -m model.tpm -o out set.taper
short decode -f -T 1 -m model.tpm --format idx -o out.idx set.taper
short decode -f -T 1 -m model.tpm -o out each.taper
short encode -f -T 1 -m model.tpm -o out.taper set/png
short encode -f -T 1 -m model.tpm -o out.taper set/idx/images.idx
short truncate -f -m model.tpm -b 3000 -o out.taper set.taper
short truncate -f -m model.tpm -b 3000 -o out.taper each.taper
short repack -f -m model.tpm --layout image -o out.taper set.taper
short repack -f -m model.tpm --layout set -o out.taper each.taper
short merge -f -o out.taper set.taper set.taper
short verify set.taper
short info set.taper
short embed -f -m bits.tpm -o out.npy set/png
short embed -f -m bits.tpm -o out.npy bits.taper
short index -f -m bits.tpm -o out.tpx set/png
short index -f -o out.tpx few.tpx few.tpx
short encode -f -T 1 -m whole.tpm --labels numbers.csv -o out.taper many.idx
short encode -f -T 1 -m whole.tpm -o out.taper many.gz
short decode -f -T 1 -m tiny -o out plain.taper
short info front.taper
short verify front.taper
short merge -f -o out.taper front.taper front.taper front.taper
short search -m bits.tpm few.tpx set/png/star/0001.png
short classify -f -m bits.tpm --among set/png -o out.csv set/png
short train -f -T 1 -o out.tpm set/png

# libjpeg's own memory, for a picture in several scans
if command -v convert >/dev/null && convert plain.png -colorspace sRGB -type TrueColor -interlace JPEG plain.jpg; then
    expect 6 '*decoding the JPEG takes more memory than allowed; give --max-memory *' \
        "$TAPER" encode --best -f --max-memory 710K -m tiny -o out.taper plain.jpg
    follow '--max-memory 710K' 3 encode -f -T 1 -m tiny -o out.taper plain.jpg
fi
# names of files are memory, too
mkdir named
long=$(printf 'x%.0s' $(seq 180))
for i in $(seq 300); do printf 'P5 2 2 255\nabcd' >"named/$long-$i.pgm"; done
"$TAPER" encode --best -q -m tiny -o named.taper named
expect 6 'taper decode: named.taper: the names of 300 files take * bytes of memory, *; give --max-memory 1M *' \
    "$TAPER" decode --max-memory 150K -o out-named named.taper
test ! -e out-named
follow '--max-memory 100K' 4 decode -o out-named named.taper
test "$(ls out-named | wc -l)" -eq 300
