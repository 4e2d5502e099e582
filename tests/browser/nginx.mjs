/* nginx.mjs -- serves a folder by nginx, with settings as distributions ship them, for tests.
 *
 *     const server = await serve_folder("page");
 *     await fetch(server.url + "index.html");
 *     server.log();                                   // the requests so far: method, path, status, bytes, range
 *     server.close(); */
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pause } from "./chromium.mjs";

/** The path of nginx, or null. */
export function nginx_program() {
    for (const name of ["nginx", "/usr/sbin/nginx"])
        if (spawnSync(name, ["-v"], { stdio: "ignore" }).status === 0) return name;
    return null;
}

/** A TCP port that is free now. */
export function free_port() {
    return new Promise((done, failed) => {
        const probe = createServer().on("error", failed).listen(0, "127.0.0.1", () => {
            const { port } = probe.address();
            probe.close(() => done(port));
        });
    });
}

const settings = (folder, root, port, extra) => `
daemon off; master_process off; pid ${folder}/pid; error_log ${folder}/error.log;
events { worker_connections 512; }
http {
    types { text/html html; text/javascript js mjs; text/css css; application/wasm wasm;
            image/jpeg jpg; image/png png; }
    default_type application/octet-stream;
    log_format plain '$request_method $uri $status $body_bytes_sent $http_range';
    access_log ${folder}/access.log plain;
    client_body_temp_path ${folder}/body; proxy_temp_path ${folder}/proxy;
    fastcgi_temp_path ${folder}/fastcgi; uwsgi_temp_path ${folder}/uwsgi;
    scgi_temp_path ${folder}/scgi;
    server { listen 127.0.0.1:${port}; root ${root}; index index.html; ${extra} }
}
`;

/** Serves a folder on a free port of 127.0.0.1; `extra` goes into the server block. */
export async function serve_folder(root, extra = "") {
    const folder = mkdtempSync(join(tmpdir(), "taper-nginx-"));
    const port = await free_port();
    writeFileSync(join(folder, "conf"), settings(folder, resolve(root), port, extra));
    const child = spawn(nginx_program(), ["-p", folder, "-c", join(folder, "conf")],
        { stdio: "ignore" });
    const url = `http://127.0.0.1:${port}/`;
    const close = () => {
        child.kill("SIGKILL");
        rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
    };
    process.on("exit", close);
    for (let tries = 0;; tries++, await pause(20)) {
        if (await fetch(url).then(() => true, () => false)) break;
        if (tries > 200) throw new Error("nginx does not answer");
    }
    writeFileSync(join(folder, "access.log"), "");
    return {
        url, port,
        log: () => readFileSync(join(folder, "access.log"), "utf8").split("\n").filter(Boolean)
            .map((line) => {
                const [method, path, status, bytes, range] = line.split(" ");
                return { method, path, status: +status, bytes: +bytes, range };
            }),
        close,
    };
}
