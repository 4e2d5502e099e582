/* calls.c -- functions that tests and benchmarks of the WebAssembly build call: a decoder that is
 * pushed a container, and pixels. Pointers are addresses in the module's memory. */
#include "codec/taper.h"
#include <stdlib.h>

#define EXPORT(name) __attribute__((export_name(#name)))

static taper_error error;

EXPORT(calls_error) const char *calls_error(void) { return error.text; }
EXPORT(calls_take) void *calls_take(size_t size) { return malloc(size); }
EXPORT(calls_give) void calls_give(void *memory) { free(memory); }
EXPORT(calls_model) int calls_model(const void *bytes, size_t n, taper_model **out) {
    *out = NULL;
    return taper_model_load(out, bytes, n, NULL, &error);
}
EXPORT(calls_model_free) void calls_model_free(taper_model *model) { taper_model_free(model); }

/* model: NULL for the container's own. */
EXPORT(calls_decoder)
int calls_decoder(const taper_model *model, uint32_t max_mebibytes, taper_decoder **out) {
    taper_limits limits = {.size = sizeof limits, .max_memory = (uint64_t)max_mebibytes << 20};
    const taper_open_options options = {
        .size = sizeof options, .model = model, .limits = max_mebibytes ? &limits : NULL};
    *out = NULL;
    return taper_decoder_new_streaming(out, &options, &error);
}
EXPORT(calls_decoder_free) void calls_decoder_free(taper_decoder *decoder) {
    taper_decoder_free(decoder);
}
EXPORT(calls_push) int calls_push(taper_decoder *decoder, const void *bytes, size_t n) {
    return taper_decoder_push(decoder, bytes, n, &error);
}
EXPORT(calls_needed) uint32_t calls_needed(const taper_decoder *decoder) {
    return (uint32_t)taper_decoder_bytes_needed(decoder);
}
EXPORT(calls_images) uint32_t calls_images(const taper_decoder *decoder) {
    taper_container_info info = {.size = sizeof info};
    if (taper_container_get_info(taper_decoder_container(decoder), &info, NULL)) return 0;
    return (uint32_t)info.images;
}
/* out: bytes of pixels, bits of a sample. */
EXPORT(calls_image) int calls_image(const taper_decoder *decoder, uint32_t i, uint32_t out[2]) {
    taper_image_info info = {.size = sizeof info};
    int status = taper_container_get_image(taper_decoder_container(decoder), i, &info, &error);
    out[0] = (uint32_t)info.bytes, out[1] = info.depth;
    return status;
}
EXPORT(calls_render) int calls_render(taper_decoder *decoder, uint32_t i, void *pixels) {
    taper_image out = {.pixels = pixels};
    return taper_decoder_render(decoder, i, &out, NULL, &error);
}
EXPORT(calls_render_scaled)
int calls_render_scaled(taper_decoder *decoder, uint32_t i, uint32_t scale, void *pixels) {
    taper_image out = {.pixels = pixels};
    return taper_decoder_render_scaled(decoder, i, scale, &out, NULL, &error);
}
