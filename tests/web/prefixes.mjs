// prefixes.mjs -- what a WebAssembly build makes of each prefix of a container: the lines of tests/web/prefixes.c.
//
//     node prefixes.mjs MODULE CONTAINER MODEL     MODEL -: the container's own
import { readFileSync } from "node:fs";
import { Calls, crc32c, decode } from "./decoder_calls.mjs";

const [path, container, model] = process.argv.slice(2);
const calls = new Calls(path), bytes = readFileSync(container);
const { status, made } = model === "-" ? { status: 0, made: 0 } : calls.model(readFileSync(model));
if (status) throw new Error(calls.error());
for (let n = 0; n <= bytes.length; n++) {
    const { outcome, images } = decode(calls, bytes.subarray(0, n), made);
    console.log([n, outcome, ...images.map((image) => crc32c(image.samples))].join(" "));
}
