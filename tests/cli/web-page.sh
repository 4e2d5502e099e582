# <taper-image> and plain <img> by the service worker in Chromium behind nginx.
command -v node >/dev/null || { echo "SKIP no node"; exit 0; }
package=$ROOT/build/web/package
[ -f "$package/taper.wasm" ] || { echo "SKIP there is no $package: make web-package"; exit 0; }
for program in chromium nginx; do
    command -v $program >/dev/null || [ -x /usr/sbin/$program ] || { echo "SKIP no $program"; exit 0; }
done
"$SAMPLES" scenes two --count 2 >/dev/null
"$TAPER" encode -q --layout gallery --bpp 1 -o two.taper two
"$TAPER" decode -q --format pnm -o decoded two.taper
node "$ROOT/tests/web/page.mjs" "$package" two.taper "$(find decoded -name '*sky*')"
