/* plain-images.js -- plain <img src="photos.taper/cat.jpg"> in a page:
 *
 *     <script type="module">import { plain_images } from "./plain-images.js"; plain_images();</script>
 *
 * plain_images({ worker, scope }) registers the service worker taper-sw.js; worker: another place of it. A service worker
 * controls pages of its own directory and below. If this package is elsewhere, put a file beside the page with the line
 * `import "./taper/taper-sw.js";` and give its name, or serve taper-sw.js with the header Service-Worker-Allowed and give
 * the scope. At the first visit the server has answered 404 before the worker runs: these images are asked for again.
 * Where no service worker can be had, this page draws the images that it has now. Resolves to "worker" or "page". */
import { open } from "./taper.js";
import { pause } from "./errors.js";
import { PlainSets, plain_address } from "./plain-address.js";

const STARTED = 10000; // ms

const found_in = (image) => plain_address(image.currentSrc || image.src, document.baseURI);
const is_broken = (image) => image.complete && image.naturalWidth === 0;

function settled(image) {
    if (image.complete) return Promise.resolve();
    return new Promise((done) => ["load", "error"].forEach((name) => image.addEventListener(name, done, { once: true })));
}

/** Images that the server does not have, now or when it has answered. */
function ask_again(how) {
    for (const image of document.images)
        if (found_in(image)) settled(image).then(() => is_broken(image) && how(image));
}

/** Resolves when a worker controls the page. */
async function controlled(registering) {
    const { serviceWorker } = navigator;
    const changed = new Promise((done) => serviceWorker.addEventListener("controllerchange", done, { once: true }));
    const registration = await registering;
    if (serviceWorker.controller) return;
    registration.active?.postMessage("taper-claim"); // after a reload past the worker
    await changed;
}

async function register(worker, scope) {
    if (!navigator.serviceWorker) throw new Error("there are no service workers here: they need https, or localhost");
    const place = new URL(worker, document.baseURI), reach = new URL(scope ?? ".", scope ? document.baseURI : place);
    if (!document.URL.startsWith(reach.href))
        throw new Error(`the service worker ${place} controls pages below ${reach} only; see plain-images.js`);
    const registering = navigator.serviceWorker.register(place, { type: "module", scope: reach.href });
    const late = pause(STARTED).then(() => Promise.reject(new Error("the service worker did not start")));
    await Promise.race([controlled(registering), late]);
}

export async function plain_images({ worker = new URL("./taper-sw.js", import.meta.url), scope } = {}) {
    const { readyState } = document;
    if (readyState === "loading") await new Promise((done) => document.addEventListener("DOMContentLoaded", done));
    try {
        await register(worker, scope);
        ask_again((image) => (image.src = image.src));
        return "worker";
    } catch (error) {
        console.info(`plain images are drawn by the page: ${error.message}`);
        const sets = new PlainSets(open);
        ask_again(async (image) => {
            const png = await sets.png(found_in(image)).catch((failure) => console.warn(`${image.src}: ${failure.message}`));
            if (png) image.src = URL.createObjectURL(png);
        });
        return "page";
    }
}
