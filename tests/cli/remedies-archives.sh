# What messages propose for archives that are not read, and for other files that are packed, is taken from them and run;
# encode takes what comes out.
. "$ROOT/tests/cli_helpers.sh"
for tool in bsdtar:libarchive-tools xz:xz-utils bunzip2:bzip2 unzstd:zstd; do
    command -v "${tool%:*}" >/dev/null || { echo "SKIP ${tool%:*} (package ${tool#*:}) is not installed"; exit 0; }
done
small_set 60
mkdir in
cp set/png/arrow/*.png in/
for pack in xz bzip2 zstd gzip; do
    cp in/0001.png "$pack.png"
    $pack -q "$pack.png"
done 2>log
# a RAR archive that stores one file
python3 - <<'END'
import struct, zlib
def block(kind, flags, body):
    head = struct.pack("<BHH", kind, flags, 7 + len(body)) + body
    return struct.pack("<H", zlib.crc32(head) & 0xFFFF) + head
data, name = open("in/0001.png", "rb").read(), b"in/0001.png"
entry = struct.pack("<IIBIIBBHI", len(data), len(data), 3, zlib.crc32(data), 0x5A000000, 20, 0x30, len(name), 0o100644)
open("in.rar", "wb").write(b"Rar!\x1a\x07\0" + block(0x73, 0, bytes(6)) + block(0x74, 0x8000, entry + name) + data
                           + block(0x7B, 0x4000, b""))
END
mv in kept

# The n-th way that the message of FILE names, run.
unpack() { # file, which way
    expect "${3-2}" '*unpack it first (*' "$TAPER" encode -m tiny -o set.taper "$1"
    way=$(sed -n 's/.*unpack it first (\([^),]*\).*/\1/p' expect.err | head -n 1)
    case $2 in first) way=${way%% or *} ;; second) way=${way##* or } ;; esac
    case $way in *FILE) way=${way%FILE} ;; esac
    $way "$1"
}
unpack in.rar first
"$TAPER" encode -q -f -m tiny -o set.taper in
rm -r in
bsdtar -c --format 7zip -f in.7z kept # its index is at the end, which a pipe does not show
expect 2 '*unpack it first (*' sh -c 'cat in.7z | "$0" encode -m tiny -o set.taper -' "$TAPER"
for packed in xz.png.xz bzip2.png.bz2 zstd.png.zst; do
    rm -f "${packed%.*}"
    unpack $packed first
    "$TAPER" encode -q -f -m tiny -o set.taper "${packed%.*}"
done
unpack gzip.png.gz first 3
"$TAPER" encode -q -f -m tiny -o set.taper gzip.png
