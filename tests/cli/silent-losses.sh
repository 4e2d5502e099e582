# What a container does not keep of the files is said once a run: at a limit of the size file times and EXIF with the
# capture date; profiles that are damaged; frames of an APNG after the first. Hidden files and folders are counted.
. "$ROOT/tests/cli_helpers.sh"
mkdir plain dated odd frames hidden hidden/.thumbnails
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
png("odd/a.png", chunk(b"iCCP", b"p\0\0" + zlib.compress(b"none")))
png("frames/a.png", chunk(b"acTL", struct.pack(">II", 3, 0)))
png("frames/one.png", chunk(b"acTL", struct.pack(">II", 1, 0)))
png("hidden/.a.png")
png("hidden/.thumbnails/b.png")
END
encode() { "$TAPER" encode -f -m tiny -o set.taper "$@"; }
encode plain dated 2>told
not grep "not kept" told
expect 0 '*encode: not kept: file times' encode -b 1000 plain
for way in "-b 1000" --strip; do
    # shellcheck disable=SC2086 # words
    expect 0 '*not kept: file times, and EXIF or XMP data, such as the capture date, of 2 images (the first: dated/a.png); keep *' \
        encode $way plain dated
done
expect 0 '*warning: 1 image has a colour profile, EXIF or XMP that is not kept, because it is damaged*(odd/a.png)' encode odd
expect 0 '*warning: 1 file has 3 frames or pages, of which the first is taken (frames/a.png): --frames all *' encode frames
expect 2 '*2 hidden files or system folders were passed over (the first: hidden/.a.png)*' encode hidden
encode -q plain dated 2>told
test ! -s told
# not where nothing is stored
mkdir damaged
head -c 50 plain/a.png >damaged/a.png
expect 3 '*no input could be used: nothing was written' encode damaged
not grep "not kept" expect.err
# once a run, whatever the number of images
encode --strip plain dated frames 2>told
[ "$(grep -c 'not kept' told)" -eq 1 ]
nothing_left
