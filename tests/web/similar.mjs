/* similar.mjs PACKAGE CONTAINER FOUND.csv... -- similar() of taper.js against `taper search -i I`, one file for each I;
 * FOUND.csv is named I.csv. For tests/cli/web-similar.sh. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, container, ...lists] = process.argv.slice(2);
const { open } = await import(pathToFileURL(`${folder}/taper.js`));
const bytes = readFileSync(container), set = await open(bytes, { workers: 1 });
assert.equal(set.info.hasCodes, true);
for (const list of lists) {
    const image = Number(basename(list, ".csv")) - 1;
    const wanted = readFileSync(list, "utf8").trim().split("\n").slice(1).map((line) => line.split(",").map(Number));
    assert.ok(wanted.length >= 50, list);
    const found = await set.similar(image, wanted.length);
    assert.deepEqual(found.map(({ index, distance }) => [distance, index + 1]), wanted, list);
}
assert.equal((await set.similar(0)).length, Math.min(24, set.length - 1));
assert.equal((await set.similar(0, 1e9)).length, set.length - 1);
await assert.rejects(set.similar(set.length), { code: "argument" });
set.close();

// each byte of the section counts; a file without one has no codes
const sections = bytes.readUInt32LE(48);
let at = 56 + 24 * sections;
for (let entry = 56; bytes.toString("latin1", entry, entry + 4) !== "code"; entry += 24) at += Number(bytes.readBigUInt64LE(entry + 8));
const damaged = Uint8Array.from(bytes);
damaged[at + 20] ^= 4;
const broken = async (from) => {
    const other = await open(from, { workers: 0 });
    try {
        await other.similar(0);
    } finally {
        other.close();
    }
};
await assert.rejects(broken(damaged), { code: "corrupt" });
await assert.rejects(broken(bytes.subarray(0, at + 5)), { code: "truncated" });
