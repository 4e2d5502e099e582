/* taper-worker.js -- a worker: decodes images of one set. Messages: {id, call, args}; answers: {id, answer} or
 * {id, error}. The first call is "start" with the compiled module. */
import { Decoder, transfers } from "./decoder.js";
import { TaperError, is_fatal } from "./errors.js";

let decoder = null;

async function answer({ id, call, args }, post) {
    try {
        if (call === "start") {
            decoder = new Decoder(args.module);
            post({ id, answer: null });
            return;
        }
        const result = await decoder[call](args);
        post({ id, answer: result }, transfers(result));
    } catch (error) {
        const packed = TaperError.pack(error);
        if (is_fatal(error)) Object.assign(packed, { code: "worker", fatal: true });
        post({ id, error: packed });
    }
}

if (typeof self !== "undefined" && typeof self.postMessage === "function") {
    let turn = Promise.resolve(); // one call after the other
    self.onmessage = ({ data }) => (turn = turn.then(() => answer(data, self.postMessage.bind(self))));
} else {
    const threads = "node:worker_threads"; // not for bundlers
    const { parentPort } = await import(/* @vite-ignore */ /* webpackIgnore: true */ threads);
    let turn = Promise.resolve();
    parentPort.on("message",
        (data) => (turn = turn.then(() => answer(data, parentPort.postMessage.bind(parentPort)))));
}
