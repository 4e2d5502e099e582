# Colour profiles other than sRGB: the command is taken from the message and run; encode takes what it
# wrote without a warning, and it looks like the original.
. "$ROOT/tests/cli_helpers.sh"
profiles=${PROFILES:-/usr/share/color/icc}
case $(convert -version 2>&1) in *ImageMagick*) ;; *) echo "SKIP convert is not of imagemagick"; exit 0 ;; esac
test -f "$profiles/compatibleWithAdobeRGB1998.icc" || { echo "SKIP icc-profiles-free is not installed"; exit 0; }
"$SAMPLES" scenes .
mkdir source back
convert 01-leaves.png -crop 160x120+40+40 +repage PNG24:source/a.png
convert source/a.png -profile "$profiles/sRGB.icc" -profile "$profiles/compatibleWithAdobeRGB1998.icc" -quality 98 wide.jpg

# As the message in expect.err proposes for this file.
remedy() { # file
    command=$(sed -n "s|.* for example \(.*\) (packages [a-z -]*).*|\1|; s| IN | $1 |; s|/usr/share/color/icc|$profiles|p" \
        expect.err)
    rm -f OUT.png
    sh -c "$command" || { echo "$1: '$command' failed"; exit 1; }
    "$TAPER" encode -f -o set.taper OUT.png 2>said
    not grep 'warning: 1 image' said
    "$TAPER" decode -q -f -o back/a.png set.taper
    psnr=$(python3 "$ROOT/tests/mean_psnr.py" source back)
    awk -v psnr="$psnr" 'BEGIN { exit !(psnr > 32) }' || { echo "$1: $psnr dB"; exit 1; }
}
# by default profiles are kept, and nothing is told
"$TAPER" encode -f -o kept.taper wide.jpg 2>said
not grep 'warning: 1 image' said
"$TAPER" decode -q -f -o kept.png kept.taper
convert kept.png icc:kept.icc
convert wide.jpg icc:wide.icc
cmp kept.icc wide.icc
# without metadata the look changes
expect 0 '*warning: 1 image has a colour profile other than sRGB*(wide.jpg)*' "$TAPER" encode -f --strip -o set.taper wide.jpg
remedy wide.jpg
