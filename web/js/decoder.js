/* decoder.js -- what a worker does for a set: calls by name, with plain data. It draws, plans, or both; a plan lists bytes
 * that are missing, so that its engine knows the front matter alone. */
import { Engine } from "./engine.js";

export class Decoder {
    constructor(module) {
        this.module = module;
    }

    /** Begins anew, to draw or to plan: bytes of a model, or null. */
    begin({ model, plans = false }) {
        if (plans) return (this.plans ??= new Engine(this.module)).model(model);
        return (this.engine ??= new Engine(this.module)).model(model);
    }

    /** What an image needs, by number or name; info: null while its part of the front matter is missing. */
    locate({ image, cut, pieces = [] }) {
        for (const [at, bytes] of pieces) this.plans.supply(at, bytes);
        const plan = this.plans.plan(image, cut);
        return { ...plan, info: plan.opened && plan.image !== null ? this.known(this.plans, plan.image) : null };
    }

    known(engine, i) {
        try {
            return engine.image(i);
        } catch (error) {
            if (error.code === "truncated") return null;
            throw error;
        }
    }

    /** What is known of the set; the names, if there are at most `most` images and all are known. */
    describe({ most }) {
        const info = this.plans.info(), names = [];
        info.stages = this.stages(info);
        info.classNames = Array.from({ length: Math.min(info.classes, most) }, (_, k) => this.plans.class_name(k));
        for (let i = 0; i < info.images && info.images <= most; i++) {
            const image = this.known(this.plans, i);
            if (!image) break;
            names.push(image.name);
        }
        return { info, names: names.length === info.images ? names : null };
    }

    /** Where the stages of the model are that lie between the layers: [offset, size] each. */
    stages({ images, layers, frontBytes, ownModelBytes }) {
        const out = [];
        for (let k = 0, from = frontBytes; images && ownModelBytes && k < layers; k++) {
            const { cut, stage } = this.plans.layer(0, k);
            if (stage) out.push([from, cut - from]);
            from = cut;
        }
        return out;
    }

    unpack({ bytes, size }) {
        return this.plans.unpack(bytes, size);
    }

    layers({ image }) {
        const { layers } = this.plans.info();
        return Array.from({ length: layers }, (_, k) => this.plans.layer(image, k));
    }

    /** A picture from the bytes supplied so far and these; {missing}: parts of the front matter. */
    async draw({ image, cut, scale, crop, as, pieces }) {
        for (const [at, bytes] of pieces) this.engine.supply(at, bytes);
        const { ranges, opened, damaged } = this.engine.plan(image, cut);
        if (!opened || !this.known(this.engine, image)) return { missing: ranges };
        const picture = this.engine.render(image, { scale, crop });
        if (damaged) picture.again = ranges;
        if (as !== "bitmap" || typeof createImageBitmap === "undefined") return { picture };
        const { width, height, data } = picture;
        picture.bitmap = await createImageBitmap(new ImageData(data, width, height));
        delete picture.data;
        return { picture };
    }
}

/** What of an answer moves to the other thread instead of being copied. */
export function transfers(answer) {
    const picture = answer?.picture;
    return picture ? [picture.bitmap ?? picture.data.buffer] : [];
}
