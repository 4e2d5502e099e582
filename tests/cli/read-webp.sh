# WebP by libwebp: lossy, lossless, with alpha, turned by EXIF, animated; damaged and cut files.
. "$ROOT/tests/cli_helpers.sh"
needs cwebp:webp dwebp:webp webpmux:webp gif2webp:webp convert:imagemagick
"$SAMPLES" scenes .
convert 01-leaves.png -crop 100x70+40+40 +repage PNG24:in.png
convert in.png -channel A -evaluate set 40% -region 30x30+5+5 -evaluate set 0 PNG32:alpha.png
cwebp -quiet -q 80 in.png -o lossy.webp
cwebp -quiet -lossless -exact alpha.png -o alpha.webp
cwebp -quiet -lossless in.png -o lossless.webp
dwebp -quiet lossy.webp -o lossy.png
read_alike lossy.webp lossy.png 0
read_alike lossless.webp in.png 0
read_alike alpha.webp alpha.png 0

# A lossy file ends where what is added is small beside its own error, 3 dB above it; as the lengths allow, some dB better.
psnr() { compare -metric PSNR "$1" "$2" null: 2>&1 || :; }
for quality in 50 80; do
    cwebp -quiet -q $quality 01-leaves.png -o own.webp
    dwebp -quiet own.webp -o own.png
    "$TAPER" encode -q -f -o out.taper own.webp
    "$TAPER" decode -q -f -o out out.taper
    own=$(psnr 01-leaves.png own.png) added=$(psnr own.png out/own.png)
    awk "BEGIN { exit !($added > $own + 2 && $added < $own + 6.5) }" || { echo "$quality: $own dB, $added dB"; exit 1; }
done
cwebp -quiet -lossless 01-leaves.png -o own.webp
"$TAPER" encode -q -f -o out.taper own.webp
"$TAPER" decode -q -f -o out out.taper
awk "BEGIN { exit !($(psnr 01-leaves.png out/own.png) > 39.5) }"

# EXIF's orientation 6: turned clockwise
printf 'II*\0\10\0\0\0\1\0\22\1\3\0\1\0\0\0\6\0\0\0\0\0\0\0' >exif
webpmux -set exif exif lossless.webp -o turned.webp 2>log
convert in.png -rotate 90 PNG24:turned.png
read_alike turned.webp turned.png 0
"$TAPER" encode -q -f -m tiny -o out.taper turned.webp
"$TAPER" info out.taper | grep -q 'images with EXIF: 1'

# the first frame, and the warning
convert -delay 10 in.png '(' in.png -negate ')' two.gif
gif2webp -quiet two.gif -o two.webp
convert 'two.gif[0]' PNG24:first.png
read_alike two.webp first.png 0
expect 0 '*1 file has * frames or pages, of which the first is taken (two.webp)*' "$TAPER" encode -f -m tiny -o out.taper two.webp

# by content, whatever the name; the stored suffix gives way when it is decoded
cp lossless.webp picture.jpg
read_alike picture.jpg in.png 0
"$TAPER" encode -q -f -m tiny -o out.taper lossless.webp
"$TAPER" decode -q -o out out.taper
test -f out/lossless.png

head -c 400 lossless.webp >cut.webp
expect 3 '*cut.webp: the WebP is damaged or ends early*' "$TAPER" encode -m tiny -o none.taper cut.webp
expect 6 '*lossless.webp: *--max-pixels*' "$TAPER" encode -m tiny --max-pixels 6999 -o none.taper lossless.webp
expect 6 '*two.webp: *--max-memory*' "$TAPER" encode -m tiny --max-memory 80K -o none.taper two.webp
test ! -e none.taper
nothing_left
