# Without a limit each image ends near the visual threshold of its input: the file of a folder of JPEG files is smaller
# than the folder. --quality, --best and --least-psnr say otherwise.
. "$ROOT/tests/cli_helpers.sh"
"$SAMPLES" scenes photos --count 6
size() { wc -c <"$1"; }
encode() { "$TAPER" encode -f "$@" 2>said; }
above() { # number, bound
    awk -v a="$1" -v b="$2" 'BEGIN { exit !(a >= b) }' || { echo "$1 is below $2"; cat said; exit 1; }
}
least() { rm -rf out; "$TAPER" decode -q -o out "$1"; python3 "$ROOT/tests/least_psnr.py" photos out | awk '{ print $1 }'; }

# each step of quality is larger and better, and the least image reaches what it is to reach
before=0
for quality in 36 visual 43 high best; do
    encode --quality $quality -o $quality.taper photos
    [ "$(size $quality.taper)" -gt "$before" ] || { echo "$quality is not larger"; exit 1; }
    before=$(size $quality.taper)
done
above "$(least 36.taper)" 35.8
above "$(least visual.taper)" 39.8
above "$(least high.taper)" 44.7
encode -o default.taper photos
cmp default.taper visual.taper
grep -q 'dB in the mean, the least [0-9.]* dB, ' said
encode --best -o whole.taper photos
cmp whole.taper best.taper
grep -q 'least quality at full length' said
encode -T 1 -o one.taper photos
cmp one.taper default.taper

# a limit cuts what the model represents, unless a quality is named, too
encode --bytes 20K -o small.taper photos
"$TAPER" truncate -q --quick --bytes 20K -o cut.taper best.taper
[ "$(size small.taper)" -le 20480 ] && [ "$(size cut.taper)" -le 20480 ]
encode --quality 36 --strip -o plain.taper photos
encode --quality 36 --strip --bytes 10M -o cut.taper photos
cmp cut.taper plain.taper

# a floor, with and without a limit
encode --least-psnr 43 -o floor.taper photos
above "$(least floor.taper)" 42.7
[ "$(size floor.taper)" -gt "$(size default.taper)" ]
encode --bytes 60K --least-psnr 34 -o floor.taper photos
above "$(least floor.taper)" 33.7
encode --psnr 36 --least-psnr 35 -o floor.taper photos
above "$(least floor.taper)" 34.7
expect 0 '*warning: * of 6 images may end below 45 dB: the limit is too small for all to reach it*' \
    "$TAPER" encode -f --bytes 30K --least-psnr 45 -o floor.taper photos

# refusals
expect 2 '*--quality is visual, high, best, or a PSNR of 20 to 60 dB*' "$TAPER" encode --quality 85 -o x.taper photos
expect 2 '*--quality is visual*' "$TAPER" encode --quality fine -o x.taper photos
expect 2 '*not both*' "$TAPER" encode --quality high --best -o x.taper photos
expect 2 '*--psnr, of the mean*' "$TAPER" encode --quality high --psnr 40 -o x.taper photos
expect 2 '*leave out --allocation*' "$TAPER" encode --quality high --allocation equal -o x.taper photos
[ ! -e x.taper ]

# JPEG files: smaller than they are, and more so where they have lost more. Skipped without cjpeg.
command -v cjpeg >/dev/null || exit 0
mkdir q75 q95
"$TAPER" decode -q --format pnm -o pnm best.taper
for name in pnm/*; do
    for q in 75 95; do cjpeg -quality $q -optimize "$name" >q$q/"$(basename "$name" .ppm)".jpg; done
done
for q in 75 95; do
    encode -o q$q.taper q$q
    if grep -q larger said; then cat said; exit 1; fi
done
[ "$(size q75.taper)" -lt "$(size q95.taper)" ]
