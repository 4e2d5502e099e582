/* source.js -- the bytes of a file behind a URL, or in memory. Ranges that are wanted in one turn of the event loop are
 * joined where the gap between them is small; a few requests are in flight at a time; what is there is asked for once. */
import { TaperError, abort_error, next_turn } from "./errors.js";
import { RangeSet, Store, join_gaps } from "./ranges.js";
import { read_range } from "./http.js";

export const DEFAULTS = { first: 16384, gap: 16384, requests: 4, whole: 256 << 20, retries: 3, patience: 200 };

/** A file that is fetched by ranges. */
export class UrlSource {
    constructor(url, options = {}) {
        this.options = { ...DEFAULTS, ...options };
        this.url = this.asked = String(url);
        this.store = new Store();
        this.asking = new RangeSet(); // in flight
        this.waiting = new Set();     // {ranges, done, failed, progress, signal}
        this.active = new Set();      // requests: {at, size, control}
        this.facts = { size: null, tag: null, date: null };
        this.statistics = { requests: 0, bytes: 0 };
        this.closing = new AbortController();
    }

    /** Resolves when all of these ranges are here, as far as the file has them. */
    want(ranges, { signal, progress, reload = false } = {}) {
        if (this.failure) return Promise.reject(this.failure);
        if (signal?.aborted) return Promise.reject(abort_error(signal));
        this.reload ||= reload;
        return new Promise((done, failed) => {
            const wait = { ranges, done, failed, progress, signal };
            wait.aborted = () => this.leave(wait, abort_error(signal));
            signal?.addEventListener("abort", wait.aborted);
            this.waiting.add(wait);
            this.schedule();
        });
    }

    leave(wait, error) {
        if (!this.waiting.delete(wait)) return;
        wait.signal?.removeEventListener("abort", wait.aborted);
        if (error) wait.failed(error);
        else wait.done();
        if (error) this.give_up();
    }

    /** Ends requests that nobody waits for. */
    give_up() {
        const wanted = new RangeSet();
        for (const { ranges } of this.waiting) for (const range of ranges) wanted.add(...this.within(range));
        for (const request of this.active)
            if (!request.whole && wanted.missing(request.at, request.size).some(
                ([at, size]) => at === request.at && size === request.size)) request.control.abort();
    }

    /** A range without what lies after the end of the file. */
    within([at, size]) {
        return [at, this.facts.size === null ? size : Math.max(0, Math.min(size, this.facts.size - at))];
    }

    is_here(ranges) {
        return ranges.every((range) => this.store.held.has(...this.within(range)));
    }

    schedule() {
        if (this.scheduled) return;
        this.scheduled = true;
        next_turn(() => {
            this.scheduled = false;
            this.start();
        });
    }

    /** Missing ranges that are not in flight, joined. */
    needed() {
        const needed = new RangeSet(), { held } = this.store;
        for (const { ranges } of this.waiting)
            for (const range of ranges)
                for (const part of held.missing(...this.within(range)))
                    for (const rest of this.asking.missing(...part)) needed.add(...rest);
        return join_gaps(needed.list(), this.options.gap);
    }

    start() {
        for (const wait of [...this.waiting]) if (this.is_here(wait.ranges)) this.leave(wait);
        if (this.whole) return;
        for (const [at, size] of this.needed()) {
            if (this.active.size >= this.options.requests) break;
            this.request(at, size);
        }
    }

    async request(at, size) {
        const request = { at, size, control: new AbortController(), whole: false };
        this.active.add(request);
        this.asking.add(at, size);
        try {
            await read_range(this, request);
        } catch (error) {
            if (!request.control.signal.aborted) this.fail(request, error);
        } finally {
            this.active.delete(request);
            this.asking.remove(at, size);
            if (request.whole) this.whole = null;
            if (!this.active.size) this.reload = false;
            this.start();
        }
    }

    /** Bytes arrived. */
    put(at, bytes) {
        this.store.put(at, bytes);
        this.statistics.bytes += bytes.length;
        for (const wait of [...this.waiting])
            if (this.is_here(wait.ranges)) this.leave(wait);
            else wait.progress?.();
    }

    /** A request failed: so do those who wait for a part of it. An error that is final ends all. */
    fail(request, error) {
        if (error.final) this.failure = error;
        for (const wait of [...this.waiting]) {
            const concerned = error.final || request.whole || wait.ranges.some((range) => {
                const [at, size] = this.within(range);
                return at < request.at + request.size && at + size > request.at && !this.store.held.has(at, size);
            });
            if (concerned) this.leave(wait, error);
        }
    }

    close() {
        this.failure ??= new TaperError("closed", "the set was closed");
        for (const wait of [...this.waiting]) this.leave(wait, this.failure);
        for (const request of this.active) request.control.abort();
    }
}

/** Bytes in memory, or a Blob or File. */
export class BlobSource {
    constructor(from) {
        this.from = from;
        this.store = new Store();
        this.facts = { size: from.size ?? from.byteLength };
        this.statistics = { requests: 0, bytes: 0 };
        if (from.size === undefined) {
            const { buffer = from, byteOffset = 0, byteLength } = from;
            this.store.put(0, new Uint8Array(buffer, byteOffset, byteLength));
        }
    }

    async want(ranges, { signal } = {}) {
        for (const [at, size] of ranges) {
            if (signal?.aborted) throw abort_error(signal);
            if (this.failure) throw this.failure;
            for (const [from, n] of this.store.held.missing(at, Math.min(size, this.facts.size - at)))
                this.store.put(from, new Uint8Array(await this.from.slice(from, from + n).arrayBuffer()));
        }
    }

    close() {
        this.failure = new TaperError("closed", "the set was closed");
    }
}

/** A source of a URL, an ArrayBuffer, bytes, a Blob or a File. */
export function source_of(from, options) {
    if (typeof Blob !== "undefined" && from instanceof Blob) return new BlobSource(from);
    if (from instanceof ArrayBuffer || ArrayBuffer.isView(from)) return new BlobSource(from);
    return new UrlSource(from, options);
}
