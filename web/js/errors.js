/* errors.js -- the error of all modules here, and what errors of others mean. */

/** An error of a container, a model or a server. code: "corrupt", "limit", "changed", "http" and so on: see taper.js. */
export class TaperError extends Error {
    constructor(code, message, facts = {}) {
        super(message);
        this.name = "TaperError";
        this.code = code;
        Object.assign(this, facts);
    }

    /** As plain data, for messages between threads. */
    static pack(error) {
        const { code = "failed", message = String(error), fact, needed, fatal } = error ?? {};
        return { code: typeof code === "string" ? code : "failed", message, fact, needed, fatal };
    }

    static unpack({ code, message, ...facts }) {
        return new TaperError(code, message, facts);
    }
}

/** A trap, or memory that is not there: the module is not usable any more. */
export function is_fatal(error) {
    return error instanceof WebAssembly.RuntimeError || error instanceof RangeError || error?.code === "memory";
}

/** The error of an AbortSignal. */
export function abort_error(signal) {
    return signal?.reason ?? new DOMException("the request was aborted", "AbortError");
}

const turns = typeof MessageChannel === "undefined" || typeof window === "undefined" ? null : new MessageChannel();
const later = [];
if (turns) turns.port1.onmessage = () => later.shift()();

/** Calls after this turn of the event loop, in browsers before the page is painted, unlike a timer. */
export function next_turn(call) {
    if (!turns) return void setTimeout(call, 0);
    later.push(call);
    turns.port2.postMessage(0);
}

export const pause = (ms) => new Promise((done) => setTimeout(done, ms));
