# OpenSeadragon of npm opens an image of a set by IIIF from `taper serve`, in Chromium: tiles, a zoom, the pixels drawn.
. "$ROOT/tests/cli_helpers.sh"
. "$ROOT/tests/serve_helpers.sh"
needs node:nodejs npm:npm chromium:chromium python3:python3
mkdir project site photos
echo '{ "name": "empty", "private": true }' >project/package.json
(cd project && npm install --silent --no-audit --no-fund --fetch-retries 0 --fetch-timeout 20000 openseadragon) >npm.said 2>&1 ||
    { echo "SKIP npm has no openseadragon here: $(tail -n 1 npm.said)"; exit 0; }
# large shapes of many colours, so that a place is known by its colour
python3 - <<'END'
import math
w, h = 1000, 800
rows = bytearray()
for y in range(h):
    for x in range(w):
        a = 40 if (x // 125 + y // 100) % 2 else 0
        rows += bytes((x * 200 // w + a, y * 200 // h + a, int(100 + 90 * math.sin((x + 2 * y) / 100))))
open("photos/one.ppm", "wb").write(b"P6 %d %d 255\n" % (w, h) + rows)
END
"$TAPER" encode -q --bpp 1 -o site/set.taper photos
"$TAPER" decode -q -i 1 -o one.ppm site/set.taper
cp project/node_modules/openseadragon/build/openseadragon/openseadragon.min.js site/openseadragon.js
cat >site/index.html <<'END'
<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><style>html, body, #view { margin: 0; height: 100% }</style>
<div id="view"></div><script src="openseadragon.js"></script><script>
var failed = null, viewer = OpenSeadragon({ element: "view", drawer: "canvas", showNavigationControl: false, crossOriginPolicy: "Anonymous",
    tileSources: "iiif/set.taper%2Fone/info.json" });
for (const name of ["open-failed", "tile-load-failed"]) viewer.addHandler(name, (event) => { failed = name + ": " + event.message; });
</script>
END
serve_start site
node "$ROOT/tests/browser/openseadragon_test.mjs" "$URL/" one.ppm || { tail -n 20 log.jsonl; exit 1; }
serve_stop
