# --frames all: each frame of an animation and each page is an image; without it the first is, and the others are counted.
. "$ROOT/tests/cli_helpers.sh"
needs convert:imagemagick gif2webp:webp
"$SAMPLES" scenes .
convert 01-leaves.png -crop 100x70+40+40 +repage PNG24:in.png

# frames that cover a part of the canvas, with every disposal, as convert composes them
convert in.png -colors 32 PNG24:base.png
set --
for k in 1 2 3 4 5 6 7 8 9 10 11; do
    convert base.png -crop 40x30+$((6 * k))+$((3 * k)) +repage -negate -colors 16 -transparent \
        "$(convert base.png -crop 40x30+$((6 * k))+$((3 * k)) +repage -negate -colors 16 -format '%[pixel:p{9,9}]' info:)" \
        part$k.gif
    dispose=none
    case $((k % 3)) in 1) dispose=background ;; 2) dispose=previous ;; esac
    set -- "$@" -dispose $dispose -page "+$((6 * k))+$((3 * k))" part$k.gif
done
convert -delay 10 -dispose none base.png "$@" -loop 0 anim.gif
convert anim.gif -coalesce PNG32:want-%02d.png
mkdir whole want frames
for k in 00 01 02 03 04 05 06 07 08 09 10 11; do mv want-$k.png want/; done

# of both programs: the images of one set, decoded
decoded() { # folder, options and inputs of encode
    to=$1
    shift
    "$TAPER" encode -q -f -m tiny --group 1 --alpha white -o set.taper "$@"
    rm -rf "$to"
    "$TAPER" decode -q -o "$to" set.taper
}
same_frames() { # file, stem, digits
    decoded have --frames all -T 4 "$1"
    decoded should want
    n=1
    for f in should/want-*.png; do
        mv "$f" "$(printf "should/$2-%0$3d.png" $n)"
        n=$((n + 1))
    done
    python3 "$ROOT/tests/same_pixels.py" should have 0 || { echo "frames of $1"; ls have should; exit 1; }
}
same_frames anim.gif anim 2
"$TAPER" ls set.taper >/dev/null
decoded have --frames all anim.gif
cp anim.gif second.gif # two animations at a time, on several threads
"$TAPER" encode -q -f -m tiny --alpha white --frames all -T 4 -o two.taper anim.gif second.gif
"$TAPER" encode -q -f -m tiny --alpha white --frames all -T 1 -o one.taper anim.gif second.gif
cmp one.taper two.taper

# once: the first frame, and how many there are
expect 0 '*1 file has 12 frames or pages, of which the first is taken (anim.gif): --frames all *' \
    "$TAPER" encode -f -m tiny --alpha white -o first.taper anim.gif
[ "$("$TAPER" info --json first.taper | json_number images)" -eq 1 ]
expect 0 '*2 files have 24 frames or pages together, *(the first: anim.gif)*' \
    "$TAPER" encode -f -m tiny --alpha white -o first.taper anim.gif second.gif
"$TAPER" encode -f -m tiny --alpha white --frames all -o set.taper anim.gif 2>told
not grep "frames" told

# the same from standard input
"$TAPER" encode -q -f -m tiny --alpha white --frames all -o stream.taper - <anim.gif
[ "$("$TAPER" info --json stream.taper | json_number images)" -eq 12 ]

gif2webp -quiet anim.gif -o anim.webp
same_frames anim.webp anim 2
convert want/*.png pages.tif
same_frames pages.tif pages 2
decoded have --frames all in.png # one picture: no number
test -f have/in.png

# animated PNG, which libpng does not compose
python3 "$ROOT/tests/animated_png.py" .
for kind in colour alpha deep grey greyalpha palette hidden; do
    for alpha in keep white; do
        "$TAPER" encode -q -f -m tiny --group 1 --alpha $alpha --frames all -T 4 -o frames.taper $kind.png
        "$TAPER" encode -q -f -m tiny --group 1 --alpha $alpha -o should.taper want/$kind
        rm -rf have should
        "$TAPER" decode -q -o have frames.taper
        "$TAPER" decode -q -o should should.taper
        python3 "$ROOT/tests/same_pixels.py" should have 0 || { echo "frames of $kind.png"; ls have should; exit 1; }
    done
done
expect 0 '*1 file has 9 frames or pages, of which the first is taken (colour.png): --frames all *' \
    "$TAPER" encode -f -m tiny -o first.taper colour.png
[ "$("$TAPER" info --json first.taper | json_number images)" -eq 1 ]
# the first of several pictures of a stream; one that ends early; frames that lie outside the canvas
"$TAPER" encode -q -f -m tiny --frames all -o stream.taper - <colour.png
[ "$("$TAPER" info --json stream.taper | json_number images)" -eq 9 ]
cat colour.png in.png | "$TAPER" encode -f -m tiny --frames all -o stream.taper - 2>told
[ "$("$TAPER" info --json stream.taper | json_number images)" -eq 2 ]
grep -q '1 file has 9 frames' told
head -c 4000 colour.png >cut.png
expect 1 '*cut.png: the PNG is damaged: *; fetch it anew' "$TAPER" encode -f -m tiny --frames all -o cut.taper cut.png
python3 - <<'END'
import struct, zlib
data = bytearray(open("colour.png", "rb").read())
at = data.index(b"fcTL", data.index(b"fcTL") + 4)  # of the second frame
struct.pack_into(">I", data, at + 16, 2 ** 32 - 3)
struct.pack_into(">I", data, at + 30, zlib.crc32(data[at:at + 30]))
open("outside.png", "wb").write(data)
END
"$TAPER" encode -f -m tiny --frames all -o outside.taper outside.png
[ "$("$TAPER" info --json outside.taper | json_number images)" -eq 1 ]
if command -v apngasm >/dev/null; then
    mkdir asm
    for f in want/want-*.png; do convert "$f" PNG24:"asm/made-${f#want/want-}"; done # 00 to 11
    apngasm made.png asm/made-00.png >log
    for k in 11 10 09 08 07 06 05 04 03 02 01 00; do mv asm/made-$k.png "asm/made-$(printf %02d $((1$k - 99))).png"; done
    decoded have --frames all made.png
    decoded should asm
    python3 "$ROOT/tests/same_pixels.py" should have 0
fi

# other verbs
"$TAPER" train -q -f --window 8 --alpha white --frames all -o own.tpm anim.gif pages.tif
"$TAPER" compare -q -m own.tpm -r none --alpha white --frames all anim.gif >table

# an animation of 10,000 frames: each once, in one pass
python3 - <<'END'
import struct
def lzw(index):  # 2 x 2 pixels of one index, codes of 3 bits: clear, four times the index, end
    codes = [4, index, index, index, index, 5]
    bits = sum(c << 3 * k for k, c in enumerate(codes[:3]))
    at = 9
    for k, c in enumerate(codes[3:]):  # the table grows: from the fifth code on 4 bits
        wide = 3 if k < 1 else 4
        bits |= c << at
        at += wide
    return bytes([2, (at + 7) // 8]) + bits.to_bytes((at + 7) // 8, "little") + b"\0"
head = b"GIF89a" + struct.pack("<HHBBB", 2, 2, 0x81, 0, 0) + bytes(range(12))
frame = [b"," + struct.pack("<HHHHB", 0, 0, 2, 2, 0) + lzw(k) for k in range(4)]
open("many.gif", "wb").write(head + b"".join(frame[k % 4] for k in range(10000)) + b";")
END
expect 0 '*1 file has 10000 frames or pages, *' "$TAPER" encode -f -m tiny -o many.taper many.gif
"$TAPER" encode -q -f -m tiny --frames all -T 4 -o many.taper many.gif
[ "$("$TAPER" info --json many.taper | json_number images)" -eq 10000 ]
expect 6 '*more than 9000 images*' "$TAPER" encode -f -m tiny --frames all --max-images 9000 -o many.taper many.gif
nothing_left
