// bounds.mjs -- what holds a WebAssembly build: node bounds.mjs MODULE CONTAINER MODEL. It imports nothing, its memory
// has a maximum, a decoder keeps to its limit, and an access beyond the memory ends the instance alone.
import { readFileSync } from "node:fs";
import { Calls } from "./decoder_calls.mjs";

const [path, container, model] = process.argv.slice(2);
function need(good, what) {
    if (!good) throw new Error(what);
}

const MOST_PAGES = 16384; // of 64 KiB: 1 GiB
need(WebAssembly.Module.imports(new WebAssembly.Module(readFileSync(path))).length === 0, "there are imports");
const calls = new Calls(path);
let refused = false;
try {
    calls.call.memory.grow(MOST_PAGES);
} catch (error) {
    refused = error instanceof RangeError;
}
need(refused, "the memory grows beyond its maximum");
need(calls.call.calls_take(0x7fffffff) === 0, "2 GiB were given");

// a front matter that claims a million images in a limit of 1 MiB: the file's own header with another count
const bytes = readFileSync(container), { made } = calls.model(readFileSync(model));
const before = calls.bytes.length, decoder = calls.decoder(made, 1);
const status = calls.push(decoder, new Uint8Array(8 << 20).fill(0x80).map((byte, i) => (i < 56 ? bytes[i] : byte)));
need(status !== 0, "a damaged front matter was taken");
calls.call.calls_decoder_free(decoder);
need(calls.bytes.length - before <= 24 << 20, "memory: " + (calls.bytes.length - before));

let trapped = false;
try {
    calls.call.calls_push(0xfffffff0, 16, 16);
} catch (error) {
    trapped = error instanceof WebAssembly.RuntimeError;
}
need(trapped, "an address beyond the memory was read");
const other = new Calls(path);
need(other.push(other.decoder(other.model(readFileSync(model)).made), bytes) === 0, "another instance does not work");
console.log("bounded");
