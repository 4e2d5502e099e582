# taper.js in node: requests and bytes of a gallery behind nginx; servers that misbehave; a model in stages.
. "$ROOT/tests/cli_helpers.sh"
command -v node >/dev/null || { echo "SKIP no node"; exit 0; }
package=$ROOT/build/web/package
[ -f "$package/taper.wasm" ] || { echo "SKIP there is no $package: make web-package"; exit 0; }

"$SAMPLES" scenes scenes --count 24 >/dev/null
"$TAPER" encode -q --layout gallery --bpp 2 -o gallery.taper scenes
"$SAMPLES" scenes two --count 2 >/dev/null
"$TAPER" encode -q --layout gallery --bpp 1 -o two.taper two
node "$ROOT/tests/web/requests.mjs" "$package" gallery.taper
node "$ROOT/tests/web/servers.mjs" "$package" two.taper

# a carried model of which stages lie between the layers
small_set 6
rm model.tpm
"$TAPER" train -q --quick --window 8 --conditional 8 --predict-epochs 1 -o model.tpm set/png
"$TAPER" encode -q -m model.tpm --layout gallery --embed-model -o own.taper set/png
"$TAPER" encode -q -m model.tpm --layout gallery -o plain.taper set/png
node "$ROOT/tests/web/stages.mjs" "$package" "$TAPER" own.taper plain.taper model.tpm

# the model that a page asks for before it knows the container's: the one that ships
id=$("$TAPER" info --json "$ROOT/models/photo.tpm" | sed -n 's/.*"id":"\([0-9a-f]*\)".*/\1/p')
grep -q "PHOTO = \"$id\"" "$ROOT/web/js/model.js" || { echo "web/js/model.js: PHOTO is not $id"; exit 1; }
# and of it, all stages for first pictures and no byte more
first=$(od -An -v -tu8 -j24 -N8 "$ROOT/models/photo.tpm" | tr -d ' ')
stages=$(od -An -v -tu2 -j10 -N2 "$ROOT/models/photo.tpm" | tr -d ' ')
grep -q "\[PHOTO\]: $((24 + 20 * stages + first)) " "$ROOT/web/js/model.js" || { echo "web/js/model.js: another first stage"; exit 1; }
