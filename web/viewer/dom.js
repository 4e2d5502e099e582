/* dom.js -- elements and words of the viewer. */

/** A new element with a class and a text. */
export function make(kind, name, text) {
    const element = document.createElement(kind);
    if (name) element.className = name;
    if (text !== undefined) element.textContent = text;
    return element;
}

/** A button with a word, a name for screen readers and what it does. */
export function make_button(text, label, act) {
    const button = make("button", "", text);
    button.type = "button";
    if (label) button.setAttribute("aria-label", label), (button.title = label);
    button.onclick = act;
    return button;
}

/** A size in bytes for people: "820 bytes", "16.4 KB", "2.35 MB". */
export function bytes_text(n) {
    if (n < 1000) return `${n} byte${n === 1 ? "" : "s"}`;
    const unit = n < 999950 ? [1e3, "KB"] : n < 999950e3 ? [1e6, "MB"] : [1e9, "GB"];
    return `${(n / unit[0]).toPrecision(3)} ${unit[1]}`;
}

export const count_text = (n, word) => `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`;

/** Draws an ImageData or ImageBitmap into a canvas of its size. */
export function put_picture(canvas, picture) {
    if (canvas.width !== picture.width) canvas.width = picture.width;
    if (canvas.height !== picture.height) canvas.height = picture.height;
    const context = canvas.getContext("2d");
    if (picture instanceof ImageData) return context.putImageData(picture, 0, 0);
    context.clearRect(0, 0, canvas.width, canvas.height);
    context.drawImage(picture, 0, 0);
}

/** The samples of a picture. */
export function pixels_of(picture) {
    if (picture instanceof ImageData) return picture;
    const canvas = new OffscreenCanvas(picture.width, picture.height);
    const context = canvas.getContext("2d", { willReadFrequently: true });
    context.drawImage(picture, 0, 0);
    return context.getImageData(0, 0, picture.width, picture.height);
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

/** The largest reduction at which an image still fills its place. */
export function scale_for(info, width, height, contain = false) {
    const ratio = window.devicePixelRatio || 1;
    const fit = contain ? Math.min(width / info.width, height / info.height)
        : Math.max(width / info.width, height / info.height);
    const shrink = 1 / (fit * ratio);
    return [16, 8, 4, 2].find((scale) => scale <= shrink * 1.15) ?? 1;
}
