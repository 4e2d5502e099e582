/* engine.js -- one set in one WebAssembly module: the calls of web/wasm/taper_web.h as methods. It runs in a worker
 * (taper-worker.js) or, without workers, where it is made. All methods return at once. */

import { TaperError } from "./errors.js";

/** What went wrong, by the number of the library (taper_status). */
export const STATUS = {
    1: "argument", 2: "memory", 10: "truncated", 11: "corrupt", 12: "version", 13: "limit", 20: "model",
    30: "unsupported", 40: "io",
};
const CORRUPT = 11;
const NUMBERS = 16;
const VIEW_BYTES = 20;

const reader = new TextDecoder();

/** A set of images of which bytes are supplied in any order. */
export class Engine {
    /** module: a WebAssembly.Module of taper.wasm or taper-plain.wasm. */
    constructor(module) {
        this.wasm = new WebAssembly.Instance(module, {}).exports;
        this.set = this.wasm.taper_web_open();
        if (!this.set) throw new TaperError("memory", "no memory for a set");
        this.view = this.wasm.taper_web_alloc(VIEW_BYTES);
    }

    text(at) {
        if (!at) return null;
        const bytes = new Uint8Array(this.wasm.memory.buffer);
        return reader.decode(bytes.subarray(at, bytes.indexOf(0, at)));
    }

    numbers(n = NUMBERS) {
        const at = this.wasm.taper_web_numbers(this.set);
        return Array.from(new Float64Array(this.wasm.memory.buffer, at, n));
    }

    error() {
        const { wasm, set } = this, status = wasm.taper_web_status(set);
        return new TaperError(STATUS[status] ?? "failed", this.text(wasm.taper_web_error(set)),
            { fact: wasm.taper_web_fact(set), needed: this.text(wasm.taper_web_needed(set)) });
    }

    check(status) {
        if (status) throw this.error();
    }

    /** Calls with bytes in the module's memory. */
    with_bytes(bytes, call) {
        const at = this.wasm.taper_web_alloc(bytes.length);
        if (!at) throw new TaperError("memory", `no memory for ${bytes.length} bytes`);
        new Uint8Array(this.wasm.memory.buffer).set(bytes, at);
        try {
            return call(at, bytes.length);
        } finally {
            this.wasm.taper_web_release(at);
        }
    }

    /** Begins anew with these first stages of a model; null: with the model that the container carries. */
    model(bytes) {
        const { wasm, set } = this;
        if (bytes) this.check(this.with_bytes(bytes, (at, size) => wasm.taper_web_model(set, at, size)));
        else this.check(wasm.taper_web_model(set, 0, 0));
        const [stages, loaded, passes, known] = this.numbers();
        return { id: this.text(wasm.taper_web_text(set)), stages, loaded, passes, known };
    }

    supply(offset, bytes) {
        this.check(this.with_bytes(bytes,
            (at, size) => this.wasm.taper_web_supply(this.set, offset, at, size)));
    }

    /** The content of a zstd frame that has `size` bytes. */
    unpack(bytes, size) {
        const { wasm } = this, at = wasm.taper_web_alloc(size);
        if (!at) throw new TaperError("memory", `no memory for ${size} bytes`);
        try {
            const done = this.with_bytes(bytes, (from, n) => wasm.taper_web_unpack(at, size, from, n));
            if (done !== size) throw new TaperError("corrupt", "packed bytes are damaged");
            return new Uint8Array(wasm.memory.buffer.slice(at, at + size));
        } finally {
            wasm.taper_web_release(at);
        }
    }

    ranges(count) {
        const at = this.wasm.taper_web_ranges(this.set);
        const pairs = count ? new Float64Array(this.wasm.memory.buffer, at, 2 * count) : [];
        return Array.from({ length: count }, (_, k) => [pairs[2 * k], pairs[2 * k + 1]]);
    }

    /** Missing ranges, [offset, size] each, of an image, by number or name, and of the front matter before. */
    plan(image, cut = -1) {
        const { wasm, set } = this;
        const status = typeof image === "number" ? wasm.taper_web_plan(set, image, cut)
            : this.with_bytes(new TextEncoder().encode(image + "\0"),
                (at) => wasm.taper_web_plan_name(set, at, cut));
        const [count, opened, found] = this.numbers(3);
        const damaged = status === CORRUPT && opened;
        if (status && !damaged) throw this.error();
        return { ranges: this.ranges(count), opened: !!opened, damaged, image: found < 0 ? null : found };
    }

    info() {
        const { wasm, set } = this;
        this.check(wasm.taper_web_info(set));
        const [images, pixels, layout, groups, layers, passes, front, bytes, names, classes, model, truncated,
            further] = this.numbers();
        return {
            images, pixels, layout: ["set", "image", "gallery"][layout] ?? "unknown", groups, layers, passes,
            frontBytes: front, fileBytes: bytes, hasNames: !!names, classes, ownModelBytes: model,
            wasTruncated: !!truncated, furtherNames: further, modelId: this.text(wasm.taper_web_text(set)),
        };
    }

    image(i) {
        const { wasm, set } = this;
        this.check(wasm.taper_web_image(set, i));
        const [width, height, channels, depth, group, label, same, indexed, exact, bytes] = this.numbers();
        return {
            index: same, width, height, channels, depth, group, label: label < 0 ? null : label,
            isIndexed: !!indexed, isExact: !!exact, bytes, name: this.text(wasm.taper_web_text(set)),
        };
    }

    layer(i, layer) {
        this.check(this.wasm.taper_web_layer(this.set, i, layer));
        const [cut, passes, stage] = this.numbers();
        return { cut, passes, stage };
    }

    class_name(k) {
        this.check(this.wasm.taper_web_class(this.set, k));
        return this.text(this.wasm.taper_web_text(this.set));
    }

    /** A picture: RGBA of 8 bits in memory of its own. crop: {x, y, width, height} in pixels of the image. */
    render(i, { scale = 1, crop = null } = {}) {
        const { wasm, set } = this;
        const { x, y, width, height } = crop ?? { x: 0, y: 0, width: 0, height: 0 };
        new Uint32Array(wasm.memory.buffer, this.view, 5).set([scale, x, y, width, height]);
        const status = wasm.taper_web_render(set, i, this.view);
        if (status && status !== CORRUPT) throw this.error();
        const [columns, rows, passes, all, bytes, complete, exact] = this.numbers();
        const at = wasm.taper_web_pixels(set);
        return {
            width: columns, height: rows,
            data: new Uint8ClampedArray(wasm.memory.buffer.slice(at, at + 4 * columns * rows)),
            completeness: { passes, passesInFile: all, bytes, complete: !!complete, exactRows: exact },
            damaged: status ? this.text(wasm.taper_web_error(set)) : null,
        };
    }

    close() {
        this.wasm.taper_web_close(this.set);
        this.wasm.taper_web_release(this.view);
        this.set = this.view = 0;
    }
}
