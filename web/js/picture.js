/* picture.js -- what image() gives: a promise of the final picture that is also an iterator of sharper and sharper ones. */
import { abort_error } from "./errors.js";

/** Pictures of one request. `work(yield_picture, signal)` draws; it returns the final picture. */
export class Pictures {
    constructor(work, { signal, onprogress } = {}) {
        Object.assign(this, { work, onprogress });
        this.control = new AbortController();
        this.waiting = []; // calls of next()
        this.ready = null; // the sharpest picture that nobody took yet
        this.is_read = !!onprogress;
        if (signal?.aborted) this.control.abort(abort_error(signal));
        signal?.addEventListener("abort", () => this.control.abort(abort_error(signal)), { once: true });
    }

    /** Starts in the same turn, once. */
    start() {
        this.final ??= this.work((picture) => this.give(picture), this.control.signal, () => this.is_read)
            .then((picture) => {
                if (!this.ended) this.end(picture);
                return picture;
            }, (error) => {
                this.failure = this.control.signal.aborted ? abort_error(this.control.signal) : error;
                this.end(null);
                throw this.failure;
            });
        return this.final;
    }

    /** A picture that is not the last. */
    give(picture) {
        this.onprogress?.(picture);
        const next = this.waiting.shift();
        if (next) return next.done({ value: picture, done: false });
        this.ready?.image?.close?.();
        this.ready = picture;
    }

    end(picture) {
        this.ended = true;
        if (picture) this.last = picture;
        for (const next of this.waiting.splice(0)) this.next().then(next.done, next.failed);
    }

    next() {
        this.start().catch(() => {});
        if (this.last) {
            const value = this.last;
            this.last = this.ready = null;
            return Promise.resolve({ value, done: false });
        }
        if (this.ready) {
            const value = this.ready;
            this.ready = null;
            return Promise.resolve({ value, done: false });
        }
        if (this.failure) {
            const error = this.failure;
            this.failure = null;
            return Promise.reject(error);
        }
        if (this.ended) return Promise.resolve({ value: undefined, done: true });
        return new Promise((done, failed) => this.waiting.push({ done, failed }));
    }

    /** The loop was left. */
    return() {
        this.control.abort();
        return Promise.resolve({ value: undefined, done: true });
    }

    [Symbol.asyncIterator]() {
        this.is_read = true;
        return this;
    }

    then(done, failed) {
        return this.start().then(done, failed);
    }

    catch(failed) {
        return this.then(undefined, failed);
    }

    finally(call) {
        return this.start().finally(call);
    }
}

/** A picture for the caller, of what a worker drew. */
export function picture_of(drawn, { index, name, scale, info, model }) {
    const { width, height, data, bitmap, completeness, damaged } = drawn;
    const image = bitmap ?? (typeof ImageData === "undefined" ? { width, height, data, colorSpace: "srgb" }
        : new ImageData(data, width, height));
    const { stages = 1, loaded = 1 } = model ?? {}, { bytes: all } = info;
    return {
        image, data: bitmap ? null : data, width, height, index, name, scale, damaged,
        completeness: {
            ...completeness, bytesInFile: all, share: all ? completeness.bytes / all : 1,
            stages: loaded, stagesInModel: stages, complete: completeness.complete && loaded === stages,
        },
    };
}
