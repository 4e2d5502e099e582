/* pictures.js -- the images of a container, as the viewer wants them, by taper.js; and the decoder, which is beside the
 * page or, in a page of one file, in elements that hold base64. */
import { open as open_set } from "../js/taper.js";
import { PHOTO } from "../js/model.js";
import { has_simd } from "../js/wasm.js";
import { worker_main } from "./worker_main.js";

/* --- the decoder and the model --- */

const held_text = (name) => document.getElementById(`held-${name}`)?.textContent ?? null;

function held_bytes(name) {
    const text = held_text(name);
    return text === null ? null : Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

/** The stream of a gzip file, unpacked, or as it is if a server unpacked it. */
async function unpacked(stream) {
    const reader = stream.getReader(), first = await reader.read();
    const [magic, second] = first.value ?? [];
    const whole = new ReadableStream({
        start(to) {
            if (first.value) to.enqueue(first.value);
        },
        async pull(to) {
            const { done, value } = await reader.read();
            if (done) to.close();
            else to.enqueue(value);
        },
    });
    return magic === 0x1f && second === 0x8b ? whole.pipeThrough(new DecompressionStream("gzip")) : whole;
}

/** Compiles while bytes come. */
async function compile_stream(stream) {
    const response = new Response(stream, { headers: { "content-type": "application/wasm" } });
    if (WebAssembly.compileStreaming) return WebAssembly.compileStreaming(response);
    return WebAssembly.compile(await response.arrayBuffer());
}

async function read(url) {
    const response = await fetch(url);
    if (!response.ok) throw new Error(`${url}: HTTP ${response.status}`);
    return response.body;
}

/** Packed, as half of the bytes; unpacked where browsers cannot unpack, plain where they have no SIMD. */
async function compile({ version }) {
    const held = held_bytes("wasm");
    if (held) return compile_stream(await unpacked(new Blob([held]).stream()));
    if (!has_simd()) return compile_stream(await read(`taper-plain.wasm?${version}`));
    if (typeof DecompressionStream === "undefined") return compile_stream(await read(`taper.wasm?${version}`));
    return compile_stream(await unpacked(await read(`taper.wasm.gz?${version}`)));
}

let compiling = null;

/** The decoder, compiled once for a page. */
export function decoder(settings) {
    compiling ??= compile(settings);
    compiling.catch(() => (compiling = null));
    return compiling;
}

/** A worker; its script came with this one: page.mk makes worker_main of ../js/taper-worker.js. */
function start_worker() {
    const url = URL.createObjectURL(new Blob([`(${worker_main})()`], { type: "text/javascript" }));
    const worker = new Worker(url);
    setTimeout(() => URL.revokeObjectURL(url), 60000);
    return worker;
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
    constructor(set, is_local) {
        this.set = set;
        this.is_local = is_local; // all bytes are at hand
        this.in_group = set.info.images / Math.max(1, set.info.groups); // images that are decoded together
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

    /** A picture of at least `bytes` of its data; exact: of no more; here: of all that is here; whole: with all stages of
     *  the model. */
    async draw(i, { scale, bytes, exact = false, here = false, whole = false, signal }) {
        const { image, completeness, damaged } = await this.set.image(i,
            { scale, bytes, exact, here, signal, model: whole ? "whole" : "any" });
        return { picture: image, bytes: completeness.bytes, all: completeness.bytesInFile, damaged,
            complete: completeness.complete };
    }

    close() {
        this.set.close();
    }
}

/** source: an address, or a File. line: counts what is fetched, and may be slow. */
export async function open_pictures(source, settings, line) {
    const set = await open_set(source, {
        wasm: decoder(settings), fetch: line.fetch, first: settings.first, worker: start_worker,
        ...model_options(settings),
    });
    return new Images(set, source instanceof Blob);
}
