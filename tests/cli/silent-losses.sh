# What a container does not keep of the files is said once a run: file times, EXIF with the capture date, frames of an
# APNG after the first. Hidden files and folders are counted.
. "$ROOT/tests/cli_helpers.sh"
mkdir plain dated frames hidden hidden/.thumbnails
python3 - <<'END'
import struct, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
def png(name, *more):
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", 4, 4, 8, 0, 0, 0, 0))
    rows = chunk(b"IDAT", zlib.compress(b"\0\10\20\30\40" * 4))
    open(name, "wb").write(b"\x89PNG\r\n\x1a\n" + head + b"".join(more) + rows + chunk(b"IEND", b""))
date = b"2026:01:02 03:04:05\0"
exif = b"II*\0" + struct.pack("<IHHHIII", 8, 1, 0x132, 2, len(date), 26, 0) + date
png("plain/a.png")
png("dated/a.png", chunk(b"eXIf", exif))
png("dated/b.png", chunk(b"eXIf", exif))
png("frames/a.png", chunk(b"acTL", struct.pack(">II", 3, 0)))
png("frames/one.png", chunk(b"acTL", struct.pack(">II", 1, 0)))
png("hidden/.a.png")
png("hidden/.thumbnails/b.png")
END
encode() { "$TAPER" encode -f -m tiny -o set.taper "$@"; }
expect 0 '*encode: not kept: file times' encode plain
expect 0 '*not kept: file times, and EXIF or XMP data, such as the capture date, of 2 images (the first: dated/a.png); keep *' \
    encode plain dated
expect 0 '*warning: 1 file has more than one picture *, of which the first is taken (frames/a.png)' encode frames
expect 2 '*2 hidden files or system folders were passed over (the first: hidden/.a.png)*' encode hidden
encode -q plain dated 2>told
test ! -s told
# not where nothing is stored
mkdir damaged
head -c 50 plain/a.png >damaged/a.png
expect 3 '*no input could be used: nothing was written' encode damaged
not grep "not kept" expect.err
# once a run, whatever the number of images
encode plain dated frames 2>told
[ "$(grep -c 'not kept' told)" -eq 1 ]
nothing_left
