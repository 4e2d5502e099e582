/* planner.js -- the worker that knows the front matter of a set: which bytes an image needs. Images that are asked for
 * in one turn of the event loop are planned together, so that their bytes are fetched together. */
import { TaperError, next_turn } from "./errors.js";
import { RangeSet, total } from "./ranges.js";

const MOST_NAMES = 4096;
const MOST_ROUNDS = 64;

export class Planner {
    /** set: has make_client, source, model, options. */
    constructor(set) {
        this.set = set;
        this.front = new RangeSet();
        this.queue = [];
        this.shares = true; // a worker that draws, up to the first picture: a second one would delay it
    }

    /** Plans in a worker of its own from now on, so that plans do not wait for pictures. */
    part() {
        if (!this.shares || !this.set.workers) return;
        this.shares = false;
        this.ready = null;
    }

    /** The client, with the front matter so far. */
    async client() {
        if (!this.ready || this.worker?.ended) {
            this.worker = this.shares ? this.set.pool.warm() : this.set.make_client();
            this.ready = this.begin(this.worker);
        }
        return this.ready;
    }

    async begin(worker) {
        await worker.run("begin", { model: this.set.model?.bytes() ?? null, plans: true });
        if (this.front.starts.length)
            await worker.run("locate", { image: 0, cut: -1, pieces: this.set.pieces(this.front.list()) });
        return worker;
    }

    /** {ranges, info, image}: the bytes of an image, in file order, and what is known of it. */
    locate(image, cut, signal) {
        return new Promise((done, failed) => {
            this.queue.push({ image, cut, signal, done, failed });
            if (this.queue.length === 1) next_turn(() => this.flush(this.queue.splice(0)));
        });
    }

    /** Plans these together; what is missing of the front matter is fetched before. */
    async flush(asked) {
        let pieces = [], before = "";
        for (let round = 0; asked.length; round++) {
            const wanted = new RangeSet(), later = [];
            for (const one of asked) {
                try {
                    const found = await (await this.client()).run("locate", { image: one.image, cut: one.cut, pieces });
                    pieces = [];
                    if (found.info) one.found = found;
                    else for (const range of found.ranges) wanted.add(...range);
                    if (!found.info) later.push(one);
                } catch (error) {
                    one.failed(error);
                }
            }
            for (const one of asked) if (one.found) one.done(one.found);
            asked = later;
            try {
                if (asked.length) pieces = await this.fetch(wanted.list(), before, round);
                before = String(wanted.list());
            } catch (error) {
                for (const one of asked) one.failed(error);
                return;
            }
        }
    }

    /** Pieces of the front matter. */
    async fetch(ranges, before, round) {
        const { source, options } = this.set, bytes = total(ranges), most = options.maxFront ?? 64 << 20;
        if (bytes > most)
            throw new TaperError("limit", `the front matter has ${bytes} bytes, above the limit of ${most} (maxFront)`);
        if (!bytes || String(ranges) === before || round > MOST_ROUNDS)
            throw new TaperError("truncated", "the file ends within its front matter");
        await source.want(ranges);
        const pieces = this.set.pieces(ranges);
        for (const [at, { length }] of pieces) this.front.add(at, length);
        return pieces;
    }

    async describe() {
        return (await this.client()).run("describe", { most: MOST_NAMES });
    }

    async layers(image) {
        return (await this.client()).run("layers", { image });
    }

    /** The content of a zstd frame. */
    async unpack(bytes, size) {
        return (await this.client()).run("unpack", { bytes, size });
    }

    close(error) {
        this.worker?.end(error);
    }
}
