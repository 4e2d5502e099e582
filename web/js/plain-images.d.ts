export interface PlainOptions {
    /** The service worker: taper-sw.js, or a file that imports it. */
    worker?: string | URL;
    /** Pages that it controls; default: those of its own directory and below. */
    scope?: string | URL;
}

/** Shows <img src="photos.taper/cat.jpg">: see the top of plain-images.js. */
export function plain_images(options?: PlainOptions): Promise<"worker" | "page">;
