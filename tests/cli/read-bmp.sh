# BMP of every kind that convert writes, and the run lengths and masks that it does not.
. "$ROOT/tests/cli_helpers.sh"
needs convert:imagemagick
"$SAMPLES" scenes .
convert 01-leaves.png -crop 101x70+40+40 +repage PNG24:in.png # rows end in padding
bmp() { # file, options, picture, kind of PNG, levels
    convert "$3" $2 "$1.bmp"
    convert "$1.bmp" "${4-PNG24}:same.png"
    read_alike "$1.bmp" same.png "${5-0}"
}
bmp true "" in.png
bmp old "-define bmp:format=bmp2" in.png
bmp third "-define bmp:format=bmp3" in.png
bmp palette "-colors 100" in.png
bmp runs "-colors 30 -compress RLE" in.png
bmp few "-colors 12 -type palette" in.png
bmp two "-monochrome" in.png PNG
bmp sixteen "-define bmp:subtype=RGB565" in.png PNG24 6 # convert repeats bits, which is not rounded
bmp fifteen "-define bmp:subtype=RGB555" in.png PNG24 6
convert in.png -channel A -evaluate set 40% PNG32:alpha.png
convert alpha.png alpha.bmp
read_alike alpha.bmp alpha.png 0
head -c 5000 true.bmp >cut.bmp
expect 3 '*cut.bmp: the BMP ends early*' "$TAPER" encode -m tiny -o none.taper cut.bmp
expect 6 '*true.bmp: *--max-pixels*' "$TAPER" encode -m tiny --max-pixels 7000 -o none.taper true.bmp
test ! -e none.taper
nothing_left
