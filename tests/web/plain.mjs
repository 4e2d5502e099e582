/* plain.mjs PACKAGE CONTAINER -- addresses of images within containers, and PNG files of pictures. For
 * tests/cli/web-pixels.sh. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { inflateSync, crc32 } from "node:zlib";

const [folder, container] = process.argv.slice(2), at = (name) => pathToFileURL(`${folder}/${name}`);
const { open } = await import(at("taper.js"));
const { PlainSets, plain_address } = await import(at("plain-address.js"));
const { png_of } = await import(at("png.js"));

const base = "https://example.org/a/page.html", set = "https://example.org/a/b.taper";
for (const [address, expected] of [
    ["b.taper/cat.jpg", { container: set, name: "cat.jpg", scale: 1, bytes: undefined }],
    ["b.taper/x/c%20d.jpg?scale=1/4&bytes=20K", { container: set, name: "x/c d.jpg", scale: 4, bytes: 20480 }],
    ["b.taper/3.png?scale=8&bytes=x", { container: set, name: "3.png", scale: 8, bytes: NaN }],
    ["b.taper", null], ["b.taper/", null], ["b.taper#1", null], ["b.taper/%ff.png", null], ["cat.jpg", null],
    ["http://[", null],
]) assert.deepEqual(plain_address(address, base), expected, address);

/** The pixels of a PNG file of ours, RGBA; other readers look at it in page.mjs. */
async function read_png(blob) {
    const bytes = Buffer.from(await blob.arrayBuffer()), chunks = {};
    for (let k = 8; k < bytes.length;) {
        const size = bytes.readUInt32BE(k), end = k + 8 + size;
        if (crc32) assert.equal(crc32(bytes.subarray(k + 4, end)), bytes.readUInt32BE(end));
        chunks[bytes.toString("latin1", k + 4, k + 8)] = bytes.subarray(k + 8, end);
        k = end + 4;
    }
    const width = chunks.IHDR.readUInt32BE(0), height = chunks.IHDR.readUInt32BE(4), n = chunks.IHDR[9] === 2 ? 3 : 4;
    const rows = inflateSync(chunks.IDAT), out = [];
    assert.equal(rows.length, height * (1 + width * n));
    for (let k = 0; k < width * height; k++) {
        const from = Math.floor(k / width) * (1 + width * n) + 1 + (k % width) * n;
        out.push(...rows.subarray(from, from + 3), n === 3 ? 255 : rows[from + 3]);
    }
    return { width, height, out };
}

const data = Uint8ClampedArray.from({ length: 4 * 211 * 97 }, (_, k) => (k * 2654435761) >>> 13);
for (const opaque of [false, true]) { // more than a block of 65,535 bytes
    if (opaque) for (let k = 3; k < data.length; k += 4) data[k] = 255;
    assert.deepEqual(await read_png(png_of({ width: 211, height: 97, data })), { width: 211, height: 97, out: [...data] });
}

// names, other suffixes, numbers from 1, and no image of this name
const bytes = readFileSync(container), address = "https://example.org/b.taper";
const sets = new PlainSets((_, options) => open(bytes, options), { modelBase: at("models/"), workers: 0 });
const sky = await (await sets.set(address)).image("02-sky.png");
for (const name of ["02-sky.png", "02-sky", "02-sky.jpg", "2.jpg", "2"]) {
    const { out } = await read_png(await sets.png({ container: address, name, scale: 1 }));
    assert.ok(Buffer.from(sky.data).equals(Buffer.from(out)), name);
}
for (const found of [{ name: "3.jpg" }, { name: "0.jpg" }, { name: "no" }, { name: "1", scale: 3 }, { name: "1", bytes: NaN }])
    await assert.rejects(sets.png({ container: address, scale: 1, ...found }), { code: "argument" }, JSON.stringify(found));
console.log("plain addresses and PNG files");
