# A truncated container fits, is whole, decodes as the original's prefix does, and so do cuts of cuts.
. "$ROOT/tests/cli_helpers.sh"
small_set 120
"$TAPER" encode --best -q -m model.tpm --group 50 -o set.taper set/png
size() { wc -c <"$1"; }
cut() { "$TAPER" truncate -q "$@"; }
cut -b 15000 -o small.taper set.taper
test "$(size small.taper)" -le 15000
test "$(size small.taper)" -ge 14700
"$TAPER" verify small.taper | grep -q '^small.taper: whole: '
cut -b 30000 -o middle.taper set.taper
cut -b 15000 -o again.taper middle.taper
"$TAPER" decode -q -m model.tpm -o small small.taper
"$TAPER" decode -q -m model.tpm -o again again.taper
diff -r small again

# from a pipe into a pipe; of a file that was cut with head
cut -b 15000 -o - - <set.taper | cmp - small.taper
head -c 20000 set.taper >head.taper
cut -b 1M -o mended.taper head.taper
"$TAPER" verify --strict mended.taper | grep -q ': whole'
"$TAPER" decode -q -m model.tpm -o head head.taper
"$TAPER" decode -q -m model.tpm -o mended mended.taper
diff -r head mended

# the other ways to say a size
cut --fraction 0.25 -o quarter.taper set.taper
test "$(size quarter.taper)" -le $(($(size set.taper) / 4))
cut --bpp 1 -o bpp.taper set.taper
test "$(size bpp.taper)" -le $((120 * 128))
cut --bytes-per-image 128 -o each.taper set.taper
cmp bpp.taper each.taper
cut -b 1G -o all.taper set.taper
cmp all.taper set.taper

# the layout image: every image is shortened
"$TAPER" encode --best -q -m model.tpm --layout image -o image.taper set/png
cut --fraction 0.5 -o image-half.taper image.taper
test "$(size image-half.taper)" -le $(($(size image.taper) / 2))
"$TAPER" decode -q -m model.tpm -o image-half image-half.taper
test "$(count_png image-half)" -eq 120

# refusals
expect 6 '*set.taper: *front matter*' "$TAPER" truncate -b 100 -o none.taper set.taper
expect 2 '*give one of --bytes*' "$TAPER" truncate -o none.taper set.taper
expect 2 '*give one of --bytes*' "$TAPER" truncate -b 1K --bpp 1 -o none.taper set.taper
expect 2 '*is an input too*' "$TAPER" truncate -f -b 15K -o set.taper set.taper
expect 3 '*not a taper container*' "$TAPER" truncate -b 15K -o none.taper model.tpm
expect 5 '*nowhere.taper: cannot open*' "$TAPER" truncate -b 15K -o none.taper nowhere.taper
expect 5 '*small.taper: *exists*' "$TAPER" truncate -b 15K -o small.taper set.taper
test ! -e none.taper
nothing_left
