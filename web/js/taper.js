/* taper.js -- images of a .taper file on any web server, by HTTP ranges, in browsers and in node 18 and later.
 *
 *     import { open } from "./taper.js";
 *     const set = await open("photos.taper");          // a URL, an ArrayBuffer, bytes, a Blob or a File
 *     const { image } = await set.image("cat.jpg", { scale: 4 });
 *     context.putImageData(image, 0, 0);
 *     for await (const { image } of set.image(3)) context.putImageData(image, 0, 0);   // sharper and sharper
 *     set.close();
 *
 * open(from, options) -> TaperSet. Options, all of which may be omitted:
 *   modelBase    folder of the models, ID.tpm each; default: "models/" beside this file
 *   models       {id: URL or bytes}: models from elsewhere
 *   workers      threads that draw, 0: none; default: processors less one, 1 to 4. One more plans
 *   first        bytes of the first request, 16384       gap        bytes of a gap that is fetched too, 16384
 *   requests     requests in flight, 4                   retries    of a request that failed, 3
 *   whole        largest file that is read whole from a server without ranges, 268435456
 *   maxFront     largest front matter, 67108864          timeout    ms for one call of a worker, 60000
 *   headers, credentials, fetch: as for fetch(), for the container     signal: ends the opening
 *   embedderWasm the same as wasm, of taper-embedder.wasm, which similarTo needs
 *   wasm         a WebAssembly.Module, bytes, a URL or a promise of one, in place of the files beside this one
 *   worker       URL of taper-worker.js, or a function that makes a Worker
 *
 * TaperSet:
 *   length       number of images
 *   names        of all images, or null: more than 4,096 images, or names in pages that were not read
 *   info         {images, pixels, layout, groups, layers, passes, frontBytes, fileBytes, hasNames, hasCodes, classNames, stages, modelId}
 *   describe(image)          -> promise of {index, name, width, height, channels, depth, group, label, bytes ...}
 *   image(image, options)    -> Pictures; image: a number from 0, or a name
 *   images(list, options)    -> async iterator of [image, picture] in this order; planned together. list null: all
 *   prefetch(list, options)  -> promise: the bytes for these are here
 *   similar(image, most)     -> promise of [{index, distance}], nearest first, at most `most` (24): the images whose codes
 *                               for search are most like those of this one, as `taper search` orders them
 *   similarTo(picture, most) -> the same of a picture {width, height, data} of your own: RGBA of 8 bits, as ImageData or a
 *                               Picture. The model of the codes comes from the container, from options.models or from modelBase
 *   layers(image)            -> promise of [{cut, passes, stage}]: where the layers of the file end
 *   statistics   {requests, bytes, model: {requests, bytes}}
 *   close()      ends requests and workers
 * Calls of image() in one turn of the event loop are planned together: their ranges are joined.
 *
 * Options of image():
 *   scale        1, 2, 4, 8 or 16: width and height are divided by it, rounded up; default 1
 *   bytes        data of the image to fetch; default: all; with a scale above 1, 2.5 bits for a pixel of the result.
 *                More may be used where it is here. Stages of a carried model before these data are fetched, too, and do
 *                not count. exact: true: never more than `bytes`. here: true: all of the image that is here
 *   cut          as if the file had been cut to so many bytes, also its carried model (for comparisons with `taper decode`);
 *                error "truncated" if that is within the front matter
 *   crop         {x, y, width, height} in pixels of the full size
 *   as           "imagedata" (default) or "bitmap", an ImageBitmap, which the caller closes
 *   model        "whole" (default): the final picture is drawn with the whole model; "any": with what is here of it
 *   signal       an AbortSignal                          onprogress  called with each picture that is not the last
 * Pictures is a promise of the final picture, and an async iterator of pictures, of which the last is the final one.
 * Without an iterator and onprogress only the final one is drawn.
 *
 * Picture: {image, data, width, height, index, name, scale, damaged, completeness}
 *   image        ImageData, ImageBitmap, or in node {width, height, data, colorSpace}; data: RGBA, or null of a bitmap
 *   damaged      null, or what is wrong with the data behind these pixels, also after they were fetched again
 *   completeness {complete, passes, passesInFile, bytes, bytesInFile, share, exactRows, stages, stagesInModel}
 *
 * open_embedder(model, options) -> promise of an Embedder, which makes codes as `taper embed` does. model: bytes, a URL, or the
 * id of a model in modelBase, as SEARCH, the built-in model of search. Options: modelBase, models, embedderWasm.
 *   units, isBinary, modelId     numbers of a code; whether they are margins of bits, above 0 where the bit is 1
 *   code({width, height, data})  -> Float32Array(units); at once, in this thread. Transparency is blended onto white
 *   close()
 *
 * Errors are TaperErrors with a code: "http" (status), "network", "range" (no or wrong ranges), "encoded" (compressed
 * ranges), "changed" (another file than at first), "truncated", "corrupt", "version", "limit", "memory", "model"
 * (needed: its id), "argument", "worker" (a worker ended; the next call has a new one), "timeout", "closed"; and the
 * reason of an aborted signal. */
import { TaperSet } from "./set.js";
import { TaperError } from "./errors.js";
import { SEARCH } from "./model.js";
import { has_simd } from "./wasm.js";

export { SEARCH, TaperError, TaperSet, has_simd };

/** Opens a container: see above. */
export async function open(from, options = {}) {
    if (from && typeof from === "object" && from.href === undefined && from.size === undefined &&
        from.byteLength === undefined) throw new TaperError("argument", "open: a URL, an ArrayBuffer, a Blob or a File");
    const place = globalThis.location?.href;
    const set = new TaperSet(typeof from === "string" && place ? new URL(from, place) : from, options);
    try {
        await set.begin();
        return set;
    } catch (error) {
        set.close();
        throw error;
    }
}

/** A model that makes codes: see above. */
export async function open_embedder(model, options) {
    return (await import("./embedder.js")).open_embedder(model, options);
}
