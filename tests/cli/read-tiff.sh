# TIFF by libtiff: kinds of samples, compressions, tiles, planes, orientation, CMYK, pages; damaged files and bombs.
. "$ROOT/tests/cli_helpers.sh"
needs convert:imagemagick
"$SAMPLES" scenes .
convert 01-leaves.png -crop 100x70+40+40 +repage PNG24:in.png
convert in.png -colorspace gray PNG:grey.png
convert in.png -depth 16 -evaluate multiply 0.777 PNG48:deep.png
convert in.png -channel A -evaluate set 40% PNG32:alpha.png
tiff() { # file, options of convert, picture, levels
    convert "$3" $2 "TIFF:$1.tif" 2>log || { echo "SKIP convert cannot write $1"; exit 0; }
    read_alike "$1.tif" "$3" "${4-0}"
}
tiff plain "-compress none" in.png
tiff lzw "-compress LZW" in.png
tiff zip "-compress Zip" in.png
tiff tiles "-define tiff:tile-geometry=32x48" in.png
tiff planes "-interlace plane" in.png
tiff little "-endian LSB -depth 16" deep.png
tiff big "-endian MSB -depth 16" deep.png
tiff grey "" grey.png
tiff alpha "" alpha.png
tiff associated "-define tiff:alpha=associated" alpha.png 3
convert in.png -colors 60 PNG24:few.png
tiff palette "-type palette" few.png
convert in.png -monochrome PNG:two.png
tiff fax "-compress Group4" two.png
convert two.png -define quantum:polarity=min-is-white TIFF:white.tif # changes the tag alone
convert two.png -negate PNG:black.png
read_alike white.tif black.png 0
convert in.png -quality 90 -compress JPEG jpeg.tif
convert jpeg.tif PNG24:jpeg.png
read_alike jpeg.tif jpeg.png 2

# orientations: as convert turns them
for how in 2:TopRight 3:BottomRight 4:BottomLeft 5:LeftTop 6:RightTop 7:RightBottom 8:LeftBottom; do
    convert in.png -orient "${how#*:}" "turned${how%:*}.tif"
    convert in.png -orient "${how#*:}" -auto-orient PNG24:turned.png
    read_alike "turned${how%:*}.tif" turned.png 0
    convert few.png -type palette -orient "${how#*:}" "turned${how%:*}.tif"
    convert few.png -orient "${how#*:}" -auto-orient PNG24:turned.png
    read_alike "turned${how%:*}.tif" turned.png 0
done

# CMYK without a profile: R = (1 - C)(1 - K)
convert -size 40x30 xc:'cmyk(64,128,32,100)' -depth 8 cmyk.tif
convert -size 40x30 xc:'rgb(116,77,136)' PNG24:cmyk.png
read_alike cmyk.tif cmyk.png 1

# the first page; previews are no pages
convert in.png alpha.png grey.png pages.tif
expect 0 '*1 file has * frames or pages, of which the first is taken (pages.tif): --frames all *' "$TAPER" encode -f -m tiny --alpha white -o out.taper pages.tif
read_alike pages.tif in.png 0

head -c 3000 lzw.tif >cut.tif
expect 3 '*cut.tif: the TIFF is damaged*' "$TAPER" encode -m tiny -o none.taper cut.tif
python3 - <<'END'
import struct
def directory(next_at, *entries):
    return struct.pack("<H", len(entries)) + b"".join(struct.pack("<HHII", *e) for e in entries) + struct.pack("<I", next_at)
size = lambda w, h: [(256, 4, 1, w), (257, 4, 1, h), (258, 3, 1, 8), (259, 3, 1, 1), (262, 3, 1, 1), (273, 4, 1, 8),
                     (277, 3, 1, 1), (278, 4, 1, h), (279, 4, 1, 64)]
open("bomb.tif", "wb").write(b"II*\0\x08\0\0\0" + directory(0, *size(2 ** 20, 2 ** 20)))
# a million directories: a page of 8 x 8, then empty ones
data, n = b"II*\0" + struct.pack("<I", 72) + bytes(range(64)), 1000000
first = directory(72 + 2 + 9 * 12 + 4, *size(8, 8))
at = 72 + len(first)
open("million.tif", "wb").write(data + first + b"".join(struct.pack("<HI", 0, at + 6 * (k + 1)) for k in range(n)))
loop = data + directory(72, *size(8, 8))
open("loop.tif", "wb").write(loop)
END
expect 6 '*bomb.tif: *--max-pixels*' "$TAPER" encode -m tiny -o none.taper bomb.tif
expect 6 '*in*max-memory*' "$TAPER" encode -m tiny --max-memory 20K -o none.taper plain.tif
test ! -e none.taper
for file in million loop; do # pages that are empty, or met before, are none
    "$TAPER" encode -f -m tiny --frames all -o out.taper $file.tif 2>said
    not grep "frames\|left out" said
    [ "$("$TAPER" info --json out.taper | json_number images)" -eq 1 ]
done

# EXIF: what tells about the picture goes to the PNG, in both byte orders and from BigTIFF; the orientation does not
command -v exiftool >/dev/null || { echo "SKIP exiftool (package libimage-exiftool-perl) is not installed: EXIF of TIFF"; exit 0; }
told() { exiftool -s -G1 -IFD0:Make -IFD0:Artist -ExifIFD:all -GPS:all -InteropIFD:all "$1"; }
for order in LSB MSB; do
    convert in.png -endian $order told.tif
    exiftool -q -overwrite_original -Make='A maker of cameras' -Artist=Me -DateTimeOriginal='2021:02:03 04:05:06' -FNumber=2.8 \
        -ExposureTime=1/125 -UserComment='hello there' -GPSAltitude=700.5 -GPSDateStamp='2021:02:03' -InteropIndex=R98 \
        -Orientation#=6 told.tif
    told told.tif >want
    grep -q 'FNumber.*2.8' want
    grep -q GPSDateStamp want
    grep -q InteropIndex want
    "$TAPER" encode -q -f -m tiny -o out.taper told.tif
    "$TAPER" decode -q -f -o told out.taper
    told told/told.png >have
    diff want have
    [ -z "$(exiftool -s3 -warning -error -IFD0:Orientation told/told.png)" ]
done
python3 - <<'END'
import struct
def entry(tag, kind, count, value):
    return struct.pack("<HHQ", tag, kind, count) + value.ljust(8, b"\0")
number = lambda v: struct.pack("<Q", v)
main = [entry(256, 4, 1, number(8)), entry(257, 4, 1, number(8)), entry(258, 3, 1, number(8)), entry(259, 3, 1, number(1)),
        entry(262, 3, 1, number(1)), entry(271, 2, 6, b"Maker\0"), entry(272, 2, 9, number(400)), entry(273, 4, 1, number(16)),
        entry(274, 3, 1, number(6)), entry(277, 3, 1, number(1)), entry(278, 4, 1, number(8)), entry(279, 4, 1, number(64)),
        entry(305, 2, 2 ** 40, number(16)), entry(315, 99, 4, b"none"), entry(34665, 18, 1, number(500)), entry(34853, 4, 1, number(80))]
exif = [entry(0x829A, 5, 1, struct.pack("<II", 1, 125)), entry(0x8769, 4, 1, number(500))]
data = b"II+\0\x08\0\0\0" + number(80) + bytes(range(64)) + number(len(main)) + b"".join(main) + bytes(8)
assert len(data) < 500 - 9
data = data.ljust(400, b"\0")
open("large.tif", "wb").write(data[:400] + b"A model\0".ljust(100, b"\0") + number(len(exif)) + b"".join(exif) + bytes(8))
END
"$TAPER" encode -q -f -m tiny -o out.taper large.tif
"$TAPER" decode -q -f -o told out.taper
[ "$(exiftool -s3 -EXIF:all told/large.png | tr '\n' ,)" = 'Maker,A model,1/125,' ]
nothing_left
