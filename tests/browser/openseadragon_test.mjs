/* openseadragon_test.mjs -- node openseadragon_test.mjs PAGE PICTURE: OpenSeadragon on PAGE opens an image by IIIF. Its tiles
 * come, a zoom brings sharper ones, and what it draws is the picture (PICTURE: the whole, of `taper decode`, as PPM). */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { launch, pause } from "./chromium.mjs";

const MOST_DIFFERENCE = 6; // mean over samples, of 255: JPEG, and the scaling of the canvas
const [, , address, picture] = process.argv;

/** {width, height, at(x, y)}: the samples of a PPM with 8 bits. */
function read_ppm(file) {
    const bytes = readFileSync(file);
    const [text, width, height] = /^P6\s+(\d+)\s+(\d+)\s+255\s/.exec(bytes.latin1Slice(0, 100));
    return { width: +width, height: +height,
        at: (x, y) => [...bytes.subarray(text.length + 3 * (y * width + x), text.length + 3 * (y * width + x) + 3)] };
}

/** The means of boxes of the canvas, with where they lie in the image: [x, y, width, height, red, green, blue]. */
function drawn_boxes(n) {
    const { viewer } = globalThis, source = viewer.drawer.canvas, item = viewer.world.getItemAt(0);
    const copy = document.createElement("canvas");
    [copy.width, copy.height] = [source.width, source.height];
    const to = copy.getContext("2d"), ratio = source.width / viewer.container.clientWidth, boxes = [];
    to.drawImage(source, 0, 0);
    const size = item.getContentSize(), corner = (x, y) => item.viewerElementToImageCoordinates(
        new globalThis.OpenSeadragon.Point(x / ratio, y / ratio));
    for (let row = 0; row < n; row++)
        for (let column = 0; column < n; column++) {
            const w = Math.floor(source.width / n), h = Math.floor(source.height / n), x = column * w, y = row * h;
            const from = corner(x, y), end = corner(x + w, y + h);
            if (from.x < 0 || from.y < 0 || end.x > size.x || end.y > size.y) continue;
            const { data } = to.getImageData(x, y, w, h), sum = [0, 0, 0];
            for (let i = 0; i < data.length; i++) if (i % 4 < 3) sum[i % 4] += data[i];
            boxes.push([from.x, from.y, end.x - from.x, end.y - from.y, ...sum.map((one) => one / (w * h))]);
        }
    return boxes;
}

function mean_of(image, [x, y, width, height]) {
    const sum = [0, 0, 0];
    let n = 0;
    for (let row = Math.round(y); row < Math.round(y + height); row++)
        for (let column = Math.round(x); column < Math.round(x + width); column++, n++)
            image.at(column, row).forEach((sample, i) => (sum[i] += sample));
    return sum.map((one) => one / n);
}

/** What is on the canvas must be the picture, and not of one colour. */
async function looks_like(page, image, boxes_a_side) {
    const boxes = await page.evaluate(drawn_boxes, boxes_a_side);
    assert.ok(boxes.length >= (boxes_a_side * boxes_a_side) / 4, `${boxes.length} boxes within the image`);
    const wanted = boxes.map((box) => mean_of(image, box)).flat(), drawn = boxes.map((box) => box.slice(4)).flat();
    const difference = wanted.reduce((sum, one, i) => sum + Math.abs(one - drawn[i]), 0) / wanted.length;
    const middle = wanted.reduce((sum, one) => sum + one, 0) / wanted.length;
    const flat = wanted.reduce((sum, one) => sum + Math.abs(one - middle), 0) / wanted.length;
    assert.ok(flat > 3 * MOST_DIFFERENCE, `the picture is too flat for this test: ${flat}`);
    assert.ok(difference < MOST_DIFFERENCE, `drawn is another picture: ${difference}, a flat one would be ${flat}`);
    return difference;
}

/** Waits until all tiles of the view are drawn. */
async function settle(page) {
    await page.until(() => Boolean(globalThis.failed || globalThis.viewer?.world.getItemAt(0)?.getFullyLoaded()), { ms: 60000 });
    assert.equal(await page.evaluate(() => globalThis.failed), null);
    await pause(300);
}

/** Pixels of the image for one of a tile: 1 is sharpest. */
function coarseness(url, width) {
    const [, region, size] = /\/((?:full|[\d,]+))\/([^/]+)\/0\/default\./.exec(url);
    return (region === "full" ? width : Number(region.split(",")[2])) / parseInt(size, 10);
}

const image = read_ppm(picture), browser = await launch();
try {
    const page = await browser.page({ width: 360, height: 288 });
    await page.goto(address);
    await settle(page);
    const tiles = () => page.requests.filter(({ url }) => url.includes("/0/default."));
    const before = tiles();
    assert.ok(page.requests.some(({ url, status }) => url.endsWith("/info.json") && status === 200));
    assert.ok(before.length > 0 && before.every(({ status }) => status === 200), JSON.stringify(before));
    assert.deepEqual(await page.evaluate(() => {
        const { x, y } = globalThis.viewer.world.getItemAt(0).getContentSize();
        return [x, y];
    }), [image.width, image.height]);
    const whole = await looks_like(page, image, 10);

    await page.evaluate(() => void globalThis.viewer.viewport.zoomTo(
        globalThis.viewer.viewport.imageToViewportZoom(1), undefined, true));
    await pause(100);
    await settle(page);
    const after = tiles().slice(before.length);
    assert.ok(after.length > 0 && after.every(({ status }) => status === 200), JSON.stringify(after));
    const sharpest = (list) => Math.min(...list.map(({ url }) => coarseness(url, image.width)));
    assert.ok(sharpest(before) > 1.5, `the first tiles are as sharp as any: ${sharpest(before)}`);
    assert.ok(Math.abs(sharpest(after) - 1) < 0.01, `tiles of the zoom: ${sharpest(after)}`);
    const part = await looks_like(page, image, 20);
    assert.deepEqual(page.errors, []);
    console.log(`${before.length} tiles, ${after.length} more; differences ${whole.toFixed(2)} and ${part.toFixed(2)}`);
} finally {
    await browser.close();
}
process.exit();
