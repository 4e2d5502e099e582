# HEIC by libheif: 8 and 10 bits, alpha, several images; damaged files.
. "$ROOT/tests/cli_helpers.sh"
needs heif-enc:libheif-examples heif-convert:libheif-examples convert:imagemagick
"$SAMPLES" scenes .
convert 01-leaves.png -crop 100x70+40+40 +repage PNG24:in.png
convert in.png -channel A -evaluate set 40% PNG32:alpha.png
convert in.png -depth 16 -evaluate multiply 0.777 PNG48:deep.png
heif-enc -q 60 in.png -o plain.heic >log 2>&1 || { echo "SKIP heif-enc has no encoder"; exit 0; }
heif-enc -L alpha.png -o alpha.heic >log 2>&1
heif-enc -L -b 10 deep.png -o ten.heic >log 2>&1
heif-enc -q 60 in.png alpha.png -o two.heic >log 2>&1
for name in plain alpha ten; do
    heif-convert $name.heic $name.png >log
done
read_alike plain.heic plain.png 0
read_alike alpha.heic alpha.png 0
read_alike ten.heic ten.png 1.5 # heif-convert shifts its 10 bits
"$TAPER" encode -q -f -m tiny -o out.taper ten.heic
"$TAPER" decode -q -f -o out out.taper
[ "$(od -An -tu1 -j24 -N1 out/ten.png | tr -d ' ')" -eq 16 ]
expect 0 '*1 file has * frames or pages, of which the first is taken (two.heic)*' "$TAPER" encode -f -m tiny --alpha white -o out.taper two.heic

head -c 900 plain.heic >cut.heic
expect 3 '*cut.heic: the HEIC is damaged or ends early*' "$TAPER" encode -m tiny -o none.taper cut.heic
expect 6 '*plain.heic: *--max-pixels*' "$TAPER" encode -m tiny --max-pixels 6999 -o none.taper plain.heic
expect 6 '*plain.heic: *--max-memory*' "$TAPER" encode -m tiny --max-memory 100K -o none.taper plain.heic
test ! -e none.taper
nothing_left
