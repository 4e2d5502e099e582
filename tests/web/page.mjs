/* page.mjs PACKAGE CONTAINER DECODED -- <taper-image> and plain <img> in Chromium, behind nginx. DECODED: PPM of the image
 * 02-sky.png. For tests/cli/web-page.sh. */
import assert from "node:assert/strict";
import { cpSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch } from "../browser/chromium.mjs";
import { serve_folder } from "../browser/nginx.mjs";

const [folder, container, decoded] = process.argv.slice(2);
const work = mkdtempSync(join(tmpdir(), "taper-page-"));
cpSync(folder, work, { recursive: true });
copyFileSync(container, join(work, "set.taper"));
writeFileSync(join(work, "element.html"), `<!doctype html><title>element</title>
<script type="module" src="taper-image.js"></script>
<taper-image id="first" src="set.taper#0" alt="first" style="width: 64px"></taper-image>
<taper-image id="named" src="set.taper#02-sky.png" alt="sky" scale="1"></taper-image>
<div style="height: 5000px"></div>
<taper-image id="far" src="set.taper#1" alt="far"></taper-image>
<taper-image id="none" loading="eager" src="set.taper#none.png" alt="not there"></taper-image>`);
mkdirSync(join(work, "site"));
cpSync(folder, join(work, "site/taper"), { recursive: true });
copyFileSync(container, join(work, "site/set.taper"));
writeFileSync(join(work, "site/sw.js"), 'import "./taper/taper-sw.js";');
writeFileSync(join(work, "site/cut.taper"), readFileSync(container).subarray(0, 40));
for (const [name, options] of [["plain", '{ worker: "sw.js" }'], ["outside", ""]])
    writeFileSync(join(work, `site/${name}.html`), `<!doctype html><title>${name}</title>
<script type="module">import { plain_images } from "./taper/plain-images.js"; window.how = await plain_images(${options});</script>
<img id="name" src="set.taper/02-sky.png"> <img id="other" src="set.taper/02-sky.jpg"> <img id="bad" src="set.taper/no.png">
<img id="number" src="set.taper/2.jpg?scale=1/4"> <img src="set.taper/1.jpg?bytes=2K" id="rate"> <img src="/none.png">`);

/** Sizes of the images, and the pixels of one. */
const shown = () => ["name", "other", "number", "rate", "bad"].map((id) => document.getElementById(id).naturalWidth);
function pixels() {
    const image = document.getElementById("name"), canvas = new OffscreenCanvas(image.naturalWidth, image.naturalHeight);
    const context = canvas.getContext("2d");
    context.drawImage(image, 0, 0);
    return [...context.getImageData(0, 0, canvas.width, canvas.height).data];
}
const all_shown = () => ["name", "other", "number", "rate"].every((id) => document.getElementById(id).naturalWidth > 0);
const ppm = readFileSync(decoded), rgb = ppm.subarray(ppm.length - 256 * 192 * 3);

async function test_plain(page, url, how) {
    await page.goto(url);
    await page.until(all_shown);
    assert.deepEqual(await page.evaluate(shown), [256, 256, 64, 256, 0]);
    assert.equal(await page.until(() => window.how), how);
    assert.ok(Buffer.from((await page.evaluate(pixels)).filter((_, k) => k % 4 < 3)).equals(rgb), `${how}: other pixels`);
}

const server = await serve_folder(work), browser = await launch();
try {
    const page = await browser.page({ width: 800, height: 600 });
    await page.goto(server.url + "element.html");
    await page.until(() => ["first", "named"].every((id) => document.getElementById(id).complete));
    const seen = await page.evaluate(() => ["first", "named", "far", "none"].map((id) => {
        const element = document.getElementById(id), canvas = element.shadowRoot.querySelector("canvas");
        return [canvas.width, canvas.height, element.shadowRoot.querySelector("span").textContent, element.role];
    }));
    assert.deepEqual(seen, [[64, 48, "", "img"], [256, 192, "", "img"], [0, 0, "", "img"], [0, 0, "not there", "img"]]);
    await page.evaluate(() => document.getElementById("far").scrollIntoView());
    await page.until(() => document.getElementById("far").complete);
    assert.deepEqual(page.errors.filter((text) => !text.includes("favicon")), []);

    const asked = () => server.log().filter(({ path }) => path.includes(".taper/")).length;
    const plain = await browser.page({ width: 800, height: 600 });
    // a service worker that the driver follows would wait for ever
    await plain.send("Target.setAutoAttach", { autoAttach: false, waitForDebuggerOnStart: false, flatten: true });
    await test_plain(plain, server.url + "site/plain.html", "worker");
    assert.equal(asked(), 5); // each once before the worker ran
    await test_plain(plain, server.url + "site/plain.html", "worker");
    assert.equal(asked(), 5);
    await plain.send("Page.reload", { ignoreCache: true }); // past the worker
    await plain.until(() => navigator.serviceWorker.controller && window.how === "worker");
    await plain.until(all_shown);
    const answers = await plain.evaluate(() => Promise.all(["set.taper/2.png", "set.taper/no.png", "none.taper/1.png",
        "cut.taper/1.png", "set.taper/1.png?scale=3"].map(async (address) => {
        const response = await fetch(address);
        return [response.status, response.headers.get("content-type"), response.ok ? "" : (await response.text()).trim()];
    })));
    assert.deepEqual(answers.map(([status]) => status), [200, 404, 404, 502, 404]);
    assert.equal(answers[0][1], "image/png");
    for (const [, type, text] of answers.slice(1)) assert.match(`${type} ${text}`, /^text\/plain.* \/site\/\w+\.taper: .{10}/);
    // a worker that does not reach the page: it draws by itself
    await test_plain(await browser.page({ width: 800, height: 600 }), server.url + "site/outside.html", "page");
    console.log("elements and plain images are drawn");
} finally {
    await browser.close();
    server.close();
    rmSync(work, { recursive: true, force: true });
}
