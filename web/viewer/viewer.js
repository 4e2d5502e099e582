/* viewer.js -- the page of a container: opens it, and connects gallery, large image, line and search.
 *
 *   dom      elements and words                 line     counts what is fetched, plays a slow line
 *   grid     virtual scrolling                  gallery  tiles that sharpen together
 *   panes    zoom, drag, pinch, swipe           large    one image, its bytes, JPEG beside it
 *   jpeg     JPEG of a given size               pictures images of a container, by taper.js
 *
 * They are two scripts: viewer.js, all that the first picture needs, and viewer-more.js (more.js), which is loaded after
 * it: large, panes, jpeg.
 *
 * index.html holds the settings, as JSON: container (a relative address), and where the decoder and the model are. */
import { bytes_text, count_text, make } from "./dom.js";
import { Gallery } from "./gallery.js";
import { Grid } from "./grid.js";
import { Line } from "./line.js";
import { decoder, held_container, open_pictures } from "./pictures.js";

const element = (id) => document.getElementById(id);
const settings = JSON.parse(element("taper-page").textContent);
const page = { source: null, pictures: null, line: null, opened: 0 };
const more = new Promise((done) => (globalThis.taper_more = done));
let large = null;

const grid = new Grid(element("grid"), {
    shown: () => gallery.shown(),
    opened: (place) => open_large(gallery.image_at(place)),
    label: (place) => page.pictures?.label(gallery.image_at(place)) ?? `image ${place + 1}`,
});
const gallery = new Gallery(grid, { drawn: () => (say(), load_more()), failed: (i, error) => console.warn(`image ${i + 1}: ${error.message}`) });

/* --- what is loaded later --- */

/** Loads viewer-more.js, once; in a page of one file it is there. */
function load_more() {
    if (load_more.begun || !settings.version) return;
    load_more.begun = true;
    const script = make("script");
    Object.assign(script, { type: "module", src: `viewer-more.js?${settings.version}` });
    script.onerror = () => (load_more.begun = false);
    document.head.append(script);
}

more.then(({ Large }) => {
    large = globalThis.taper_page.large = new Large(element("large"), {
        moved: (i) => history.replaceState(null, "", `#${i + 1}`),
        closed: closed_large,
        beside: (i, by) => {
            const place = (gallery.order ? gallery.order.indexOf(i) : i) + by;
            return place < 0 || place >= grid.count ? null : gallery.image_at(place);
        },
        similar: show_similar,
        thumbnail: (i) => gallery.state.get(i)?.picture,
    });
});

/* --- what is said --- */

function say() {
    const { pictures, line } = page;
    if (!pictures) return;
    const words = [count_text(pictures.count, "image"),
        `${bytes_text(line.bytes)}${pictures.size ? ` of ${bytes_text(pictures.size)}` : ""}`,
        count_text(line.requests, "request")];
    element("said").textContent = words.join(" · ");
    if (pictures.size) element("progress").value = Math.min(1, line.bytes / pictures.size);
}

function trouble(error) {
    const box = make("p", "trouble", error.message ?? String(error));
    box.setAttribute("role", "alert");
    gallery.stop();
    gallery.pictures = null;
    grid.clear();
    grid.set({ count: 0 });
    grid.room.append(box);
    element("said").textContent = "not opened";
}

/* --- opening --- */

async function open(source, kbit = 0) {
    const mine = ++page.opened;
    element("large").close();
    gallery.stop();
    page.pictures?.close();
    page.pictures = null;
    grid.room.querySelector(".trouble")?.remove();
    element("progress").value = 0;
    element("back").hidden = true;
    element("said").textContent = "opening";
    page.source = source;
    const line = (page.line = new Line({ kbit, changed: () => line === page.line && say() }));
    try {
        const pictures = await open_pictures(source, settings, line);
        if (mine !== page.opened) return pictures.close();
        page.pictures = pictures;
        await begin(pictures);
    } catch (error) {
        if (mine === page.opened) trouble(error);
    }
}

/** Tiles for images of this kind: small ones are not enlarged much, nor cropped. */
async function begin(pictures) {
    const info = pictures.count ? await pictures.info(0) : { width: 1, height: 1 };
    const side = Math.max(info.width, info.height), touch = matchMedia("(max-width: 640px)").matches;
    const fitting = side <= 64 ? Math.max(48, 2 * side) : side <= 256 ? side : touch ? 170 : 240;
    element("size").value = fitting;
    element("grid").classList.toggle("pixels", side <= 64);
    gallery.open(pictures);
    grid.set({ count: pictures.count, side: fitting, ratio: side <= 256 ? 1 : 0.75 });
    say();
    const wanted = /^#(\d+)$/.exec(location.hash);
    if (wanted && wanted[1] >= 1 && wanted[1] <= pictures.count && page.opened === 1)
        open_large(wanted[1] - 1);
}

const open_file = (file) => {
    element("title").textContent = document.title = file.name;
    history.replaceState(null, "", " ");
    return open(file, 0);
};

/* --- one image, and images like it --- */

async function open_large(i) {
    const { pictures } = page;
    load_more();
    await more;
    if (pictures !== page.pictures) return;
    gallery.pause(true);
    large.open(pictures, i);
}

function closed_large(i) {
    history.replaceState(null, "", location.pathname + location.search);
    gallery.more_came();
    gallery.pause(false);
    if (i === undefined || !page.pictures) return;
    const place = gallery.order ? gallery.order.indexOf(i) : i;
    if (place >= 0) grid.focus(place);
}

async function show_similar(i) {
    try {
        gallery.show(await page.pictures.near(i, 200));
        element("back").hidden = false;
        element("back").focus();
    } catch (error) {
        element("said").textContent = error.message;
    }
}

element("back").onclick = () => {
    element("back").hidden = true;
    gallery.show(null);
};

addEventListener("keydown", (event) => {
    if (!element("large").open && !event.target.closest?.("header, .tile")) grid.enter(event);
});

/* --- tools --- */

element("rate").onchange = () => open(page.source, +element("rate").value);
element("size").oninput = () => {
    grid.set({ side: +element("size").value });
    gallery.resized();
};
element("file").onchange = () => {
    const file = element("file").files[0];
    if (file) open_file(file);
    element("file").value = "";
};

let inside = 0; // dragenter and dragleave come for every element below the pointer
const has_files = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
const dragging = (by) => (event) => {
    if (!has_files(event)) return;
    event.preventDefault();
    inside = Math.max(0, inside + by);
    element("drop").hidden = !inside;
};
addEventListener("dragenter", dragging(1));
addEventListener("dragleave", dragging(-1));
addEventListener("dragover", (event) => has_files(event) && event.preventDefault());
addEventListener("drop", (event) => {
    if (!has_files(event)) return;
    event.preventDefault();
    inside = 0;
    element("drop").hidden = true;
    if (event.dataTransfer.files[0]) open_file(event.dataTransfer.files[0]);
});

/* for tests and for the curious: what the page knows */
globalThis.taper_page = { page, grid, gallery, large, open, open_file, open_large }; // large: set when it is loaded

decoder(settings).catch(() => {}); // it is fetched together with the container
const first = settings.container ?? held_container(settings.name);
if (first) open(first);
else element("said").textContent = "Open a .taper file, or drop one here";
