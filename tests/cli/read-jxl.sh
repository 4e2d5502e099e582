# JPEG XL by libjxl: lossless and lossy, 8 and 16 bits, grey, alpha, turned, a repacked JPEG, frames; damaged files.
. "$ROOT/tests/cli_helpers.sh"
needs cjxl:libjxl-tools djxl:libjxl-tools convert:imagemagick
"$SAMPLES" scenes .
convert 01-leaves.png -crop 100x70+40+40 +repage PNG24:in.png
convert in.png -channel A -evaluate set 40% -region 30x30+5+5 -evaluate set 0 PNG32:alpha.png
convert in.png -colorspace gray PNG:grey.png
convert in.png -depth 16 -evaluate multiply 0.777 PNG48:deep.png
for name in in grey deep alpha; do
    cjxl --quiet -d 0 -e 3 $name.png $name.jxl
    read_alike $name.jxl $name.png 0
done
cjxl --quiet -d 1 -e 3 in.png lossy.jxl
djxl --quiet lossy.jxl lossy.png
read_alike lossy.jxl lossy.png 1
convert in.png -quality 90 -sampling-factor 1x1 in.jpg
cjxl --quiet --lossless_jpeg=1 in.jpg jpeg.jxl
djxl --quiet jpeg.jxl jpeg.png
read_alike jpeg.jxl jpeg.png 1

# an orientation of the codestream, and EXIF, which does not turn a second time
printf 'Exif\0\0II*\0\10\0\0\0\1\0\22\1\3\0\1\0\0\0\6\0\0\0\0\0\0\0' >exif
{ head -c 2 in.jpg; printf '\377\341\0\42'; cat exif; tail -c +3 in.jpg; } >turned.jpg
cjxl --quiet --lossless_jpeg=1 turned.jpg turned.jxl
read_alike turned.jxl turned.jpg 20 # libjxl smooths what JPEG has rounded
"$TAPER" encode -q -f -m tiny -o out.taper turned.jxl
"$TAPER" info out.taper | grep -q 'images with EXIF: 1'

head -c 2000 in.jxl >cut.jxl
expect 3 '*cut.jxl: the JPEG XL ends early*' "$TAPER" encode -m tiny -o none.taper cut.jxl
expect 6 '*in.jxl: *--max-pixels*' "$TAPER" encode -m tiny --max-pixels 6999 -o none.taper in.jxl
expect 6 '*in.jxl: *--max-memory*' "$TAPER" encode -m tiny --max-memory 100K -o none.taper in.jxl
test ! -e none.taper
nothing_left
