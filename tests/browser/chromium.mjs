/* chromium.mjs -- drives a headless Chromium over its DevTools protocol, by a pipe and without packages.
 *
 *     const browser = await launch();
 *     const page = await browser.page({width: 1200, height: 800});
 *     await page.network({kbit: 1000, ms: 40});           // optional: a slow line
 *     await page.goto("http://127.0.0.1:8080/");
 *     await page.until(() => document.images.length === 24);  // runs in the page until it is true
 *     await page.screenshot("wide.png");
 *     console.log(page.requests, page.errors);
 *     await browser.close();
 *
 * Workers of a page are followed too: their requests are in page.requests, their errors in page.errors. */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const PROGRAMS = ["chromium", "chromium-browser", "google-chrome"];
const FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--hide-scrollbars", "--force-color-profile=srgb",
    "--remote-debugging-pipe",
];

/** The name of a Chromium on the path, or null. */
export function chromium_program() {
    for (const name of process.env.CHROMIUM ? [process.env.CHROMIUM] : PROGRAMS)
        if (spawnSync(name, ["--version"], { stdio: "ignore" }).status === 0) return name;
    return null;
}

/** Messages over the pipe: JSON texts, each ended by a NUL. */
class Connection {
    constructor(child) {
        this.to = child.stdio[3];
        this.waiting = new Map();
        this.listeners = new Map(); // session -> function
        this.last = 0;
        let rest = [];
        child.stdio[4].on("data", (bytes) => {
            for (let end; (end = bytes.indexOf(0)) >= 0; bytes = bytes.subarray(end + 1)) {
                this.receive(JSON.parse(Buffer.concat([...rest, bytes.subarray(0, end)])));
                rest = [];
            }
            if (bytes.length) rest.push(bytes);
        });
        this.to.on("error", () => {});
        child.on("exit", () => this.end());
    }

    send(method, params = {}, sessionId) {
        if (this.ended) return Promise.reject(new Error(`${method}: Chromium has ended`));
        const id = ++this.last;
        this.to.write(JSON.stringify({ id, method, params, sessionId }) + "\0");
        return new Promise((done, failed) => this.waiting.set(id, { done, failed, method }));
    }

    receive(message) {
        if (!message.id) {
            this.listeners.get(message.sessionId)?.(message.method, message.params, message.sessionId);
            return;
        }
        const call = this.waiting.get(message.id);
        this.waiting.delete(message.id);
        if (message.error) call?.failed(new Error(`${call.method}: ${message.error.message}`));
        else call?.done(message.result);
    }

    end() {
        this.ended = true;
        for (const call of this.waiting.values())
            call.failed(new Error(`${call.method}: Chromium has ended`));
        this.waiting.clear();
    }
}

class Page {
    constructor(connection, session, target) {
        Object.assign(this, { connection, session, target });
        this.requests = []; // {url, method, status, bytes, range, cached, worker, failed}
        this.errors = [];   // exceptions, console.error, refused by a policy
        this.sessions = new Set();
        this.by_id = new Map();
        this.conditions = null;
        this.load_count = 0;
    }

    send(method, params, session = this.session) {
        return this.connection.send(method, params, session);
    }

    /** Follows one session: the page itself, or one of its workers. */
    async follow(session, worker) {
        this.sessions.add(session);
        this.connection.listeners.set(session, (...event) => this.event(...event, worker));
        const setup = [
            this.send("Network.enable", {}, session),
            this.send("Runtime.enable", {}, session),
            this.send("Target.setAutoAttach",
                { autoAttach: true, waitForDebuggerOnStart: true, flatten: true }, session),
        ];
        if (!worker) setup.push(this.send("Page.enable"), this.send("Log.enable"));
        if (this.conditions) setup.push(this.throttle(session));
        await Promise.allSettled(setup);
        await this.send("Runtime.runIfWaitingForDebugger", {}, session).catch(() => {});
    }

    event(method, params, session, worker) {
        const request = this.by_id.get(params.requestId);
        switch (method) {
        case "Target.attachedToTarget":
            this.follow(params.sessionId, true);
            break;
        case "Target.detachedFromTarget":
            this.sessions.delete(params.sessionId);
            break;
        case "Page.loadEventFired":
            this.load_count++;
            break;
        case "Network.requestWillBeSent":
            this.sent(params, worker);
            break;
        case "Network.responseReceived":
            if (!request) break;
            request.status = params.response.status;
            request.cached = params.response.fromDiskCache || params.response.fromServiceWorker;
            break;
        case "Network.requestServedFromCache":
            if (request) request.cached = true;
            break;
        case "Network.loadingFinished":
            if (request) Object.assign(request, { bytes: params.encodedDataLength, end: params.timestamp });
            break;
        case "Network.loadingFailed":
            if (request) Object.assign(request, { failed: params.errorText, end: params.timestamp });
            break;
        case "Runtime.exceptionThrown":
            this.errors.push(params.exceptionDetails.exception?.description ??
                             params.exceptionDetails.text);
            break;
        case "Runtime.consoleAPICalled":
            if (params.type === "error" || params.type === "assert")
                this.errors.push(params.args.map((arg) => arg.value ?? arg.description).join(" "));
            break;
        case "Log.entryAdded":
            if (params.entry.level === "error")
                this.errors.push(`${params.entry.text} ${params.entry.url ?? ""}`.trim());
            break;
        }
    }

    sent(params, worker) {
        const { url, method, headers } = params.request;
        if (url.startsWith("data:") || url.startsWith("blob:")) return;
        const range = headers.Range ?? headers.range ?? null;
        const request = { url, method, range, status: 0, bytes: 0, cached: false, worker: !!worker,
            failed: null, start: params.timestamp, end: null };
        this.by_id.set(params.requestId, request);
        this.requests.push(request);
    }

    /** Loads a page and waits for its load event. */
    async goto(url, { wait = true } = {}) {
        const before = this.load_count;
        const result = await this.send("Page.navigate", { url });
        if (result.errorText) throw new Error(`${url}: ${result.errorText}`);
        for (const end = Date.now() + 60000; wait && this.load_count === before;) {
            if (Date.now() > end) throw new Error(`${url}: not loaded within 60 s`);
            await pause(10);
        }
    }

    /** The value of a function, called in the page with these arguments; promises are awaited. */
    async evaluate(call, ...args) {
        const text = typeof call === "function"
            ? `(${call})(${args.map((arg) => JSON.stringify(arg)).join(",")})` : call;
        const { result, exceptionDetails } = await this.send("Runtime.evaluate",
            { expression: text, awaitPromise: true, returnByValue: true, userGesture: true });
        if (exceptionDetails)
            throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
        return result.value;
    }

    /** Waits until a function is true in the page; its value. */
    async until(call, { ms = 30000, args = [] } = {}) {
        for (const end = Date.now() + ms;; await pause(20)) {
            const value = await this.evaluate(call, ...args).catch((error) => {
                if (!/context|navigat/i.test(error.message)) throw error;
            });
            if (value) return value;
            if (Date.now() > end)
                throw new Error(`not within ${ms} ms: ${call}; errors: ${this.errors.join("; ")}`);
        }
    }

    /** Size of the window, pixels a point, fingers and colours. */
    async device({ width = 1200, height = 800, scale = 1, touch = false, dark = false } = {}) {
        await this.send("Emulation.setDeviceMetricsOverride",
            { width, height, deviceScaleFactor: scale, mobile: touch });
        await this.send("Emulation.setTouchEmulationEnabled", { enabled: touch, maxTouchPoints: 2 });
        await this.send("Emulation.setEmulatedMedia", { features: [
            { name: "prefers-color-scheme", value: dark ? "dark" : "light" },
            { name: "hover", value: touch ? "none" : "hover" }] });
    }

    /** A line of kbit / s with a latency, for the page and its workers; null: none. */
    async network(conditions) {
        this.conditions = conditions;
        await Promise.all([...this.sessions].map((session) => this.throttle(session)));
    }

    throttle(session) {
        const { kbit = 0, ms = 0, offline = false } = this.conditions ?? {};
        const rate = kbit ? (kbit * 1000) / 8 : -1;
        return this.send("Network.emulateNetworkConditions",
            { offline, latency: ms, downloadThroughput: rate, uploadThroughput: rate }, session);
    }

    /** Forgets what is in the HTTP cache. */
    clear_cache() {
        return this.send("Network.clearBrowserCache");
    }

    async screenshot(file, { format = "png", whole = false } = {}) {
        const { data } = await this.send("Page.captureScreenshot",
            { format, captureBeyondViewport: whole });
        writeFileSync(file, Buffer.from(data, "base64"));
    }

    /** Presses a key, by its name: "ArrowRight", "Escape", "Enter", "a". */
    async key(key, modifiers = 0) {
        const codes = { ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40, Escape: 27, Enter: 13,
            Home: 36, End: 35, PageUp: 33, PageDown: 34, Tab: 9, " ": 32 };
        const event = { key, modifiers, windowsVirtualKeyCode: codes[key] ?? key.toUpperCase().charCodeAt(0) };
        if (key.length === 1) event.text = key;
        if (key === "Enter") event.text = "\r";
        await this.send("Input.dispatchKeyEvent", { type: event.text ? "keyDown" : "rawKeyDown", ...event });
        await this.send("Input.dispatchKeyEvent", { type: "keyUp", ...event });
    }

    /** Clicks into the middle of an element. */
    async click(selector) {
        const [x, y] = await this.middle(selector);
        const event = { x, y, button: "left", clickCount: 1 };
        await this.send("Input.dispatchMouseEvent", { type: "mousePressed", ...event });
        await this.send("Input.dispatchMouseEvent", { type: "mouseReleased", ...event });
    }

    /** Draws a finger from one point to another. */
    async swipe(from, to, steps = 8) {
        const point = (i) => [{ x: from[0] + ((to[0] - from[0]) * i) / steps,
            y: from[1] + ((to[1] - from[1]) * i) / steps }];
        await this.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: point(0) });
        for (let i = 1; i <= steps; i++)
            await this.send("Input.dispatchTouchEvent", { type: "touchMove", touchPoints: point(i) });
        await this.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
    }

    /** The middle of an element, in points of the window. */
    async middle(selector) {
        const at = await this.evaluate((wanted) => {
            const found = document.querySelector(wanted);
            found?.scrollIntoView({ block: "nearest" });
            const box = found?.getBoundingClientRect();
            return box && [box.x + box.width / 2, box.y + box.height / 2];
        }, selector);
        if (!at) throw new Error(`no element ${selector}`);
        return at;
    }

    /** Gives files of this machine to an <input type="file">. */
    async choose_files(selector, files) {
        const { root } = await this.send("DOM.getDocument");
        const { nodeId } = await this.send("DOM.querySelector", { nodeId: root.nodeId, selector });
        await this.send("DOM.setFileInputFiles", { nodeId, files });
    }

    /** CPU seconds of the page's process and threads so far; null where the browser does not say. */
    async cpu_seconds() {
        const { metrics } = await this.send("Performance.getMetrics");
        return metrics.find((metric) => metric.name === "ProcessTime")?.value ?? null;
    }

    async close() {
        await this.send("Page.close").catch(() => {});
    }
}

export const pause = (ms) => new Promise((done) => setTimeout(done, ms));

/** Starts Chromium with a profile of its own, which close() removes. Throws where there is none. */
export async function launch({ flags = [], program = chromium_program() } = {}) {
    if (!program) throw new Error("no chromium on the path");
    const profile = mkdtempSync(join(tmpdir(), "taper-chromium-"));
    const child = spawn(program, [...FLAGS, `--user-data-dir=${profile}`, ...flags, "about:blank"],
        { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"], detached: true });
    const ended = new Promise((done) => child.on("exit", done));
    const connection = new Connection(child);
    const remove = () => {
        try { process.kill(-child.pid, "SIGKILL"); } catch { /* it has ended */ }
        rmSync(profile, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    };
    process.on("exit", remove);
    const { product } = await connection.send("Browser.getVersion");
    return {
        version: product,
        /** A new window with a cache of its own; `shared`: with the cache of all others. */
        async page({ shared = false, ...device } = {}) {
            const context = shared ? {} : await connection.send("Target.createBrowserContext");
            const { targetId } = await connection.send("Target.createTarget",
                { url: "about:blank", ...context });
            const { sessionId } = await connection.send("Target.attachToTarget",
                { targetId, flatten: true });
            const page = new Page(connection, sessionId, targetId);
            await page.follow(sessionId, false);
            await page.send("Performance.enable");
            await page.device(device);
            return page;
        },
        async close() {
            await connection.send("Browser.close").catch(() => {});
            await Promise.race([ended, pause(3000)]);
            process.removeListener("exit", remove);
            remove();
        },
    };
}
