/* pixels.mjs TAPER PACKAGE FOLDER CONTAINER... -- pictures of taper.js equal those of `taper decode`, at cuts and scales.
 * FOLDER: models, .tpm. For tests/cli/web-js.sh. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const [taper, folder, models_in, ...containers] = process.argv.slice(2);
const { open } = await import(pathToFileURL(`${folder}/taper.js`));
const SCALES = [1, 4];
const CUTS = [0.4, 1];

const id_of = (bytes, at) => bytes.readBigUInt64LE(at).toString(16).padStart(16, "0");
const paths = {}, models = {};
for (const place of [models_in, join(folder, "models")])
    for (const name of readdirSync(place).filter((name) => name.endsWith(".tpm") && !name.startsWith("bad-"))) {
        const bytes = readFileSync(join(place, name));
        if (bytes.length < 24) continue;
        models[id_of(bytes, 16)] = bytes;
        paths[id_of(bytes, 16)] = join(place, name);
    }

/** A PNM or PAM file as RGBA of 8 bits. */
function rgba_of(path) {
    const bytes = readFileSync(path), head = bytes.toString("latin1", 0, 400);
    const short = /^P([56])\s(?:#.*\n)*\s*(\d+)\s+(\d+)\s+(\d+)\s/.exec(head);
    const long = /^P7\n(?:#.*\n)*WIDTH (\d+)\nHEIGHT (\d+)\nDEPTH (\d+)\nMAXVAL (\d+)\n(?:TUPLTYPE \w+\n)?ENDHDR\n/.exec(head);
    assert.ok(short || long, `${path}: ${head.slice(0, 80)}`);
    const [width, height, depth, most] = (long ? long.slice(1, 5)
        : [short[2], short[3], short[1] === "5" ? 1 : 3, short[4]]).map(Number);
    const at = (long ?? short)[0].length, wide = most > 255;
    const sample = (k) => (wide ? Math.floor((bytes.readUInt16BE(at + 2 * k) * 255 + 32767) / 65535) : bytes[at + k]);
    const out = Buffer.alloc(4 * width * height);
    for (let k = 0; k < width * height; k++) {
        const of = (c) => sample(k * depth + c);
        const grey = depth < 3;
        out.set([of(0), of(grey ? 0 : 1), of(grey ? 0 : 2), depth % 2 ? 255 : of(depth - 1)], 4 * k);
    }
    return { width, height, out };
}

function decoded(path, id, scale, cut) {
    rmSync("decoded", { recursive: true, force: true });
    const model = paths[id] ? ["-m", paths[id]] : [];
    const told = spawnSync(taper, ["decode", "-q", "--format", "pnm", "--scale", scale === 1 ? "1" : `1/${scale}`, "-b", String(cut), ...model,
        "-o", "decoded", path], { encoding: "utf8" });
    assert.ok([0, 3].includes(told.status), `${path}, cut ${cut}: ${told.stderr}`);
    const files = readdirSync("decoded", { recursive: true }).filter((name) => /\.p[npag]m$/.test(name)).sort();
    return files.map((name) => rgba_of(join("decoded", name)));
}

/** Pictures of a set in the order of the files. */
async function ours(set, scale, cut) {
    const out = [];
    for (let i = 0; i < set.length; i++) {
        const { name } = await set.describe(i);
        out.push([name ?? String(i).padStart(8, "0"), await set.image(i, { scale, cut })]);
    }
    return out.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, picture]) => picture);
}

let compared = 0;
for (const path of containers) {
    const bytes = readFileSync(path), id = id_of(bytes, 24);
    const set = await open(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length),
        { models, modelBase: pathToFileURL(`${folder}/models/`), workers: 1 });
    for (const part of CUTS)
        for (const scale of SCALES) {
            const { frontBytes, fileBytes } = set.info;
            const cut = Math.ceil(frontBytes + part * (fileBytes - frontBytes));
            const theirs = decoded(path, id, scale, cut), pictures = await ours(set, scale, cut);
            assert.equal(pictures.length, theirs.length, path);
            pictures.forEach((picture, k) => {
                const where = `${path}, image ${k}, cut ${cut}, scale ${scale}`;
                assert.deepEqual([picture.width, picture.height], [theirs[k].width, theirs[k].height], where);
                assert.ok(theirs[k].out.equals(Buffer.from(picture.data.buffer)), `${where}: other pixels`);
                compared++;
            });
        }
    set.close();
}
console.log(`${compared} pictures of ${containers.length} containers`);
