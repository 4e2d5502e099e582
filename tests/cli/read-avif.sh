# AVIF by libavif: 8, 10 and 12 bits, grey, alpha, rotated and mirrored, cropped; damaged files.
. "$ROOT/tests/cli_helpers.sh"
needs avifenc:libavif-bin avifdec:libavif-bin convert:imagemagick
"$SAMPLES" scenes .
convert 01-leaves.png -crop 100x70+40+40 +repage PNG24:in.png
convert in.png -channel A -evaluate set 40% -region 30x30+5+5 -evaluate set 0 PNG32:alpha.png
convert in.png -colorspace gray PNG:grey.png
convert in.png -depth 16 -evaluate multiply 0.777 PNG48:deep.png
avif() { # name, picture, depth of the PNG, options of avifenc
    name=$1 picture=$2 depth=$3
    shift 3
    avifenc -s 8 "$@" $picture $name.avif >log
    avifdec -d $depth $name.avif $name.png >log
    read_alike $name.avif $name.png "${levels-0}"
}
avif plain in.png 8
avif alpha alpha.png 8 --min 0 --max 10
avif premultiplied alpha.png 8 --min 0 --max 10 --premultiply
avif grey grey.png 8 -y 400
levels=0.01 avif ten deep.png 16 -d 10 -y 444
levels=0.01 avif twelve deep.png 16 -d 12 -y 422
"$TAPER" encode -q -f -m tiny -o out.taper ten.avif
"$TAPER" decode -q -f -o out out.taper
[ "$(od -An -tu1 -j24 -N1 out/ten.png | tr -d ' ')" -eq 16 ]

# A lossy file ends where what is added is small beside its own error, 3 dB above it; as the lengths allow, some dB better.
psnr() { compare -metric PSNR "$1" "$2" null: 2>&1 || :; }
for step in 40 24; do
    avifenc -s 8 --min $step --max $step 01-leaves.png own.avif >log
    avifdec own.avif own.png >log
    "$TAPER" encode -q -f -o out.taper own.avif
    "$TAPER" decode -q -f -o out out.taper
    own=$(psnr 01-leaves.png own.png) added=$(psnr own.png out/own.png)
    awk "BEGIN { exit !($added > $own + 1.5 && $added < $own + 7) }" || { echo "$step: $own dB, $added dB"; exit 1; }
done

# irot: quarters counterclockwise; imir 0: top and bottom change places, 1: left and right
for turn in 1:-90 2:180 3:90; do
    avifenc -s 8 --irot ${turn%:*} in.png turned.avif >log
    convert plain.png -rotate ${turn#*:} PNG24:turned.png
    read_alike turned.avif turned.png 0
done
avifenc -s 8 --imir 0 in.png turned.avif >log
convert plain.png -flip PNG24:turned.png
read_alike turned.avif turned.png 0
avifenc -s 8 --irot 1 --imir 1 in.png turned.avif >log
convert plain.png -rotate -90 -flop PNG24:turned.png
read_alike turned.avif turned.png 0
avifenc -s 8 --crop 10,8,60,40 in.png cropped.avif >log
convert plain.png -crop 60x40+10+8 +repage PNG24:cropped.png
read_alike cropped.avif cropped.png 0

# primaries other than those of sRGB are kept
avifenc -s 8 --cicp 12/13/6 in.png wide.avif >log
"$TAPER" encode -q -f -m tiny -o out.taper wide.avif
"$TAPER" info out.taper | grep -q 'images with cICP: 1'

head -c 600 plain.avif >cut.avif
expect 3 '*cut.avif: the AVIF *' "$TAPER" encode -m tiny -o none.taper cut.avif
expect 6 '*plain.avif: *--max-pixels*' "$TAPER" encode -m tiny --max-pixels 6999 -o none.taper plain.avif
expect 6 '*plain.avif: *--max-memory*' "$TAPER" encode -m tiny --max-memory 100K -o none.taper plain.avif
test ! -e none.taper
nothing_left
