/* line.js -- counts what is fetched, and plays a slower line: `line.fetch` is used in place of fetch.
 *
 * A line has a rate and a latency. All requests share the rate: a byte arrives when the bytes before it, of
 * any request, have arrived. Bytes are counted as the server sends them in bodies, without headers. */

const pause = (ms, signal) => new Promise((done, failed) => {
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", () => {
        clearTimeout(timer);
        failed(signal.reason);
    }, { once: true });
});

export class Line {
    /** kbit: 1000 bits a second, 0: as fast as it goes. */
    constructor({ kbit = 0, latency_ms = kbit ? 40 : 0, changed = () => {} } = {}) {
        Object.assign(this, { kbit, latency_ms, changed });
        this.requests = 0;
        this.bytes = 0;
        this.free_at = 0; // when the line has carried all that was sent so far
        this.fetch = this.fetch.bind(this);
    }

    /** Waits until n more bytes have come through. */
    async carry(n, signal) {
        const now = performance.now();
        this.free_at = Math.max(this.free_at, now) + (n * 8) / this.kbit;
        if (this.free_at > now + 1) await pause(this.free_at - now, signal);
    }

    count(n) {
        this.bytes += n;
        this.changed();
    }

    async fetch(url, options = {}) {
        const signal = options.signal;
        this.requests++;
        this.changed();
        if (this.latency_ms) await pause(this.latency_ms, signal);
        const response = await fetch(url, options);
        if (!response.body) return response;
        const line = this;
        const body = response.body.pipeThrough(new TransformStream({
            async transform(chunk, to) {
                for (let at = 0; at < chunk.length;) {
                    const some = line.kbit ? Math.min(chunk.length - at, 1460) : chunk.length;
                    if (line.kbit) await line.carry(some, signal);
                    line.count(some);
                    to.enqueue(chunk.subarray(at, at += some));
                }
            },
        }));
        const { status, statusText, headers } = response;
        const played = new Response(body, { status, statusText, headers });
        Object.defineProperty(played, "url", { value: response.url });
        return played;
    }
}
