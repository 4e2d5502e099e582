/* servers.mjs PACKAGE CONTAINER -- taper.js against servers that misbehave: told or survived. For tests/cli/web-js.sh. */
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import assert from "node:assert/strict";
import { serve_badly } from "./bad_server.mjs";

const [folder, container] = process.argv.slice(2);
const { open } = await import(pathToFileURL(`${folder}/taper.js`));
const file = readFileSync(container), server = await serve_badly(file);
const options = { workers: 1, patience: 5, first: 4096, gap: 0 };

/** The picture of the last image. */
async function draw(kind, more = {}) {
    const set = await open(server.url + kind, { ...options, ...more });
    try {
        const { data, completeness } = await set.image(set.length - 1);
        assert.equal(completeness.complete, kind !== "shorter", kind);
        return Buffer.from(data.buffer).toString("base64");
    } finally {
        set.close();
    }
}

async function refused(kind, code, like, more) {
    const error = await draw(kind, more).then(() => assert.fail(`${kind}: no error`), (error) => error);
    assert.equal(error.code, code, `${kind}: ${error.stack}`);
    assert.match(error.message, like, kind);
}

try {
    const right = await draw("good");
    for (const kind of ["whole", "chunked", "packed", "early", "longer", "moved", "busy", "hidden"])
        assert.equal(await draw(kind), right, kind);
    assert.equal(server.count.whole, 1, "a server without ranges is asked once");
    assert.equal(server.count.packed, 2, "ranges that are compressed are asked for once");
    assert.equal(server.count.moved, 1, "a redirection is followed once");
    await refused("nothing", "network", /closed|ended|terminated/);
    assert.notEqual(await draw("shorter"), right, "as of a file that is cut");
    await refused("changed", "changed", /has changed .*ETag/);
    await refused("dated", "changed", /has changed .*Last-Modified/);
    await refused("elsewhere", "range", /asked for bytes from 0, got those from 7/);
    await refused("circle", "network", /redirect/);
    await refused("broken", "http", /HTTP 500/);
    assert.equal(server.count.broken, 4, "once and three times again");
    await refused("gone", "http", /HTTP 404/);
    assert.equal(server.count.gone, 1);
    await refused("html", "corrupt", /not a container/);
    await refused("empty", "range", /without bytes/);
    await refused("whole", "range", /larger than the limit of 100 /, { whole: 100 });
    const late = new AbortController();
    setTimeout(() => late.abort(), 100);
    const error = await open(server.url + "slow", { ...options, signal: late.signal }).catch((error) => error);
    assert.equal(error.name, "AbortError");
    console.log(JSON.stringify(server.count));
} finally {
    server.close();
}
