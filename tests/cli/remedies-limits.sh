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
follow() { # image, the limits to begin with
    image=$1 given=$2 rounds=0
    while ! "$TAPER" encode -f -T 1 -m tiny $given -o out.taper "$image" 2>err; do
        rounds=$((rounds + 1))
        grep -qE 'give --max-(pixels|memory) [0-9]+M?$' err || { cat err; exit 1; }
        more=$(sed -n 's/.*give \(--max-[a-z]* [0-9]*M\{0,1\}\)$/\1/p' err | head -n 1)
        given="$given $more" # the last one of an option counts
        [ $rounds -le 4 ] || { echo "no end: $given"; cat err; exit 1; }
    done
    [ $rounds -ge 1 ]
    "$TAPER" decode -q -f -T 1 $given -o out out.taper
}
follow plain.png '--max-pixels 1000'
follow plain.png '--max-memory 100000'
follow plain.png '--max-pixels 1000 --max-memory 100000'
follow plain.png '--max-memory 1000000'
