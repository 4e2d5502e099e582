/* gallery.js -- the tiles of a set, which sharpen together.
 *
 * First every visible tile gets what the first range of the file shows, then all of them the next step, and so on:
 * no tile is two steps ahead of another. A step is a number of bits per pixel of the tile, so that the bytes
 * fetched follow the size at which images are looked at. Tiles in the window go on from there, by 2.5 times the bytes
 * a step, until a step hardly changes them: they look complete. */
import { psnr_db, put_picture, scale_for } from "./dom.js";

const TILE_STEPS = [0, 0.06, 1]; // 0: what the first range has
const FURTHER = 2.5;                  // so many times the bytes at each step after these
const ENOUGH = 2.5;                   // bits per pixel of a tile, which may be asked for in any case,
const LEAST = 4096, MOST = 65536;     // or so many bytes of an image
const ALIKE = 30;                     // dB between two steps; then 35 dB to the whole image, as was measured
const KEPT = 600;                     // drawn tiles in memory
const FEW_PIXELS = 16384;             // smaller pictures are drawn in full size at once

export class Gallery {
    /** drawn(i): a tile was drawn. failed(i, error). */
    constructor(grid, { drawn = () => {}, failed = () => {} } = {}) {
        Object.assign(this, { grid, drawn, failed });
        this.running = new Map(); // image -> AbortController
        this.order = null;        // images to show, or null: all
        this.state = new Map();   // image -> {step, picture, scale, bytes, complete, sated, stale, bad}
        this.first_at = null;     // when the first tile was drawn
    }

    open(pictures) {
        this.stop();
        this.state.clear();
        this.grid.clear();
        this.pictures = pictures;
        this.order = null;
        this.paused = false;
        this.first_at = this.all_at = null;
    }

    /** Shows these images only, in this order; null: all. */
    show(order) {
        this.order = order;
        this.grid.clear();
        this.grid.set({ count: order ? order.length : this.pictures.count });
        this.grid.scroll_to(0);
        this.grid.update();
    }

    stop() {
        for (const control of this.running.values()) control.abort();
        this.running.clear();
    }

    pause(is_paused) {
        this.paused = is_paused;
        if (is_paused) this.stop();
        else this.work();
    }

    image_at(place) {
        return this.order ? this.order[place] : place;
    }

    /** Tiles came or went: fills those that are known and starts to decode the others. */
    shown() {
        if (!this.pictures) return;
        const visible = new Set();
        for (const [place, tile] of this.grid.tiles) {
            const i = this.image_at(place);
            visible.add(i);
            if (!tile.firstChild.width || tile.image !== i) this.fill(tile, i);
        }
        for (const [i, control] of this.running) if (!visible.has(i)) control.abort();
        this.work();
    }

    fill(tile, i) {
        const known = this.state.get(i);
        tile.image = i;
        tile.classList.toggle("bad", !!known?.bad);
        if (known?.picture) put_picture(tile.firstChild, known.picture);
        else tile.firstChild.width = tile.firstChild.height = 0;
    }

    /** The visible images that are furthest behind, and their step. */
    next() {
        const found = { step: Infinity, images: [] }, { inside, near } = this.grid.visible();
        for (const place of [...inside, ...near]) {
            const i = this.image_at(place), step = this.step_of(this.state.get(i), inside.includes(place));
            if (this.running.has(i) || step > found.step) continue;
            if (step < found.step) Object.assign(found, { step, images: [] });
            if (step < Infinity) found.images.push(i);
        }
        return found;
    }

    /** The next step of an image; Infinity: none. */
    step_of(known, is_inside) {
        if (!known) return 0;
        if (known.bad || known.complete) return Infinity;
        if (known.stale && is_inside) return known.step;
        return known.sated || (known.step + 1 >= TILE_STEPS.length && !is_inside) ? Infinity : known.step + 1;
    }

    /** The data of an image, of `area` pixels in its tile, that a step asks for: {bytes, is_last}. */
    wish(step, info, area) {
        const { is_local, in_group } = this.pictures, places = Math.min(in_group, this.grid.tiles.size);
        const bits = TILE_STEPS[step] ?? FURTHER ** (step + 1 - TILE_STEPS.length), bytes = (area * bits) / 8;
        if (step < TILE_STEPS.length) return { bytes: Math.ceil(bytes * places), is_last: false };
        if (is_local) return { bytes: Infinity, is_last: true };
        const most = Math.max(MOST, (area * ENOUGH) / 8), some = Math.min(Math.max(bytes, LEAST), most) * places;
        return { bytes: Math.ceil(some), is_last: bytes >= most || some >= info.bytes };
    }

    /** Draws of one step are asked for together, so that their ranges are joined. The next step begins when they are
     *  done, of the first ones; tiles that are further behind do not wait. */
    work() {
        if (this.paused || !this.pictures) return;
        const { step, images } = this.next();
        if (this.running.size && step >= this.step && this.step < TILE_STEPS.length) return;
        if (images.length) for (const i of images) this.draw(i, (this.step = step));
        else if (!this.running.size && this.state.size) this.all_at = performance.now();
    }

    async draw(i, step) {
        const control = new AbortController(), { pictures, grid } = this;
        this.running.set(i, control);
        const known = this.state.get(i) ?? { step: -1 };
        try {
            const info = await pictures.info(i, control.signal);
            const fitting = scale_for(info, grid.width, grid.height), is_first = step === 0 && fitting <= 8 &&
                info.width * info.height > FEW_PIXELS * fitting * fitting;
            const scale = is_first ? 2 * fitting : fitting; // so few bytes have no details
            const area = (info.width / scale) * (info.height / scale);
            const { bytes, is_last } = this.wish(step, info, area);
            const done = await pictures.draw(i, { scale, bytes, here: step > 0, signal: control.signal });
            if (pictures !== this.pictures) return;
            const sated = is_last || known.sated || (step >= TILE_STEPS.length - 1 && !info.isIndexed && is_alike(known, done));
            Object.assign(known, { step, scale, sated, stale: false, bytes: done.bytes, picture: done.picture,
                complete: done.complete && !is_first });
        } catch (error) {
            if (control.signal.aborted || pictures !== this.pictures) return;
            Object.assign(known, { step, bad: String(error.message ?? error) });
            this.failed(i, error);
        } finally {
            if (this.running.get(i) === control) this.running.delete(i);
            if (pictures === this.pictures) queueMicrotask(() => this.work());
        }
        this.keep(i, known);
        for (const [place, tile] of grid.tiles)
            if (this.image_at(place) === i) grid.name(tile), this.fill(tile, i);
        this.first_at ??= performance.now();
        this.drawn(i);
    }

    /** Remembers what was drawn; forgets what was drawn longest ago. */
    keep(i, known) {
        this.state.delete(i);
        this.state.set(i, known);
        if (this.state.size <= KEPT) return;
        const visible = new Set([...this.grid.tiles.keys()].map((place) => this.image_at(place)));
        for (const old of this.state.keys()) {
            if (this.state.size <= KEPT) break;
            if (!visible.has(old)) this.state.delete(old);
        }
    }

    /** Bytes of images may have come by other ways: tiles that are not complete are drawn again with them. */
    more_came() {
        for (const known of this.state.values()) known.stale = true;
    }

    /** The tiles have another size: sharper pictures may be wanted. */
    resized() {
        for (const [i, known] of this.state)
            if (!known.bad) this.state.set(i, { ...known, step: 0, complete: false, sated: false });
        this.work();
    }
}

/** Many more bytes hardly changed the picture. */
function is_alike({ picture, bytes }, done) {
    const is_same_size = picture?.width === done.picture.width && picture.height === done.picture.height;
    return is_same_size && done.bytes >= 2 * bytes && psnr_db(picture, done.picture) >= ALIKE;
}
