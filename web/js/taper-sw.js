/* taper-sw.js -- a service worker: <img src="photos.taper/cat.jpg"> shows an image of photos.taper, by ranges, as PNG with
 * the pixels of the decoder. Addresses: plain-address.js. Pages register it by plain-images.js. It decodes on its own
 * thread, as service workers have no workers. A container of another origin, and other addresses, go to the server. */
import { open } from "./taper.js";
import { PlainSets, plain_address } from "./plain-address.js";

const sets = new PlainSets(open, { workers: 0 });

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));
// a page that was loaded past the worker asks for it
self.addEventListener("message", (event) => event.data === "taper-claim" && event.waitUntil(self.clients.claim()));

async function answer(found, signal) {
    try {
        const body = await sets.png(found, signal);
        return new Response(body, { headers: { "Content-Type": body.type } });
    } catch (error) {
        const status = error.code === "argument" || error.status === 404 ? 404 : 502;
        const text = `${new URL(found.container).pathname}: ${error.message}\n`;
        return new Response(text, { status, headers: { "Content-Type": "text/plain; charset=utf-8" } });
    }
}

self.addEventListener("fetch", (event) => {
    const { request } = event, found = request.method === "GET" ? plain_address(request.url) : null;
    if (found && new URL(found.container).origin === self.location.origin)
        event.respondWith(answer(found, request.signal));
});
