/* hostile.mjs PACKAGE FOLDER -- containers that are damaged or hostile: each is an error or a picture, and the page lives.
 * FOLDER: tests/conformance/files. For tests/cli/web-js.sh. */
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, files] = process.argv.slice(2);
const { open } = await import(pathToFileURL(`${folder}/taper.js`));
const { Client } = await import(pathToFileURL(`${folder}/client.js`));
const models = {};
for (const name of readdirSync(files).filter((name) => name.endsWith(".tpm") && !name.startsWith("bad-"))) {
    const bytes = readFileSync(join(files, name));
    models[bytes.readBigUInt64LE(16).toString(16).padStart(16, "0")] = bytes;
}

/** What comes of drawing all images: "drawn", "damaged" or the code of the error. */
async function outcome(bytes, workers, more = {}) {
    let set = null;
    try {
        set = await open(bytes, { models, workers, ...more });
        let said = "drawn";
        for (let i = 0; i < Math.min(set.length, 4); i++) if ((await set.image(i)).damaged) said = "damaged";
        return said;
    } catch (error) {
        assert.equal(error.name, "TaperError", error.stack);
        return error.code;
    } finally {
        set?.close();
    }
}

const count = {};
for (const name of readdirSync(files).filter((name) => name.endsWith(".taper") && name.startsWith("bad-"))) {
    const said = await outcome(new Uint8Array(readFileSync(join(files, name))), 0);
    assert.ok(["corrupt", "model", "version", "limit", "truncated"].includes(said), `${name}: ${said}`);
    count[said] = (count[said] ?? 0) + 1;
}
for (const name of ["colour-damaged.taper", "mixed-damaged.taper", "exact-damaged.taper"])
    assert.equal(await outcome(new Uint8Array(readFileSync(join(files, name))), 0), "damaged", name);

// every byte of a small container changed: an error, or pictures
const good = new Uint8Array(readFileSync(join(files, "conv-gallery.taper")));
assert.equal(await outcome(good, 1), "drawn");
for (let at = 0; at < good.length; at += 37) {
    const bad = good.slice();
    bad[at] ^= 0x55;
    const said = await outcome(bad, 0);
    count[said] = (count[said] ?? 0) + 1;
}

// a worker that traps, one that runs out of memory, one that never answers: told, and the next image is drawn
const set = await open(good, { models, workers: 1, timeout: 3000 });
const first = await set.image(0);
for (const how of ["trap", "memory", "silence"]) {
    const [client] = set.pool.clients;
    const text = { trap: "throw new WebAssembly.RuntimeError('unreachable')", memory: "throw new RangeError('memory')",
        silence: "" }[how];
    const threads = await import("node:worker_threads");
    const fake = new threads.Worker(`const { parentPort } = require("node:worker_threads");
        parentPort.on("message", ({ id, call }) => {
            if (call === "start" || call === "begin") return parentPort.postMessage({ id, answer: {} });
            ${how === "silence" ? "return;" : ""}
            try { ${text} } catch (error) {
                parentPort.postMessage({ id, error: { code: "worker", message: error.message, fatal: true } });
            }
        });`, { eval: true });
    fake.on("message", (data) => fake.onmessage?.({ data }));
    client.end();
    set.pool.clients = [new Client(set.module, { worker: () => fake, timeout: 300 })];
    const code = how === "silence" ? "timeout" : "worker";
    await assert.rejects(set.image(0, { scale: 2 }).finally(() => {}), { code }, how);
    const again = await set.image(0);
    assert.deepEqual(again.data, first.data, `${how}: the next picture`);
}
set.close();
console.log(JSON.stringify(count));
