/* test_windows.c -- images to windows and back: grids, edges, grey and colour, 8 and 16 bits. */
#include "cmocka_all.h"
#include "codec/transform/windows.h"
#include "pictures.h"
#include <math.h>
#include <string.h>

static void grids_cover_the_image(void **unused) {
    (void)unused;
    codec_window w = {8, 4, 1, NULL};
    const struct {
        uint32_t width, height, columns, rows;
    } cases[] = {{1, 1, 1, 1},
                 {8, 4, 1, 1},
                 {9, 4, 2, 1},
                 {8, 5, 1, 2},
                 {1 << 24, 1 << 24, 1 << 21, 1 << 22}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        codec_grid g = codec_windows_grid(w, cases[i].width, cases[i].height);
        assert_int_equal(g.columns, cases[i].columns);
        assert_int_equal(g.rows, cases[i].rows);
    }
}

/* Windows of an image, read; the caller's to free. */
static float *windows_of(codec_window w, const taper_image *image) {
    codec_grid g = codec_windows_grid(w, image->width, image->height);
    size_t n = (size_t)g.columns * g.rows * codec_window_values(w);
    float *to = malloc(n * sizeof *to);
    assert_non_null(to);
    for (size_t i = 0; i < n; i++) to[i] = NAN;
    codec_windows_read(w, image, to);
    for (size_t i = 0; i < n; i++) assert_true(to[i] >= 0 && to[i] <= 255);
    return to;
}

/* Samples of 16 bits have been rounded to 1/16 of 257. */
static void assert_near(const taper_image *a, const taper_image *b, int most) {
    for (size_t i = 0; i < formats_image_samples(a); i++) {
        int x = a->depth == 16 ? ((const uint16_t *)a->pixels)[i] : ((const uint8_t *)a->pixels)[i],
            y = b->depth == 16 ? ((const uint16_t *)b->pixels)[i] : ((const uint8_t *)b->pixels)[i];
        assert_true(abs(x - y) <= most);
    }
}

static void what_is_read_is_written(void **unused) {
    (void)unused;
    static const codec_window window[] = {{4, 4, 3, NULL}, {5, 3, 3, NULL}, {16, 2, 3, NULL},
                                          {7, 7, 1, NULL}, {1, 1, 1, NULL}, {1, 1, 3, NULL}};
    static const uint32_t size[][2] = {{1, 1}, {4, 4}, {13, 9}, {3, 17}, {8, 8}};
    for (int w = 0; w < 6; w++)
        for (int s = 0; s < 5; s++)
            for (unsigned channels = 1; channels <= window[w].channels; channels += 2)
                for (unsigned depth = 8; depth <= 16; depth += 8) {
                    taper_image image = picture_noise(size[s][0], size[s][1], channels, depth, 5);
                    taper_image back = picture_noise(size[s][0], size[s][1], channels, depth, 6);
                    float *values = windows_of(window[w], &image);
                    codec_windows_write(window[w], values, &back);
                    assert_near(&image, &back, depth == 16 ? 257 / 32 + 1 : 0);
                    free(values);
                    formats_image_free(&image), formats_image_free(&back);
                }
}

/* The place of each sample, and the repeated edge. */
static void samples_lie_planar_and_edges_repeat(void **unused) {
    (void)unused;
    codec_window w = {4, 3, 3, NULL};
    taper_image image = picture_noise(6, 4, 3, 8, 9);
    const uint8_t *pixels = image.pixels;
    float *values = windows_of(w, &image);
    for (uint32_t row = 0; row < 2; row++)
        for (uint32_t column = 0; column < 2; column++)
            for (uint32_t c = 0; c < 3; c++)
                for (uint32_t j = 0; j < 3; j++)
                    for (uint32_t i = 0; i < 4; i++) {
                        uint32_t x = column * 4 + i, y = row * 3 + j;
                        x = x < 6 ? x : 5, y = y < 4 ? y : 3;
                        size_t at = (((row * 2 + column) * 3 + c) * 3 + j) * 4 + i;
                        assert_true(values[at] == pixels[(y * 6 + x) * 3 + c]);
                    }
    free(values);
    formats_image_free(&image);
}

static void grey_fills_and_leaves_colour_windows(void **unused) {
    (void)unused;
    codec_window w = {4, 4, 3, NULL};
    taper_image image = picture_noise(4, 4, 1, 8, 3);
    float *values = windows_of(w, &image);
    for (int i = 0; i < 16; i++) {
        assert_true(values[i] == values[16 + i] && values[i] == values[32 + i]);
        values[i] = 10, values[16 + i] = 20, values[32 + i] = 60; /* the mean of the channels */
    }
    codec_windows_write(w, values, &image);
    for (int i = 0; i < 16; i++) assert_int_equal(((uint8_t *)image.pixels)[i], 30);
    free(values);
    formats_image_free(&image);
}

static void values_are_rounded_and_clamped(void **unused) {
    (void)unused;
    static const struct {
        float value;
        unsigned small, large;
    } cases[] = {
        {0.46f, 0, 112},      {0.5f, 1, 129},         {254.4f, 254, 65374}, {255, 255, 65535},
        {256, 255, 65535},    {1e30f, 255, 65535},    {-3, 0, 0},           {-1e30f, 0, 0},
        {NAN, 0, 0},          {INFINITY, 255, 65535}, {-INFINITY, 0, 0},    {100, 100, 25700},
        {254.9f, 255, 65503}, {255.4f, 255, 65535}};
    codec_window w = {1, 1, 1, NULL};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t small = 77;
        uint16_t large = 7777;
        taper_image image = {1, 1, 1, 8, &small};
        codec_windows_write(w, &cases[i].value, &image);
        assert_int_equal(small, cases[i].small);
        image.depth = 16, image.pixels = &large;
        codec_windows_write(w, &cases[i].value, &image);
        assert_int_equal(large, cases[i].large);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grids_cover_the_image),
        cmocka_unit_test(what_is_read_is_written),
        cmocka_unit_test(samples_lie_planar_and_edges_repeat),
        cmocka_unit_test(grey_fills_and_leaves_colour_windows),
        cmocka_unit_test(values_are_rounded_and_clamped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
