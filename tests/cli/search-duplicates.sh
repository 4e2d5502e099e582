# search --duplicates finds copies that were planted, and little else; the distance that is meant comes from altered
# copies of the set's own images.
. "$ROOT/tests/cli_helpers.sh"
small_set 120
"$TAPER" train-bits -q -w whole -k 128 --independent -e 4 -o bits.tpm set/png
mkdir folder
i=0
for file in set/png/*/*.png; do # images of this set are drawn anew each: none is another's copy
    i=$((i + 1))
    cp "$file" "folder/$(printf %03d $i).png"
done
cp folder/007.png folder/copy-of-007.png
cp folder/099.png folder/copy-of-099.png
"$TAPER" index -q -m bits.tpm -o folder.tpx folder
"$TAPER" search -q --duplicates --within 0 folder.tpx >pairs.csv
head -n 1 pairs.csv | grep -qx 'name,other,distance,image,other_image'
grep -q '^folder/007.png,folder/copy-of-007.png,0,7,' pairs.csv
grep -q '^folder/099.png,folder/copy-of-099.png,0,99,' pairs.csv
awk -F , 'NR > 1 && ($3 != 0 || $4 >= $5) { exit 1 }' pairs.csv
"$TAPER" search --duplicates -m bits.tpm folder >tried.csv 2>err
grep -q '^taper search: nine of ten altered copies of 100 images (.*) lie within [0-9]* of them' err
grep -q '^folder/007.png,folder/copy-of-007.png,0,' tried.csv
within=$(sed -n 's/.* lie within \([0-9]*\) of them.*/\1/p' err)
"$TAPER" search -q --duplicates --within "$within" folder.tpx | sort >again.sorted
sort tried.csv | cmp - again.sorted
"$TAPER" search --duplicates --images folder -m bits.tpm folder.tpx 2>/dev/null | sort | cmp - again.sorted
"$TAPER" search -q --json --duplicates --within 0 folder.tpx | grep -q '^{"schema":1,"kind":"pair","name":"folder/007.png","other":"folder/copy-of-007.png","distance":0,"image":7,"other_image":121}$'
expect 2 '*give --within D; or --images *' "$TAPER" search --duplicates folder.tpx
expect 2 '*--duplicates compares the index*omit the queries*' "$TAPER" search --duplicates folder.tpx folder/001.png
# a page: each set of copies in a row, with pictures
cp folder/007.png folder/third-007.png
"$TAPER" index -q -f -m bits.tpm -o folder.tpx folder
"$TAPER" search -q --duplicates --within 0 --html pairs.html --images folder -o page.csv folder.tpx
images=$(awk -F , 'NR > 1 { print $4; print $5 }' page.csv | sort -u | wc -l) # each stands on the page once
test "$(grep -o '<figure' pairs.html | wc -l)" -eq "$images"
test "$(grep -o 'data:image/png' pairs.html | wc -l)" -eq "$images"
awk '/cuts small/ { row++ } /third-007.png/ { third = row } /copy-of-007.png/ { second = row } END { exit !(third && third == second) }' pairs.html
grep -q 'http' pairs.html && exit 1
"$TAPER" search -q --duplicates --within 0 --html names.html -o names.csv folder.tpx 2>err
cmp page.csv names.csv && grep -q 'none of what was found has its picture' err
rm folder/third-007.png
mkdir same
for n in $(seq 101 190); do cp folder/001.png same/$n.png; done
"$TAPER" index -q -m bits.tpm -o same.tpx same
expect 0 'taper search: warning: 90 images have more than 64 near ones, *' "$TAPER" search --duplicates --within 0 same.tpx
nothing_left
