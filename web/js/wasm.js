/* wasm.js -- the module of the decoder, or of the embedder: with 128-bit SIMD, or the plain one where that lacks. Compiled once for a URL. */
import { TaperError } from "./errors.js";
import { is_node } from "./client.js";

/* (module (func (result v128) i32.const 0 i8x16.splat i8x16.popcnt)) */
const SIMD = [0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 10, 1, 8, 0, 65, 0, 253, 15, 253,
    98, 11];
const compiled = new Map();

export const has_simd = () => WebAssembly.validate(new Uint8Array(SIMD));

async function compile(url) {
    if (is_node && url.protocol === "file:") {
        const files = "node:fs/promises"; // not for bundlers
        const { readFile } = await import(/* @vite-ignore */ /* webpackIgnore: true */ files);
        return WebAssembly.compile(await readFile(url));
    }
    const response = await fetch(url);
    if (!response.ok) throw new TaperError("http", `${url}: HTTP ${response.status}`, { status: response.status });
    if (response.headers.get("content-type")?.startsWith("application/wasm") && WebAssembly.compileStreaming)
        return WebAssembly.compileStreaming(response);
    return WebAssembly.compile(await response.arrayBuffer()); // a server that does not know the type
}

/** given: a WebAssembly.Module, bytes, a URL or a promise of one, in place of the files beside this one. files: with SIMD,
 *  and without if that is another one. */
export function wasm_module(given, files = ["taper.wasm", "taper-plain.wasm"]) {
    if (typeof given?.then === "function") return given.then((one) => wasm_module(one, files));
    if (given instanceof WebAssembly.Module) return Promise.resolve(given);
    if (given instanceof ArrayBuffer || ArrayBuffer.isView(given)) return WebAssembly.compile(given);
    const url = given ? new URL(given, globalThis.location?.href)
        : new URL(`./${has_simd() ? files[0] : files[files.length - 1]}`, import.meta.url);
    if (!compiled.has(url.href)) {
        const promise = compile(url);
        promise.catch(() => compiled.delete(url.href));
        compiled.set(url.href, promise);
    }
    return compiled.get(url.href);
}
