/** Images of a .taper file on any web server: see the top of taper.js. */

export type ErrorCode =
    | "http" | "network" | "range" | "encoded" | "changed" | "truncated" | "corrupt" | "version" | "limit" | "memory"
    | "model" | "unsupported" | "argument" | "worker" | "timeout" | "closed" | "io" | "failed";

export class TaperError extends Error {
    readonly code: ErrorCode;
    /** Of "http": the status. */
    readonly status?: number;
    /** Of "model": the id of the model that is needed. */
    readonly needed?: string;
}

export type Bytes = ArrayBuffer | ArrayBufferView;
export type Scale = 1 | 2 | 4 | 8 | 16;

export interface OpenOptions {
    /** Folder of the models, ID.tpm each. Default: models/ beside taper.js. */
    modelBase?: string | URL | null;
    models?: Record<string, string | URL | Bytes>;
    /** Threads that draw; 0: none. */
    workers?: number;
    /** Bytes of the first request; default 16384. */
    first?: number;
    /** Bytes of a gap between two ranges that is fetched too; default 16384. */
    gap?: number;
    /** Requests in flight; default 4. */
    requests?: number;
    /** Of a request that failed; default 3. */
    retries?: number;
    /** The largest file that is read whole from a server without ranges; default 268435456. */
    whole?: number;
    /** The largest front matter in bytes; default 67108864. */
    maxFront?: number;
    /** Milliseconds for one call of a worker; default 60000. */
    timeout?: number;
    headers?: Record<string, string>;
    credentials?: "omit" | "same-origin" | "include";
    fetch?: typeof fetch;
    signal?: AbortSignal;
    wasm?: WebAssembly.Module | Bytes | string | URL;
    worker?: string | URL | (() => Worker | Promise<Worker>);
    embedderWasm?: WebAssembly.Module | Bytes | string | URL;
}

export interface SetInfo {
    images: number;
    pixels: number;
    layout: "set" | "image" | "gallery" | "unknown";
    groups: number;
    layers: number;
    passes: number;
    frontBytes: number;
    fileBytes: number;
    hasNames: boolean;
    /** The container carries codes for search: similar() and similarTo() work. */
    hasCodes: boolean;
    classes: number;
    classNames: string[];
    /** Size of the model that the container carries; 0: none. */
    ownModelBytes: number;
    wasTruncated: boolean;
    furtherNames: number;
    /** Of that model, between the layers: [offset, size] each. */
    stages: [number, number][];
    modelId: string;
}

export interface ImageInfo {
    index: number;
    name: string | null;
    width: number;
    height: number;
    channels: 1 | 2 | 3 | 4;
    depth: 8 | 16;
    group: number;
    label: number | null;
    isIndexed: boolean;
    isExact: boolean;
    /** Data of its group in the complete file. */
    bytes: number;
}

export interface Completeness {
    /** No further byte changes the picture. */
    complete: boolean;
    passes: number;
    passesInFile: number;
    bytes: number;
    bytesInFile: number;
    /** bytes / bytesInFile. */
    share: number;
    exactRows: number;
    stages: number;
    stagesInModel: number;
}

export interface PlainImage {
    width: number;
    height: number;
    data: Uint8ClampedArray;
    colorSpace: "srgb";
}

export interface Picture<Image = ImageData> {
    /** In node: PlainImage. */
    image: Image;
    /** RGBA, 8 bits each, not premultiplied; null: an ImageBitmap. */
    data: Uint8ClampedArray | null;
    width: number;
    height: number;
    index: number;
    name: string | null;
    scale: Scale;
    /** What is wrong with the data behind these pixels; null: nothing. */
    damaged: string | null;
    completeness: Completeness;
}

export interface FetchOptions {
    scale?: Scale;
    /** Data of the image to fetch. */
    bytes?: number;
    /** Never use more than `bytes`. */
    exact?: boolean;
    /** Use all that is here of the image, beyond `bytes`, too. */
    here?: boolean;
    /** As if the file had been cut to so many bytes. */
    cut?: number;
    signal?: AbortSignal;
}

export interface ImageOptions<Image = ImageData> extends FetchOptions {
    crop?: { x: number; y: number; width: number; height: number };
    as?: "imagedata" | "bitmap";
    model?: "whole" | "any";
    onprogress?: (picture: Picture<Image>) => void;
}

/** A promise of the final picture, and an iterator of sharper and sharper ones. */
export interface Pictures<Image = ImageData> extends PromiseLike<Picture<Image>>, AsyncIterableIterator<Picture<Image>> {
    catch<T>(failed: (error: unknown) => T): Promise<Picture<Image> | T>;
    finally(call: () => void): Promise<Picture<Image>>;
}

export type ImageKey = number | string;

export class TaperSet {
    private constructor();
    readonly length: number;
    /** null: not all are known. */
    readonly names: (string | null)[] | null;
    readonly info: SetInfo;
    readonly statistics: {
        requests: number;
        bytes: number;
        model: { requests: number; bytes: number } | null;
    };
    describe(image: ImageKey): Promise<ImageInfo>;
    /** The images that are most like this one, nearest first, without it; default 24. */
    similar(image: ImageKey, most?: number): Promise<{ index: number; distance: number }[]>;
    /** The same for a picture of your own. */
    similarTo(picture: Pixels, most?: number): Promise<{ index: number; distance: number }[]>;
    /** stage: of the model, from 1, which the layer has instead of passes; 0: none. */
    layers(image?: ImageKey): Promise<{ cut: number; passes: number; stage: number }[]>;
    image(image: ImageKey, options: ImageOptions<ImageBitmap> & { as: "bitmap" }): Pictures<ImageBitmap>;
    image(image: ImageKey, options?: ImageOptions): Pictures;
    images(list?: Iterable<ImageKey> | null, options?: ImageOptions): AsyncGenerator<[ImageKey, Picture]>;
    prefetch(list?: Iterable<ImageKey> | null, options?: FetchOptions): Promise<void>;
    close(): void;
}

/** RGBA, 8 bits a sample, as ImageData and the pictures of a set have it. */
export interface Pixels {
    width: number;
    height: number;
    data: Uint8Array | Uint8ClampedArray;
}

/** Makes codes of pictures by a model. */
export interface Embedder {
    /** Numbers of a code. */
    readonly units: number;
    /** They are margins of bits, above 0 where the bit is 1. */
    readonly isBinary: boolean;
    readonly modelId: string;
    code(picture: Pixels): Float32Array;
    close(): void;
}

/** The id of the built-in model of search. */
export const SEARCH: string;
/** model: its bytes, a URL, or its id if it is in the folder of models. */
export function open_embedder(model: string | URL | Bytes, options?: Pick<OpenOptions,
    "modelBase" | "models" | "embedderWasm">): Promise<Embedder>;
export function open(from: string | URL | Bytes | Blob, options?: OpenOptions): Promise<TaperSet>;
export function has_simd(): boolean;
