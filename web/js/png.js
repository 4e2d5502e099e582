/* png.js -- a picture as a PNG file: every pixel as it is, also half transparent ones, which a canvas rounds. Not packed, as
 * the file goes from one thread of the browser to another. */

const STORED = 65535; // bytes of a block at most
const SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

const crc_table = Uint32Array.from({ length: 256 }, (_, n) => {
    for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1;
    return n;
});

function crc(bytes) {
    let sum = 0xffffffff;
    for (let k = 0; k < bytes.length; k++) sum = crc_table[(sum ^ bytes[k]) & 255] ^ (sum >>> 8);
    return ~sum >>> 0;
}

function adler(bytes) {
    let a = 1, b = 0;
    for (let k = 0; k < bytes.length;) {
        for (const end = Math.min(k + 3800, bytes.length); k < end; k++) b += a += bytes[k];
        a %= 65521;
        b %= 65521;
    }
    return b * 65536 + a;
}

function chunk(type, size, fill) {
    const bytes = new Uint8Array(12 + size), view = new DataView(bytes.buffer);
    view.setUint32(0, size);
    for (let k = 0; k < 4; k++) bytes[4 + k] = type.charCodeAt(k);
    fill?.(bytes.subarray(8, 8 + size), new DataView(bytes.buffer, 8, size));
    view.setUint32(8 + size, crc(bytes.subarray(4, 8 + size)));
    return bytes;
}

/** Rows of RGB or RGBA, each after the number of its filter: none. */
function rows_of({ width, height, data }, channels) {
    const rows = new Uint8Array(height * (1 + width * channels));
    for (let y = 0, from = 0, to = 0; y < height; y++) {
        to++;
        for (let x = 0; x < width; x++, from += 4) {
            rows[to++] = data[from];
            rows[to++] = data[from + 1];
            rows[to++] = data[from + 2];
            if (channels === 4) rows[to++] = data[from + 3];
        }
    }
    return rows;
}

/** picture: {width, height, data}, RGBA of 8 bits. */
export function png_of(picture) {
    const { width, height, data } = picture;
    let channels = 3;
    for (let k = 3; k < data.length && channels === 3; k += 4) if (data[k] !== 255) channels = 4;
    const rows = rows_of(picture, channels), blocks = Math.ceil(rows.length / STORED);
    const head = chunk("IHDR", 13, (bytes, view) => {
        view.setUint32(0, width);
        view.setUint32(4, height);
        bytes.set([8, channels === 3 ? 2 : 6], 8);
    });
    const body = chunk("IDAT", 2 + rows.length + 5 * blocks + 4, (bytes, view) => {
        bytes.set([0x78, 0x01]);
        for (let k = 0, to = 2; k < blocks; k++) {
            const piece = rows.subarray(k * STORED, (k + 1) * STORED);
            bytes[to] = k === blocks - 1 ? 1 : 0;
            view.setUint16(to + 1, piece.length, true);
            view.setUint16(to + 3, ~piece.length, true);
            bytes.set(piece, to + 5);
            to += 5 + piece.length;
        }
        view.setUint32(bytes.length - 4, adler(rows));
    });
    return new Blob([new Uint8Array(SIGNATURE), head, body, chunk("IEND", 0)], { type: "image/png" });
}
