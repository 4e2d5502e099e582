/* ranges.js -- sets of byte ranges, and the bytes of a file as far as they are known. A range is [offset, size]. */

/** Ranges of whole numbers, ascending, that neither overlap nor touch. */
export class RangeSet {
    constructor(ranges = []) {
        this.starts = [];
        this.ends = [];
        for (const [at, size] of ranges) this.add(at, size);
    }

    /** The first piece that ends after `at`. */
    index(at) {
        let low = 0, high = this.ends.length;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (this.ends[middle] > at) high = middle;
            else low = middle + 1;
        }
        return low;
    }

    add(at, size) {
        let end = at + size, k = this.index(at - 1);
        if (size <= 0) return;
        let n = 0;
        for (; k + n < this.starts.length && this.starts[k + n] <= end; n++) {
            at = Math.min(at, this.starts[k + n]);
            end = Math.max(end, this.ends[k + n]);
        }
        this.starts.splice(k, n, at);
        this.ends.splice(k, n, end);
    }

    remove(at, size) {
        const rest = [], end = at + size, k = this.index(at);
        let n = 0;
        for (; k + n < this.starts.length && this.starts[k + n] < end; n++) {
            if (this.starts[k + n] < at) rest.push([this.starts[k + n], at]);
            if (this.ends[k + n] > end) rest.push([end, this.ends[k + n]]);
        }
        this.starts.splice(k, n, ...rest.map(([start]) => start));
        this.ends.splice(k, n, ...rest.map(([, stop]) => stop));
    }

    /** What of this range is missing here. */
    missing(at, size) {
        const out = [], end = at + size;
        for (let k = this.index(at); at < end; k++) {
            const start = k < this.starts.length ? Math.min(this.starts[k], end) : end;
            if (start > at) out.push([at, start - at]);
            at = k < this.ends.length ? Math.max(at, this.ends[k]) : end;
        }
        return out;
    }

    has(at, size) {
        return this.missing(at, size).length === 0;
    }

    /** Bytes from `at` on without a gap. */
    run(at) {
        const k = this.index(at);
        return k < this.starts.length && this.starts[k] <= at ? this.ends[k] - at : 0;
    }

    list() {
        return this.starts.map((start, k) => [start, this.ends[k] - start]);
    }
}

export const total = (ranges) => ranges.reduce((sum, [, size]) => sum + size, 0);

/** Ranges, cut in parts that lie within `set` or outside of it. */
export function split_at(ranges, set) {
    const out = [];
    for (let [at, size] of ranges) {
        for (const end = at + size; at < end;) {
            const inside = Math.min(set.run(at), end - at), [gap] = inside ? [] : set.missing(at, end - at);
            out.push([at, inside || gap[1]]);
            at += inside || gap[1];
        }
    }
    return out;
}

/** The first `bytes` bytes of ranges in file order. Those in `free` do not count; none of them are at the end. */
export function first_bytes(ranges, bytes, free = new RangeSet()) {
    const out = [];
    let n = 0;
    for (const [at, size] of split_at(ranges, free)) {
        if (bytes <= 0) break;
        if (free.has(at, size)) {
            out.push([at, size]);
            continue;
        }
        out.push([at, Math.min(size, bytes)]);
        bytes -= size;
        n = out.length;
    }
    return out.slice(0, n);
}

/** Ranges with at most `gap` bytes between them become one. `ranges`: ascending. */
export function join_gaps(ranges, gap) {
    const out = [];
    for (const [at, size] of ranges) {
        const last = out[out.length - 1];
        if (last && at - (last[0] + last[1]) <= gap) last[1] = Math.max(last[1], at + size - last[0]);
        else out.push([at, size]);
    }
    return out;
}

/** The bytes of a file that are here. */
export class Store {
    constructor() {
        this.held = new RangeSet();
        this.pieces = []; // {at, bytes}: ascending, none overlaps another
    }

    place(at) {
        let low = 0, high = this.pieces.length;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (this.pieces[middle].at + this.pieces[middle].bytes.length > at) high = middle;
            else low = middle + 1;
        }
        return low;
    }

    /** Keeps what is new of these bytes. */
    put(at, bytes) {
        for (const [start, size] of this.held.missing(at, bytes.length)) {
            const piece = { at: start, bytes: bytes.subarray(start - at, start - at + size) };
            this.pieces.splice(this.place(start), 0, piece);
        }
        this.held.add(at, bytes.length);
    }

    /** Forgets whole pieces that touch this range; the range is asked for again. */
    drop(at, size) {
        const first = this.place(at);
        let n = 0;
        for (; first + n < this.pieces.length && this.pieces[first + n].at < at + size; n++) {
            const piece = this.pieces[first + n];
            this.held.remove(piece.at, piece.bytes.length);
        }
        this.pieces.splice(first, n);
    }

    /** Bytes that are here, in an array of their own. */
    get(at, size) {
        const out = new Uint8Array(size);
        for (let k = this.place(at); k < this.pieces.length && this.pieces[k].at < at + size; k++) {
            const { at: start, bytes } = this.pieces[k];
            const from = Math.max(start, at), to = Math.min(start + bytes.length, at + size);
            out.set(bytes.subarray(from - start, to - start), from - at);
        }
        return out;
    }

    /** The parts of these ranges that are here. */
    parts(ranges) {
        const out = [];
        for (const [at, size] of ranges) {
            const end = at + size;
            for (let from = at; from < end;) {
                const run = Math.min(this.held.run(from), end - from);
                if (run) out.push([from, run]);
                from += run;
                const [gap] = this.held.missing(from, end - from);
                if (!gap) continue;
                from = gap[0] + gap[1];
            }
        }
        return out;
    }

    /** Bytes of these ranges, in their order, up to the first that is not here. */
    prefix(ranges) {
        let sum = 0;
        for (const [at, size] of ranges) {
            const run = Math.min(this.held.run(at), size);
            sum += run;
            if (run < size) break;
        }
        return sum;
    }
}
