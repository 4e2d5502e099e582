/* previews.mjs -- processor time to draw small versions of all images of a container, with the package of npm, in node.
 *
 *     node bench/web/previews.mjs CONTAINER [SCALE]     by default 4; make web-package first
 *
 * One worker. Each of three times opens the container anew, so that the decoder's code is compiled in it, and draws every
 * image from its first bytes: so many an image, or as many as taper.js takes by itself. JSON lines, the median. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { cpus } from "node:os";
import { open } from "../../build/web/package/taper.js";

const [path, scale = "4"] = process.argv.slice(2), bytes = readFileSync(path), TIMES = 3;
const machine = `${cpus()[0].model.trim()}, ${cpus().length} threads`;
const commit = spawnSync("git", ["describe", "--always", "--dirty"], { encoding: "utf8",
    cwd: new URL(".", import.meta.url).pathname }).stdout?.trim() || "unknown";

async function draw(each) {
    const set = await open(bytes, { workers: 1 }), how = { scale: Number(scale), model: "any" }, before = process.cpuUsage();
    if (each) Object.assign(how, { bytes: each, exact: true });
    await Promise.all(Array.from({ length: set.length }, (_, i) => set.image(i, how)));
    const { user, system } = process.cpuUsage(before), images = set.length;
    set.close();
    return { ms: (user + system) / 1000, images };
}

for (const each of [682, 2000, 0]) {
    const runs = [];
    for (let k = 0; k < TIMES; k++) runs.push(await draw(each));
    const value = Math.round(runs.map((run) => run.ms).sort((a, b) => a - b)[TIMES >> 1]);
    console.log(JSON.stringify({ bench: "previews", metric: "cpu", value, unit: "ms", config: { container: basename(path),
        images: runs[0].images, scale: Number(scale), bytes_each: each || "default", repeats: TIMES }, commit, machine,
        command: "node bench/web/previews.mjs CONTAINER" }));
}
process.exit(0);
