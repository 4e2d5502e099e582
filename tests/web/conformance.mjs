// conformance.mjs -- a WebAssembly build on the conformance corpus: outcomes and pixels of each line of the manifest.
//
//     node conformance.mjs MODULE FOLDER [PATTERN]     only lines that hold PATTERN
//
// Prints a line for each difference and the number of lines tried; exits with 1 if any differ.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Calls, crc32c, decode, outcomeOf } from "./decoder_calls.mjs";

const [path, folder, pattern = ""] = process.argv.slice(2);
const calls = new Calls(path);
const files = new Map();
const samples = readFileSync(join(folder, "samples"));

function read(name) {
    if (!files.has(name)) files.set(name, readFileSync(join(folder, name)));
    return files.get(name);
}

function withModel(name, use) {
    const { status, made } = name === "-" ? { status: 0, made: 0 } : calls.model(read(name));
    if (status) throw new Error(`${name}: ${calls.error()}`);
    const found = use(made);
    if (made) calls.call.calls_model_free(made);
    return found;
}

function result(words, bytes) {
    if (!words[0].endsWith(".tpm")) return withModel(words[1], (model) => decode(calls, bytes, model));
    const { status, made } = calls.model(bytes);
    if (made) calls.call.calls_model_free(made);
    return { outcome: outcomeOf(status), images: [] };
}

/** At most a level of 8 bits between all samples. */
function isNear(images, from) {
    let at = from;
    for (const { depth, samples: ours } of images)
        for (let k = 0; k < ours.length; k += depth / 8, at += depth / 8) {
            const d = depth === 16 ? ours.readUInt16BE(k) - samples.readUInt16BE(at) : ours[k] - samples[at];
            if (Math.abs(d) > (depth === 16 ? 257 : 1)) return false;
        }
    return true;
}

/** What the manifest's words say against what was found; empty: nothing. */
function difference(words, { outcome, images }) {
    if (outcome !== words[3]) return `${outcome}, not ${words[3]}`;
    if (words.length === 4) return images.length ? "images" : "";
    if (words[5].startsWith("~")) return isNear(images, Number(words[5].slice(1))) ? "" : "pixels";
    const sums = images.map((image) => crc32c(image.samples)).join(" ");
    return sums === words.slice(5).join(" ") ? "" : "pixels: " + sums;
}

let lines = 0, differ = 0;
for (const line of readFileSync(join(folder, "manifest"), "utf8").split("\n")) {
    if (!line || line.startsWith("#") || !line.includes(pattern)) continue;
    const words = line.split(" ");
    // pushing what follows the end of a container is an error, decoding it from a source is not
    if (words[0] === "trailing.taper" && Number(words[2]) === read(words[0]).length) continue;
    const wrong = difference(words, result(words, read(words[0]).subarray(0, Number(words[2]))));
    if (wrong) console.log(`${words.slice(0, 3).join(" ")}: ${wrong}`);
    lines++;
    differ += wrong ? 1 : 0;
}
console.log(`${lines} lines, ${differ} differ`);
process.exit(differ || !lines ? 1 : 0);
