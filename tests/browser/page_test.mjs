/* page_test.mjs -- a page of `taper page` in Chromium: node page_test.mjs TAPER CONTAINER FOLDER SINGLE.html
 *
 * FOLDER and SINGLE.html were written by `taper page` for CONTAINER. The picture of image 1 equals that of `taper decode`,
 * from nginx and from the file; requests are few; a damaged container is told, and the page opens another. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { launch } from "./chromium.mjs";
import { serve_folder } from "./nginx.mjs";

const [taper, container, folder, single] = process.argv.slice(2);
const PHONE = { width: 390, height: 760, scale: 2, touch: true, dark: true };
const MOST_REQUESTS = 8; // of a gallery of a few images, and one of them whole

/** Red, green and blue of the large image, as base64. */
function large_pixels() {
    const { data } = globalThis.taper_page.large.whole.picture, rgb = [];
    let text = "";
    for (let i = 0; i < data.length; i += 4) rgb.push(data[i], data[i + 1], data[i + 2]);
    for (let i = 0; i < rgb.length; i += 30000) text += String.fromCharCode(...rgb.slice(i, i + 30000));
    return btoa(text);
}

async function equals_decode(page) {
    await page.until(() => globalThis.taper_page?.large?.whole, { ms: 120000 });
    const shown = Buffer.from(await page.evaluate(large_pixels), "base64");
    assert.equal(spawnSync(taper, ["decode", "-q", "-f", "-i", "1", "-o", "one.ppm", container]).status, 0);
    const decoded = readFileSync("one.ppm");
    assert.ok(decoded.subarray(decoded.length - shown.length).equals(shown), "other pixels than taper decode");
    assert.deepEqual(page.errors, []);
}

const server = await serve_folder(folder), browser = await launch();
try {
    const page = await browser.page();
    await page.goto(`${server.url}#1`);
    await equals_decode(page);
    const asked = server.log().filter(({ path }) => path.endsWith(".taper"));
    assert.ok(asked.length <= MOST_REQUESTS && asked.every(({ status }) => status === 206), JSON.stringify(asked));
    assert.ok(page.requests.every(({ url }) => url.startsWith(server.url)), "a request to elsewhere");
    await page.key("ArrowRight");
    await page.until(() => location.hash === "#2");
    await page.key("Escape");
    await page.until(() => document.activeElement.className === "tile" && !location.hash);

    // images like the first, and back to all
    await page.evaluate(() => document.querySelector(".tile").click());
    await page.until(() => globalThis.taper_page.large.image === 0 && !globalThis.taper_page.large.like.hidden);
    await page.evaluate(() => globalThis.taper_page.large.like.click());
    await page.until(() => !document.getElementById("back").hidden && globalThis.taper_page.gallery.order);
    const order = await page.evaluate(() => [...globalThis.taper_page.gallery.order]);
    const found = spawnSync(taper, ["search", "-q", "-k", "3", "-i", "1", container], { encoding: "utf8" });
    const wanted = found.stdout.trim().split("\n").slice(1).map((line) => line.split(",")[5] - 1);
    assert.equal(wanted.length, 3);
    assert.deepEqual(order, [0, ...wanted]);
    await page.evaluate(() => document.getElementById("back").click());
    await page.until(() => !globalThis.taper_page.gallery.order);

    const alone = await browser.page();
    await alone.goto(`${pathToFileURL(resolve(single)).href}#1`);
    await equals_decode(alone);

    const bad = readFileSync(container), name = basename(container);
    bad[120] ^= 85; // in the front matter
    writeFileSync(join(folder, `bad-${name}`), bad);
    const html = readFileSync(join(folder, "index.html"), "utf8");
    writeFileSync(join(folder, "bad.html"), html.replace(`"container": "${name}"`, `"container": "bad-${name}"`));
    const phone = await browser.page(PHONE);
    await phone.goto(`${server.url}bad.html`);
    assert.match(await phone.until(() => document.querySelector(".trouble")?.textContent, { ms: 60000 }), /damaged/);
    await phone.choose_files("#file", [resolve(container)]);
    await phone.until(() => globalThis.taper_page.gallery.first_at, { ms: 60000 });
    assert.deepEqual(phone.errors, []);
} finally {
    await browser.close();
    server.close();
}
process.exit();
