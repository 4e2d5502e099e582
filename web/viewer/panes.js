/* panes.js -- one picture, or two of the same image side by side, that are zoomed and moved together. */
import { make, put_picture } from "./dom.js";

const MOST_ZOOM = 32;

export class Panes {
    /** swiped(-1 or 1): to the next or the previous image. dismissed(): drawn down. */
    constructor({ swiped, dismissed }) {
        Object.assign(this, { swiped, dismissed });
        this.element = make("div", "panes");
        this.panes = [];
        this.pointers = new Map();
        this.split(1);
        this.element.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
        this.element.addEventListener("dblclick", (event) => this.toggle(event));
        for (const kind of ["pointerdown", "pointermove", "pointerup", "pointercancel"])
            this.element.addEventListener(kind, (event) => this[kind](event));
        new ResizeObserver(() => this.layout()).observe(this.element);
    }

    /** One or two panes. */
    split(n) {
        this.panes = Array.from({ length: n }, (_, k) => this.panes[k] ?? this.make_pane());
        this.element.replaceChildren(...this.panes.map((pane) => pane.element));
        this.layout();
    }

    make_pane() {
        const element = make("div", "pane"), canvas = make("canvas"), words = make("p");
        canvas.setAttribute("role", "img");
        words.hidden = true;
        element.append(canvas, words);
        return { element, canvas, words };
    }

    /** Another image: zoomed to fit. */
    begin(width, height) {
        Object.assign(this, { width, height });
        for (const { canvas, words } of this.panes) {
            canvas.width = canvas.height = 0;
            words.hidden = true;
        }
        this.fit();
    }

    put(k, picture, label) {
        const pane = this.panes[k];
        if (!pane) return;
        put_picture(pane.canvas, picture);
        pane.canvas.setAttribute("aria-label", label);
        this.layout();
    }

    say(k, text) {
        const pane = this.panes[k];
        if (!pane) return;
        pane.words.textContent = text;
        pane.words.hidden = !text;
    }

    /** The zoom at which the image is seen whole; small ones are enlarged by whole numbers. */
    fit_zoom() {
        const box = this.panes[0].element, all = Math.min(box.clientWidth / this.width, box.clientHeight / this.height);
        return all > 2 ? Math.min(Math.floor(all), 8) : all;
    }

    fit() {
        this.zoom = null; // null: fit
        this.x = this.y = 0.5; // the point of the image in the middle
        this.layout();
    }

    scale() {
        return this.zoom ?? this.fit_zoom();
    }

    layout() {
        if (!this.width || !this.panes[0].element.clientWidth) return;
        const zoom = this.scale();
        const { clientWidth, clientHeight } = this.panes[0].element;
        const middle = (at, side, room) => {
            const most = Math.max(0.5, 1 - room / (2 * zoom * side));
            return Math.min(Math.max(at, 1 - most), most);
        };
        this.x = middle(this.x, this.width, clientWidth);
        this.y = middle(this.y, this.height, clientHeight);
        const left = clientWidth / 2 - this.x * this.width * zoom;
        const top = clientHeight / 2 - this.y * this.height * zoom;
        for (const { canvas } of this.panes) {
            if (!canvas.width) continue;
            canvas.classList.toggle("near", zoom >= 2.5 && canvas.width === this.width);
            const [across, down] = [(this.width * zoom) / canvas.width, (this.height * zoom) / canvas.height];
            canvas.style.transform = `translate(${left}px, ${top}px) scale(${across}, ${down})`;
        }
    }

    /** Zooms by a factor; the point of the image below (x, y) of the window stays there. */
    zoom_by(factor, at = null) {
        const before = this.scale(), least = Math.min(this.fit_zoom(), 1);
        const zoom = Math.min(Math.max(before * factor, least), MOST_ZOOM);
        if (at) {
            const [dx, dy] = this.from_middle(at);
            this.x += (dx / this.width) * (1 / before - 1 / zoom);
            this.y += (dy / this.height) * (1 / before - 1 / zoom);
        }
        this.zoom = zoom <= this.fit_zoom() * 1.001 && factor < 1 ? null : zoom;
        this.layout();
    }

    from_middle({ clientX, clientY }) {
        const pane = this.panes.find(({ element }) => {
            const box = element.getBoundingClientRect();
            return clientX <= box.right && clientY <= box.bottom;
        }) ?? this.panes[0];
        const box = pane.element.getBoundingClientRect();
        return [clientX - box.x - box.width / 2, clientY - box.y - box.height / 2];
    }

    wheel(event) {
        event.preventDefault();
        this.zoom_by(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0018)), event);
    }

    toggle(event) {
        if (this.zoom) return this.fit();
        this.zoom_by(Math.max(1, 2.5 * this.fit_zoom()) / this.scale(), event);
    }

    pointerdown(event) {
        this.element.setPointerCapture(event.pointerId);
        this.pointers.set(event.pointerId, event);
        this.start = this.pointers.size === 1 ? event : null;
    }

    pointermove(event) {
        const before = this.pointers.get(event.pointerId);
        if (!before) return;
        const other = [...this.pointers.values()].find((pointer) => pointer.pointerId !== event.pointerId);
        this.pointers.set(event.pointerId, event);
        if (other) this.pinch(before, event, other);
        else if (this.zoom) {
            this.x -= (event.clientX - before.clientX) / (this.width * this.zoom);
            this.y -= (event.clientY - before.clientY) / (this.height * this.zoom);
            this.layout();
        }
    }

    pinch(before, now, other) {
        const apart = (a) => Math.hypot(a.clientX - other.clientX, a.clientY - other.clientY);
        this.zoom_by(apart(now) / Math.max(1, apart(before)),
            { clientX: (now.clientX + other.clientX) / 2, clientY: (now.clientY + other.clientY) / 2 });
    }

    pointerup(event) {
        const start = this.start;
        this.pointercancel(event);
        if (!start || this.zoom || event.pointerType === "mouse") return;
        const dx = event.clientX - start.clientX, dy = event.clientY - start.clientY;
        if (Math.abs(dx) > 50 && Math.abs(dx) > 1.5 * Math.abs(dy)) this.swiped(dx < 0 ? 1 : -1);
        else if (dy > 90 && dy > 1.5 * Math.abs(dx)) this.dismissed();
    }

    pointercancel(event) {
        this.pointers.delete(event.pointerId);
        this.start = null;
    }
}
