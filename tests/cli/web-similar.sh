# similar() of taper.js in node: the order and the distances of `taper search`, of several lengths of codes, and with a
# directory in pages.
. "$ROOT/tests/cli_helpers.sh"
needs node:nodejs
package=$ROOT/build/web/package
[ -f "$package/taper.wasm" ] || { echo "SKIP there is no $package: make web-package"; exit 0; }
"$SAMPLES" small few --count 60 --format png >/dev/null
"$SAMPLES" small many --count 2100 --format png >/dev/null
similar() { # bits, folder, layout
    "$TAPER" train-bits -q -f -w whole -k "$1" --independent -e 1 -o bits.tpm few/png
    "$TAPER" encode -q -f --best -m tiny --layout "$3" --embed-with bits.tpm -o set.taper "$2"
    for i in 1 17 60; do "$TAPER" search -q -m bits.tpm -k 50 -i $i set.taper >found; cut -d, -f5,6 found >$i.csv; done
    node "$ROOT/tests/web/similar.mjs" "$package" set.taper 1.csv 17.csv 60.csv
}
similar 96 few/png set
similar 70 few/png image
similar 300 many/png gallery
dd if=set.taper bs=1 skip=12 count=1 2>/dev/null | od -An -tu1 | grep -qE "[4-7]|1[2-5]" # in pages
