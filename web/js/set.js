/* set.js -- a set of images behind a URL or in memory: see taper.js. */
import { Client, LocalClient, is_node } from "./client.js";
import { read_codes, read_codes_model, section_of } from "./codes.js";
import { TaperError, abort_error } from "./errors.js";
import { PHOTO, model_of, model_wanted } from "./model.js";
import { Pictures, picture_of } from "./picture.js";
import { Planner } from "./planner.js";
import { Pool } from "./pool.js";
import { RangeSet, first_bytes, split_at, total } from "./ranges.js";
import { DEFAULTS, source_of } from "./source.js";
import { wasm_module } from "./wasm.js";

const HEAD = 4096;
const SCALES = [1, 2, 4, 8, 16];
const SHARPER = 1.7;        // so many times the bytes make a picture that is worth drawing
const WORTH = 0.3;
const SCALED_BITS = 2.5;    // bits for a pixel of a scaled picture: more hardly shows

const workers_here = () => typeof Worker !== "undefined" || is_node;

function workers_wanted({ workers }) {
    if (workers !== undefined) return Math.max(0, workers);
    const processors = globalThis.navigator?.hardwareConcurrency ?? 2;
    return workers_here() ? Math.max(1, Math.min(4, processors - 1)) : 0;
}

export class TaperSet {
    constructor(from, options) {
        this.options = options;
        this.source = source_of(from, options);
        this.workers = workers_wanted(options);
        this.planner = new Planner(this);
        this.pool = new Pool(() => this.make_client(), Math.max(1, this.workers));
        this.place = typeof from === "string" || from instanceof URL ? String(from) : "the container";
        this.model = null;        // null: the container carries it
        this.stages = null;       // of a carried model, between the layers
        this.made = {};           // promises of what search needs
    }

    async begin() {
        const { source, options } = this;
        this.module = wasm_module(options.wasm);
        this.module.catch(() => {});
        this.pool.warm(); // a worker begins while bytes come
        const guess = options.models || options.modelBase === null ? null : model_of(PHOTO, options);
        guess?.first().catch(() => {});
        await source.want([[0, options.first ?? DEFAULTS.first]], { signal: options.signal });
        const wanted = model_wanted(this.head(), this.place);
        if (!wanted.carried) this.model = wanted.id === PHOTO && guess ? guess : model_of(wanted.id, options);
        if (guess && guess !== this.model && !guess.version) guess.stop();
        await Promise.all([this.module, this.model?.first()]);
        await this.planner.locate(0, -1, options.signal);
        this.with_model(this.pool.warm()).catch(() => {}); // while the caller begins; told when it draws
        const { info, names } = await this.planner.describe();
        this.stages = new RangeSet(info.stages);
        info.hasCodes = section_of(this.head(), "code") !== null;
        Object.assign(this, { info, names, length: info.images });
        if (options.signal?.aborted) throw abort_error(options.signal);
    }

    /** The file's first bytes: header and section table are in them. */
    head() {
        return this.source.store.get(0, Math.min(this.source.store.held.run(0), HEAD));
    }

    make_client() {
        const url = this.options.worker ?? new URL("./taper-worker.js", import.meta.url);
        return this.workers ? new Client(this.module, { worker: url, timeout: this.options.timeout })
            : new LocalClient(this.module);
    }

    /** Bytes for a worker. */
    pieces(ranges) {
        const { store } = this.source;
        return store.parts(ranges).map(([at, size]) => [at, store.get(at, size)]);
    }

    async describe(image) {
        const { info, image: i } = await this.planner.locate(image, -1);
        return { ...info, index: i };
    }

    async similar(image, most = 24) {
        const { index } = (await this.planner.locate(image, -1)).info; // of a further name: of the image that it names
        const codes = await this.codes();
        return codes.nearest(codes.of(index), most, index);
    }

    async similarTo(picture, most = 24) {
        const codes = await this.codes(), embedder = await this.once("embedder", () => this.open_embedder(codes));
        return codes.nearest(codes.pack(embedder.code(picture)), most);
    }

    codes() {
        return this.once("codes", () => read_codes(this, this.head(), (...given) => this.planner.unpack(...given)));
    }

    /** The model of the codes: that of the container, or by its id. */
    async open_embedder(codes) {
        const carried = await read_codes_model(this, this.head(), (...given) => this.planner.unpack(...given));
        const { open_embedder } = await import("./embedder.js"); // when it is wanted
        const embedder = await open_embedder(carried ?? codes.model, this.options);
        if (embedder.isBinary && embedder.modelId === codes.model && embedder.units >= codes.bits) return embedder;
        throw new TaperError("corrupt", "the container's model for search is not the one that made its codes");
    }

    /** A promise that is made once, and again after it failed. */
    once(name, make) {
        this.made[name] ??= make().catch((error) => {
            this.made[name] = null;
            throw error;
        });
        return this.made[name];
    }

    async layers(image = 0) {
        const { index } = await this.describe(image);
        return this.planner.layers(index);
    }

    image(image, options = {}) {
        const pictures = new Pictures((give, signal, is_read) => this.draw(image, options, give, signal, is_read), options);
        pictures.start().catch(() => {});
        return pictures;
    }

    async *images(images, options = {}) {
        const all = [...(images ?? Array(this.length).keys())].map((i) => [i, this.image(i, options)]);
        for (const [i, pictures] of all) yield [i, await pictures];
    }

    async prefetch(images, options = {}) {
        const located = await Promise.all([...(images ?? Array(this.length).keys())].map(
            (image) => this.planner.locate(image, options.cut ?? -1, options.signal)));
        const wanted = new RangeSet();
        for (const one of located) for (const range of this.wanted(one, options).ranges) wanted.add(...range);
        await this.source.want(wanted.list(), { signal: options.signal });
    }

    /** What of the image is wanted: {ranges, cut}. */
    wanted({ ranges, info }, { bytes, cut = -1, scale = 1, exact = false }) {
        const area = (info.width / scale) * (info.height / scale), { frontBytes } = this.info;
        if (cut >= 0 && cut < frontBytes)
            throw new TaperError("truncated", `incomplete header, need ${frontBytes - cut} more bytes (cut is ${cut})`);
        bytes ??= scale === 1 || cut >= 0 ? Infinity : (area * SCALED_BITS) / 8;
        const some = bytes === Infinity ? ranges : this.worth(ranges, Math.ceil(bytes), exact);
        if (exact) cut = Math.max(frontBytes, ...some.slice(-1).map(([at, size]) => at + size));
        return { ranges: some, cut };
    }

    /** The first `bytes` bytes of data, with the stages of the model before them. */
    worth(ranges, bytes, exact) {
        const { stages } = this, some = first_bytes(ranges, bytes, stages), last = some[some.length - 1];
        if (exact || some.length < 2) return some;
        const sum = total(some.filter((range) => !stages.has(...range)));
        const all = split_at(ranges, stages)[some.length - 1][1];
        // the beginning of one more chunk is worth a request only if it brings something
        return last[1] < WORTH * sum && last[1] < all ? first_bytes(some, sum - last[1], stages) : some;
    }

    async draw(image, options, give, signal, is_read) {
        const { scale = 1, cut = -1 } = options;
        if (!SCALES.includes(scale)) throw new TaperError("argument", `scale is ${scale}: 1, 2, 4, 8 or 16`);
        if (signal.aborted) throw abort_error(signal);
        if (this.failure) throw this.failure;
        const found = await this.planner.locate(image, cut, signal);
        const wanted = this.wanted(found, options);
        const job = { ...options, ...wanted, scale, signal, index: found.image, info: found.info };
        job.use = options.here && job.cut < 0 ? found.ranges : job.ranges;
        const final = await this.sharpen(job, give, is_read);
        return options.model === "any" ? final : this.finish(job, final, give, is_read);
    }

    /** Draws while bytes come, if somebody looks, and at their end. */
    async sharpen(job, give, is_read) {
        const { source } = this, { ranges, signal } = job;
        let wake = null, here = false, drawn = 0;
        const progress = () => wake?.();
        const fetching = source.want(ranges, { signal, progress }).then(() => {
            here = true;
            progress();
        }, (error) => {
            this.trouble = here = error;
            progress();
            throw error;
        });
        fetching.catch(() => {});
        for (;;) {
            if (source.is_here?.(ranges) ?? here) break;
            if (here) break;
            const known = source.store.prefix(ranges);
            if (is_read() && known > SHARPER * drawn) {
                drawn = known;
                give(await this.draw_now(job));
            } else {
                await new Promise((done) => (wake = done));
            }
        }
        await fetching;
        return this.draw_now(job);
    }

    /** Draws again when the model is whole. */
    async finish(job, picture, give, is_read) {
        const { model } = this;
        if (!model || picture.completeness.stages === picture.completeness.stagesInModel) return picture;
        if (is_read()) give(picture);
        await model.rest();
        if (job.signal.aborted) throw abort_error(job.signal);
        return this.draw_now(job);
    }

    async draw_now(job, again = true) {
        const key = this.info.groups < this.info.images ? job.info.group : null;
        const drawn = await this.pool.run(key, (client) => this.draw_on(client, job), job.signal);
        if (job.signal.aborted) throw abort_error(job.signal);
        if (drawn.picture.damaged && again && this.source.is_here?.(job.ranges)) return this.fetch_again(job, drawn);
        this.planner.part();
        this.model?.rest().catch(() => {});
        const { index, info, scale } = job;
        return picture_of(drawn.picture, { index, name: info.name, scale, info, model: drawn.model });
    }

    /** Damaged bytes are fetched once more, past all caches. */
    async fetch_again(job, drawn) {
        const { source } = this, bad = drawn.picture.again ?? [];
        for (const [at, size] of bad) source.store.drop(at, size);
        for (const client of this.pool.clients) for (const range of bad) client.sent?.remove(...range);
        if (bad.length) await source.want([...bad, ...job.ranges], { signal: job.signal, reload: true });
        return this.draw_now(job, false);
    }

    /** Resolves when a worker has the model, as much of it as is here now. A worker that was sent stages behind the cut
     *  begins anew without them. */
    with_model(client, cut = -1) {
        const { model } = this, behind = cut < 0 ? 0 : this.info.stages.filter(([at, size]) => at + size > cut).length;
        const version = `${model?.version ?? 1} ${behind}`;
        if (client.version !== version) {
            Object.assign(client, { version, sent: new RangeSet() });
            client.begun = client.run("begin", { model: model?.bytes() ?? null }).then((begun) => {
                client.model = begun;
            }, (error) => {
                client.version = 0;
                throw error;
            });
        }
        return client.begun;
    }

    /** Draws with a worker, which is sent the bytes that it lacks. */
    async draw_on(client, job) {
        const { source } = this, { index, cut, scale, crop, use, as } = job;
        await this.with_model(client, cut);
        for (let round = 0, front = this.root(); round < 8; round++) {
            const pieces = this.unsent(client, [...front, ...use]);
            let answer;
            try {
                answer = await client.run("draw", { image: index, cut, scale, crop, as, pieces });
            } catch (error) {
                client.version = 0; // it may have lost what it was sent
                if (error.code !== "limit" || round) throw error;
                return this.draw_on(client, job);
            }
            if (answer.picture) return { ...answer, model: client.model };
            await source.want(answer.missing);
            front = answer.missing;
        }
        throw new TaperError("truncated", "the front matter is not complete");
    }

    root() {
        return this.planner.front.list().slice(0, 1);
    }

    unsent(client, ranges) {
        const out = [];
        for (const range of this.source.store.parts(ranges))
            for (const [at, size] of client.sent.missing(...range)) {
                out.push([at, this.source.store.get(at, size)]);
                client.sent.add(at, size);
            }
        return out;
    }

    get statistics() {
        return { ...this.source.statistics, model: this.model?.source?.statistics ?? null };
    }

    close() {
        const error = (this.failure = new TaperError("closed", "the set was closed"));
        this.source.close();
        this.planner.close(error);
        this.pool.close(error);
        this.made.embedder?.then((embedder) => embedder.close(), () => {});
    }
}
