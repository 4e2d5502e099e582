/* test_scaling.c -- images scaled to other sizes: by the definition in doubles, and what must stay.
 */
#include "cmocka_all.h"
#include "codec/taper_quality.h"
#include "formats/image.h"
#include "train/sampling/philox.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 40 };

static uint32_t draw(uint64_t i) {
    uint32_t word[4];
    train_philox(5, i, 1, word);
    return word[0];
}

static taper_image make(uint32_t width, uint32_t height, uint8_t channels, uint8_t depth) {
    static uint16_t wide[MOST * MOST * 3];
    static uint8_t narrow[MOST * MOST * 3];
    for (uint32_t i = 0; i < width * height * channels; i++)
        wide[i] = (uint16_t)draw(i), narrow[i] = (uint8_t)draw(i);
    return (taper_image){width, height, channels, depth,
                         depth == 16 ? (void *)wide : (void *)narrow};
}

static double value(const taper_image *f, uint32_t x, uint32_t y, uint32_t c) {
    const size_t at = ((size_t)y * f->width + x) * f->channels + c;
    return f->depth == 16 ? floor(((const uint16_t *)f->pixels)[at] / 257.0 + 0.5)
                          : ((const uint8_t *)f->pixels)[at];
}

/* The mean over [left, right) x [top, bottom) of pixels that are squares. */
static double mean_over(const taper_image *f, double left, double right, double top, double bottom,
                        uint32_t c) {
    double sum = 0.0;
    for (uint32_t y = 0; y < f->height; y++)
        for (uint32_t x = 0; x < f->width; x++)
            sum += value(f, x, y, c) * fmax(0.0, fmin(x + 1.0, right) - fmax(x, left)) *
                   fmax(0.0, fmin(y + 1.0, bottom) - fmax(y, top));
    return sum / ((right - left) * (bottom - top));
}

static void check(uint32_t w, uint32_t h, uint8_t channels, uint8_t depth, uint32_t to_w,
                  uint32_t to_h) {
    taper_image from = make(w, h, channels, depth), to;
    assert_int_equal(taper_image_scale(&from, to_w, to_h, &to, NULL), TAPER_OK);
    assert_true(to.width == to_w && to.height == to_h && to.channels == channels && to.depth == 8);
    const double sx = (double)w / to_w, sy = (double)h / to_h;
    for (uint32_t y = 0; y < to_h; y++)
        for (uint32_t x = 0; x < to_w; x++)
            for (uint32_t c = 0; c < channels; c++) {
                const double want = mean_over(&from, x * sx, (x + 1) * sx, y * sy, (y + 1) * sy, c);
                assert_true(fabs(value(&to, x, y, c) - want) < 0.5 + 1e-6);
            }
    formats_image_free(&to);
}

static void samples_are_means(void **state) {
    (void)state;
    static const uint32_t sizes[][4] = {{1, 1, 7, 5},   {7, 5, 1, 1},    {32, 32, 8, 8},
                                        {33, 31, 8, 8}, {9, 40, 32, 32}, {2, 3, 3, 2},
                                        {40, 1, 3, 9},  {12, 12, 12, 12}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int k = 0; k < 4; k++)
            check(sizes[i][0], sizes[i][1], k & 1 ? 3 : 1, k & 2 ? 16 : 8, sizes[i][2],
                  sizes[i][3]);
}

static void its_own_size_changes_nothing(void **state) {
    (void)state;
    taper_image from = make(13, 9, 3, 8), to;
    assert_int_equal(taper_image_scale(&from, 13, 9, &to, NULL), TAPER_OK);
    assert_memory_equal(from.pixels, to.pixels, 13 * 9 * 3);
    formats_image_free(&to);
}

/* 100 megapixels of white stay white: sums have room. */
static void large_ones_do_not_overflow(void **state) {
    (void)state;
    enum { SIDE = 10000 };
    uint16_t *white = malloc((size_t)SIDE * SIDE * sizeof *white);
    assert_non_null(white);
    memset(white, 255, (size_t)SIDE * SIDE * sizeof *white);
    const taper_image from = {SIDE, SIDE, 1, 16, white};
    taper_image to;
    assert_int_equal(taper_image_scale(&from, 3, 2, &to, NULL), TAPER_OK);
    for (int i = 0; i < 6; i++) assert_int_equal(((uint8_t *)to.pixels)[i], 255);
    formats_image_free(&to);
    free(white);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(samples_are_means),
                                       cmocka_unit_test(its_own_size_changes_nothing),
                                       cmocka_unit_test(large_ones_do_not_overflow)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
