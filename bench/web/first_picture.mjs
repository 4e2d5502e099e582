/* first_picture.mjs -- time to the first picture of a page of `taper page` in Chromium, on a slow line.
 *
 *     node bench/web/first_picture.mjs CONTAINER FOLDER [KBIT MS REPEATS]     by default 1000 40 5
 *
 * FOLDER was written by `taper page` for CONTAINER. nginx serves it, plain and with the settings of docs/streaming.md.
 * Cold: nothing is in the cache of the browser; warm: the same window loads the page again. JSON lines: the medians, in
 * milliseconds after the navigation began, and the bytes of the requests that had ended by then. WATERFALL=1: also each
 * request of the loads, and what the page computed, on standard error. */
import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { basename } from "node:path";
import { cpus, loadavg } from "node:os";
import { launch, pause } from "../../tests/browser/chromium.mjs";
import { serve_folder } from "../../tests/browser/nginx.mjs";

const [container, folder, kbit = "1000", ms = "40", repeats = "5"] = process.argv.slice(2);
const machine = `${cpus()[0].model.trim()}, ${cpus().length} threads`;
const commit = spawnSync("git", ["describe", "--always", "--dirty"], { encoding: "utf8",
    cwd: new URL(".", import.meta.url).pathname }).stdout?.trim() || "unknown";
const median = (values) => values.slice().sort((a, b) => a - b)[values.length >> 1];
/* Of the page alone, as Chromium refuses it to workers; ours fetch nothing after their script. */
const LINE = (rate, latency) => ({ offline: false, latency, downloadThroughput: rate ? rate * 125 : -1,
    uploadThroughput: rate ? rate * 125 : -1 });

/* What docs/streaming.md says of files with a version in their addresses, and of containers. */
const DOCUMENTED = `gzip_static on;
    location ~ \\.(js|css|wasm|gz)$ { add_header Cache-Control "public, max-age=31536000, immutable"; }
    location ~ \\.(taper|tpm)$ { gzip off; add_header Cache-Control "public, max-age=3600"; }`;

async function waterfall(page, at) {
    const marks = await page.evaluate(() => performance.getEntriesByType("mark").map((m) => [m.name, m.startTime]));
    const zero = page.requests[0]?.start ?? 0, ms = (t) => (t === null ? "-" : Math.round((t - zero) * 1000));
    for (const { url, range, start, end, bytes, cached } of page.requests)
        console.error(`  ${ms(start)} to ${ms(end)} ms: ${bytes} bytes ${url.replace(/^.*\//, "/")} ${range ?? ""}` +
            `${cached ? " cached" : ""}`);
    for (const [name, time] of marks) console.error(`  ${Math.round(time)} ms: ${name}`);
    console.error(`  ${Math.round(at)} ms: first picture`);
}

async function load(page, url) {
    page.requests.length = 0;
    await page.goto(url, { wait: false });
    await page.until((wanted) => location.href === wanted && globalThis.taper_page?.gallery.first_at,
        { ms: 60000, args: [url] });
    const at = await page.evaluate(() => globalThis.taper_page.gallery.first_at);
    if (process.env.WATERFALL) await waterfall(page, at);
    const bytes = page.requests.reduce((sum, request) => sum + request.bytes, 0);
    return { at, bytes };
}

function tell(metric, value, unit, config) {
    console.log(JSON.stringify({ bench: "first_picture", metric, value: Math.round(value), unit, config, commit, machine,
        command: "node bench/web/first_picture.mjs CONTAINER FOLDER" }));
}

async function measure(browser, packed) {
    const server = await serve_folder(folder, packed ? DOCUMENTED : ""), cold = [], warm = [];
    for (let k = 0; k < Number(repeats); k++) {
        const page = await browser.page();
        await page.send("Network.emulateNetworkConditions", LINE(Number(kbit), Number(ms)));
        cold.push(await load(page, server.url));
        await page.send("Network.emulateNetworkConditions", LINE(0, 0)); // the rest of the model comes
        await pause(1500);
        await page.goto("about:blank");
        await page.send("Network.emulateNetworkConditions", LINE(Number(kbit), Number(ms)));
        warm.push(await load(page, server.url));
        await page.close();
    }
    server.close();
    const config = { container: basename(container), bytes: statSync(container).size, kbit: Number(kbit), ms: Number(ms),
        nginx: packed ? "documented" : "plain", repeats: Number(repeats), load: Math.round(loadavg()[0] * 10) / 10, browser: browser.version };
    for (const [name, all] of Object.entries({ cold, warm })) {
        const times = all.map(({ at }) => at).sort((a, b) => a - b);
        tell(`${name}_first_picture`, median(times), "ms", config);
        tell(`${name}_first_picture_least`, times[0], "ms", config);
        tell(`${name}_first_picture_most`, times[times.length - 1], "ms", config);
        tell(`${name}_bytes`, median(all.map(({ bytes }) => bytes)), "bytes", config);
    }
}

const browser = await launch();
try {
    for (const packed of [false, true]) await measure(browser, packed);
} finally {
    await browser.close();
}
process.exit();
