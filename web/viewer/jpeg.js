/* jpeg.js -- JPEG of a given size, made by the browser, and how near a picture is to another. */
import { pixels_of, put_picture } from "./dom.js";

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

/** PSNR in dB of the colours of two pictures of one size; Infinity: they are equal. */
export function psnr_db(one, other) {
    const a = pixels_of(one).data, b = pixels_of(other).data;
    let sum = 0;
    for (let i = 0; i < a.length; i += 4) {
        const r = a[i] - b[i], g = a[i + 1] - b[i + 1], blue = a[i + 2] - b[i + 2];
        sum += r * r + g * g + blue * blue;
    }
    return sum ? 10 * Math.log10((255 * 255 * 3 * (a.length / 4)) / sum) : Infinity;
}
