/** The element <taper-image>: see the top of taper-image.js. */
import type { OpenOptions, TaperSet } from "./taper.js";

export class TaperImageElement extends HTMLElement {
    /** For all sets that elements open. */
    static options: OpenOptions;
    /** The set of a URL, which elements share. */
    static set(url: string | URL): Promise<TaperSet>;
    src: string;
    alt: string;
    readonly complete: boolean;
    readonly naturalWidth: number;
    readonly naturalHeight: number;
}

declare global {
    interface HTMLElementTagNameMap {
        "taper-image": TaperImageElement;
    }
}
