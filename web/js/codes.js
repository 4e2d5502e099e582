/* codes.js -- codes for search that a container carries (formats/SPEC.md, 5.7), and which images are most like one of
 * them or like a picture: the order of `taper search` (15.5, falling weights). */
import { TaperError } from "./errors.js";
import { hexadecimal } from "./model.js";

const HEADER = 56, ENTRY = 24, MOST_BITS = 65536;

const corrupt = (what) => new TaperError("corrupt", `the codes for search are damaged: ${what}`);

/** Where a section lies, "code" or "smdl": {at, stored, size, checksum}, or null. head: the file's first bytes. */
export function section_of(head, wanted) {
    const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
    const sections = head.length < HEADER ? 0 : view.getUint32(48, true);
    let at = HEADER + sections * ENTRY;
    if (!sections || at > head.length) return null;
    for (let entry = HEADER; entry < HEADER + sections * ENTRY; entry += ENTRY) {
        const type = String.fromCharCode(...head.subarray(entry, entry + 4));
        const stored = Number(view.getBigUint64(entry + 8, true)), size = Number(view.getBigUint64(entry + 16, true));
        if (type === wanted) return { at, stored, size, checksum: view.getUint32(entry + 4, true) };
        at += stored;
    }
    return null;
}

let table = null;

/** CRC-32C (Castagnoli). */
export function crc32c(bytes) {
    table ??= Uint32Array.from({ length: 256 }, (_, value) => {
        for (let bit = 0; bit < 8; bit++) value = (value >>> 1) ^ (value & 1 ? 0x82f63b78 : 0);
        return value;
    });
    let crc = -1;
    for (const byte of bytes) crc = (crc >>> 8) ^ table[(crc ^ byte) & 255];
    return ~crc >>> 0;
}

function bits_set(word) {
    word -= (word >>> 1) & 0x55555555;
    word = (word & 0x33333333) + ((word >>> 2) & 0x33333333);
    return Math.imul((word + (word >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** The content of the section: a code of `bits` bits for each image. */
export class Codes {
    constructor(content, images) {
        const view = new DataView(content.buffer, content.byteOffset, content.byteLength);
        this.images = images;
        this.model = content.length < 8 ? null : hexadecimal(view, 0);
        this.bits = content.length < 12 ? 0 : view.getUint32(8, true);
        const each = (this.bits + 7) >> 3;
        if (this.bits < 1 || this.bits > MOST_BITS) throw corrupt(`${this.bits} bits`);
        if (content.length !== 12 + each * images) throw corrupt(`${content.length} bytes of ${images} images`);
        this.words = (each + 3) >> 2;
        this.code = new Uint32Array(images * this.words); // the first bit is the highest of word 0
        const last = this.bits % 32 ? -1 << (32 - (this.bits % 32)) : -1;
        for (let i = 0; i < images; i++) {
            for (let k = 0; k < each; k++)
                this.code[i * this.words + (k >> 2)] |= content[12 + i * each + k] << (24 - 8 * (k & 3));
            this.code[(i + 1) * this.words - 1] &= last;
        }
    }

    /** What a differing bit of each word counts: layers of 64, 64, 128, 256 ... bits, each half of the one before. */
    weights() {
        const layer = (word) => (word < 2 ? 0 : 32 - Math.clz32(word >> 1));
        const last = layer(this.words - 1);
        return Array.from({ length: this.words }, (_, word) => 2 ** (last - layer(word)));
    }

    /** Values of a model, above 0 where a bit is 1, as words of a code. */
    pack(values) {
        const words = new Uint32Array(this.words);
        for (let bit = 0; bit < this.bits; bit++) if (values[bit] > 0) words[bit >> 5] |= 1 << (31 - (bit & 31));
        return words;
    }

    /** The code of image i. */
    of(i) {
        return this.code.subarray(i * this.words, (i + 1) * this.words);
    }

    /** The `most` images whose codes are nearest to this one, without image `except`: [{index, distance}], nearest first. */
    nearest(own, most, except = -1) {
        if (!(most >= 0)) throw new TaperError("argument", `${most} images are wanted: give a number from 0`);
        const { code, words, images } = this, weight = this.weights();
        const distance = new Float64Array(images);
        for (let image = 0; image < images; image++) {
            let sum = 0;
            for (let word = 0; word < words; word++)
                sum += weight[word] * bits_set(code[image * words + word] ^ own[word]);
            distance[image] = sum;
        }
        const others = Uint32Array.from({ length: images }, (_, image) => image).filter((image) => image !== except);
        others.sort((a, b) => distance[a] - distance[b] || a - b);
        return Array.from(others.subarray(0, most), (index) => ({ index, distance: distance[index] }));
    }
}

/** The content of a section. unpack(bytes, size) -> promise of the content of a zstd frame. */
async function read_section({ source, options }, { at, stored, size, checksum }, unpack) {
    const most = options.maxFront ?? 64 << 20;
    if (Math.max(stored, size) > most)
        throw new TaperError("limit", `the codes for search have ${size} bytes, above the limit of ${most} (maxFront)`);
    await source.want([[at, stored]]);
    if (!source.store.held.has(at, stored)) throw new TaperError("truncated", "the file ends within its codes for search");
    const bytes = source.store.get(at, stored);
    if (crc32c(bytes) !== checksum) throw corrupt("their checksum differs");
    return stored === size ? bytes : unpack(bytes, size);
}

/** The codes of an open set. */
export async function read_codes(set, head, unpack) {
    const section = section_of(head, "code");
    if (!section) throw new TaperError("argument", "the container has no codes for search: taper encode --embed-with");
    return new Codes(await read_section(set, section, unpack), set.info.images);
}

/** The model that made them, if the container carries it (`encode --embed-search-model`): its bytes, or null. */
export async function read_codes_model(set, head, unpack) {
    const section = section_of(head, "smdl");
    return section && read_section(set, section, unpack);
}
