/* embedder.mjs PACKAGE CODES MODEL IMAGE.ppm... -- codes of open_embedder in taper.js against those of `taper embed`: CODES is
 * CSV with a line for each image, the numbers from the third column on. Numbers may differ by
 * rounding, and bits where the value is within rounding of 0.
 *
 * embedder.mjs PACKAGE --search CONTAINER FOUND.csv IMAGE.ppm [MODEL] -- similarTo of a set against `taper search`, with the
 * model of the container, or with this one. For tests/cli/web-embedder.sh. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const ROUNDING = 1e-5; // of the length of a code: sums of float32 in another order
const [folder, ...rest] = process.argv.slice(2);
const { open, open_embedder, SEARCH } = await import(pathToFileURL(`${folder}/taper.js`));

/** An image of P6 or P5, 8 bits, as RGBA. */
function read(path) {
    const bytes = readFileSync(path);
    const [magic, width, height] = bytes.toString("latin1", 0, 200).replace(/#.*\n/g, "").split(/\s+/, 3);
    const channels = magic === "P6" ? 3 : 1, pixels = width * height, from = bytes.subarray(bytes.length - channels * pixels);
    const data = new Uint8ClampedArray(4 * pixels).fill(255);
    for (let i = 0; i < pixels; i++)
        for (let c = 0; c < 3; c++) data[4 * i + c] = from[channels * i + (channels === 3 ? c : 0)];
    return { width: Number(width), height: Number(height), data };
}

async function codes([list, file, ...images]) {
    const rows = readFileSync(list, "utf8").trim().split("\n").slice(1).map((line) => line.split(",").slice(2).map(Number));
    const embedder = await open_embedder(readFileSync(file));
    assert.equal(rows.length, images.length);
    images.forEach((image, i) => {
        const code = embedder.code(read(image)), size = Math.hypot(...code);
        assert.equal(code.length, rows[i].length);
        rows[i].forEach((value, k) => {
            if (!embedder.isBinary) assert.ok(Math.abs(code[k] - value) < ROUNDING * size, `${image} ${code[k]} ${value}`);
            else if (Math.abs(code[k]) > ROUNDING * size) assert.equal(code[k] > 0, value > 0, `${image} ${k}`);
        });
    });
    assert.throws(() => embedder.code({ width: 2, height: 2, data: new Uint8Array(12) }), { code: "argument" });
    const bytes = new Uint8Array(16);
    for (const bad of [null, undefined, 5, {}, { width: 0, height: 0, data: new Uint8Array(0) }, { width: 2n, height: 2n, data: bytes },
        { width: 2, height: 2, data: "sixteen letters." }, { width: 2, height: 2, data: new BigUint64Array(16) },
        { width: 2, height: 2, data: new Float32Array(16) }, { width: 1.6, height: 2.5, data: bytes },
        { width: NaN, height: 2, data: bytes }, { width: 65536, height: 65536, data: bytes }])
        assert.throws(() => embedder.code(bad), { code: "argument" });
    embedder.close();
    assert.throws(() => embedder.code(read(images[0])), { code: "closed" });
    for (const bad of [undefined, null, "", 123, {}, "no-such.tpm"]) await assert.rejects(open_embedder(bad), { code: "argument" });
    await assert.rejects(open_embedder("file:///no/such.tpm"), { code: "model" });
    const whole = readFileSync(file);
    for (const size of [0, 20, 100, whole.length - 1])
        await assert.rejects(open_embedder(whole.subarray(0, size)), (error) => /truncated|corrupt/.test(error.code), `${size}`);
}

/** What does not show counts as white, and without a colour as grey. */
async function transparency() {
    const embedder = await open_embedder(SEARCH), { width, height } = { width: 40, height: 30 };
    const data = Uint8ClampedArray.from({ length: 4 * width * height }, (_, k) => (k * k * 7 + (k >> 3)) & 255);
    const white = data.map((_, k) => {
        const alpha = data[k | 3], sample = data[k];
        return k % 4 === 3 ? 255 : Math.floor((sample * alpha + 255 * (255 - alpha) + 127) / 255);
    });
    assert.deepEqual(embedder.code({ width, height, data }), embedder.code({ width, height, data: white }));
    assert.ok(embedder.isBinary && embedder.units === 256 && embedder.modelId === SEARCH);
    embedder.close();
}

async function search([container, list, image, file]) {
    const wanted = readFileSync(list, "utf8").trim().split("\n").slice(1).map((line) => line.split(",").map(Number));
    const models = file && { [readFileSync(file).readBigUInt64LE(16).toString(16).padStart(16, "0")]: readFileSync(file) };
    const bytes = readFileSync(container), id = bytes.readBigUInt64LE(24).toString(16).padStart(16, "0");
    if (models) models[id] ??= readFileSync(`${folder}/models/${id}.tpm`);
    const set = await open(bytes, { workers: 0, ...(models && { models }) });
    const found = await set.similarTo(read(image), wanted.length);
    assert.deepEqual(found.map(({ index, distance }) => [distance, index + 1]), wanted);
    for (const most of [-1, NaN, "some"]) await assert.rejects(set.similarTo(read(image), most), { code: "argument" });
    await assert.rejects(set.similarTo(null), { code: "argument" });
    set.close();
}

if (rest[0] === "--search") await search(rest.slice(1));
else await codes(rest);
if (rest[0] !== "--search") await transparency();
