/* jpeg.js -- JPEG of a given size, made by the browser. */
import { put_picture } from "./dom.js";

/** The best JPEG of at most `bytes`: {blob, quality 0..100}. If none is so small, the smallest. */
export async function jpeg_of_bytes(picture, bytes, signal) {
    const canvas = document.createElement("canvas");
    put_picture(canvas, picture);
    const encode = (quality) => new Promise((done) => {
        canvas.toBlob(done, "image/jpeg", quality / 100);
        requestAnimationFrame(() => {}); // browsers encode between frames: without one they wait
    });
    let best = { blob: await encode(0), quality: 0 };
    for (let low = 1, high = 100; low <= high;) {
        const quality = (low + high) >> 1, blob = await encode(quality);
        signal?.throwIfAborted();
        if (blob.size <= bytes) {
            best = { blob, quality };
            low = quality + 1;
        } else {
            high = quality - 1;
        }
    }
    return best;
}
