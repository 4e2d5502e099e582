/* pictures.js -- the images of a container, as the viewer wants them, by taper.js. */
export async function open_pictures(source, settings, line) {
    throw new Error("not yet");
}
