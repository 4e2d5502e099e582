# fetch: whole files, beginnings that go on, small versions, chosen images; what is there is not harmed.
. "$ROOT/tests/cli_helpers.sh"
needs nginx:nginx-light
small_set 120
mkdir www
for layout in set gallery image; do
    "$TAPER" encode --best -q -m model.tpm --layout $layout -o www/$layout.taper set/png
done
cp model.tpm www
serve_www
fetch() { "$TAPER" fetch -q "$@"; }
all=$(wc -c <www/set.taper)

fetch $url/set.taper
cmp set.taper www/set.taper
expect 0 "*set.taper has $all of $all bytes already" "$TAPER" fetch $url/set.taper
fetch -o model2.tpm $url/model.tpm
cmp model2.tpm model.tpm
fetch -o - $url/set.taper | cmp - www/set.taper

# a beginning, which goes on
fetch -b 9000 -o part.taper $url/set.taper
head -c 9000 www/set.taper | cmp - part.taper
"$TAPER" decode -q -m model.tpm -o part part.taper
test "$(count_png part)" -eq 120
fetch -b 10000 -o part.taper $url/set.taper
head -c 10000 www/set.taper | cmp - part.taper
"$TAPER" fetch -v -o part.taper $url/set.taper 2>err
cmp part.taper www/set.taper
bytes=$(sed -n 's/.*requests*, \([0-9]*\) bytes$/\1/p' err)
[ "$bytes" -le $((all - 10000 + 20480 + 4096)) ] || { echo "$bytes bytes for the rest"; exit 1; }
head -c 100 www/set.taper >tiny.taper
fetch -o tiny.taper $url/set.taper
cmp tiny.taper www/set.taper

# other files stay
cp www/gallery.taper other.taper
expect 5 '*no beginning of the file behind the URL; give -f*' "$TAPER" fetch -o other.taper $url/set.taper
cmp other.taper www/gallery.taper
head -c 9000 www/set.taper >damaged.taper
printf x >>damaged.taper
expect 5 '*no beginning of the file behind the URL*' "$TAPER" fetch -o damaged.taper $url/set.taper
fetch -f -o other.taper $url/set.taper
cmp other.taper www/set.taper
expect 2 '*is no regular file*' "$TAPER" fetch -f -o part $url/set.taper

# smaller ones
expect 2 '*give --budget [0-9]* at least' "$TAPER" fetch -b 100 -o none.taper $url/set.taper
expect 2 '*is no container, of which a part is of use*' "$TAPER" fetch -b 9000 -o none.tpm $url/model.tpm
fetch --scale 1/4 -o quarter.taper $url/set.taper
test "$(wc -c <quarter.taper)" -lt "$all"
fetch --scale 1/8 -o eighth.taper $url/gallery.taper
"$TAPER" decode -q -m model.tpm --scale 1/8 -o eighth eighth.taper
test "$(count_png eighth)" -eq 120
fetch --psnr 30 -m model.tpm -o psnr.taper $url/set.taper
"$TAPER" truncate -q --quick --psnr 30 -m model.tpm -o cut.taper www/set.taper
test $(($(wc -c <psnr.taper) - $(wc -c <cut.taper))) -lt 200
expect 2 '*--psnr is for the layout set*' "$TAPER" fetch --psnr 30 -m model.tpm -o none.taper $url/image.taper

# chosen images, as remove leaves them
for layout in set gallery image; do
    fetch -m model.tpm --images 3,7-9 -o chosen.taper $url/$layout.taper
    "$TAPER" remove -q -f -m model.tpm -o left.taper www/$layout.taper 1-2,4-6,10-120
    cmp chosen.taper left.taper
    rm chosen.taper
done
expect 2 '*--images fetches images at full quality*' "$TAPER" fetch -i 3 -b 9000 -o none.taper $url/set.taper

# usage
expect 2 '*give one URL*' "$TAPER" fetch www/set.taper
expect 2 '*the URL names no file: give -o FILE*' "$TAPER" fetch $url/
[ ! -e none.taper ]
nothing_left
