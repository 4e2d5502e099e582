/* plain-images.js -- plain <img src="photos.taper/cat.jpg"> in a page:
 *
 *     <script type="module">import { plain_images } from "./plain-images.js"; plain_images();</script>
 *
 * plain_images({ worker, scope }) registers the service worker taper-sw.js, which must lie at or above the pages, or be
 * served with the header Service-Worker-Allowed. At the first visit the server has answered 404 before the worker runs:
 * then these images are asked for again. Where there are no service workers, the page draws them by itself. Resolves to
 * "worker" or "page". */
import { open } from "./taper.js";
import { container_url, picture_at, picture_blob } from "./container-url.js";

const sets = new Map();
const STARTED = 10000; // ms

const images = () => [...document.images].filter((image) => container_url(image.getAttribute("src") ?? "", document.baseURI));
const is_broken = (image) => image.complete && image.naturalWidth === 0;

/** Resolves when a worker controls the page. */
function controlled() {
    const { serviceWorker } = navigator;
    if (serviceWorker.controller) return Promise.resolve();
    return new Promise((done, failed) => {
        serviceWorker.addEventListener("controllerchange", () => done(), { once: true });
        setTimeout(() => failed(new Error("the service worker did not start")), STARTED);
    });
}

function settled(image) {
    if (image.complete) return Promise.resolve();
    return new Promise((done) => ["load", "error"].forEach((name) => image.addEventListener(name, done, { once: true })));
}

async function draw_here(image) {
    const found = container_url(image.getAttribute("src"), document.baseURI);
    try {
        const picture = await picture_at(open, sets, found, {});
        image.src = URL.createObjectURL(await picture_blob(picture, found.name));
    } catch (error) {
        console.warn(`${found.container}: ${error.message}`);
    }
}

async function ask_again(how) {
    await Promise.all(images().map(async (image) => {
        await settled(image);
        if (is_broken(image)) await how(image);
    }));
}

export async function plain_images({ worker = new URL("./taper-sw.js", import.meta.url), scope } = {}) {
    try {
        if (!navigator.serviceWorker) throw new Error("there are no service workers here");
        const was_controlled = !!navigator.serviceWorker.controller;
        await navigator.serviceWorker.register(worker, { type: "module", ...(scope && { scope }) });
        await controlled();
        if (!was_controlled) await ask_again((image) => (image.src = image.getAttribute("src")));
        return "worker";
    } catch (error) {
        console.info(`plain images are drawn by the page: ${error.message}`);
        await ask_again(draw_here);
        return "page";
    }
}
