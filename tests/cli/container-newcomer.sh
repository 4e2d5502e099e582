# What people try first with a container: odd names through all verbs, images as operands, wrong files, files and
# folders that are write-protected.
. "$ROOT/tests/cli_helpers.sh"
"$SAMPLES" scenes made --count 6
mkdir in in/sub
cp made/01-* 'in/my photo.png'
cp made/02-* 'in/größe.png'
cp made/03-* "in/two
lines.png"
cp made/04-* in/-dash.png
cp made/05-* 'in/[x]*.png'
cp made/06-* 'in/sub/back\slash.png'
"$TAPER" encode -q -o set.taper in
"$TAPER" decode -q -o all set.taper

# each name chooses one image, as it is in the folder, and as `ls` prints it
for name in 'my photo.png' größe.png 'two\x0alines.png' "two
lines.png" -dash.png '[x]*.png' 'sub/back\slash.png' 'sub/back\x5cslash.png' 'back\slash.png'; do
    test "$("$TAPER" ls -i "$name" set.taper | wc -l)" -eq 1
    rm -rf one
    "$TAPER" extract -q -o one set.taper -- "$name"
    test "$(find one -type f -name '*.png' | wc -l)" -ge 1
    cp set.taper changed.taper
    "$TAPER" remove -q changed.taper -- "$name"
    test "$("$TAPER" ls changed.taper | wc -l)" -eq 5
    cp set.taper changed.taper
    "$TAPER" rename -q changed.taper -- "$name" 'new/a
b ü.png'
    "$TAPER" ls changed.taper | grep -qx 'new/a\\x0ab ü.png'
    "$TAPER" extract -q -o new changed.taper 'new/*'
    test -s 'new/new/a
b ü.png'
    rm -r new
done
"$TAPER" add -q -f set.taper in
"$TAPER" decode -q -o again set.taper
(cd all && find . -type f | sort) >names
(cd again && find . -type f | sort) | cmp - names
expect 2 "taper extract: unknown option '-d'; of names that begin with a dash, write -- before the first*" \
    "$TAPER" extract -o none set.taper -dash.png
expect 5 "taper ls: images are chosen with -i: taper ls -i '\*.png' set.taper" "$TAPER" ls set.taper '*.png'
expect 2 'taper extract: x.png: names one file, and there are 2 images: name a folder, or choose one' \
    "$TAPER" extract -o x.png set.taper 1 2
expect 2 '* or choose one with --image' "$TAPER" decode -o x.png set.taper

# sheet: images are operands, too; the suffix says how the picture is written
"$TAPER" sheet -q -o some.html set.taper 'my*' 2-3
test "$(grep -o '<figure' some.html | wc -l)" -eq 3
expect 2 "taper sheet: set.taper: there is no image 'zz'*" "$TAPER" sheet -o none.html set.taper zz
"$TAPER" sheet -q -o sheet.jpg set.taper
"$TAPER" sheet -q -o sheet.ppm set.taper
"$TAPER" sheet -q -o sheet.png set.taper
test "$(head -c 2 sheet.jpg | od -An -tx1)" = ' ff d8'
test "$(head -c 2 sheet.ppm)" = P6
"$TAPER" encode -q -o sheets.taper sheet.jpg sheet.ppm sheet.png # all can be read

# files of taper where images should be
"$TAPER" train -q --window 8 -o model.tpm made
cp set.taper kept.taper
for verb in "encode -o none.taper" "add set.taper"; do
    # shellcheck disable=SC2086
    expect 2 '*: changed.taper: this is a container: `taper decode` writes its images, `taper merge` joins it to others' \
        "$TAPER" $verb changed.taper
    # shellcheck disable=SC2086
    expect 2 '*: model.tpm: this is a model: give it with -m' "$TAPER" $verb model.tpm
done
expect 2 'taper add: set.taper: is an input too, *' "$TAPER" add set.taper set.taper
mkdir mixed
cp made/01-* changed.taper mixed
expect 0 'taper encode: 1 file that is no image was passed over *' "$TAPER" encode -o mixed.taper mixed

# a container that is write-protected
chmod 444 set.taper
for verb in "remove set.taper 1" "rename set.taper 1 x.png" "add set.taper made"; do
    # shellcheck disable=SC2086
    expect 5 'taper *: set.taper: is write-protected; give -f to change it all the same, or -o FILE to leave it' \
        "$TAPER" $verb
done
cmp set.taper kept.taper
"$TAPER" rename -q -o other.taper set.taper 1 x.png
"$TAPER" rename -q -f set.taper 1 x.png
cmp set.taper other.taper
test "$(stat -c %a set.taper)" = 444

# a folder that is
mkdir closed
cp kept.taper closed/set.taper
chmod 777 . closed
chmod 666 closed/set.taper
chmod 555 closed
as= # root may write there
[ "$(id -u)" -ne 0 ] || as="setpriv --reuid 65534 --regid 65534 --clear-groups"
if ${as:-true} true 2>/dev/null && $as test -x "$TAPER" && ! $as test -w closed && $as test -r closed/set.taper; then
    for verb in "remove closed/set.taper 1" "rename closed/set.taper 1 x.png" "add closed/set.taper made" \
        "extract -o closed/out closed/set.taper 1" "sheet -o closed/x.png closed/set.taper"; do
        # shellcheck disable=SC2086
        expect 5 'taper *: closed/*: *Permission denied; check the permissions' $as "$TAPER" $verb
    done
    cmp closed/set.taper kept.taper
fi
chmod 755 closed
nothing_left
