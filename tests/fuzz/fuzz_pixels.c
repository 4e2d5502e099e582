/* fuzz_pixels.c -- any bytes as the chunks of both pixel layers of a group. The first byte draws
 * where the second chunk begins, and whether they are whole. What a prefix tells is what all bytes
 * tell, and coding the decoded images gives chunks that decode to the same. */
#include "codec/pixels/pixel_store.h"
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

enum { IMAGES = 5, MOST_BYTES = 12 * 9 * 4 };
static const formats_geometry shape[IMAGES] = {{9, 7, 3, 8, 0, 1},
                                               {8, 8, 3, 8, 1, 1},
                                               {6, 5, 1, 8, 1, 1},
                                               {12, 8, 3, 8, 1, 0},
                                               {7, 6, 1, 16, 1, 0}};

static void must(int holds) {
    if (!holds) abort();
}

static const formats_geometry *geometry_of(const void *user, size_t i) {
    (void)user;
    return &shape[i];
}

static codec_pixel_group open_group(void) {
    codec_pixel_group g;
    must(codec_pixel_group_open(&g, IMAGES, geometry_of, NULL, NULL) == TAPER_OK);
    return g;
}

typedef struct chunk {
    const uint8_t *bytes;
    size_t n;
} chunk;

static void decode(codec_pixel_group *g, formats_layer_kind kind, chunk c, int whole) {
    int plausible;
    must(codec_pixel_group_decode(g, kind, c.bytes, c.n, whole, &plausible) == TAPER_OK);
}

/* The decoded image i. Colours that no pixel layer has are 0. */
static taper_image render(const codec_pixel_group *g, size_t i, uint8_t pixels[MOST_BYTES]) {
    const formats_geometry *of = &shape[i];
    memset(pixels, 0, MOST_BYTES);
    taper_image image = {of->width, of->height, (uint8_t)(of->channels + of->alpha), of->depth,
                         pixels};
    if (of->indexed) {
        codec_pixels_store(&g->image[i], 1, &image);
        return image;
    }
    image.channels--;
    codec_pixels_add_alpha(&g->image[i], 1, &image);
    return image;
}

static void prefix_tells_the_same(const codec_pixel_group *all, formats_layer_kind kind, chunk c) {
    codec_pixel_group some = open_group();
    decode(&some, kind, (chunk){c.bytes, c.n / 2}, 0);
    for (size_t i = 0; i < IMAGES; i++) {
        const codec_colour_plane *a = &some.image[i].plane, *b = &all->image[i].plane;
        must(a->known <= b->known);
        for (uint64_t p = 0; p < a->known; p++)
            must(codec_plane_row(a, (uint32_t)(p / a->width))[p % a->width] ==
                 codec_plane_row(b, (uint32_t)(p / b->width))[p % b->width]);
    }
    codec_pixel_group_close(&some);
}

static void code_again(const codec_pixel_group *g) {
    codec_pixel_group from = open_group(), to = open_group();
    formats_buffer first = formats_buffer_make(1 << 20), alpha = formats_buffer_make(1 << 20);
    uint8_t before[MOST_BYTES], after[MOST_BYTES];
    for (size_t i = 0; i < IMAGES; i++) {
        const taper_image image = render(g, i, before);
        must(codec_pixel_image_take(&from, i, &image) == TAPER_OK);
    }
    must(codec_pixel_group_encode(&from, FORMATS_LAYER_FIRST, &first) == TAPER_OK);
    must(codec_pixel_group_encode(&from, FORMATS_LAYER_ALPHA, &alpha) == TAPER_OK);
    decode(&to, FORMATS_LAYER_FIRST, (chunk){first.data, first.size}, 1);
    decode(&to, FORMATS_LAYER_ALPHA, (chunk){alpha.data, alpha.size}, 1);
    for (size_t i = 0; i < IMAGES; i++) {
        render(g, i, before), render(&to, i, after);
        must(!memcmp(before, after, MOST_BYTES));
    }
    codec_pixel_group_close(&from), codec_pixel_group_close(&to);
    formats_buffer_free(&first), formats_buffer_free(&alpha);
}

/* A string that begins with eight bytes FF is beyond the first interval: there, any bits do. */
static int is_legal(chunk c) {
    static const uint8_t beyond[8] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    return c.n < sizeof beyond || memcmp(c.bytes, beyond, sizeof beyond) != 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    if (n < 2) return 0;
    const int whole = bytes[0] & 1;
    const size_t split = (n - 1) * (bytes[0] / 2u) / 127;
    const chunk first = {bytes + 1, split}, alpha = {bytes + 1 + split, n - 1 - split};
    codec_pixel_group g = open_group();
    decode(&g, FORMATS_LAYER_FIRST, first, whole);
    if (is_legal(first)) {
        codec_pixel_group prefix = open_group();
        decode(&prefix, FORMATS_LAYER_FIRST, first, 0);
        prefix_tells_the_same(&prefix, FORMATS_LAYER_FIRST, first);
        codec_pixel_group_close(&prefix);
    }
    decode(&g, FORMATS_LAYER_ALPHA, alpha, whole);
    decode(&g, FORMATS_LAYER_EXACT, alpha, whole);
    code_again(&g);
    codec_pixel_group_close(&g);
    return 0;
}
