# GIF by giflib: palettes, transparency, interlacing, frames that cover a part of the canvas; damaged files and bombs.
. "$ROOT/tests/cli_helpers.sh"
needs convert:imagemagick
"$SAMPLES" scenes .
convert 01-leaves.png -crop 100x70+40+40 +repage PNG24:in.png
convert in.png -colors 200 plain.gif
convert plain.gif PNG24:plain.png
read_alike plain.gif plain.png 0
convert plain.gif -interlace GIF interlaced.gif
read_alike interlaced.gif plain.png 0
convert plain.gif -transparent "$(convert plain.gif -format '%[pixel:p{5,5}]' info:)" clear.gif
convert clear.gif PNG32:clear.png
read_alike clear.gif clear.png 0
# a first frame that is smaller than the canvas
convert -page 120x90+7+9 plain.gif small.gif
convert -size 120x90 xc:none '(' plain.png -repage +7+9 ')' -flatten PNG32:small.png
read_alike small.gif small.png 0
convert -delay 10 plain.gif plain.gif plain.gif three.gif
expect 0 '*1 file has * frames or pages, of which the first is taken (three.gif)*' "$TAPER" encode -f -m tiny -o out.taper three.gif

head -c 300 plain.gif >cut.gif
expect 3 '*cut.gif: the GIF is damaged or ends early*' "$TAPER" encode -m tiny -o none.taper cut.gif
# a canvas of 65535 x 65535 in 40 bytes
printf 'GIF89a\377\377\377\377\200\0\0\0\0\0\377\377\377,\0\0\0\0\377\377\377\377\0\2\2\114\1\0;' >bomb.gif
expect 6 '*bomb.gif: *--max-pixels*' "$TAPER" encode -m tiny -o none.taper bomb.gif
expect 3 '*bomb.gif: the GIF is damaged*' "$TAPER" encode -m tiny --max-pixels 5G --max-memory 100G -o none.taper bomb.gif
test ! -e none.taper
nothing_left
