/* model.js -- a model, of which the first stages come first: https://.../models/ID.tpm. Sets share it. */
import { TaperError } from "./errors.js";
import { is_node } from "./client.js";
import { source_of } from "./source.js";

/** The model of most containers: "photo". */
export const PHOTO = "a576d7a72c80c0f5";
/** The model of codes for search that is built in: "search". */
export const SEARCH = "c6a011427bd92e9e";
/* Bytes of the first stages, by id: no others are fetched before the first picture. */
const FIRST = { [PHOTO]: 63420 };
const MOST_FIRST = 65536;
const MAGIC = [0x89, 0x54, 0x50, 0x4d];
const MOST = 1 << 29;

const shared = new Map();

export class Model {
    constructor(id, from, options) {
        this.id = id;
        this.from = from;
        this.source = null;
        this.options = options;
        this.size = null;
        this.part = FIRST[id] ?? MOST_FIRST;
        this.version = 0; // of what bytes() gives: 1, the first stages; 2: all
    }

    async open() {
        let { from } = this;
        if (is_node && from instanceof URL && from.protocol === "file:") {
            const files = "node:fs/promises"; // not for bundlers
            from = await (await import(/* @vite-ignore */ /* webpackIgnore: true */ files)).readFile(from);
        }
        this.source = source_of(from, this.options);
    }

    /** Resolves when the first stages are here. */
    first() {
        this.beginning ??= this.begin().catch((error) => {
            this.beginning = null;
            throw this.told(error);
        });
        return this.beginning;
    }

    async begin() {
        await this.open();
        await this.source.want([[0, this.part]]);
        const held = this.source.store.held.run(0), head = this.source.store.get(0, Math.min(held, this.part));
        this.size = size_of(head, this.id, this.from);
        this.version = held >= this.size ? 2 : 1;
    }

    /** Resolves when all stages are here. */
    rest() {
        this.ending ??= this.first().then(() => this.source.want([[0, this.size]])).then(() => {
            this.version = 2;
        }, (error) => {
            this.ending = null;
            throw this.told(error);
        });
        return this.ending;
    }

    bytes() {
        return this.source.store.get(0, this.version === 2 ? this.size : Math.min(this.part, this.size));
    }

    told(error) {
        if (error.name === "AbortError") return error;
        if (this.id === null && error instanceof TaperError) return error;
        if (this.id === null) return new TaperError("model", `${this.from} cannot be read: ${error.message}`);
        return new TaperError("model", `the model ${this.id} is needed, and cannot be read: ${error.message}; put ` +
            `${this.id}.tpm there, or give options.modelBase or options.models`, { needed: this.id });
    }

    stop() {
        this.source?.close();
    }
}

/** The size of a model's file, from its first bytes. */
function size_of(head, id, from) {
    const view = new DataView(head.buffer), stages = head.length > 24 ? view.getUint16(10, true) : 0;
    let size = 24 + 20 * stages;
    if (!stages || MAGIC.some((byte, k) => head[k] !== byte) || head.length < size)
        throw new TaperError("corrupt", `${from}: not a model (.tpm)`);
    if (id !== null && hexadecimal(view, 16) !== id)
        throw new TaperError("model", `${from}: this is the model ${hexadecimal(view, 16)}, not ${id}`);
    for (let k = 0; k < stages; k++) size += Number(view.getBigUint64(24 + 20 * k, true));
    if (size > MOST) throw new TaperError("limit", `${from}: a model of ${size} bytes`);
    return size;
}

export function hexadecimal(view, at) {
    return view.getBigUint64(at, true).toString(16).padStart(16, "0");
}

/** The model of this id: options.models has bytes or a URL for it, or it is ID.tpm in options.modelBase. */
export function model_of(id, options) {
    const given = options.models?.[id];
    if (given && typeof given !== "string" && !(given instanceof URL)) return new Model(id, given, options);
    const base = new URL(options.modelBase ?? new URL("./models/", import.meta.url), globalThis.location?.href);
    const url = given ? new URL(given, globalThis.location?.href)
        : new URL(`${id}.tpm`, base.href.endsWith("/") ? base : `${base}/`);
    const known = shared.get(url.href);
    if (known && !known.source?.failure) return known;
    const { fetch, credentials, headers } = options.modelRequest ?? {};
    const model = new Model(id, url, { fetch, credentials, headers });
    shared.set(url.href, model);
    return model;
}

const CONTAINER = [0x89, 0x54, 0x50, 0x52];

/** The id of a container's model, and whether it carries it, from its first bytes. */
export function model_wanted(head, name) {
    const view = new DataView(head.buffer);
    if (head.length < 56 || CONTAINER.some((byte, k) => head[k] !== byte))
        throw new TaperError("corrupt", `${name}: not a container (.taper)`);
    const sections = Math.min(view.getUint32(48, true), (head.length - 56) / 24), text = new TextDecoder();
    let carried = false;
    for (let k = 0; k < sections; k++) carried ||= text.decode(head.subarray(56 + 24 * k, 60 + 24 * k)) === "modl";
    return { id: hexadecimal(view, 24), carried };
}
