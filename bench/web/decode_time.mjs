// decode_time.mjs -- time to decode a container in WebAssembly, as bench/bench_web.c measures it natively.
//
//     node decode_time.mjs MODULE CONTAINER MODEL REPEATS
//
// Prints processor seconds of this thread, the least of the repeats, and the checksum of all pixels: a JSON object.
import { readFileSync } from "node:fs";
import { Calls, crc32c } from "../../tests/web/decoder_calls.mjs";

const [path, container, model, repeats] = process.argv.slice(2);
const calls = new Calls(path), bytes = readFileSync(container);
const { status, made } = calls.model(readFileSync(model));
if (status) throw new Error(calls.error());

function decode() {
    const decoder = calls.decoder(made), images = [];
    if (calls.push(decoder, bytes)) throw new Error(calls.error());
    for (let i = 0, n = calls.call.calls_images(decoder); i < n; i++) {
        const image = calls.render(decoder, i);
        if (image.status) throw new Error(calls.error());
        images.push(image.samples);
    }
    calls.call.calls_decoder_free(decoder);
    return images;
}

let least = Infinity, images;
for (let k = 0; k < Number(repeats); k++) {
    const begin = process.cpuUsage();
    images = decode();
    const { user, system } = process.cpuUsage(begin);
    least = Math.min(least, (user + system) / 1e6);
}
const pixels = crc32c(Buffer.concat(images));
console.log(JSON.stringify({ seconds: least, pixels }));
