/* large.js -- one image large: what is known of it at once, then sharper and sharper; a slider over its bytes, and
 * JPEG of as many bytes beside it. */
import { bytes_text, make, make_button, psnr_db, scale_for } from "./dom.js";
import { jpeg_of_bytes } from "./jpeg.js";
import { Panes } from "./panes.js";

const LARGE_STEPS = [0.02, 0.1, 0.4, Infinity];
const LEAST = 64; // bytes at the left end of the slider

export class Large {
    /** moved(i): another image is shown; closed(i): none any more. beside(i, by): the image after or before.
     *  similar(i): wanted are images like this one. */
    constructor(dialog, { moved, closed, beside, similar, thumbnail }) {
        Object.assign(this, { dialog, moved, closed, beside, similar, thumbnail });
        this.panes = new Panes({ swiped: (by) => this.go(by), dismissed: () => this.dialog.close() });
        this.title = make("h2");
        this.words = make("p");
        this.previous = make_button("‹", "Previous image", () => this.go(-1));
        this.next = make_button("›", "Next image", () => this.go(1));
        this.like = make_button("Similar", "Images like this one", () => this.leave_for_similar());
        this.compare = make_button("Beside JPEG", "Compare with JPEG of as many bytes",
            () => this.set_compared(!this.compared));
        this.compare.setAttribute("aria-pressed", "false");
        this.slider = make("input");
        Object.assign(this.slider, { type: "range", min: 0, max: 1000, value: 1000 });
        this.slider.setAttribute("aria-label", "bytes of this image");
        this.slider.oninput = () => this.cut();
        this.said = make("p");
        this.said.setAttribute("role", "status");
        const top = make("div", "bar"), bottom = make("div", "bar"), cut = make("div", "cut");
        top.append(this.title, this.words, make("span", "grow"), this.like, this.previous, this.next,
            make_button("✕", "Close", () => dialog.close()));
        cut.append(this.slider, this.said);
        bottom.append(cut, this.compare);
        this.panes.element.tabIndex = 0; // where the keyboard begins
        this.panes.element.autofocus = true;
        this.panes.element.setAttribute("aria-label", "the image; keys: arrows, plus, minus, 0, j");
        dialog.replaceChildren(top, this.panes.element, bottom);
        dialog.onclose = () => this.end();
        dialog.onkeydown = (event) => this.key(event);
    }

    open(pictures, i) {
        this.pictures = pictures;
        if (!this.dialog.open) this.dialog.showModal();
        this.show(i);
    }

    end() {
        this.control?.abort();
        this.whole = null;
        this.closed(this.image);
    }

    leave_for_similar() {
        this.dialog.close();
        this.similar(this.image);
    }

    go(by) {
        const i = this.beside(this.image, by);
        if (i !== null) this.show(i);
    }

    key(event) {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        if (event.target === this.slider && /^(Arrow|Home|End|Page)/.test(event.key)) return;
        const act = { ArrowLeft: () => this.go(-1), ArrowRight: () => this.go(1), "+": () => this.panes.zoom_by(1.5),
            "=": () => this.panes.zoom_by(1.5), "-": () => this.panes.zoom_by(1 / 1.5), 0: () => this.panes.fit(),
            j: () => this.set_compared(!this.compared) }[event.key];
        if (!act) return;
        if (event.key.length > 1) event.preventDefault();
        act();
    }

    async show(i) {
        this.control?.abort();
        const { signal } = (this.control = new AbortController());
        this.image = i;
        this.whole = this.info = null;
        this.drawn = 0; // bytes of what is shown
        this.slider.value = 1000;
        this.moved(i);
        this.previous.disabled = this.beside(i, -1) === null;
        this.next.disabled = this.beside(i, 1) === null;
        this.like.hidden = !this.pictures.has_near;
        this.said.textContent = "";
        try {
            const info = (this.info = await this.pictures.info(i, signal));
            signal.throwIfAborted();
            this.title.textContent = info.name ?? `image ${i + 1}`;
            this.words.textContent = `${info.width} × ${info.height}`;
            this.panes.begin(info.width, info.height);
            const small = this.thumbnail(i);
            if (small) this.panes.put(0, small, this.title.textContent);
            await this.sharpen(info, signal);
            if (this.compared) this.cut();
        } catch (error) {
            if (!signal.aborted) this.trouble(error);
        }
    }

    async sharpen(info, signal) {
        const box = this.panes.panes[0].element;
        const scale = scale_for(info, box.clientWidth, box.clientHeight, true);
        for (const bpp of LARGE_STEPS) {
            const last = bpp === Infinity, at = last ? 1 : scale;
            const bytes = last ? Infinity : Math.ceil((info.width * info.height * bpp) / at / at / 8);
            const done = await this.pictures.draw(this.image, { scale: at, bytes, whole: last, signal });
            signal.throwIfAborted();
            if (+this.slider.value === +this.slider.max) this.present(done);
            if (last) this.whole = done;
        }
    }

    present(done) {
        this.drawn = done.bytes;
        this.panes.put(0, done.picture, this.title.textContent);
        const all = this.whole?.bytes ?? done.all;
        const bpp = (8 * done.bytes) / (this.info.width * this.info.height);
        this.said.textContent = `${bytes_text(done.bytes)}${all > done.bytes ? ` of ${bytes_text(all)}` : ""}, ` +
            rate_text(bpp);
    }

    /** The bytes that the slider stands for: steps of equal ratio. */
    wanted() {
        const all = this.whole.bytes, at = this.slider.value / this.slider.max;
        const least = Math.min(LEAST, all);
        return at >= 1 ? all : Math.round(least * (all / least) ** at);
    }

    /** Shows the image at the bytes of the slider: the newest wish counts. */
    async cut() {
        if (!this.whole || this.cutting) return (this.again = true);
        this.cutting = true;
        do {
            this.again = false;
            const { signal } = this.control;
            try {
                await this.show_cut(this.wanted(), signal);
            } catch (error) {
                if (!signal.aborted) this.trouble(error);
            }
        } while (this.again && this.whole);
        this.cutting = false;
    }

    async show_cut(bytes, signal) {
        const whole = this.whole;
        const done = bytes >= whole.bytes ? whole
            : await this.pictures.draw(this.image, { scale: 1, bytes, exact: true, whole: true, signal });
        signal.throwIfAborted();
        this.present(done);
        if (!this.compared) return;
        const { blob, quality } = await jpeg_of_bytes(whole.picture, Math.max(bytes, done.bytes), signal);
        const decoded = await createImageBitmap(blob);
        signal.throwIfAborted();
        this.panes.put(1, decoded, `${this.title.textContent} as JPEG`);
        const told = (picture) => {
            const db = psnr_db(picture, whole.picture);
            return db === Infinity ? "the whole picture" : `${db.toFixed(1)} dB`;
        };
        this.panes.say(0, `taper · ${bytes_text(done.bytes)} · ${told(done.picture)}`);
        this.panes.say(1, `JPEG, quality ${quality} · ${bytes_text(blob.size)} · ${told(decoded)}` +
            (blob.size > bytes * 1.02 ? " · it cannot be smaller" : ""));
    }

    set_compared(is) {
        this.compared = is;
        this.compare.setAttribute("aria-pressed", String(is));
        this.panes.split(is ? 2 : 1);
        this.panes.say(0, "");
        if (is && +this.slider.value === +this.slider.max) this.slider.value = 450;
        this.cut();
    }

    trouble(error) {
        this.said.textContent = String(error.message ?? error);
    }
}

/** Bits per pixel: "224", "8.0", "0.0031", of any size without an exponent. */
function rate_text(bpp) {
    const digits = bpp < 10 ? { minimumSignificantDigits: 2, maximumSignificantDigits: 2 } : { maximumFractionDigits: 0 };
    return `${bpp.toLocaleString("en", digits)} bits per pixel`;
}
