# All images under their names, for any number of threads; one image; other formats; cuts.
. "$ROOT/tests/cli_helpers.sh"
small_set 300
"$TAPER" encode --best -q -m model.tpm --group 70 -o set.taper set/png
decode() { "$TAPER" decode -q -m model.tpm "$@"; }
decode -T 1 -o one set.taper
decode -T 5 -o five set.taper
diff -r one five
(cd set/png && find . -type f | sort) >before
(cd one && find . -type f | sort) >after
cmp before after

# one image: by number and by name, as a file, in a folder, to standard output
decode -i 31 -o by-number.png set.taper
cmp by-number.png one/bolt/0001.png
decode --image bolt/0001.png -o by-name.png set.taper
cmp by-name.png by-number.png
decode -i 31 -o folder set.taper
cmp folder/bolt/0001.png by-number.png
test "$(find folder -type f | wc -l)" -eq 1
decode -i 31 -o - set.taper | cmp - by-number.png
decode -i 31 -o x.ppm set.taper
head -n 1 x.ppm | grep -q '^P6$'
expect 2 "*there is no image '301'*" "$TAPER" decode -m model.tpm -i 301 -o no.png set.taper
expect 2 "*there is no image 'no/such.png'*" "$TAPER" decode -m model.tpm -i no/such.png -o no.png set.taper
test ! -e no.png

# other formats, which hold the same pixels: encoded again they give the same file
decode --format pnm -o pnm set.taper
test "$(find pnm -name '*.pnm' | wc -l)" -eq 300
decode --format idx -o all.idx set.taper
decode --format idx -o all.idx.gz set.taper
gzip -dc all.idx.gz | cmp - all.idx
decode --format cifar -o all.bin set.taper
tail -c +21 all.idx >pixels
"$TAPER" encode --best -q -m model.tpm -o pnm.taper pnm
"$TAPER" decode -q -m model.tpm --format idx -o pnm.idx pnm.taper
"$TAPER" encode --best -q -m model.tpm -o png.taper one
"$TAPER" decode -q -m model.tpm --format idx -o png.idx png.taper
cmp pnm.idx png.idx

# a cut by options is the same as a cut file, from a file or a pipe
bytes=$(wc -c <set.taper)
head -c 20000 set.taper >cut.taper
decode -o cut cut.taper
decode -o bytes --bytes 20000 set.taper
decode -o pipe - <cut.taper
cat set.taper | decode -o pipe2 -b 20000 -
diff -r cut bytes
diff -r cut pipe
diff -r cut pipe2
decode -o half --fraction 0.5 set.taper
decode -o half2 --bytes $((bytes / 2)) set.taper
diff -r half half2
decode -o bpp --bpp 0.5 set.taper
decode -o each --bytes-per-image 64 set.taper
diff -r bpp each

# images without names are numbered; an existing file is not overwritten, and nothing else is touched
"$TAPER" encode --best -q -m model.tpm -o nameless.taper set/cifar/test.bin
decode -o numbers nameless.taper
test -s numbers/000001.png
rm numbers/000001.png
expect 5 'taper decode: numbers/000002.png: exists already*' "$TAPER" decode -m model.tpm -o numbers nameless.taper
test ! -e numbers/000001.png
decode -f -o numbers nameless.taper
test -s numbers/000001.png
nothing_left
