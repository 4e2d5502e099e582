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

/* n pixels. A function of its own, without which the loop over all pixels would be run as browsers
 * compile it first, slowly (CODEC_CLONES, simd.h). */
__attribute__((noinline)) static void expand_row(const taper_image *image, const uint8_t *from,
                                                 size_t n, uint8_t *to) {
    const size_t step = source_bytes(image);
    const int colours = step == 3;
    for (const uint8_t *end = to + 4 * n; to < end; to += 4, from += step) {
        uint8_t pixel[4];
        if (colours)
            pixel[0] = from[0], pixel[1] = from[1], pixel[2] = from[2], pixel[3] = 255;
        else
            expand(image, from, pixel);
        memcpy(to, pixel, sizeof pixel);
    }
}

/* What is read lies never before what is written: see web_pixels_place. */
void web_pixels_rgba(const taper_image *image, uint8_t *memory) {
    const size_t from = image->width * source_bytes(image), to = 4 * (size_t)image->width;
    for (size_t y = 0; y < image->height; y++)
        expand_row(image, (const uint8_t *)image->pixels + y * from, image->width, memory + y * to);
}
