# The package of npm: packed, installed into an empty project, and used there in node on a container behind a server. Its
# types are checked where TypeScript can be had.
command -v node >/dev/null && command -v npm >/dev/null || { echo "SKIP no node or npm"; exit 0; }
package=$ROOT/build/web/package
[ -f "$package/taper.wasm" ] || { echo "SKIP there is no $package: make web-package"; exit 0; }
"$SAMPLES" scenes two --count 2 >/dev/null
"$TAPER" encode -q --layout gallery --bpp 1 -o two.taper two
npm pack --silent --pack-destination . "$package" >packed
mkdir project && cd project
echo '{ "name": "empty", "private": true, "type": "module" }' >package.json
npm install --silent --offline --no-audit --no-fund ../*.tgz
cat >use.mjs <<'END'
import { createReadStream, statSync } from "node:fs";
import { createServer } from "node:http";
import { open, TaperError } from "taper-codec";
const size = statSync("../two.taper").size;
const server = createServer((request, response) => {
    const [start, last] = request.headers.range.match(/\d+/g).map(Number), end = Math.min(last, size - 1);
    response.writeHead(206, { "Content-Range": `bytes ${start}-${end}/${size}`, "Content-Length": end - start + 1 });
    createReadStream("../two.taper", { start, end }).pipe(response);
}).listen(0, "127.0.0.1", async () => {
    const set = await open(`http://127.0.0.1:${server.address().port}/two.taper`);
    const { width, height, completeness } = await set.image(1, { scale: 2 });
    console.log(set.length, width, height, completeness.complete, TaperError.name);
    set.close();
    server.closeAllConnections();
    server.close();
});
END
node use.mjs >said
[ "$(cat said)" = "2 128 96 true TaperError" ] || { cat said; exit 1; }

cat >use.ts <<'END'
import { open, type Picture, type TaperSet } from "taper-codec";
import "taper-codec/image";
import { plain_images } from "taper-codec/plain";
const how: "worker" | "page" = await plain_images({ worker: "sw.js" });
const set: TaperSet = await open(new URL("https://example.org/a.taper"), { workers: 2 });
for await (const picture of set.image("a.png", { scale: 4 })) console.log(picture.completeness.share, picture.image.data);
const one: Picture<ImageBitmap> = await set.image(0, { as: "bitmap" });
one.image.close();
// @ts-expect-error: no such scale
set.image(0, { scale: 3 });
set.close();
END
npm install --silent --no-audit --no-fund --fetch-retries 0 --fetch-timeout 20000 typescript >npm.said 2>&1 ||
    { echo "SKIP types are not checked: npm has no typescript here"; exit 0; }
npx --no-install tsc --noEmit --strict --target es2022 --module nodenext --lib es2022,dom,dom.iterable,dom.asynciterable use.ts
