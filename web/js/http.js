/* http.js -- one range of a file by fetch(): what servers answer, and what is done about it. */
import { TaperError, pause } from "./errors.js";

const TRANSIENT = new Set([408, 425, 429, 500, 502, 503, 504]);
const LONGEST_PAUSE = 10000;
const MOST_ATTEMPTS = 60; // also where each brings some bytes

const final = (code, message, facts) => new TaperError(code, message, { ...facts, final: true });

/** A wait that ends when the signal is aborted. */
function rest(ms, signal) {
    return Promise.race([pause(ms), new Promise((done) => signal.addEventListener("abort", done, { once: true }))]);
}

/** Reads a range into the source, again after errors that may pass. */
export async function read_range(source, request) {
    const { retries, patience } = source.options, { signal } = request.control;
    for (let failures = 0, attempts = 0; !signal.aborted; attempts++) {
        const before = source.statistics.bytes;
        const missing = source.store.held.missing(...source.within([request.at, request.size]));
        if (!missing.length) return;
        const from = missing[0][0], last = missing[missing.length - 1];
        try {
            await ask(source, request, from, last[0] + last[1] - from);
            if (source.statistics.bytes === before && !signal.aborted)
                throw new TaperError("range", `${source.url}: an answer without bytes`);
        } catch (error) {
            if (signal.aborted) return;
            failures = source.statistics.bytes > before ? 1 : failures + 1;
            const told = error instanceof TaperError;
            if (error.final || (told && !error.passing)) throw error;
            if (failures > retries || attempts >= MOST_ATTEMPTS)
                throw told ? error : new TaperError("network", `${source.url}: ${error.cause?.message ?? error.message}`);
            await rest(Math.min(error.after ?? patience * 2 ** (failures - 1), LONGEST_PAUSE), signal);
        }
    }
}

async function ask(source, request, at, size) {
    const { options } = source, { signal } = request.control;
    const headers = { ...options.headers };
    if (!source.plain) headers.Range = `bytes=${at}-${at + size - 1}`;
    source.statistics.requests++;
    const response = await (options.fetch ?? fetch)(source.url, {
        headers, signal, credentials: options.credentials ?? "same-origin",
        cache: source.reload ? "reload" : "default",
    });
    if (response.redirected && response.ok) source.url = response.url;
    if (response.status === 206) await partial(source, request, response, at, size);
    else if (response.status === 200) await whole(source, request, response);
    else await refused(source, response, at);
}

/** ETag, Last-Modified and length are those of the first answer. */
function same_file(source, response, size) {
    const { facts } = source;
    const found = { tag: response.headers.get("etag"), date: response.headers.get("last-modified"), size };
    for (const [name, what] of [["tag", "ETag"], ["date", "Last-Modified"], ["size", "length"]]) {
        if (found[name] === null) continue;
        facts[name] ??= found[name];
        if (facts[name] !== found[name])
            throw final("changed", `${source.url}: the file has changed since it was opened (${what}: ` +
                `${found[name]} in place of ${facts[name]}); open it again`);
    }
}

/** An answer with a range: the one that was asked for, or its beginning. */
async function partial(source, request, response, at, size) {
    const coding = response.headers.get("content-encoding");
    if (coding && coding !== "identity") {
        await response.body?.cancel().catch(() => {});
        if (source.plain) throw final("encoded", `${source.url}: the server compresses ranges (${coding})`);
        source.plain = true; // a whole file is unpacked by fetch, a part of a packed one is not
        throw new TaperError("encoded", `${source.url}: the server compresses ranges (${coding}); switch that off ` +
            "for .taper and .tpm", { passing: true, after: 0 });
    }
    const range = /^bytes (\d+)-(\d+)\/(\d+|\*)$/.exec(response.headers.get("content-range") ?? "");
    if (response.headers.has("content-range") && !range)
        throw new TaperError("range", `${source.url}: not a range: ${response.headers.get("content-range")}`);
    if (range && Number(range[1]) !== at)
        throw new TaperError("range", `${source.url}: asked for bytes from ${at}, got those from ${range[1]}`);
    same_file(source, response, range && range[3] !== "*" ? Number(range[3]) : null);
    const length = range ? Number(range[2]) - at + 1 : Number(response.headers.get("content-length") ?? size);
    await take(source, response, at, Math.min(size, length));
    // another origin may hide Content-Range: then a short answer tells where the file ends
    if (!range && length < size) source.facts.size ??= at + length;
}

/** The whole file: a server without ranges. It is read once. */
async function whole(source, request, response) {
    const { whole: most } = source.options;
    const length = response.headers.get("content-encoding") ? null : response.headers.get("content-length");
    same_file(source, response, length === null ? null : Number(length));
    if (Number(length) > most)
        throw final("range", `${source.url}: the server has no ranges, and the file of ${length} bytes is larger ` +
            `than the limit of ${most} (options.whole)`);
    if (source.whole && source.whole !== request) return void (await response.body?.cancel());
    source.whole = request;
    request.whole = true;
    for (const other of source.active) if (other !== request && !other.whole) other.control.abort();
    const n = await take(source, response, 0, length === null ? most + 1 : Number(length));
    if (n > most) throw final("range", `${source.url}: the server has no ranges, and the file is too large`);
    source.facts.size ??= n;
    source.whole_read = true;
}

/** Bytes of the body to the source; their number. An answer that ends early is asked again. */
async function take(source, response, at, size) {
    const is_open = size > source.options.whole;
    const reader = response.body.getReader();
    let n = 0;
    for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        const bytes = value.subarray(0, size - n);
        source.put(at + n, bytes);
        n += bytes.length;
        if (n >= size && !done) {
            reader.cancel().catch(() => {});
            break;
        }
    }
    if (n < size && !is_open)
        throw new TaperError("network", `${source.url}: the answer ended after ${n} of ${size} bytes`, { passing: true });
    return n;
}

async function refused(source, response, at) {
    await response.body?.cancel().catch(() => {});
    const { status } = response;
    if (source.url !== source.asked && status >= 400 && status !== 416) {
        source.url = source.asked; // where a redirection led may be valid for a while only
        throw new TaperError("http", `${source.url}: HTTP ${status}`, { status, passing: true, after: 0 });
    }
    if (status === 416) {
        const length = /\/(\d+)$/.exec(response.headers.get("content-range") ?? "");
        if (length) same_file(source, response, Number(length[1]));
        throw new TaperError("truncated", `${source.url}: the file has no byte ${at}`, { status });
    }
    const seconds = Number(response.headers.get("retry-after"));
    throw new TaperError("http", `${source.url}: HTTP ${status}`, {
        status, passing: TRANSIENT.has(status), after: seconds > 0 ? 1000 * seconds : undefined,
    });
}
