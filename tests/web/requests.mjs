/* requests.mjs PACKAGE CONTAINER -- requests and bytes of a gallery behind nginx, or behind a server in node that has
 * ranges. Prints a line; for tests/cli/web-js.sh. */
import assert from "node:assert/strict";
import { mkdtempSync, copyFileSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { nginx_program, serve_folder } from "../browser/nginx.mjs";
import { serve_badly } from "./bad_server.mjs";

const [folder, container] = process.argv.slice(2);
const { open } = await import(pathToFileURL(`${folder}/taper.js`));
const work = mkdtempSync(join(tmpdir(), "taper-requests-"));
copyFileSync(container, join(work, "good"));
const server = nginx_program() ? await serve_folder(work) : await serve_badly(readFileSync(container));
try {
    const set = await open(new URL("good", server.url), { workers: 2 }), said = { images: set.length };
    const count = (name) => {
        const { requests, bytes } = set.statistics;
        Object.assign(said, { [`${name}_requests`]: requests - (said.sum ?? 0), [`${name}_bytes`]: bytes - (said.all ?? 0) });
        said.sum = requests;
        said.all = bytes;
    };
    let coarse = 0;
    for await (const [, picture] of set.images(null, { scale: 8, bytes: 60 })) coarse += picture.completeness.passes > 0;
    assert.equal(coarse, set.length, "something of every image");
    count("all");
    const picture = await set.image(set.names[Math.floor(set.length / 2)]);
    assert.ok(picture.completeness.complete);
    count("one");
    await set.image(Math.floor(set.length / 2), { scale: 2, bytes: Infinity });
    count("again");
    const small = await open(new URL("good", server.url), { workers: 1, first: 2048, gap: 0 });
    let seen = 0, share = 0;
    for await (const { completeness } of small.image(1)) {
        assert.ok(completeness.share >= share);
        share = completeness.share;
        seen++;
    }
    assert.ok(seen >= 2 && share === 1, "pictures that sharpen");
    small.close();
    const none = new AbortController();
    none.abort();
    await assert.rejects(set.image(2, { signal: none.signal }).finally(() => {}), { name: "AbortError" });
    await assert.rejects(set.image("nothing.png").catch((error) => { throw error; }), { code: "argument" });
    await assert.rejects(set.image(2, { scale: 3 }).finally(() => {}), { code: "argument" });
    await assert.rejects(set.image(set.length).finally(() => {}), { code: "argument" });
    const waiting = set.image(3);
    set.close();
    await assert.rejects(waiting.finally(() => {}), { code: "closed" });
    console.log(JSON.stringify(said));
    assert.ok(said.all_requests <= 2 && said.one_requests <= 2 && said.again_requests === 0, "too many requests");
} finally {
    server.close();
    rmSync(work, { recursive: true, force: true });
}
