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
nothing_left
