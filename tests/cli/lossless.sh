# encode --lossless: every pixel comes back, of every kind of input, from every form of the container; cuts are pictures.
. "$ROOT/tests/cli_helpers.sh"
needs convert:imagemagick
"$SAMPLES" scenes scenes
mkdir in
convert scenes/01-leaves.png -crop 200x133+40+40 +repage PNG24:in/photo.png
convert scenes/02-*.png -crop 90x61+10+10 +repage -colorspace Gray -depth 8 in/grey.png
convert scenes/03-*.png -crop 60x50+10+10 +repage -depth 16 -evaluate multiply 0.731 PNG48:in/deep.png
convert scenes/03-*.png -crop 50x40+10+10 +repage -depth 16 -colorspace Gray -evaluate multiply 0.731 \
    -define png:bit-depth=16 in/deep-grey.png
convert scenes/04-*.png -crop 70x50+9+9 +repage \( -size 70x50 radial-gradient: \) -alpha off \
    -compose CopyOpacity -composite PNG32:in/soft.png
convert in/deep.png \( -size 60x50 radial-gradient: \) -alpha off -compose CopyOpacity -composite -depth 16 \
    PNG64:in/deep-soft.png
convert scenes/05-*.png -crop 40x30+9+9 +repage -alpha set -channel A -evaluate set 0 +channel PNG32:in/hidden.png
convert -size 120x80 xc:white -fill red -draw 'rectangle 10,10 50,50' -fill blue -draw 'circle 80,40 90,60' \
    +antialias PNG24:in/drawing.png
convert -size 1x1 xc:'#123456' PNG24:in/one.png
convert -size 3x70 gradient: -depth 8 PNG24:in/narrow.png
# indexed, with colours under alpha 0
convert -size 30x20 xc:'#a01030' -alpha set -channel A -evaluate set 0 -region 15x20 -evaluate set 100% +channel \
    PNG32:in/icon.png

# same FILE: the container has all images of in/
same() { # container, options of decode
    rm -rf out
    "$TAPER" decode -q -o out "$@"
    python3 "$ROOT/tests/same_pixels.py" in out >compared || { cat compared; exit 1; }
}

for layout in set image gallery; do
    "$TAPER" encode -q --lossless --layout $layout --threads 1 -o $layout.taper in 2>told
    not test -s told # no warning of a low PSNR
    "$TAPER" encode -q --lossless --layout $layout --threads 3 -f -o threads.taper in
    cmp $layout.taper threads.taper
    "$TAPER" verify -q $layout.taper >verified
    same $layout.taper
    same --threads 3 $layout.taper
done
expect 0 '*11 images*; exact' "$TAPER" encode --lossless --group 3 -o groups.taper in
same groups.taper
expect 0 '*; exact' "$TAPER" encode --lossless --quality high -f -o high.taper in
same high.taper
"$TAPER" encode -q --lossless --drawings lossy -f -o lossy.taper in
same lossy.taper
"$TAPER" encode -q --lossless -m tiny -f -o tiny.taper in
same tiny.taper

# told, but not of a cut one
"$TAPER" info set.taper | grep -q '11 exact, pixel for pixel'
"$TAPER" info -v set.taper | grep -q 'exact  photo.png'
"$TAPER" info --json set.taper | grep -q '"exact_images":11'
size=$(wc -c <set.taper)
"$TAPER" truncate -q --bytes $((size - 9)) -f -o cut.taper set.taper
"$TAPER" info --json cut.taper | grep -q '"exact_images":0'

# a JPEG as it is decoded, in CMYK, too: the drawing that it is says the same
convert -size 48x32 xc:'cmyk(102,76.5,51,25.5)' -quality 100 flat.jpg
mkdir -p kept
"$TAPER" encode -q --lossless --drawings lossy -o flat.taper flat.jpg
"$TAPER" encode -q --drawings exact -o drawn.taper flat.jpg
"$TAPER" info drawn.taper | grep -q '1 drawing'
"$TAPER" decode -q -o flat flat.taper && "$TAPER" decode -q -o drawn drawn.taper
python3 "$ROOT/tests/same_pixels.py" flat drawn

# a lossy file has fewer bytes than its pixels
convert scenes/01-leaves.png -quality 30 leaves.jpg
expect 0 '*larger than its inputs, as it keeps the pixels of lossy files*' "$TAPER" encode --lossless -o leaves.taper leaves.jpg

# every cut is a set of pictures, and no image gets worse by more bytes of the exact part
exact_from=$("$TAPER" info --json set.taper | python3 -c 'import json, sys; print(json.load(sys.stdin)["layers"][-2]["end"])')
for way in head truncate; do
    before=0
    for part in 0 1 2 3 4 5 6 7 8; do
        bytes=$((exact_from + (size - exact_from) * part / 8))
        [ $way = truncate ] || head -c $bytes set.taper >part.taper
        [ $way = head ] || "$TAPER" truncate -q --bytes $bytes -f -o part.taper set.taper
        rm -rf out
        "$TAPER" decode -q -o out part.taper
        mean=$(python3 "$ROOT/tests/mean_psnr.py" in out)
        awk -v a="$before" -v b="$mean" 'BEGIN { exit !(b >= a) }' || { echo "$way $part: $mean dB after $before dB"; exit 1; }
        before=$mean
    done
done

# other forms of the same
for layout in set image gallery; do
    "$TAPER" repack -q --layout $layout -f -o packed.taper image.taper
    same packed.taper
done
[ "$("$TAPER" info --json packed.taper | json_number exact_images)" -eq 11 ]
"$TAPER" repack -q -f -o packed.taper high.taper
same packed.taper
"$TAPER" repack -q --layout image -f -o packed.taper cut.taper # as any layer that is cut, it is left out
[ "$("$TAPER" info --json packed.taper | json_number exact_images)" -eq 0 ]
"$TAPER" merge -q -f -o merged.taper set.taper high.taper
[ "$("$TAPER" info --json merged.taper | json_number exact_images)" -eq 22 ]
mkdir fewer
mv in/photo.png fewer
for file in set groups high tiny gallery; do
    "$TAPER" remove -q -f -o removed.taper $file.taper photo.png
    same removed.taper
done
expect 2 '*exact part that was cut cannot be separated*' "$TAPER" remove -o no.taper cut.taper photo.png
"$TAPER" remove -q -f -o removed.taper image.taper photo.png
same removed.taper
mv fewer/photo.png in
"$TAPER" add -q removed.taper in/photo.png # exact as the others
same removed.taper
expect 2 '*container 1 is lossless*' "$TAPER" add --bpp 1 -o added.taper set.taper scenes/06-*.png
# what cannot be
for option in --bpp=1 --bytes=9000 --psnr=40 --best --least-psnr=30 --allocation=mean; do
    expect 2 '*--lossless keeps everything*' "$TAPER" encode --lossless $option -f -o no.taper in
done
