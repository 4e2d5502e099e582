/* bad_server.mjs -- serves one file as servers do that are not to be trusted: the path says how. For tests/cli/web-js.sh.
 *
 *     const server = await serve_badly(bytes);
 *     server.url + "early"     // answers end after a third
 *     server.count             // requests so far, by path */
import { createServer } from "node:http";
import { gzipSync } from "node:zlib";

function range_of(request, size) {
    const found = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "");
    if (!found) return null;
    return [Number(found[1]), Math.min(Number(found[2]), size - 1)];
}

/** An answer as it should be, with these changes. */
function send(request, response, file, { headers = {}, body = (bytes) => bytes, total = file.length } = {}) {
    const range = range_of(request, file.length);
    if (!range) return response.writeHead(200, { "Content-Length": file.length, ...headers }).end(file);
    const [from, to] = range;
    if (from > to) return response.writeHead(416, { "Content-Range": `bytes */${total}` }).end();
    const part = body(file.subarray(from, to + 1));
    response.writeHead(206, { "Content-Range": `bytes ${from}-${to}/${total}`, "Content-Length": to - from + 1, ...headers });
    if (part.length === to - from + 1) return response.end(part);
    response.write(part, () => response.destroy());
}

/** Answers of each kind; n: requests of this kind before. */
const KINDS = {
    good: (request, response, file) => send(request, response, file, { headers: { ETag: '"1"' } }),
    whole: (request, response, file) => response.writeHead(200, { "Content-Length": file.length }).end(file),
    chunked: (request, response, file) => response.writeHead(200).end(file),
    packed(request, response, file) { // a proxy that compresses what is whole and what is not
        const range = range_of(request, file.length), part = range ? file.subarray(range[0], range[1] + 1) : file;
        const body = gzipSync(part);
        response.writeHead(range ? 206 : 200, { "Content-Encoding": "gzip", "Content-Length": body.length,
            ...(range && { "Content-Range": `bytes ${range[0]}-${range[1]}/${file.length}` }) }).end(body);
    },
    early: (request, response, file) => send(request, response, file,
        { body: (bytes) => bytes.subarray(0, Math.ceil(bytes.length / 3)) }),
    nothing: (request, response, file) => send(request, response, file, { body: () => Buffer.alloc(0) }),
    longer: (request, response, file) => send(request, response, file, { total: file.length + 1e9 }),
    shorter: (request, response, file) => send(request, response, file, { total: file.length >> 1 }),
    changed: (request, response, file, n) => send(request, response, file, { headers: { ETag: `"${n > 0}"` } }),
    dated: (request, response, file, n) => send(request, response, file,
        { headers: { "Last-Modified": n ? "Mon, 02 Jan 2023 00:00:00 GMT" : "Sun, 01 Jan 2023 00:00:00 GMT" } }),
    elsewhere(request, response, file) { // another range than was asked for
        const part = file.subarray(0, 100);
        response.writeHead(206, { "Content-Range": `bytes 7-106/${file.length}` }).end(part);
    },
    moved: (request, response) => response.writeHead(302, { Location: "good" }).end(),
    circle: (request, response) => response.writeHead(302, { Location: "circle" }).end(),
    busy: (request, response, file, n) => (n % 2 ? send(request, response, file)
        : response.writeHead(503, { "Retry-After": "0.01" }).end("busy")),
    broken: (request, response) => response.writeHead(500).end("broken"),
    gone: (request, response) => response.writeHead(404).end("gone"),
    html: (request, response) => response.writeHead(200, { "Content-Type": "text/html" }).end("<html>not found</html>"),
    empty: (request, response) => response.writeHead(200, { "Content-Length": 0 }).end(),
    hidden(request, response, file) { // another origin that exposes no headers
        const [from, to] = range_of(request, file.length);
        if (from > to) return response.writeHead(416).end();
        response.writeHead(206, { "Content-Length": to - from + 1 }).end(file.subarray(from, to + 1));
    },
    slow(request, response, file) { // a byte of the body, then nothing
        response.writeHead(206, { "Content-Range": `bytes 0-16383/${file.length}`, "Content-Length": 16384 });
        response.write(file.subarray(0, 1));
    },
};

export async function serve_badly(file) {
    const count = {};
    const server = createServer((request, response) => {
        const kind = request.url.slice(1);
        count[kind] ??= 0;
        const answer = KINDS[kind] ?? KINDS.gone;
        answer(request, response, file, count[kind]++);
    });
    await new Promise((done) => server.listen(0, "127.0.0.1", done));
    return {
        url: `http://127.0.0.1:${server.address().port}/`, count,
        close() {
            server.closeAllConnections();
            server.close();
        },
    };
}
