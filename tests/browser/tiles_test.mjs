/* tiles_test.mjs -- the tiles of a page of `taper page`: node tiles_test.mjs FOLDER SINGLE.html
 *
 * Both are of one container that carries its model: photographs, drawings of which the second is large, and small images,
 * one of them of one pixel. Tiles sharpen until they look complete; opened images are drawn again, and all where all bytes
 * are at hand. Keys move into the grid.
 *
 *     node tiles_test.mjs --draw NAME WIDTH HEIGHT      writes a drawing as NAME, PPM */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { launch } from "./chromium.mjs";
import { serve_folder } from "./nginx.mjs";

const COLOURS = [[255, 255, 255], [0, 0, 0], [120, 0, 0], [0, 0, 160], [250, 200, 20]];
const LEAST_DB = 30; // of a tile that looks complete
const MOST_REQUESTS = 30;

/** Lines of a kind of letters, which no two lines share. */
function draw(name, width, height) {
    let seed = 1;
    const pixels = Buffer.alloc(3 * width * height, 255);
    const random = () => (seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff) / 0x7fffffff;
    const put = (x, y, colour) => COLOURS[colour].forEach((v, k) => (pixels[3 * (y * width + x) + k] = v));
    for (let y = 4; y + 9 < height; y += 14)
        for (let x = 6; x + 6 < width * (0.4 + 0.5 * random()); x += 7)
            for (let k = 0; k < 35; k++) if (random() < 0.4) put(x + (k % 5), y + Math.floor(k / 5), 1 + (y % 4));
    writeFileSync(name, Buffer.concat([Buffer.from(`P6\n${width} ${height}\n255\n`), pixels]));
}

/** Of each tile that was drawn: its kind, and PSNR against all of the image at this scale. */
async function tiles() {
    const { gallery, page } = globalThis.taper_page, out = [];
    for (const [i, { scale, complete, bytes, picture }] of gallery.state) {
        const whole = (await page.pictures.set.image(i, { scale, bytes: Infinity })).data, { isIndexed } = await page.pictures.info(i);
        const sum = picture.data.reduce((n, v, k) => n + (v - whole[k]) ** 2, 0);
        out[i] = { isIndexed, complete, bytes, db: sum ? 10 * Math.log10((255 * 255 * whole.length) / sum) : 99 };
    }
    return out;
}

const at_rest = () => {
    const { gallery } = globalThis.taper_page;
    return gallery.all_at && gallery.all_at > (globalThis.began ?? 0) && !gallery.running.size;
};

async function remote(browser, server) {
    const page = await browser.page({ width: 1000, height: 800 });
    await page.goto(server.url);
    await page.until(at_rest, { ms: 60000 });
    const asked = server.log().filter(({ path }) => path.endsWith(".taper"));
    assert.ok(asked.length <= MOST_REQUESTS, `${asked.length} requests`);
    await page.key("ArrowDown");
    assert.equal(await page.evaluate(() => document.activeElement.className), "tile");
    assert.equal(await page.evaluate(() => globalThis.taper_page.gallery.state.get(3).complete), false, "not all of it is fetched");

    // the large drawing is opened: its tile has all rows then
    await page.evaluate(() => (globalThis.began = performance.now(), globalThis.taper_page.open_large(3)));
    await page.until(() => !!globalThis.taper_page.large?.whole, { ms: 60000 });
    await page.key("ArrowRight"); // the image of one pixel
    await page.until(() => globalThis.taper_page.large.image === 4 && !!globalThis.taper_page.large.whole);
    assert.doesNotMatch(await page.evaluate(() => globalThis.taper_page.large.said.textContent), /e\+|NaN/);
    await page.key("Escape");
    await page.until(at_rest, { ms: 60000 });
    const found = await page.evaluate(tiles);
    for (const [i, { isIndexed, complete, db }] of found.entries())
        assert.ok(isIndexed || i >= 4 ? complete && db === 99 : db >= LEAST_DB, `tile ${i}: ${JSON.stringify(found)}`);
    assert.deepEqual(page.errors, []);
}

/** All bytes are at hand: nothing is left out. */
async function local(browser, single) {
    const page = await browser.page({ width: 390, height: 760, scale: 2, touch: true });
    await page.goto(pathToFileURL(resolve(single)).href);
    await page.until(at_rest, { ms: 60000 });
    const found = await page.evaluate(tiles), drawn = found.filter(Boolean);
    assert.ok(drawn.length >= 4 && drawn.every(({ db }) => db === 99), JSON.stringify(found));
    assert.deepEqual(page.errors, []);
}

if (process.argv[2] === "--draw") {
    const [name, width, height] = process.argv.slice(3);
    draw(name, Number(width), Number(height));
    process.exit();
}
const [folder, single] = process.argv.slice(2);
const server = await serve_folder(folder), browser = await launch();
try {
    await remote(browser, server);
    await local(browser, single);
} finally {
    await browser.close();
    server.close();
}
process.exit();
