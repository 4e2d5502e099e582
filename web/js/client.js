/* client.js -- calls of a Decoder in a worker, or here. A worker that traps, runs out of memory or takes too long is
 * ended; its calls fail with the code "worker" or "timeout", and whoever owns the client makes another. */
import { Decoder } from "./decoder.js";
import { TaperError, is_fatal } from "./errors.js";

export const is_node = typeof process !== "undefined" && !!process.versions?.node;

/** A worker of a browser or of node behind the same four methods. */
async function open_worker(url) {
    if (typeof Worker !== "undefined") return new Worker(...(await worker_arguments(url)));
    if (!is_node) throw new Error("there are no workers here");
    const threads = "node:worker_threads"; // not for bundlers
    const { Worker: Thread } = await import(/* @vite-ignore */ /* webpackIgnore: true */ threads);
    const thread = new Thread(new URL(url));
    thread.on("message", (data) => thread.onmessage?.({ data }));
    thread.on("error", (error) => thread.onerror?.(error));
    return thread;
}

/** A worker of another origin is imported by one of this origin. */
async function worker_arguments(url) {
    const here = globalThis.location?.origin, { origin, protocol } = new URL(url);
    if (!here || origin === here || protocol === "blob:" || protocol === "data:") return [url, { type: "module" }];
    const text = new Blob([`import ${JSON.stringify(String(url))};`], { type: "text/javascript" });
    return [URL.createObjectURL(text), { type: "module" }];
}

/** A decoder in a worker. */
export class Client {
    /** module: a promise, so that the worker begins while it comes. options.worker: URL of taper-worker.js, or a
     *  function that makes a Worker. */
    constructor(module, { worker, timeout = 60000 }) {
        this.timeout = timeout;
        this.calls = new Map(); // id -> {done, failed, timer}
        this.last = 0;
        this.ended = null;
        this.busy = 0;
        this.opened = Promise.all([module, this.open(worker)]).then(([ready]) => this.call("start", { module: ready }, 0));
        this.opened.catch((error) => this.end(error));
    }

    async open(worker) {
        const opened = typeof worker === "function" ? await worker() : await open_worker(worker);
        if (this.ended) return void opened.terminate();
        this.worker = opened;
        opened.onmessage = ({ data }) => this.receive(data);
        opened.onerror = (event) => {
            event.preventDefault?.();
            this.end(new TaperError("worker", `the worker ended: ${event.message ?? "it cannot be loaded"}`));
        };
        opened.unref?.();
    }

    async run(name, args) {
        await this.opened;
        return this.call(name, args, this.timeout);
    }

    call(name, args, timeout) {
        if (this.ended) return Promise.reject(this.ended);
        const id = ++this.last;
        return new Promise((done, failed) => {
            const timer = timeout && setTimeout(() => this.end(new TaperError("timeout",
                `the worker did not answer within ${timeout / 1000} s and was ended`)), timeout);
            this.calls.set(id, { done, failed, timer });
            this.worker.ref?.();
            this.worker.postMessage({ id, call: name, args });
        });
    }

    receive({ id, answer, error }) {
        const call = this.calls.get(id);
        if (!call) return;
        clearTimeout(call.timer);
        this.calls.delete(id);
        if (!this.calls.size) this.worker.unref?.();
        if (!error) return call.done(answer);
        const told = TaperError.unpack(error);
        if (error.fatal) told.message = `the decoder ended: ${error.message}`;
        call.failed(told);
        if (error.fatal) this.end(told);
    }

    end(error = new TaperError("closed", "the set was closed")) {
        if (this.ended) return;
        this.ended = error;
        this.worker?.terminate();
        for (const { failed, timer } of this.calls.values()) {
            clearTimeout(timer);
            failed(error);
        }
        this.calls.clear();
    }
}

/** The same without a worker. */
export class LocalClient {
    constructor(module) {
        this.opened = Promise.resolve();
        this.ended = null;
        this.module = module;
        this.busy = 0;
    }

    async run(name, args) {
        await null;
        if (this.ended) throw this.ended;
        try {
            this.starting ??= this.begin();
            return await (await this.starting)[name](args);
        } catch (error) {
            if (!is_fatal(error)) throw error;
            const told = new TaperError("worker", `the decoder ended: ${error.message}`, { fatal: true });
            this.end(told);
            throw told;
        }
    }

    async begin() {
        return new Decoder(await this.module);
    }

    end(error = new TaperError("closed", "the set was closed")) {
        this.ended ??= error;
        this.starting = null;
    }
}
