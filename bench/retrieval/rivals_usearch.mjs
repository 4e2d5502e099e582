// rivals_usearch.mjs -- USearch (npm `usearch`), an HNSW index of bits, on the codes of
// bench_retrieval: recall, time of one query on one thread, memory beside the codes, seconds to
// build. JSON lines to standard output, as of bench/bench.h.
//
//     npm install --prefix FOLDER usearch
//     node rivals_usearch.mjs FOLDER DIR [CODES [QUERIES [LINKS [EF_BUILD]]]]
//
// The package takes a number a bit and packs them itself: that is a part of each query's time.
// An index is made once, saved, and loaded anew for every setting of the search.
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { createRequire } from "node:module";

const K = 10, TRUTH = 100, CHUNK = 20000;
const [folder, dir, most = "Infinity", many = "1000", links = "16", efBuild = "128"] =
  process.argv.slice(2);

function print(metric, value, unit, config) {
  const machine = process.env.TAPER_MACHINE ?? `${os.cpus()[0].model}, ${os.cpus().length} cores`;
  console.log(JSON.stringify({
    bench: "retrieval/rivals", metric, value: Number(value.toPrecision(6)), unit, config,
    commit: process.env.TAPER_COMMIT ?? "unknown", machine,
    command: ["rivals_usearch.mjs", ...process.argv.slice(2)].join(" "),
  }));
}

function skip(why) {
  print("skipped", 0, "", { method: "usearch-hnsw", skipped: why });
  process.exit(0);
}

// --- codes ----------------------------------------------------------------------------------

const file = (name) => fs.readFileSync(path.join(dir, name));

// Codes first .. first + n - 1, a number a bit: 1 or 0. The order of bits within a code does not
// matter to Hamming's distance.
function bitsOf(bytes, first, n, width) {
  const out = new Int8Array(n * width * 8);
  for (let i = 0; i < n * width; i++)
    for (let b = 0; b < 8; b++) out[8 * i + b] = (bytes[first * width + i] >> b) & 1;
  return out;
}

const ones = new Uint8Array(256).map((_, x) => x.toString(2).split("1").length - 1);

function distance(a, i, b, j, width) {
  let sum = 0;
  for (let w = 0; w < width; w++) sum += ones[a[i * width + w] ^ b[j * width + w]];
  return sum;
}

// The distance of each query's tenth: a count of codes at each distance.
function tenths(codes, queries, n, nQueries, width) {
  const words = new Uint32Array(codes.buffer, codes.byteOffset, (n * width) / 4);
  const wanted = new Uint32Array(queries.buffer.slice(queries.byteOffset));
  const wide = width / 4, tenth = [];
  const count = (x) => {
    x -= (x >>> 1) & 0x55555555;
    x = (x & 0x33333333) + ((x >>> 2) & 0x33333333);
    return Math.imul((x + (x >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
  };
  for (let q = 0; q < nQueries; q++) {
    const at = new Uint32Array(8 * width + 1);
    for (let i = 0; i < n; i++) {
      let sum = 0;
      for (let w = 0; w < wide; w++) sum += count(words[i * wide + w] ^ wanted[q * wide + w]);
      at[sum]++;
    }
    let d = 0;
    for (let below = at[0]; below < K; below += at[++d]);
    tenth.push(d);
  }
  return tenth;
}

// --- the rival ------------------------------------------------------------------------------

let usearch;
try {
  usearch = createRequire(path.resolve(folder, "package.json"))("usearch");
} catch (error) {
  skip(`npm usearch is not there: ${error.message.split("\n")[0]}`);
}
const version = JSON.parse(
  fs.readFileSync(path.join(folder, "node_modules/usearch/package.json"))).version;
const codes = file("codes.bits"), queries = file("queries.bits");
const all = file("labels.i32").length / 4, width = codes.length / all;
const n = Math.min(all, Number(most)), nQueries = Math.min(Number(many), queries.length / width);

const make = (expansion) => new usearch.Index({
  dimensions: 8 * width, metric: "hamming", quantization: "b1", connectivity: Number(links),
  expansion_add: Number(efBuild), expansion_search: expansion,
});

function build(saved) {
  const index = make(64), before = process.memoryUsage().rss, start = performance.now();
  let packing = 0;
  for (let first = 0; first < n; first += CHUNK) {
    const many = Math.min(CHUNK, n - first), packed = performance.now();
    const vectors = bitsOf(codes, first, many, width);
    const keys = BigUint64Array.from({ length: many }, (_, i) => BigInt(first + i));
    packing += performance.now() - packed;
    index.add(keys, vectors, os.cpus().length);
  }
  index.save(saved);
  return { seconds: (performance.now() - start - packing) / 1000,
           memory: process.memoryUsage().rss - before };
}

function truth(name) {
  const at = path.join(dir, name);
  if (n < all || !fs.existsSync(at)) return null;
  const bytes = fs.readFileSync(at);
  return new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
}

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];
const truths = { recall_real: truth("truth-real.u32"), recall_pixels: truth("truth-pixels.u32") };

function measure(index, expansion, tenth, beside, seconds) {
  const vectors = bitsOf(queries, 0, nQueries, width), times = [];
  const right = { recall: 0, recall_real: 0, recall_pixels: 0 };
  for (let q = 0; q < nQueries; q++) {
    const query = vectors.subarray(q * 8 * width, (q + 1) * 8 * width), start = performance.now();
    const { keys } = index.search(query, K, 1);
    times.push(1000 * (performance.now() - start));
    for (const key of keys) {
      right.recall += distance(queries, q, codes, Number(key), width) <= tenth[q];
      for (const [name, numbers] of Object.entries(truths))
        right[name] += numbers?.subarray(q * TRUTH, q * TRUTH + K).includes(Number(key)) ?? false;
    }
  }
  const share = (x) => Number((x / (K * nQueries)).toFixed(4));
  const config = { method: "usearch-hnsw", codes: "real", n, bits: 8 * width, links: Number(links),
    ef_build: Number(efBuild), ef_search: expansion, k: K, queries: nQueries, usearch: version,
    recall: share(right.recall) };
  for (const [name, numbers] of Object.entries(truths))
    if (numbers) config[name] = share(right[name]);
  print("query_median", median(times), "us", config);
  print("beside_codes", (100 * beside) / (n * width), "% of codes", config);
  print("build", seconds, "s", config);
}

const saved = path.join(os.tmpdir(), `usearch-${process.pid}.bin`);
const { seconds } = build(saved);
const beside = fs.statSync(saved).size - n * width;
const tenth = tenths(codes, queries, n, nQueries, width);
for (let expansion = 16; expansion <= 2048; expansion *= 2) {
  const index = make(expansion);
  index.load(saved);
  measure(index, expansion, tenth, beside, seconds);
}
fs.unlinkSync(saved);
