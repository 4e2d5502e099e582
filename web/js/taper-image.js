/* taper-image.js -- an image of a container as an element:
 *
 *     <script type="module" src="taper-image.js"></script>
 *     <taper-image src="photos.taper#cat.jpg" alt="A cat"></taper-image>
 *
 * src      the container, and the image behind "#": its name, or its number from 0 ("#3"; a name goes first)
 * alt      text in place of the picture
 * scale    1, 2, 4, 8 or 16; default: by the size of the element, as it is shown
 * sizes    width of the place in CSS pixels, such as "320px", where it is known before layout is
 * loading  "lazy" (default): when the element comes near the visible part; "eager": at once
 * bytes    data of the image to fetch at most; default: by the scale
 *
 * It sharpens while bytes come. Events: "progress" and "load" (detail: completeness), "error" (detail: the error). Style it
 * like <img>: width, height, object-fit (of the part "canvas"). TaperImageElement.options are those of open(). */
import { open } from "./taper.js";

const NEAR = "200px";
const SCALES = [16, 8, 4, 2];
const Base = globalThis.HTMLElement ?? class {};

const STYLE = `:host { display: inline-block; position: relative; overflow: hidden; max-width: 100%; }
:host([hidden]) { display: none; }
canvas { display: block; width: 100%; height: 100%; object-fit: inherit; }
span { position: absolute; inset: 0; padding: 0.3em; font-size: 0.85em; overflow: hidden; }`;

const sets = new Map(); // URL -> promise of a set

export class TaperImageElement extends Base {
    static observedAttributes = ["src", "alt", "scale", "sizes", "loading", "bytes"];
    static options = {};

    /** Elements of one container share it. */
    static set(url) {
        const { href } = new URL(url, document.baseURI);
        if (!sets.has(href)) {
            const promise = open(href, TaperImageElement.options);
            promise.catch(() => sets.delete(href));
            sets.set(href, promise);
        }
        return sets.get(href);
    }

    constructor() {
        super();
        const root = this.attachShadow({ mode: "open" });
        root.innerHTML = `<style>${STYLE}</style><canvas part="canvas" width="0" height="0"></canvas><span hidden></span>`;
        [, this.canvas, this.words] = root.children;
        this.complete = false;
        this.near = false;
    }

    get src() { return this.getAttribute("src") ?? ""; }
    set src(value) { this.setAttribute("src", value); }
    get alt() { return this.getAttribute("alt") ?? ""; }
    set alt(value) { this.setAttribute("alt", value); }
    get naturalWidth() { return this.info?.width ?? 0; }
    get naturalHeight() { return this.info?.height ?? 0; }

    connectedCallback() {
        this.role ??= "img";
        this.sight = new IntersectionObserver((entries) => {
            this.near = entries[entries.length - 1].isIntersecting;
            if (this.near) this.update();
            else this.control?.abort();
        }, { rootMargin: NEAR });
        this.size = new ResizeObserver(() => this.info && this.update());
        this.sight.observe(this);
        this.size.observe(this);
        this.update();
    }

    disconnectedCallback() {
        this.sight.disconnect();
        this.size.disconnect();
        this.control?.abort();
        this.shown = null;
    }

    attributeChangedCallback(name, before, now) {
        if (before === now) return;
        if (name === "alt") this.ariaLabel = now;
        if (name === "src") this.reset();
        if (this.isConnected) this.update();
    }

    reset() {
        this.control?.abort();
        this.info = this.shown = null;
        this.complete = false;
        this.canvas.width = this.canvas.height = 0;
        this.words.hidden = true;
    }

    /** The largest reduction that fills the place. */
    wanted_scale() {
        const given = Number(this.getAttribute("scale"));
        if (given) return given;
        const ratio = globalThis.devicePixelRatio || 1, box = this.getBoundingClientRect();
        const width = parseFloat(this.getAttribute("sizes")) || box.width, { info } = this;
        const most = Math.max(width / info.width, width === box.width ? box.height / info.height : 0) * ratio;
        return SCALES.find((scale) => 1 / scale >= most * 0.9) ?? 1;
    }

    /** Draws if it is to be seen and something has changed. */
    async update() {
        const { src } = this, lazy = this.getAttribute("loading") !== "eager";
        if (!src || (lazy && !this.near) || !this.isConnected) return;
        try {
            if (!this.info) {
                const { set, image } = await this.find(src);
                if (this.src !== src) return;
                Object.assign(this, { set, image });
                this.info = await set.describe(image);
                if (this.src !== src) return;
                this.reserve();
            }
            const scale = this.wanted_scale(), bytes = this.getAttribute("bytes");
            const key = `${src} ${scale} ${bytes}`;
            if (this.shown === key) return;
            this.shown = key;
            await this.draw(scale, bytes === null ? undefined : Number(bytes));
        } catch (error) {
            this.fail(error);
        }
    }

    /** The set, and the image's name or number. */
    async find(src) {
        const url = new URL(src, document.baseURI), image = decodeURIComponent(url.hash.slice(1)) || "0";
        url.hash = "";
        const set = await TaperImageElement.set(url);
        const is_number = /^\d+$/.test(image) && !set.names?.includes(image);
        return { set, image: is_number ? Number(image) : image };
    }

    /** The place of the picture, before there is one. */
    reserve() {
        const { width, height } = this.info, style = getComputedStyle(this);
        this.style.aspectRatio ||= `${width} / ${height}`;
        if (this.getBoundingClientRect().width === 0 || style.width === "auto") this.style.width ||= `${width}px`;
    }

    async draw(scale, bytes) {
        this.control?.abort();
        const control = (this.control = new AbortController());
        let last = null;
        try {
            for await (const picture of this.set.image(this.image, { scale, bytes, signal: control.signal })) {
                if (control.signal.aborted) return;
                this.put(picture.image);
                last = picture;
                this.tell("progress", picture.completeness);
            }
        } catch (error) {
            if (!control.signal.aborted) throw error;
            this.shown = null;
            return;
        }
        if (control.signal.aborted || !last) return;
        this.complete = true;
        this.tell("load", last.completeness);
    }

    put(image) {
        const { canvas } = this;
        if (canvas.width !== image.width) canvas.width = image.width;
        if (canvas.height !== image.height) canvas.height = image.height;
        canvas.getContext("2d").putImageData(image, 0, 0);
        this.words.hidden = true;
    }

    fail(error) {
        this.shown = null;
        this.words.textContent = this.alt || error.message;
        this.words.hidden = this.canvas.width > 0;
        this.tell("error", error);
    }

    tell(name, detail) {
        this.dispatchEvent(new CustomEvent(name, { detail }));
    }
}

globalThis.customElements?.define("taper-image", TaperImageElement);
