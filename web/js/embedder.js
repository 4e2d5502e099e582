/* embedder.js -- codes of pictures by a model, as `taper embed` and `taper index` make them: the calls of
 * web/embedder/web_embedder.h as methods. Its module is fetched when the first embedder is opened. */
import { STATUS } from "./engine.js";
import { TaperError } from "./errors.js";
import { Model, model_of } from "./model.js";
import { wasm_module } from "./wasm.js";

const MOST_BYTES = 1 << 30; // as the memory of a module
const reader = new TextDecoder();

const is_size = (n) => Number.isInteger(n) && n > 0;
const is_bytes = (data) => data instanceof Uint8Array || data instanceof Uint8ClampedArray;

/** A model that makes codes. units: numbers of a code; isBinary: they are margins, above 0 where the bit is 1. */
export class Embedder {
    /** module: a WebAssembly.Module of taper-embedder.wasm; bytes: a complete model. */
    constructor(module, bytes) {
        this.wasm = new WebAssembly.Instance(module, {}).exports;
        const at = this.place(bytes);
        this.of = this.wasm.web_embedder_open(at, bytes.length);
        this.wasm.web_embedder_release(at);
        if (!this.of) throw new TaperError("memory", "no memory for an embedder");
        if (this.wasm.web_embedder_status(this.of)) throw this.error();
        this.units = this.wasm.web_embedder_units(this.of);
        this.isBinary = !!this.wasm.web_embedder_is_binary(this.of);
        this.modelId = this.text(this.wasm.web_embedder_id(this.of));
    }

    text(at) {
        const bytes = new Uint8Array(this.wasm.memory.buffer);
        return reader.decode(bytes.subarray(at, bytes.indexOf(0, at)));
    }

    error() {
        const { wasm, of } = this;
        return new TaperError(STATUS[wasm.web_embedder_status(of)] ?? "failed", this.text(wasm.web_embedder_error(of)));
    }

    /** Bytes in the module's memory. */
    place(bytes) {
        const at = bytes.length < MOST_BYTES ? this.wasm.web_embedder_alloc(bytes.length) : 0;
        if (!at) throw new TaperError("memory", `no memory for ${bytes.length} bytes`);
        new Uint8Array(this.wasm.memory.buffer).set(bytes, at);
        return at;
    }

    /** The code of {width, height, data}, RGBA of 8 bits as in ImageData: Float32Array(units). */
    code(picture) {
        if (!this.of) throw new TaperError("closed", "the embedder was closed");
        const { width, height, data } = picture ?? {};
        if (!is_size(width) || !is_size(height) || !is_bytes(data) || data.length !== 4 * width * height)
            throw new TaperError("argument", "a picture has width, height and data: RGBA, 4 bytes a pixel, as ImageData");
        const at = this.place(data);
        try {
            const code = this.wasm.web_embedder_code(this.of, at, width, height);
            if (!code) throw this.error();
            return new Float32Array(this.wasm.memory.buffer.slice(code, code + 4 * this.units));
        } finally {
            this.wasm.web_embedder_release(at);
        }
    }

    close() {
        this.wasm.web_embedder_close(this.of);
        this.of = 0;
    }
}

function address(from) {
    try {
        if (from instanceof URL || (typeof from === "string" && from)) return new URL(from, globalThis.location?.href);
    } catch { /* told below */ }
    throw new TaperError("argument", `open_embedder: ${from} is neither bytes nor the URL or the id of a model`);
}

/** The bytes of a model: given as bytes, or a URL, or an id of which ID.tpm is in the folder of models. */
async function bytes_of(from, options) {
    if (from instanceof ArrayBuffer) return new Uint8Array(from);
    if (ArrayBuffer.isView(from)) return new Uint8Array(from.buffer, from.byteOffset, from.byteLength);
    const is_id = /^[0-9a-f]{16}$/.test(from);
    const model = is_id ? model_of(from, options) : new Model(null, address(from), options);
    await model.rest();
    return model.bytes();
}

/** See taper.js. */
export async function open_embedder(from, options = {}) {
    const [module, bytes] = await Promise.all([wasm_module(options.embedderWasm, ["taper-embedder.wasm"]),
        bytes_of(from, options)]);
    return new Embedder(module, bytes);
}
