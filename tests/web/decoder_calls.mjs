// decoder_calls.mjs -- the functions of tests/web/calls.c for tests and benchmarks in node.
import { readFileSync } from "node:fs";

export const STATUS = { ok: 0, corrupt: 11, model: 20, version: 12, unsupported: 30 };

export class Calls {
    constructor(path) {
        const module = new WebAssembly.Module(readFileSync(path));
        this.call = new WebAssembly.Instance(module, {}).exports;
    }
    get bytes() { return new Uint8Array(this.call.memory.buffer); }
    get words() { return new Uint32Array(this.call.memory.buffer); }

    /** Memory of the module with these bytes, or so many. */
    take(what) {
        const size = typeof what === "number" ? what : what.length;
        const at = this.call.calls_take(size || 1);
        if (!at) throw new Error("no memory");
        if (typeof what !== "number") this.bytes.set(what, at);
        return at;
    }
    give(at) { this.call.calls_give(at); }

    error() {
        const at = this.call.calls_error(), bytes = this.bytes;
        return new TextDecoder().decode(bytes.subarray(at, bytes.indexOf(0, at)));
    }

    /** A function of bytes and of a place for an address: the status and the address. */
    make(call, bytes) {
        const from = this.take(bytes), out = this.take(4);
        const status = call(from, bytes.length, out), made = this.words[out >> 2];
        this.give(from);
        this.give(out);
        return { status, made };
    }
    model(bytes) { return this.make(this.call.calls_model, bytes); }

    /** model: an address, or 0. Returns the decoder's address. */
    decoder(model, mebibytes = 0) {
        const out = this.take(4);
        if (this.call.calls_decoder(model, mebibytes, out)) throw new Error(this.error());
        const made = this.words[out >> 2];
        this.give(out);
        return made;
    }
    push(decoder, bytes) {
        const from = this.take(bytes), status = this.call.calls_push(decoder, from, bytes.length);
        this.give(from);
        return status;
    }
    /** Image i: status, and samples as bytes, 16 bits least significant byte first. */
    render(decoder, i) {
        const out = this.take(8), status = this.call.calls_image(decoder, i, out);
        const size = this.words[out >> 2], depth = this.words[(out >> 2) + 1];
        this.give(out);
        if (status) return { status, depth, samples: new Uint8Array(0) };
        const to = this.take(size), rendered = this.call.calls_render(decoder, i, to);
        const samples = this.bytes.slice(to, to + size);
        this.give(to);
        return { status: rendered, depth, samples };
    }
}

const table = Uint32Array.from({ length: 256 }, (_, byte) => {
    for (let k = 0; k < 8; k++) byte = (byte >>> 1) ^ (byte & 1 ? 0x82f63b78 : 0);
    return byte;
});
/** Eight hexadecimal digits, as in the manifest of the conformance corpus. */
export function crc32c(bytes) {
    let crc = ~0;
    for (const byte of bytes) crc = (crc >>> 8) ^ table[(crc ^ byte) & 255];
    return (~crc >>> 0).toString(16).padStart(8, "0");
}

/** A word of the manifest. */
export function outcomeOf(status) {
    return { 0: "ok", 10: "incomplete", 11: "corrupt", 20: "other-model", 12: "unknown", 30: "unknown" }[status] ||
        "status " + status;
}

/** Samples of 16 bits with the most significant byte first, as in the manifest. */
function inOrder({ depth, samples }) {
    const bytes = Buffer.from(samples);
    return depth === 16 ? bytes.swap16() : bytes;
}

function pictures(calls, decoder) {
    const images = [];
    let worst = 0;
    for (let i = 0, n = calls.call.calls_images(decoder); i < n; i++) {
        const image = calls.render(decoder, i);
        images.push({ depth: image.depth, samples: inOrder(image) });
        worst = image.status || worst;
    }
    return { outcome: worst === 11 ? "damaged" : outcomeOf(worst), images };
}

/** What a container's bytes are to a decoder: outcome and images, as the manifest has them. model: an address, or 0. */
export function decode(calls, bytes, model) {
    const decoder = calls.decoder(model);
    let status = calls.push(decoder, bytes);
    if (!status && calls.call.calls_needed(decoder)) status = 10;
    const found = status ? { outcome: outcomeOf(status), images: [] } : pictures(calls, decoder);
    calls.call.calls_decoder_free(decoder);
    return found;
}
