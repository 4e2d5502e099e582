/* test_pixels.c -- planes of colours and alpha of the pixel layers: exact when whole, right as far
 * as any prefix goes, and safe with any bytes. */
#include "cmocka_all.h"
#include "codec/pixels/drawing.h"
#include "codec/pixels/hidden_colours.h"
#include "codec/pixels/pixel_store.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t draw(uint32_t *state, uint32_t n) {
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % n;
}

/* Images of a group in memory, with the geometry of each. */
enum { IMAGES = 5 };
typedef struct group {
    formats_geometry of[IMAGES];
    taper_image image[IMAGES];
} group;

static const formats_geometry *geometry_of(const void *user, size_t i) {
    return &((const group *)user)->of[i];
}

static void put(const taper_image *image, size_t at, uint32_t sample) {
    if (image->depth == 16)
        ((uint16_t *)image->pixels)[at] = (uint16_t)sample;
    else
        ((uint8_t *)image->pixels)[at] = (uint8_t)sample;
}

/* An indexed image: blocks of few colours, and some noise of new ones. */
static void draw_blocks(const taper_image *image, uint32_t *state) {
    for (uint32_t y = 0; y < image->height; y++)
        for (uint32_t x = 0; x < image->width; x++) {
            const size_t pixel = ((size_t)y * image->width + x) * image->channels;
            const int noise = draw(state, 20) == 0;
            uint32_t block = (x / 5 + 3 * (y / 4)) % 7;
            for (uint32_t c = 0; c < image->channels; c++)
                put(image, pixel + c, noise ? draw(state, 256) : block * 37 * (c + 1) % 256);
            if (image->channels & 1 || ((uint8_t *)image->pixels)[pixel + image->channels - 1])
                continue;
            memset((uint8_t *)image->pixels + pixel, 0, image->channels); /* nobody sees it */
        }
}

/* An image whose alpha is soft, with noise in its lower bits. */
static void draw_soft(const taper_image *image, uint32_t *state) {
    const uint32_t one = image->depth == 16 ? 257 : 1;
    for (uint32_t y = 0; y < image->height; y++)
        for (uint32_t x = 0; x < image->width; x++) {
            const size_t pixel = ((size_t)y * image->width + x) * image->channels;
            for (uint32_t c = 0; c < image->channels; c++)
                put(image, pixel + c,
                    (x * 7 + y * 3 + draw(state, 4)) % 256 * one + draw(state, one));
        }
}

static void make(group *g) {
    const formats_geometry of[IMAGES] = {{23, 17, 3, 8, 0, 1},
                                         {16, 16, 3, 8, 1, 1},
                                         {31, 9, 1, 8, 1, 1},
                                         {20, 14, 3, 8, 1, 0},
                                         {19, 15, 1, 16, 1, 0}};
    uint32_t state = 7;
    for (size_t i = 0; i < IMAGES; i++) {
        g->of[i] = of[i];
        taper_image *image = &g->image[i];
        *image = (taper_image){of[i].width, of[i].height, (uint8_t)(of[i].channels + of[i].alpha),
                               of[i].depth, NULL};
        image->pixels = malloc((size_t)of[i].width * of[i].height * 8);
        assert_non_null(image->pixels);
        if (of[i].indexed)
            draw_blocks(image, &state);
        else
            draw_soft(image, &state);
    }
}

static void release(group *g) {
    for (size_t i = 0; i < IMAGES; i++) free(g->image[i].pixels);
}

/* The chunks of both layers. */
static void encode(const group *g, formats_buffer out[2]) {
    codec_pixel_group pixels;
    assert_int_equal(codec_pixel_group_open(&pixels, IMAGES, geometry_of, g, NULL), TAPER_OK);
    for (size_t i = 0; i < IMAGES; i++)
        assert_int_equal(codec_pixel_image_take(&pixels, i, &g->image[i]), TAPER_OK);
    for (int k = 0; k < 2; k++) {
        out[k] = formats_buffer_make(FORMATS_MOST_BYTES);
        assert_int_equal(codec_pixel_group_encode(
                             &pixels, (formats_layer_kind)(FORMATS_LAYER_FIRST + k), &out[k]),
                         TAPER_OK);
        assert_true(out[k].size > 0);
    }
    codec_pixel_group_close(&pixels);
}

/* The bytes of both layers of a disc that fades: of 96 x 64 pixels of 8 bits. */
static void soft_alpha_begins_small(void **unused) {
    (void)unused;
    group g = {.of = {{96, 64, 1, 8, 1, 0}}};
    codec_pixel_group pixels;
    formats_buffer out[2];
    uint8_t samples[96 * 64 * 2];
    for (int p = 0; p < 96 * 64; p++) {
        const int x = p % 96 - 48, y = p / 96 - 32, a = 255 - (x * x + y * y) / 9;
        samples[2 * p] = 0, samples[2 * p + 1] = (uint8_t)(a < 0 ? 0 : a);
    }
    g.image[0] = (taper_image){96, 64, 2, 8, samples};
    assert_int_equal(codec_pixel_group_open(&pixels, 1, geometry_of, &g, NULL), TAPER_OK);
    assert_int_equal(codec_pixel_image_take(&pixels, 0, &g.image[0]), TAPER_OK);
    for (int k = 0; k < 2; k++) {
        out[k] = formats_buffer_make(FORMATS_MOST_BYTES);
        assert_int_equal(codec_pixel_group_encode(
                             &pixels, (formats_layer_kind)(FORMATS_LAYER_FIRST + k), &out[k]),
                         TAPER_OK);
    }
    printf("soft alpha: %zu bytes first, %zu later\n", out[0].size, out[1].size);
    assert_true(out[0].size < 250 && out[1].size < 700);
    codec_pixel_group_close(&pixels);
    formats_buffer_free(&out[0]), formats_buffer_free(&out[1]);
}

static int decode(codec_pixel_group *pixels, formats_layer_kind kind, const uint8_t *bytes,
                  size_t n, int whole) {
    int plausible;
    assert_int_equal(codec_pixel_group_decode(pixels, kind, bytes, n, whole, &plausible), TAPER_OK);
    return plausible;
}

/* The image as a decoder renders it; colours of images with windows are 0. */
static void render(const codec_pixel_image *from, const taper_image *like, uint8_t *to) {
    taper_image image = *like;
    image.pixels = memset(to, 0, (size_t)like->width * like->height * 8);
    if (from->of.indexed) {
        codec_pixels_store(from, 1, &image);
        return;
    }
    image.channels--;
    codec_pixels_add_alpha(from, 1, &image);
}

static void whole_layers_are_exact(void **unused) {
    (void)unused;
    group g;
    formats_buffer out[2];
    codec_pixel_group pixels;
    make(&g);
    encode(&g, out);
    assert_int_equal(codec_pixel_group_open(&pixels, IMAGES, geometry_of, &g, NULL), TAPER_OK);
    assert_true(decode(&pixels, FORMATS_LAYER_FIRST, out[0].data, out[0].size, 1));
    assert_true(decode(&pixels, FORMATS_LAYER_ALPHA, out[1].data, out[1].size, 1));
    assert_true(pixels.image[3].shift == 5 && pixels.image[4].shift == 13);
    uint8_t *rendered = malloc(1 << 16);
    for (size_t i = 0; i < IMAGES; i++) {
        const taper_image *image = &g.image[i];
        render(&pixels.image[i], image, rendered);
        const size_t bytes = image->depth / 8u, n = (size_t)image->width * image->height;
        if (g.of[i].indexed) {
            assert_memory_equal(rendered, image->pixels, n * image->channels);
            continue;
        }
        for (size_t p = 0; p < n; p++) /* alpha */
            assert_memory_equal(rendered + ((p + 1) * image->channels - 1) * bytes,
                                (uint8_t *)image->pixels + ((p + 1) * image->channels - 1) * bytes,
                                bytes);
    }
    free(rendered);
    codec_pixel_group_close(&pixels);
    formats_buffer_free(&out[0]), formats_buffer_free(&out[1]);
    release(&g);
}

/* Of each prefix, what is known is right, and never less than of a shorter one. */
static void prefixes_are_right_as_far_as_they_go(void **unused) {
    (void)unused;
    group g;
    formats_buffer out[2];
    codec_pixel_group pixels, whole;
    uint64_t before = 0;
    make(&g);
    encode(&g, out);
    assert_int_equal(codec_pixel_group_open(&whole, IMAGES, geometry_of, &g, NULL), TAPER_OK);
    assert_true(decode(&whole, FORMATS_LAYER_FIRST, out[0].data, out[0].size, 1));
    assert_int_equal(codec_pixel_group_open(&pixels, IMAGES, geometry_of, &g, NULL), TAPER_OK);
    for (size_t n = 0; n <= out[0].size; n += 1 + n / 40) {
        decode(&pixels, FORMATS_LAYER_FIRST, out[0].data, n, 0);
        uint64_t known = 0;
        for (size_t i = 0; i < IMAGES; i++) {
            const codec_colour_plane *a = &pixels.image[i].plane, *b = &whole.image[i].plane;
            known += a->known;
            for (uint64_t p = 0; p < a->known; p++)
                assert_int_equal(codec_plane_row(a, (uint32_t)(p / a->width))[p % a->width],
                                 codec_plane_row(b, (uint32_t)(p / b->width))[p % b->width]);
        }
        assert_true(known >= before);
        before = known;
    }
    assert_true(before > 1000);
    codec_pixel_group_close(&pixels), codec_pixel_group_close(&whole);
    formats_buffer_free(&out[0]), formats_buffer_free(&out[1]);
    release(&g);
}

static void any_bytes_are_safe(void **unused) {
    (void)unused;
    group g;
    uint32_t state = 11;
    uint8_t bytes[600], *rendered = malloc(1 << 16);
    make(&g);
    for (int round = 0; round < 60; round++) {
        codec_pixel_group pixels;
        const size_t n = draw(&state, sizeof bytes);
        for (size_t i = 0; i < n; i++) bytes[i] = (uint8_t)(round < 10 ? 0 : draw(&state, 256));
        assert_int_equal(codec_pixel_group_open(&pixels, IMAGES, geometry_of, &g, NULL), TAPER_OK);
        decode(&pixels, FORMATS_LAYER_FIRST, bytes, n, round & 1);
        decode(&pixels, FORMATS_LAYER_ALPHA, bytes, n, round & 1);
        decode(&pixels, FORMATS_LAYER_EXACT, bytes, n, 1);
        for (size_t i = 0; i < IMAGES; i++) render(&pixels.image[i], &g.image[i], rendered);
        codec_pixel_group_close(&pixels);
    }
    free(rendered);
    release(&g);
}

/* A string of few bytes does not stand for a large image. */
static void few_bytes_are_not_many_pixels(void **unused) {
    (void)unused;
    group g = {.of = {{8000, 5000, 3, 8, 0, 1}}};
    codec_pixel_group pixels;
    int plausible, any = 0;
    assert_int_equal(codec_pixel_group_open(&pixels, 1, geometry_of, &g, NULL), TAPER_OK);
    for (int first = 0; first < 256; first += 5) {
        const uint8_t bytes[2] = {(uint8_t)first, 1};
        assert_int_equal(
            codec_pixel_group_decode(&pixels, FORMATS_LAYER_FIRST, bytes, 2, 1, &plausible),
            TAPER_OK);
        if (!plausible) assert_true(!pixels.image[0].plane.begun);
        any |= !plausible;
    }
    assert_true(any);
    codec_pixel_group_close(&pixels);
}

static void drawings_are_told_from_photographs(void **unused) {
    (void)unused;
    uint32_t state = 3;
    taper_image image = {64, 48, 3, 8, malloc(64 * 48 * 3)};
    uint8_t *pixels = image.pixels;
    for (size_t i = 0; i < 64 * 48 * 3; i++) pixels[i] = (uint8_t)(i / 150 * 20);
    assert_true(codec_is_drawing(&image, 1000));
    assert_false(codec_is_drawing(&image, 10)); /* too large */
    for (size_t i = 0; i < 64 * 48 * 3; i++) pixels[i] = (uint8_t)(i / 30 + draw(&state, 6));
    assert_false(codec_is_drawing(&image, 100000));
    free(pixels);
}

/* Smooth pictures cost other codes little, edges much. */
static void smooth_drawings_are_worth_less(void **unused) {
    (void)unused;
    enum { SIDE = 512, PIXELS = SIDE * SIDE };
    taper_image image = {SIDE, SIDE, 3, 8, malloc(PIXELS * 3)};
    uint8_t *pixels = image.pixels;
    for (size_t i = 0; i < PIXELS * 3; i++)
        pixels[i] = (uint8_t)((i / 3 % SIDE + i / 3 / SIDE) / 5);
    const uint64_t smooth = codec_drawing_worth(&image);
    assert_true(smooth > PIXELS / 32 && smooth < PIXELS / 16);
    for (size_t i = 0; i < PIXELS * 3; i++) /* letters: an edge in six pixels, both ways */
        pixels[i] = i / 3 % SIDE / 6 % 2 && i / 3 / SIDE / 6 % 2 ? 0 : 255;
    assert_true(codec_drawing_worth(&image) > PIXELS);
    image.width = image.height = 128; /* small ones are not estimated */
    assert_true(codec_drawing_worth(&image) == UINT64_MAX);
    image.width = 2, image.height = PIXELS / 2;
    assert_true(codec_drawing_worth(&image) == UINT64_MAX);
    free(pixels);
}

/* Hidden colours continue visible ones; visible ones stay. */
static void hidden_colours_are_filled(void **unused) {
    (void)unused;
    taper_image image = {9, 7, 4, 8, malloc(9 * 7 * 4)};
    uint8_t *p = image.pixels;
    for (size_t i = 0; i < 63; i++) {
        const int seen = i % 9 < 4;
        p[4 * i] = seen ? 100 : 255, p[4 * i + 1] = seen ? 50 : 0, p[4 * i + 2] = 7;
        p[4 * i + 3] = seen ? 9 : 0;
    }
    assert_int_equal(codec_hide_colours(&image), TAPER_OK);
    for (size_t i = 0; i < 63; i++) {
        assert_int_equal(p[4 * i], 100);
        assert_int_equal(p[4 * i + 1], 50);
        assert_int_equal(p[4 * i + 3], i % 9 < 4 ? 9 : 0);
    }
    free(p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_layers_are_exact),
        cmocka_unit_test(soft_alpha_begins_small),
        cmocka_unit_test(prefixes_are_right_as_far_as_they_go),
        cmocka_unit_test(any_bytes_are_safe),
        cmocka_unit_test(few_bytes_are_not_many_pixels),
        cmocka_unit_test(drawings_are_told_from_photographs),
        cmocka_unit_test(smooth_drawings_are_worth_less),
        cmocka_unit_test(hidden_colours_are_filled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
