# Files of the same name, names that would leave the folder, and names that no container carries.
. "$ROOT/tests/cli_helpers.sh"
small_set 60
mkdir -p a b
cp set/png/arrow/0001.png a/x.png
cp set/png/bolt/0001.png b/x.png
cp set/png/cross/0001.png b/x-2.png
cp set/png/fork/0001.png 'b/with blank.png'
"$TAPER" encode -q -m model.tpm -o files.taper a/x.png b/x.png b/x-2.png ../"$(basename "$PWD")"/a/x.png 'b/with blank.png'
"$TAPER" decode -q -m model.tpm -o out files.taper
test "$(count_png out)" -eq 5
test -s 'out/with blank.png'
test "$(find . -path ./set -prune -o -name 'x*.png' -print | wc -l)" -eq 7 # 3 in a and b, 4 in out

# the same picture as PNG and PNM: two images, two files
"$TAPER" decode -q -m model.tpm -i 1 -o a/x.ppm files.taper
"$TAPER" encode -q -m model.tpm -o both.taper a
"$TAPER" decode -q -m model.tpm -o both both.taper
test "$(count_png both)" -eq 2

cp a/x.png "$(printf 'b/new\nline.png')"
"$TAPER" encode -q -m model.tpm -o some.taper b
test "$("$TAPER" info --json some.taper | json_number images)" -eq 4

# a folder stands where a file should come, and the other way round
mkdir -p in-the-way/x-2.png
expect 5 '*in-the-way/x-2.png: exists already*' "$TAPER" decode -m model.tpm -o in-the-way files.taper
echo file >plain-file
expect 5 '*plain-file*' "$TAPER" decode -f -m model.tpm -o plain-file files.taper
test "$(cat plain-file)" = file
nothing_left
