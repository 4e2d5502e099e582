/* taper-sw.js -- a service worker: plain <img src="photos.taper/cat.jpg"> shows an image of photos.taper, by ranges. The
 * addresses are those of container-url.js. Pages register it by plain-images.js. A module: { type: "module" }.
 * What is no such address, and what fails, goes to the server as without it. */
import { open } from "./taper.js";
import { container_url, picture_at, picture_blob } from "./container-url.js";

const sets = new Map();
const OPTIONS = { workers: 0 }; // a service worker has no workers; it is none of the page's threads

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

async function answer(request, found) {
    try {
        const picture = await picture_at(open, sets, found, OPTIONS);
        const body = await picture_blob(picture, found.name);
        return new Response(body, { headers: { "Content-Type": body.type, "X-Taper-Complete":
            String(picture.completeness.complete) } });
    } catch (error) {
        const response = await fetch(request).catch(() => Response.error());
        if (response.type === "error" || response.status !== 404) return response;
        return new Response(`${error.message}\n`, { status: 404, headers: { "Content-Type": "text/plain" } });
    }
}

self.addEventListener("fetch", (event) => {
    const { request } = event, found = container_url(request.url);
    if (!found || request.method !== "GET" || request.headers.has("range")) return;
    if (new URL(found.container).origin === self.location.origin) event.respondWith(answer(request, found));
});
