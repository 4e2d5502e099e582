/* web_pixels.c -- grey, alpha and 16 bits become RGBA of 8 bits, in place. */
#include "web/wasm/taper_web.h"
#include <string.h>

static size_t source_bytes(const taper_image *image) {
    return (size_t)image->channels * (image->depth / 8);
}

size_t web_pixels_room(const taper_image *image, size_t most) {
    const size_t bytes = source_bytes(image), each = bytes > 4 ? bytes : 4;
    const uint64_t pixels = (uint64_t)image->width * image->height;
    return pixels > most / each ? 0 : (size_t)pixels * each;
}

void *web_pixels_place(const taper_image *image, uint8_t *memory, size_t room) {
    return memory + room - (size_t)image->width * image->height * source_bytes(image);
}

/* The value of 8 bits that is nearest to one of 16. */
static uint8_t nearest(uint16_t sample) {
    return (uint8_t)(((uint32_t)sample * 255 + 32767) / 65535);
}

/* One pixel at `from` as RGBA. */
static void expand(const taper_image *image, const uint8_t *from, uint8_t to[4]) {
    uint8_t sample[4];
    const int channels = image->channels, is_grey = channels < 3;
    for (int c = 0; c < channels; c++) {
        uint16_t wide;
        if (image->depth == 8) {
            sample[c] = from[c];
        } else {
            memcpy(&wide, from + 2 * c, sizeof wide);
            sample[c] = nearest(wide);
        }
    }
    to[0] = sample[0];
    to[1] = sample[is_grey ? 0 : 1];
    to[2] = sample[is_grey ? 0 : 2];
    to[3] = channels % 2 ? 255 : sample[channels - 1];
}

/* What is read lies never before what is written: see web_pixels_place. */
void web_pixels_rgba(const taper_image *image, uint8_t *memory) {
    const size_t n = (size_t)image->width * image->height, step = source_bytes(image);
    const uint8_t *from = image->pixels;
    for (size_t k = 0; k < n; k++) {
        uint8_t pixel[4];
        expand(image, from + k * step, pixel);
        memcpy(memory + 4 * k, pixel, sizeof pixel);
    }
}
