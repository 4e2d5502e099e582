/* plain-address.js -- addresses of images within containers, as `taper serve` has them: photos.taper/cat.jpg?scale=1/4 is
 * the image "cat.jpg" of photos.taper at 1/4 of its size. Behind ".taper/" is a name in the container; without that the
 * same name with another suffix or none; without that the number of an image, from 1: photos.taper/3.png. */
import { TaperError } from "./errors.js";
import { png_of } from "./png.js";

const MARK = ".taper/";
const MOST_SETS = 4;

/** {container, name, scale, bytes}, or null: another address. */
export function plain_address(address, base) {
    let url, name;
    try {
        url = new URL(address, base);
        name = decodeURIComponent(url.pathname.slice(url.pathname.lastIndexOf(MARK) + MARK.length));
    } catch {
        return null; // no address, or no UTF-8
    }
    const at = url.pathname.lastIndexOf(MARK);
    if (at < 1 || !name) return null;
    const container = new URL(url.pathname.slice(0, at + MARK.length - 1), url), query = url.searchParams;
    return {
        container: container.href, name, scale: Number((query.get("scale") ?? "1").replace(/^1\//, "")),
        bytes: query.has("bytes") ? bytes_of(query.get("bytes")) : undefined,
    };
}

function bytes_of(text) {
    const [, digits, unit = ""] = /^(\d+)([kKmM]?)$/.exec(text) ?? [];
    return digits ? Number(digits) * { "": 1, k: 1024, m: 1 << 20 }[unit.toLowerCase()] : NaN;
}

const stem = (name) => name.replace(/\.[^./]*$/, "");

/** The number of the image, from 0. */
async function find(set, name) {
    for (const key of new Set([name, stem(name)])) {
        try {
            return (await set.describe(key)).index;
        } catch (error) {
            if (error.code !== "argument") throw error;
        }
    }
    const like = set.names?.findIndex((other) => other !== null && stem(other) === stem(name)) ?? -1;
    if (like >= 0) return like;
    const number = Number(stem(name));
    if (/^\d+$/.test(stem(name)) && number >= 1 && number <= set.length) return number - 1;
    throw new TaperError("argument", `there is no image "${name}", and no image of this number`);
}

/** Open containers, the last few. */
export class PlainSets {
    /** open: of taper.js. */
    constructor(open, options = {}) {
        Object.assign(this, { open, options });
        this.sets = new Map(); // address -> promise of a set
    }

    set(address) {
        const set = this.sets.get(address) ?? this.open(address, this.options);
        set.catch(() => this.sets.delete(address));
        this.sets.delete(address);
        this.sets.set(address, set); // the last one that was used
        if (this.sets.size > MOST_SETS) this.sets.delete(this.sets.keys().next().value);
        return set;
    }

    /** A PNG file with the pixels of the decoder; found: of plain_address. */
    async png(found, signal, again = true) {
        const { container, name, scale, bytes } = found;
        if (Number.isNaN(bytes)) throw new TaperError("argument", "bytes is no number: 20000 or 20K");
        try {
            const set = await this.set(container);
            return png_of(await set.image(await find(set, name), { scale, bytes, signal }));
        } catch (error) {
            if (error.code !== "changed" || !again) throw error;
            this.sets.delete(container);
            return this.png(found, signal, false);
        }
    }
}
