# open_embedder and similarTo of taper.js in node: the codes of `taper embed` and the order of `taper search`, for models of
# pixels, gradients and convolutions, of numbers and bits, built in, carried by the container, or given.
. "$ROOT/tests/cli_helpers.sh"
needs node:nodejs
package=$ROOT/build/web/package
[ -f "$package/taper-embedder.wasm" ] || { echo "SKIP there is no $package: make web-package"; exit 0; }
"$SAMPLES" letters drawn --count 130 --format png >/dev/null
"$SAMPLES" scenes scenes --count 12 >/dev/null
plain() { # folder of PNG, folder of PNM: the same pixels in a format that is easily read
    "$TAPER" encode -q -f --lossless -m tiny -o plain.taper "$1"
    "$TAPER" decode -q --format pnm -o "$2" plain.taper
}
plain drawn/png letters
plain scenes pictures
web() { node "$ROOT/tests/web/embedder.mjs" "$package" "$@"; }
codes() { # model, images
    model=$1
    shift
    "$TAPER" embed -q -f -m "$model" -o codes.csv "$@"
    web codes.csv "$model" "$@"
}
learn() { "$TAPER" train-labels -q -f -o labels.tpm --start random -e 1 --hold-out 0 "$@" drawn/png 2>/dev/null; }
letters=$(find letters -path '*/[AQ]/*' -name '*.p?m' | sort)
scenes=$(find pictures -name '*.p?m' | sort | while read -r f; do head -c 200 "$f" | grep -qa "^65535" || echo "$f"; done) # of 8 bits
# shellcheck disable=SC2086
{
learn --objective nca -k 7 && codes labels.tpm $letters
learn --objective dt-nca --hidden 30,20 --cells 4 --window 16 && codes labels.tpm $letters
learn --objective dt-nca --convolutions 4,6 --hidden 9 && codes labels.tpm $letters
learn --objective dt-nca --convolutions 5 --cells 8 --code binary -k 40 && codes labels.tpm $letters
"$TAPER" train-bits -q -f -w whole -k 96 --cells 4 --independent --untied -e 1 -o bits.tpm $scenes
codes bits.tpm $scenes
}

# --- like a picture ---
image=$(echo "$scenes" | sed -n 3p)
like() { # options of search, of encode, the model for the browser or nothing
    # shellcheck disable=SC2086
    "$TAPER" encode -q -f -m tiny $2 -o set.taper $scenes
    # shellcheck disable=SC2086
    "$TAPER" search -q $1 -k 8 set.taper "$image" >found
    cut -d, -f5,6 found >found.csv
    web --search set.taper found.csv "$image" $3
}
like "" "--embed-with search" ""
like "" "--embed-with bits.tpm --embed-search-model" ""
like "-m bits.tpm" "--embed-with bits.tpm --search-bits 70" bits.tpm
not like "-m bits.tpm" "--embed-with bits.tpm" "" 2>error.txt
grep -q "the model [0-9a-f]* is needed" error.txt
