# What messages propose for camera raw and QOI is taken from them and run; encode takes what it wrote.
. "$ROOT/tests/cli_helpers.sh"
for tool in dcraw_emu:libraw-bin; do
    command -v "${tool%:*}" >/dev/null || { echo "SKIP ${tool%:*} (package ${tool#*:}) is not installed"; exit 0; }
done
small_set 60
python3 - "$(ls set/png/arrow/*.png | head -n 1)" <<'END'
import struct, sys, zlib
def png(path, width, height, kind, channels, pixel): # a drawn PNG of 8 bits
    rows = b"".join(b"\0" + bytes(v for x in range(width) for v in pixel(x, y)) for y in range(height))
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    open(path, "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, kind, 0, 0, 0))
                           + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))
png("alpha.png", 24, 18, 6, 4, lambda x, y: (x * 9, y * 9, 80, 40 + x))
# a raw file: samples of a Bayer pattern, in the fewest tags that make it a DNG
width = height = 64
raw = b"".join(struct.pack("<H", (x * 400 + y * 300) % 40000) for y in range(height) for x in range(width))
tags = [(254, 4, [0]), (256, 4, [width]), (257, 4, [height]), (258, 3, [16]), (259, 3, [1]), (262, 3, [32803]),
        (271, 2, b"Maker\0"), (272, 2, b"Camera\0"), (273, 4, [0]), (274, 3, [1]), (277, 3, [1]), (278, 4, [height]),
        (279, 4, [len(raw)]), (33421, 3, [2, 2]), (33422, 1, bytes([0, 1, 1, 2])), (50706, 1, bytes([1, 4, 0, 0])),
        (50708, 2, b"Maker Camera\0")]
packed = [(tag, kind, len(v), v if isinstance(v, bytes) else b"".join(struct.pack("<H" if kind == 3 else "<I", n) for n in v))
          for tag, kind, v in tags]
at, entries, beyond = 8 + 2 + 12 * len(tags) + 4, b"", b""
strip = at + sum(len(v) + len(v) % 2 for _, _, _, v in packed if len(v) > 4)
for tag, kind, count, value in packed:
    value = struct.pack("<I", strip) if tag == 273 else value
    entries += struct.pack("<HHI", tag, kind, count)
    entries += value.ljust(4, b"\0") if len(value) <= 4 else struct.pack("<I", at + len(beyond))
    beyond += value + b"\0" * (len(value) % 2) if len(value) > 4 else b""
open("IN.dng", "wb").write(b"II*\0" + struct.pack("<IH", 8, len(tags)) + entries + b"\0\0\0\0" + beyond + raw)
# a QOI file of one colour: the header, a pixel, a run
open("IN.qoi", "wb").write(b"qoif" + struct.pack(">IIBB", 8, 4, 4, 0) + b"\xff\x10\x80\x40\x80" + bytes([0xC0 + 30]) + b"\0" * 7 + b"\1")
END

proposed() { # file
    expect 2 "*is not read: *for example *" "$TAPER" encode -m tiny -o set.taper "$1"
    command=$(sed -n 's/.* for example \(.*\) (package [a-z-]*).*/\1/p' expect.err)
}
proposed IN.dng # which is a TIFF by its first bytes
${command%IN}IN.dng
"$TAPER" encode -q -f -m tiny -o set.taper IN.dng.ppm
proposed IN.qoi
case $command in ffmpeg\ *) ;; *) exit 1 ;; esac
if command -v ffmpeg >/dev/null; then
    rm -f OUT.png
    $command 2>log || { cat log; exit 1; }
    "$TAPER" encode -q -f -m tiny -o set.taper OUT.png
fi
