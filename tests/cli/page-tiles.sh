# Tiles of `page` in Chromium: they sharpen until they look complete, also with a carried model, and when bytes come later.
. "$ROOT/tests/cli_helpers.sh"
needs node:nodejs chromium:chromium nginx:nginx-light
"$SAMPLES" scenes scene --count 2
node "$ROOT/tests/browser/tiles_test.mjs" --draw small-drawing.ppm 900 600
node "$ROOT/tests/browser/tiles_test.mjs" --draw large-drawing.ppm 3000 2000
printf 'P6\n1 1\n255\n\310\036\074' >pixel.ppm
"$SAMPLES" small few --count 1 --format png >/dev/null
"$TAPER" encode -q --layout gallery --embed-model -o set.taper scene small-drawing.ppm large-drawing.ppm pixel.ppm few
[ "$("$TAPER" info --json set.taper | json_number images)" -eq 6 ]
if ! "$TAPER" page -q -o page set.taper 2>words; then
    grep -q 'built without a decoder for browsers' words
    echo "SKIP no clang for WebAssembly"
    exit 0
fi
"$TAPER" page -q --single all.html set.taper
node "$ROOT/tests/browser/tiles_test.mjs" page all.html
