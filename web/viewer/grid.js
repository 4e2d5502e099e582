/* grid.js -- a scrolled grid of tiles of one size, of which only those exist that can be seen.
 *
 * Browsers limit the height of an element, so beyond MOST pixels the scroll bar moves proportionally: a
 * million images are as easy as twenty. */
import { make } from "./dom.js";

const MOST = 8e6, GAP = 6;

export class Grid {
    /** shown(): tiles were added or removed. opened(place): a tile was clicked. label(place): its name. */
    constructor(scroller, { shown, opened, label }) {
        Object.assign(this, { scroller, shown, opened, label });
        this.tiles = new Map(); // place -> element
        this.unused = [];
        this.count = 0;
        this.side = 200;
        this.ratio = 1; // height / width
        this.current = 0; // the tile that the keyboard is at
        this.room = make("div", "room");
        this.room.setAttribute("role", "list");
        scroller.replaceChildren(this.room);
        scroller.onscroll = () => this.update();
        this.room.onclick = (event) => {
            const tile = event.target.closest(".tile");
            if (tile) this.opened(this.current = tile.place);
        };
        this.room.onkeydown = (event) => this.key(event);
        this.watcher = new ResizeObserver(() => this.measure());
        this.watcher.observe(scroller);
    }

    /** Another number of images, or tiles of another size. */
    set({ count = this.count, side = this.side, ratio = this.ratio }) {
        const first = this.columns ? this.first_row() * this.columns : 0;
        Object.assign(this, { count, side, ratio });
        this.current = Math.min(this.current, Math.max(0, count - 1));
        this.measure(first);
    }

    /** Forgets what is drawn in the tiles. */
    clear() {
        for (const tile of this.tiles.values()) this.drop(tile);
        this.tiles.clear();
    }

    measure(keep = null) {
        const width = this.scroller.clientWidth, height = this.scroller.clientHeight;
        if (!width || !height) return;
        if (keep === null && this.columns) keep = this.first_row() * this.columns;
        const wanted = Math.min(this.side, (width - GAP) / 2 - GAP);
        this.columns = Math.max(1, Math.floor((width - GAP) / (wanted + GAP)));
        this.width = (width - GAP) / this.columns - GAP;
        this.height = Math.max(16, Math.round(this.width * this.ratio));
        this.rows = Math.ceil(this.count / this.columns);
        this.total = this.rows * (this.height + GAP) + GAP;
        this.view = height;
        this.room.style.height = `${Math.max(Math.min(this.total, MOST), height)}px`;
        for (const tile of this.tiles.values()) this.place(tile);
        if (keep) this.scroll_to(Math.floor(keep / this.columns) * (this.height + GAP));
        this.update();
    }

    /** How far the content is scrolled, in its own pixels. */
    offset() {
        const top = this.scroller.scrollTop;
        return this.total <= MOST ? top : (top / (MOST - this.view)) * (this.total - this.view);
    }

    scroll_to(offset) {
        this.scroller.scrollTop = this.total <= MOST ? offset
            : (offset / (this.total - this.view)) * (MOST - this.view);
    }

    first_row() {
        return Math.max(0, Math.floor(this.offset() / (this.height + GAP)));
    }

    update() {
        if (!this.columns) return;
        const step = this.height + GAP, top = this.offset();
        const first = Math.max(0, Math.floor(top / step) - 1) * this.columns;
        const end = Math.min(this.count, (Math.ceil((top + this.view) / step) + 1) * this.columns);
        for (const [place, tile] of this.tiles)
            if ((place < first || place >= end) && tile !== document.activeElement) {
                this.drop(tile);
                this.tiles.delete(place);
            }
        for (let place = first; place < end; place++)
            if (!this.tiles.has(place)) this.tiles.set(place, this.add(place));
        if (this.total > MOST) for (const tile of this.tiles.values()) this.place(tile);
        this.shown();
    }

    add(place) {
        const tile = this.unused.pop() ?? make("button");
        if (!tile.firstChild) {
            tile.type = "button";
            tile.append(make("canvas"), make("span"));
        }
        tile.className = "tile";
        tile.place = place;
        tile.tabIndex = place === this.current ? 0 : -1;
        this.name(tile);
        this.place(tile);
        this.room.append(tile);
        return tile;
    }

    name(tile) {
        const text = this.label(tile.place);
        tile.lastChild.textContent = text;
        tile.setAttribute("aria-label", text);
    }

    drop(tile) {
        tile.remove();
        tile.firstChild.width = tile.firstChild.height = 0;
        tile.removeAttribute("title");
        if (this.unused.length < 200) this.unused.push(tile);
    }

    place(tile) {
        const column = tile.place % this.columns, row = Math.floor(tile.place / this.columns);
        const shift = this.total <= MOST ? 0 : this.scroller.scrollTop - this.offset();
        const x = GAP + column * (this.width + GAP), y = GAP + row * (this.height + GAP) + shift;
        tile.style.width = `${this.width}px`;
        tile.style.height = `${this.height}px`;
        tile.style.transform = `translate(${x}px, ${y}px)`;
    }

    /** Places of tiles: those in the window, and those just above and below. */
    visible() {
        const step = this.height + GAP, top = this.offset(), inside = [], near = [];
        for (const place of [...this.tiles.keys()].sort((a, b) => a - b)) {
            const y = Math.floor(place / this.columns) * step;
            (y + step > top && y < top + this.view ? inside : near).push(place);
        }
        return { inside, near };
    }

    /** An arrow was pressed while nothing had the keyboard: moves it to a tile in the window. */
    enter(event) {
        if (!/^Arrow/.test(event.key) || event.ctrlKey || event.metaKey || event.altKey || !this.count) return;
        const { inside } = this.visible();
        event.preventDefault();
        this.focus(inside.includes(this.current) ? this.current : inside[0] ?? 0);
    }

    key(event) {
        const page = Math.max(1, Math.floor(this.view / (this.height + GAP))) * this.columns;
        const moves = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -this.columns, ArrowDown: this.columns,
            PageUp: -page, PageDown: page, Home: -this.count, End: this.count };
        const move = moves[event.key];
        if (!move || event.ctrlKey || event.metaKey || event.altKey) return;
        event.preventDefault();
        this.focus(Math.min(Math.max(this.current + move, 0), this.count - 1));
    }

    /** Moves the keyboard to a tile and scrolls it into view. */
    focus(place) {
        const before = this.tiles.get(this.current);
        if (before) before.tabIndex = -1;
        this.current = place;
        const step = this.height + GAP, y = Math.floor(place / this.columns) * step, top = this.offset();
        if (y < top) this.scroll_to(y);
        else if (y + step + GAP > top + this.view) this.scroll_to(y + step + GAP - this.view);
        this.update();
        const tile = this.tiles.get(place);
        if (!tile) return;
        tile.tabIndex = 0;
        tile.focus({ preventScroll: true });
    }
}
