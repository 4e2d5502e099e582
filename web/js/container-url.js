/* container-url.js -- addresses of images within containers: /photos/set.taper/cat.jpg?scale=4&bytes=20000 is the image
 * "cat.jpg" of /photos/set.taper at 1/4 of its size, from at most 20,000 bytes of its data. Behind "set.taper/" is the
 * name in the container, or the number of the image from 0 with any suffix: "set.taper/3.jpg". */

/** {container, name, scale, bytes}, or null: another address. */
export function container_url(address, base) {
    const url = new URL(address, base), at = url.pathname.lastIndexOf(".taper/");
    if (at < 0 || at + 7 === url.pathname.length) return null;
    const container = new URL(url);
    container.pathname = url.pathname.slice(0, at + 6);
    container.search = container.hash = "";
    let name;
    try {
        name = decodeURIComponent(url.pathname.slice(at + 7));
    } catch {
        return null; // no percent-encoded UTF-8
    }
    const number = (key) => (url.searchParams.has(key) ? Number(url.searchParams.get(key)) : undefined);
    return { container: container.href, name, scale: number("scale") ?? 1, bytes: number("bytes") };
}

/** The picture of such an address; sets: a Map of open containers. */
export async function picture_at(open, sets, { container, name, scale, bytes }, options) {
    if (!sets.has(container)) {
        const opened = open(container, options);
        opened.catch(() => sets.delete(container));
        sets.set(container, opened);
    }
    const set = await sets.get(container), number = /^(\d+)(\.\w+)?$/.exec(name);
    try {
        return await set.image(name, { scale, bytes });
    } catch (error) {
        if (error.code === "changed") sets.delete(container);
        if (error.code !== "argument" || !number) throw error;
        return set.image(Number(number[1]), { scale, bytes });
    }
}

/** As a file that <img> shows. */
export async function picture_blob(picture, name) {
    const canvas = new OffscreenCanvas(picture.width, picture.height);
    canvas.getContext("2d").putImageData(picture.image, 0, 0);
    const { data } = picture;
    let is_opaque = true;
    for (let k = 3; k < data.length && is_opaque; k += 4) is_opaque = data[k] === 255;
    const is_jpeg = is_opaque && /\.jpe?g$/i.test(name);
    return canvas.convertToBlob(is_jpeg ? { type: "image/jpeg", quality: 0.95 } : { type: "image/png" });
}
