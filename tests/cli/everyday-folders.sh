# Folders as people have them: text beside the images, icons with alpha, formats that are not read, links,
# portraits on their side, profiles. One line for what many have in common; exit codes that say what matters.
. "$ROOT/tests/cli_helpers.sh"
png=$ROOT/tests/fuzz/corpus/png jpeg=$ROOT/tests/fuzz/corpus/jpeg
small_set 40

said() { # how many lines on standard error
    [ "$(wc -l <expect.err)" -eq "$1" ] || { echo "not $1 lines:"; cat expect.err; exit 1; }
}
images() { # of a container
    "$TAPER" info --json "$1" | json_number images
}
encode() { "$TAPER" encode -f -T 1 -m model.tpm -o out.taper "$@"; }

# files that are no images are passed over: a line, exit code 0
cp -r set/png clean
echo "read me" >clean/README.txt
echo "no picture" >clean/Thumbs.db
expect 0 'taper encode: 2 files that are no images were passed over (the first: clean/README.txt)' encode clean
[ "$(grep -c "clean/" expect.err)" -eq 1 ]
[ "$(images out.taper)" -eq 40 ]
expect 0 'taper encode: clean/Thumbs.db: *' encode -v clean
encode -q clean 2>err
[ ! -s err ]
expect 1 'taper encode: 1 of 41 inputs failed and was left out' encode set/png clean/README.txt # it was named
expect 0 '*2 files that are no images*' "$TAPER" train -f --window 8 -o other.tpm clean
expect 0 '*2 files that are no images*' "$TAPER" compare -m model.tpm -r none clean

# icons with alpha are one line, whatever the verb, with the remedy
mkdir icons
for i in $(seq 100 219); do cp "$png/rgba8.png" "icons/$i.png"; done
icons='120 of 160 inputs were left out (the first: icons/100.png): * --alpha white or --alpha drop'
expect 1 "taper encode: $icons" encode -q --alpha refuse set/png icons
said 1
[ "$(images out.taper)" -eq 40 ]
expect 1 "taper train: $icons" "$TAPER" train -q -f --window 8 -o other.tpm set/png icons
said 1
expect 1 '*icons/217.png: *alpha*' encode -v --alpha refuse set/png icons
for how in drop white; do
    expect 0 '*' encode --alpha $how set/png icons
    [ "$(images out.taper)" -eq 160 ]
    "$TAPER" train -q -f --window 8 --alpha $how -o $how.tpm set/png icons
done
if cmp -s drop.tpm white.tpm; then echo "dropping alpha and white are one"; exit 1; fi
expect 2 '*120 of 120 inputs*' encode --alpha refuse icons
encode -q set/png icons # carried unless told otherwise
[ "$(images out.taper)" -eq 160 ]

# formats that are not read, by name, each once
mkdir mixed
cp set/png/arrow/0001.png mixed/
for i in 1 2 3; do printf '8BPS\000\001' >mixed/$i.psd; done
printf 'qoif' >mixed/a.png
printf '\000\000\000\014jP  \r\n\207\n' >mixed/b.jpg
expect 1 'taper encode: 3 of 6 inputs were left out (the first: mixed/1.psd): Photoshop is not read: *PNG*convert *' encode -q mixed
expect 1 'taper encode: mixed/a.png: QOI is not read: *PNG*' encode -q mixed
expect 1 'taper encode: mixed/b.jpg: JPEG 2000 is not read: *PNG*' encode -q mixed
expect 1 'taper encode: 5 of 6 inputs failed and were left out' encode -q mixed
said 4
rm mixed/0001.png
expect 2 '*no image can be read there*' encode mixed

# links to folders are not followed unless asked, and never out of the tree
mkdir -p parent/tree/.hidden
cp set/png/arrow/0001.png parent/mine.png
cp set/png/arrow/0001.png parent/tree/1.png
cp set/png/arrow/0001.png parent/tree/.hidden/2.png
ln -s .. parent/tree/loop
ln -s .hidden parent/tree/shown
expect 0 '*2 links to folders were not followed (the first: parent/tree/loop): *--follow-links*' encode parent/tree
[ "$(images out.taper)" -eq 1 ]
expect 0 '*1 link to a folder was not followed (parent/tree/loop): *out of the folder*' \
    encode --follow-links parent/tree
[ "$(images out.taper)" -eq 2 ]
"$TAPER" train --help-all | grep -q follow-links
"$TAPER" compare --help-all | grep -q follow-links

# names from standard input; images one after the other
find set/png -name '*.png' | sort >names
encode -q --filelist - <names
[ "$(images out.taper)" -eq 40 ]
"$TAPER" train -q -f --window 8 --filelist - -o other.tpm <names
expect 2 '*standard input is named twice*' encode --filelist - - <names
cat set/png/arrow/0001.png "$jpeg/rgb.jpg" "$jpeg/grey.jpg" set/png/arrow/0002.png >four
encode -q - <four
[ "$(images out.taper)" -eq 4 ]
mkdir four.png
cp set/png/arrow/0001.png four.png/1.png
cp "$jpeg/rgb.jpg" four.png/2.jpg
cp "$jpeg/grey.jpg" four.png/3.jpg
cp set/png/arrow/0002.png four.png/4.png
"$TAPER" decode -q -f -m model.tpm -o of-stream out.taper
encode -q four.png
"$TAPER" decode -q -f -m model.tpm -o of-files out.taper
cmp of-stream/input.png of-files/1.png
for k in 2 3 4; do cmp of-stream/input-$k.png of-files/$k.png; done

# a portrait stands upright; profiles that are cut off are said
mkdir phone
cp "$jpeg/exif_6.jpg" "$jpeg/profile_p3.jpg" "$jpeg/profile_srgb.jpg" "$png/exif_8.png" "$png/profile_p3.png" phone/
expect 0 'taper encode: warning: 3 images have a colour profile, EXIF or XMP that is not kept, because it is damaged*' \
    encode -q phone
said 1
"$TAPER" decode -q -f -m model.tpm --format pnm -o upright out.taper
"$TAPER" encode -q -f -m model.tpm -o plain.taper "$jpeg/rgb.jpg"
"$TAPER" decode -q -f -m model.tpm --format pnm -o lying plain.taper
size() { grep -av "^#" "$1" | sed -n 2p | tr -d "\n"; }
set -- $(size lying/rgb.pnm)
[ "$(size upright/exif_6.pnm)" = "$2 $1" ]
[ "$1" -ne "$2" ]

# awkward images of every kind come back in their size
for f in "$png"/grey*.png "$png"/palette*.png "$png"/rgb*.png "$jpeg"/grey.jpg "$jpeg"/progressive.jpg "$jpeg"/arithmetic.jpg; do
    encode -q --alpha white "$f"
    "$TAPER" decode -q -f -m model.tpm -o awkward out.taper
done
[ "$(count_png awkward)" -eq 16 ]
printf 'P6\n1 1\n255\nabc' >one.ppm
encode -q one.ppm
"$TAPER" decode -q -f -m model.tpm -o awkward out.taper
cp "$jpeg/exif_folder_beyond_end.jpg" "$jpeg/exif_tags_beyond_end.jpg" phone/
expect 0 '*' encode phone # broken EXIF is none
nothing_left
