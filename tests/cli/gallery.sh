# Layout gallery through all verbs: made by encode and repack, told by info, cut, joined, decoded and compared.
. "$ROOT/tests/cli_helpers.sh"
small_set 24
"$TAPER" encode --best -q -m tiny -o set.taper set/png
"$TAPER" encode --best -q -m tiny --layout gallery -o gallery.taper set/png
"$TAPER" info gallery.taper | grep -q '^  layout    gallery: [3-9] layers of [0-9]* groups$'
"$TAPER" info --json gallery.taper | grep -q '"layout": *"gallery"'
"$TAPER" verify -q gallery.taper >verified

# the same images as those of the set, from either side
"$TAPER" repack -q --layout gallery -o from-set.taper set.taper
"$TAPER" repack -q --layout set -o from-gallery.taper gallery.taper
for name in set gallery from-set from-gallery; do "$TAPER" decode -q -o whole-$name $name.taper; done
for name in gallery from-set from-gallery; do diff -r whole-set whole-$name; done

# a cut shortens all images alike: each is there, and none is much worse than by a set of that size
for part in 0.05 0.3 0.7; do
    "$TAPER" truncate -q -f --fraction $part -o cut.taper gallery.taper
    "$TAPER" verify -q cut.taper >verified
    "$TAPER" decode -q -f -o cut cut.taper
    [ "$(find cut -name '*.png' | wc -l)" -eq "$(find whole-set -name '*.png' | wc -l)" ]
    limit=$(wc -c <cut.taper)
    "$TAPER" truncate -q -f --bytes "$limit" -o same.taper set.taper
    "$TAPER" decode -q -f -o same same.taper
    python3 "$ROOT/tests/mean_psnr.py" whole-set cut >cut.db
    python3 "$ROOT/tests/mean_psnr.py" whole-set same >same.db
    awk -v ours="$(cat cut.db)" -v theirs="$(cat same.db)" 'BEGIN { exit !(ours > theirs - 2.5) }' ||
        { echo "$part: $(cat cut.db) dB, the set $(cat same.db)"; exit 1; }
done

# limits of encode, joining, and a size by PSNR
"$TAPER" encode -q -m tiny --layout gallery --bytes-per-image 60 -o small.taper set/png
[ "$(wc -c <small.taper)" -le $((60 * $(find set/png -name '*.png' | wc -l))) ]
"$TAPER" encode -q -m tiny --layout gallery --psnr 30 -o 30.taper set/png
"$TAPER" info 30.taper | grep -q '^  layout    gallery'
"$TAPER" merge -q -o joined.taper gallery.taper small.taper
"$TAPER" info joined.taper | grep -q '^  layout    gallery'
"$TAPER" decode -q -o joined joined.taper
code=0
"$TAPER" truncate -q --psnr 30 -o none.taper gallery.taper 2>words || code=$?
[ $code -eq 2 ] && grep -q 'repack --layout set' words
