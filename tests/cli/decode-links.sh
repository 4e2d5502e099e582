# Links that stand in the output folder are not followed: nothing is written outside of it.
. "$ROOT/tests/cli_helpers.sh"
small_set 60
"$TAPER" encode -q -m model.tpm -o set.taper set/png
decode() { "$TAPER" decode -q -m model.tpm "$@" set.taper; }
decode -o plain
mkdir -p elsewhere/deep out
untouched() {
    test "$(find elsewhere -type f | sort | tr '\n' ' ')" = "${1-}" || { find elsewhere; exit 1; }
}

# a folder of the set is a link: refused before anything is written, with -f too
ln -s ../elsewhere out/bolt
link='taper decode: out/bolt/0001.png: leads through a link, *'
expect 5 "$link" "$TAPER" decode -m model.tpm -o out set.taper
expect 5 "$link" "$TAPER" decode -f -m model.tpm -o out set.taper
expect 5 "$link" "$TAPER" decode -f --progressive -m model.tpm -o out set.taper
test "$(find out -type f | wc -l)" -eq 0
untouched
rm out/bolt
ln -s nowhere out/bolt
expect 5 "$link" "$TAPER" decode -f -m model.tpm -o out set.taper
test ! -e out/nowhere
rm out/bolt

# a file of the set is a link: refused; with -f replaced, and what it points to is as it was
echo precious >elsewhere/file
mkdir out/arrow
ln -s ../../elsewhere/file out/arrow/0001.png
ln -s ../../elsewhere/new out/arrow/0002.png
expect 5 'taper decode: out/arrow/0001.png: exists already*' "$TAPER" decode -m model.tpm -o out set.taper
decode -f -o out
diff -r plain out
test ! -h out/arrow/0001.png
test ! -h out/arrow/0002.png
untouched 'elsewhere/file '
echo precious | cmp - elsewhere/file
rm -r out
mkdir -p out/arrow
ln -s ../../elsewhere/file out/arrow/0001.png
decode -f --progressive -o out
diff -r plain out
echo precious | cmp - elsewhere/file

# something else in the way, and a folder
rm out/arrow/0001.png
mkfifo out/arrow/0001.png
expect 5 'taper decode: out/arrow/0001.png: exists and is not a file*' "$TAPER" decode -f -i 1 -m model.tpm -o out set.taper
rm out/arrow/0001.png
mkdir out/arrow/0001.png
expect 5 'taper decode: out/arrow/0001.png: is a folder*' "$TAPER" decode -f -i 1 -m model.tpm -o out set.taper

# the output folder itself is the user's word
ln -s elsewhere/deep by-link
decode -o by-link
diff -r plain elsewhere/deep
nothing_left
