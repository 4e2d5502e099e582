/* pictures.js -- the images of a container, as the viewer wants them, by taper.js; and the decoder, which is beside the
 * page or, in a page of one file, in elements that hold base64. */
import { open as open_set } from "../js/taper.js";
import { PHOTO } from "../js/model.js";
import { has_simd } from "../js/wasm.js";

/* --- the decoder and the model --- */

const held_text = (name) => document.getElementById(`held-${name}`)?.textContent ?? null;

function held_bytes(name) {
    const text = held_text(name);
    return text === null ? null : Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

/** Bytes of a gzip file, or what they are already if a server unpacked them. */
async function unpacked(bytes) {
    if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function read(url) {
    const response = await fetch(url);
    if (!response.ok) throw new Error(`${url}: HTTP ${response.status}`);
    return new Uint8Array(await response.arrayBuffer());
}

/** Packed, as half of the bytes; unpacked where browsers cannot unpack, plain where they have no SIMD. */
async function compile() {
    const held = held_bytes("wasm");
    if (held) return WebAssembly.compile(await unpacked(held));
    if (!has_simd()) return WebAssembly.compile(await read("taper-plain.wasm"));
    if (typeof DecompressionStream === "undefined") return WebAssembly.compile(await read("taper.wasm"));
    return WebAssembly.compile(await unpacked(await read("taper.wasm.gz")));
}

let compiling = null;

/** The decoder, compiled once for a page. */
export function decoder() {
    compiling ??= compile();
    compiling.catch(() => (compiling = null));
    return compiling;
}

let held_model = null;

/** Options of taper.js for where the model is. */
function model_options({ model, model_id }) {
    held_model ??= held_bytes("model");
    if (held_model) return { models: { [model_id]: held_model } };
    const here = new URL(".", document.baseURI).href;
    if (!model) return { modelBase: null, models: {} };
    return model_id === PHOTO ? { modelBase: here } : { models: { [model_id]: new URL(model, here).href } };
}

/** The container of a page of one file, or null. */
export function held_container(name) {
    const bytes = held_bytes("container");
    return bytes && new File([bytes], name);
}

/* --- images --- */

class Images {
    constructor(set) {
        this.set = set;
        this.count = set.length;
        this.size = set.info.fileBytes;
        this.known = new Map(); // image -> what describe() tells
    }

    /** Images like image i by their codes for search, itself first. */
    async near(i, most) {
        const like = await this.set.similar(i, most);
        return [i, ...like.map(({ index }) => index)];
    }

    get has_near() {
        return this.set.info.hasCodes;
    }

    label(i) {
        return this.set.names?.[i] ?? this.known.get(i)?.name ?? `image ${i + 1}`;
    }

    async info(i) {
        if (!this.known.has(i)) this.known.set(i, await this.set.describe(i));
        return this.known.get(i);
    }

    /** A picture of at least `bytes` of its data; exact: of no more; whole: with all stages of the model. */
    async draw(i, { scale, bytes, exact = false, whole = false, signal }) {
        const { image, completeness, damaged } = await this.set.image(i,
            { scale, bytes, exact, signal, model: whole ? "whole" : "any" });
        return { picture: image, bytes: completeness.bytes, all: completeness.bytesInFile, damaged,
            complete: completeness.complete };
    }

    close() {
        this.set.close();
    }
}

/** source: an address, or a File. line: counts what is fetched, and may be slow. */
export async function open_pictures(source, settings, line) {
    return new Images(await open_set(source, {
        wasm: decoder(), fetch: line.fetch, ...model_options(settings),
        worker: held_text("worker") === null ? new URL("taper-worker.js", document.baseURI)
            : `data:text/javascript;base64,${held_text("worker")}`,
    }));
}
