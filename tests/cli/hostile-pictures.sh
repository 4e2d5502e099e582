# Pictures and archives that claim too much, lead astray or have no end: one sentence each, in little memory and time.
. "$ROOT/tests/cli_helpers.sh"
needs python3:python3
mkdir bad
"$SAMPLES" scenes . --count 1 2>/dev/null || "$SAMPLES" scenes .
if command -v convert >/dev/null; then
    convert 01-leaves.png -crop 64x48+40+40 +repage -alpha set -channel A -evaluate multiply 0.4 PNG32:wide.png
    convert wide.png -resize 50% PNG32:half.png
    for name in wide:picture half:small; do
        command -v avifenc >/dev/null && avifenc -s 8 ${name%:*}.png bad/${name#*:}.avif >log
        command -v heif-enc >/dev/null && heif-enc -q 60 ${name%:*}.png -o bad/${name#*:}.heic >log 2>&1
    done || :
    command -v cjxl >/dev/null && cjxl --quiet -d 0 -e 1 wide.png bad/picture.jxl
fi
python3 "$ROOT/tests/hostile_pictures.py" bad
"$TAPER" encode -q -m tiny -o none.taper bad/frames.webp 2>said || { cat said; echo "SKIP no WebP"; exit 0; }
rm none.taper

# Each file by itself: exit code, line on standard error ('': none), and the memory and time it may take.
most_mib=128 most_ms=1500
if grep -q __asan_init "$TAPER"; then most_mib=4000 most_ms=30000; fi
try() { # file, exit code, pattern, options of encode...
    [ -e "bad/$1" ] || return 0
    file=bad/$1 want=$2 like=$3
    shift 3
    python3 "$ROOT/tests/hostile_files.py" take "$TAPER" encode -f -q -m tiny "$@" -o out.taper $file >took 2>said
    read -r code mib ms <took
    [ "$code" -eq "$want" ] && [ "$mib" -le "$most_mib" ] && [ "$ms" -le "$most_ms" ] ||
        { echo "$file: exit code $code, $mib MiB, $ms ms"; head -n 5 said; exit 1; }
    [ -n "$like" ] || { [ ! -s said ] || { echo "$file:"; cat said; exit 1; }; return 0; }
    while read -r line; do
        # shellcheck disable=SC2254  # it is meant as a pattern
        case $line in $like) return 0 ;; esac
    done <said
    echo "$file: no line like $like"
    cat said
    exit 1
}

# a profile of a gigabyte, claimed or packed; one in 255 parts of 16 MB; metadata that unpack to 100 MB
lost='*1 image has a colour profile, EXIF or XMP that is not kept, because it is damaged, above 16 MiB or for other colours (*)'
for file in profile.png profile.jpg profile.tif parts.jpg brotli.jxl; do try $file 0 "$lost"; done
try profile.webp 3 '*profile.webp: the WebP is damaged or ends early; fetch it anew'

# EXIF whose directories lead to each other
for kind in png jpg webp tif; do
    try loop.$kind 0 ''
    try fan.$kind 0 ''
done

# alpha of another size than the picture
try alpha.webp 3 '*alpha.webp: the WebP is damaged or ends early; fetch it anew'
try smaller.avif 3 '*smaller.avif: the AVIF is damaged (*alpha*); fetch it anew'
try claimed.avif 0 '' # libavif scales it
try smaller.heic 0 ''
try claimed.heic 3 '*claimed.heic: the HEIC is damaged or ends early (*); fetch it anew'

# 10,000 frames: the first, and all
for kind in webp png; do
    try frames.$kind 0 '*1 file has 10000 frames or pages, of which the first is taken (bad/frames.*)*'
    most_ms=$((10 * most_ms)) try frames.$kind 0 '' --frames all
done

# archives in archives, of which only the outermost is read; a bomb whose members share their data
try nested.zip 2 '*nested.zip: the archive holds no image'
most_mib=$((2 * most_mib)) most_ms=$((14 * most_ms)) try overlapping.zip 6 \
    '*overlapping.zip: * bytes of the archive unpack to more than *, which no archive of images does: unpack it first, and name the folder' \
    --max-pixels 1M

# libraries that are missing are named, with their package, once for all files of a kind
mkdir none
for kind in webp:libwebp tif:libtiff heic:libheif avif:libavif jxl:libjxl; do
    one=$(find bad -name "*.${kind%:*}" | head -n 1)
    library=$(grep -aoE "${kind#*:}\.so[.0-9]*" "$TAPER" | head -n 1)
    [ -n "$one" ] && [ -n "$library" ] || continue
    : >"none/$library"
    LD_LIBRARY_PATH=$PWD/none expect 2 "*$one: * is not read: *${kind#*:}*; install ${kind#*:}*" \
        "$TAPER" encode -m tiny -o none.taper "$one"
done
test ! -e none.taper
nothing_left
