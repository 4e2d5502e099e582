# taper.js in node: pixels as of `taper decode` at cuts and scales; hostile containers, and workers that end; addresses of
# plain images.
command -v node >/dev/null || { echo "SKIP no node"; exit 0; }
package=$ROOT/build/web/package
[ -f "$package/taper.wasm" ] || { echo "SKIP there is no $package: make web-package"; exit 0; }
files=$ROOT/tests/conformance/files

"$SAMPLES" scenes four --count 4 >/dev/null
"$TAPER" encode -q --layout gallery --bpp 1 -o four.taper four
"$SAMPLES" small little --count 4 --format png >/dev/null
"$TAPER" encode -q --layout set -m tiny -o little.taper little/png
set -- four.taper little.taper
for name in alpha sixteen-bits grey-set paged-gallery indexed exact-alpha; do set -- "$@" "$files/$name.taper"; done
node "$ROOT/tests/web/pixels.mjs" "$TAPER" "$package" "$files" "$@"
node "$ROOT/tests/web/hostile.mjs" "$package" "$files"
"$SAMPLES" scenes two --count 2 >/dev/null
"$TAPER" encode -q --layout gallery --bpp 1 -o two.taper two
node "$ROOT/tests/web/plain.mjs" "$package" two.taper
