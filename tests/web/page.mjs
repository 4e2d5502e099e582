/* page.mjs PACKAGE CONTAINER -- <taper-image> in Chromium, behind nginx. For tests/cli/web-page.sh. */
import assert from "node:assert/strict";
import { cpSync, copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch } from "../browser/chromium.mjs";
import { serve_folder } from "../browser/nginx.mjs";

const [folder, container] = process.argv.slice(2);
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
    console.log("elements are drawn");
} finally {
    await browser.close();
    server.close();
    rmSync(work, { recursive: true, force: true });
}
