# JPEG in CMYK and YCCK becomes sRGB: without a profile as (1 - C)(1 - K), with one through lcms2.
. "$ROOT/tests/cli_helpers.sh"
needs convert:imagemagick
profile=/usr/share/color/icc/ghostscript/default_cmyk.icc
"$SAMPLES" scenes .
convert 01-leaves.png -crop 160x120+40+40 +repage PNG24:in.png
convert in.png -colorspace CMYK -quality 100 -sampling-factor 1x1 plain.jpg
"$TAPER" encode -q -o plain.taper plain.jpg
read_alike plain.jpg in.png 16
# 40 % cyan, 30 % magenta, 20 % yellow, 10 % black
convert -size 48x32 xc:'cmyk(102,76.5,51,25.5)' -quality 100 flat.jpg
convert -size 48x32 xc:'rgb(138,161,184)' PNG24:flat.png
read_alike flat.jpg flat.png 3

[ -f $profile ] || { echo "SKIP $profile is missing"; exit 0; }
convert in.png -profile /usr/share/color/icc/ghostscript/srgb.icc -profile $profile -quality 100 \
    -sampling-factor 1x1 wide.jpg
# by the profile it looks like the original; by the formula it does not: 20.7 dB
looks() { # file, dB
    rm -rf source back
    mkdir source
    cp in.png source/wide.png
    "$TAPER" encode -q -f -o wide.taper "$1"
    "$TAPER" decode -q -o back wide.taper
    python3 "$ROOT/tests/mean_psnr.py" source back >psnr
    awk -v least="$2" '{ exit !($1 > least) }' psnr || { echo "$1: $(cat psnr) dB"; exit 1; }
}
looks wide.jpg 27
expect 0 '*1 image*' "$TAPER" encode -f -o wide.taper wide.jpg
not grep -q "colour profile" expect.err # what is stored is sRGB
convert in.png -profile /usr/share/color/icc/ghostscript/srgb.icc -profile $profile wide.tif
looks wide.tif 27

# libraries that are missing are named, with the package
mkdir none
for library in liblcms2.so.2:wide.jpg libtiff.so.6:wide.tif; do
    : >"none/${library%:*}"
    LD_LIBRARY_PATH=$PWD/none expect 2 "*${library#*:}: *is not read: *; install ${library%%.*}*" \
        "$TAPER" encode -o none.taper "${library#*:}"
    rm "none/${library%:*}"
done
test ! -e none.taper
nothing_left
