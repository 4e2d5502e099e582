# The pages of `page` in Chromium, from nginx and from a disk: pixels are those of decode; damage is told.
. "$ROOT/tests/cli_helpers.sh"
needs node:nodejs chromium:chromium nginx:nginx-light
"$SAMPLES" scenes scene --count 4
"$TAPER" train-bits -q -w whole -k 64 --independent --hidden 8 -e 1 -o bits.tpm scene
"$TAPER" encode -q --layout gallery --embed-with bits.tpm --embed-search-model -o set.taper scene
if ! "$TAPER" page -q -o page set.taper 2>words; then
    grep -q 'built without a decoder for browsers' words
    echo "SKIP no clang for WebAssembly"
    exit 0
fi
"$TAPER" page -q --single all.html set.taper
node "$ROOT/tests/browser/page_test.mjs" "$TAPER" set.taper page all.html
