/* stages.mjs PACKAGE TAPER CONTAINER PLAIN MODEL -- a container that carries its model in stages, and the same without it,
 * for tests/cli/web-js.sh: budgets count data alone; a cut gives the pixels of `taper decode --bytes`, whatever came
 * before; a cut within the front matter is refused. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [folder, taper, container, plain, model] = process.argv.slice(2);
const { open } = await import(pathToFileURL(`${folder}/taper.js`));
const bytes = readFileSync(container), set = await open(bytes, { workers: 1 });
const { stages, frontBytes, modelId } = set.info;
assert.ok(stages.length >= 2, "a container with stages");

/** The pixels of image 1 in the first n bytes of the file, by the program. */
function decoded(n) {
    assert.equal(spawnSync(taper, ["decode", "-q", "-f", "-i", "1", "--bytes", n, "-o", "cut.ppm", container]).status, 0);
    return readFileSync("cut.ppm");
}

function equals({ data, width, height }, file, what) {
    const rgb = Buffer.from(data.filter((_, i) => i % 4 < 3)), channels = (file.length - 11) / width / height;
    const same = channels >= 2 ? rgb : Buffer.from(data.filter((_, i) => i % 4 === 0));
    assert.ok(file.subarray(file.length - same.length).equals(same), what);
}

// as many passes as without the model, and the stages that they need
const without = await open(readFileSync(plain), { workers: 1, models: { [modelId]: readFileSync(model) } });
const fresh = await open(bytes, { workers: 1 });
for (const budget of [40, 100, 200]) {
    const { completeness } = await without.image(0, { bytes: budget });
    const own = await fresh.image(0, { bytes: budget });
    assert.equal(own.completeness.passes, completeness.passes, `passes of ${budget} bytes`);
}
fresh.close();
without.close();

const whole = await set.image(0), first = await set.image(0, { bytes: 100, exact: true });
const places = [frontBytes + 50, ...stages.flatMap(([at, size]) => [at + size - 1, at + size + 100]), bytes.length];
for (const cut of places) equals(await set.image(0, { cut }), decoded(cut), `other pixels at ${cut}`);
const again = await set.image(0), other = await open(bytes, { workers: 1 });
assert.deepEqual(again.data, whole.data, "the whole image after cuts");
assert.deepEqual((await other.image(0, { bytes: 100, exact: true })).data, first.data, "exact bytes, before all bytes");
await assert.rejects(set.image(0, { cut: frontBytes - 7 }).finally(() => {}),
    { code: "truncated", message: /^incomplete header, need 7 more bytes/ });
const { data } = await set.image(0, { cut: frontBytes });
assert.deepEqual((await set.image(0, { bytes: 0, exact: true })).data, data, "no bytes");
console.log("stages");
process.exit();
