/** Plain <img src="photos.taper/cat.jpg">: see the top of plain-images.js. */
export function plain_images(options?: { worker?: string | URL; scope?: string }): Promise<"worker" | "page">;
