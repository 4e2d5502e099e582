/* test_gradients.c -- gradient orientations of windows: against a definition in double, of
 * pictures whose orientations are known, and of the smallest and flattest windows. */
#include "cmocka_all.h"
#include "codec/transform/gradients.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SIGNED = CODEC_GRADIENT_SIGNED, HALF = SIGNED / 2, PLANES = CODEC_GRADIENT_PLANES };

/* --- the definition in double ----------------------------------------------------------------- */

typedef struct cell_sums {
    double votes[SIGNED], colour[3], weight;
} cell_sums;

static double pixel(codec_window w, const uint8_t *p, uint32_t c, int x, int y) {
    const int right = (int)w.width - 1, bottom = (int)w.height - 1;
    x = x < 0 ? 0 : x > right ? right : x, y = y < 0 ? 0 : y > bottom ? bottom : y;
    return p[((size_t)c * w.height + (size_t)y) * w.width + (size_t)x];
}

/* The weight of a pixel for a cell along a side: a triangle of two cells, in 1/64. */
static double weight_of(uint32_t i, uint32_t n, uint32_t cells, uint32_t cell) {
    const double at = (2.0 * i + 1) * cells / (2.0 * n), from = fabs(at - cell - 0.5);
    return from >= 1 ? 0 : floor(64 * (1 - from) + 0.5) / 64;
}

/* The gradient of the channel where it is longest. */
static void gradient_of(codec_window w, const uint8_t *p, int x, int y, double *dx, double *dy) {
    double longest = -1;
    for (uint32_t c = 0; c < w.channels; c++) {
        const double a = pixel(w, p, c, x + 1, y) - pixel(w, p, c, x - 1, y);
        const double b = pixel(w, p, c, x, y + 1) - pixel(w, p, c, x, y - 1);
        if (a * a + b * b > longest) *dx = a, *dy = b, longest = a * a + b * b;
    }
}

/* A vector as the sum of two, 20 degrees apart, that are not negative. */
static void decompose(double dx, double dy, double votes[SIGNED], double weight) {
    const double step = acos(-1) / HALF, length = hypot(dx, dy);
    double angle = atan2(dy, dx);
    if (angle < 0) angle += 2 * acos(-1);
    const int k = (int)(angle / step) % SIGNED;
    const double beyond = angle - (int)(angle / step) * step;
    votes[k] += weight * length * sin(step - beyond) / sin(step);
    votes[(k + 1) % SIGNED] += weight * length * sin(beyond) / sin(step);
}

static cell_sums sums_of(codec_window w, codec_cells c, const uint8_t *p, uint32_t cx,
                         uint32_t cy) {
    cell_sums s = {{0}, {0}, 0};
    for (uint32_t y = 0; y < w.height; y++)
        for (uint32_t x = 0; x < w.width; x++) {
            const double weight =
                weight_of(x, w.width, c.across, cx) * weight_of(y, w.height, c.down, cy);
            double dx = 0, dy = 0;
            gradient_of(w, p, (int)x, (int)y, &dx, &dy);
            decompose(dx, dy, s.votes, weight * c.across * c.down / w.width / w.height);
            for (uint32_t k = 0; k < w.channels; k++)
                s.colour[k] += weight * pixel(w, p, k, (int)x, (int)y);
            s.weight += weight;
        }
    return s;
}

static double energy_of(const cell_sums *s) {
    double sum = 0;
    for (int k = 0; k < HALF; k++) sum += pow(s->votes[k] + s->votes[k + HALF], 2);
    return sum;
}

/* values[PLANES + channels][cells] */
static void define(codec_window w, codec_cells c, const uint8_t *p, double *values) {
    const size_t cells = (size_t)c.across * c.down;
    cell_sums *s = calloc(cells, sizeof *s);
    for (uint32_t i = 0; i < cells; i++) s[i] = sums_of(w, c, p, i % c.across, i / c.across);
    for (uint32_t i = 0; i < cells; i++) {
        double contrast[4], *to = values + i;
        for (int b = 0; b < 4; b++) {
            const uint32_t x = i % c.across, y = i / c.across;
            const uint32_t x2 = b % 2 ? (x + 1 < c.across ? x + 1 : x) : x ? x - 1 : 0;
            const uint32_t y2 = b / 2 ? (y + 1 < c.down ? y + 1 : y) : y ? y - 1 : 0;
            /* a vote of one level is 128 sin 20 in the library's integers */
            contrast[b] =
                sqrt(energy_of(&s[i]) + energy_of(&s[y * c.across + x2]) +
                     energy_of(&s[y2 * c.across + x]) + energy_of(&s[y2 * c.across + x2]) +
                     2048 / pow(128 * sin(acos(-1) / HALF), 2));
        }
        for (int k = 0; k < SIGNED + HALF; k++, to += cells) {
            const double votes =
                k < SIGNED ? s[i].votes[k] : s[i].votes[k - SIGNED] + s[i].votes[k - HALF];
            *to = 0;
            for (int b = 0; b < 4; b++) *to += fmin(255, 1275 * votes / contrast[b]) / 4;
        }
        for (int b = 0; b < 4; b++, to += cells) {
            *to = 0;
            for (int k = 0; k < SIGNED; k++)
                *to += fmin(255, 1275 * s[i].votes[k] / contrast[b]) / 20;
        }
        for (uint32_t k = 0; k < w.channels; k++, to += cells) *to = s[i].colour[k] / s[i].weight;
    }
    free(s);
}

/* --- tests ------------------------------------------------------------------------------------ */

static const struct {
    codec_window window;
    codec_cells cells;
} shapes[] = {{{32, 32, 3, NULL}, {4, 4}},
              {{28, 28, 1, NULL}, {7, 7}},
              {{9, 30, 1, NULL}, {2, 5}},
              {{2, 2, 3, NULL}, {1, 1}},
              {{16, 16, 3, NULL}, {8, 8}}};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* Waves, noise and flat parts. */
static void draw(codec_window w, int seed, uint8_t *p) {
    for (uint32_t c = 0; c < w.channels; c++)
        for (uint32_t y = 0; y < w.height; y++)
            for (uint32_t x = 0; x < w.width; x++) {
                const double wave = sin(0.3 * seed + x * (0.2 + 0.1 * c) + y * 0.15 * seed);
                const uint32_t noise =
                    (x * 2654435761u + y * 40503u + c * 977u + (uint32_t)seed) >> 7;
                *p++ = x > w.width / 2 && seed % 2 ? 80 : (uint8_t)(128 + 100 * wave + noise % 13);
            }
}

/* The library's integers differ from real numbers by the directions' rounding, and by that of mean
 * votes, which counts where the contrast is low. */
static void values_are_those_of_the_definition(void **state) {
    (void)state;
    for (int i = 0; i < SHAPES; i++)
        for (int seed = 1; seed <= 4; seed++) {
            const codec_window w = shapes[i].window;
            const codec_cells c = shapes[i].cells;
            const size_t count = codec_gradients_count(w, c);
            uint8_t *p = malloc(codec_window_values(w)), *got = malloc(count);
            double *want = malloc(count * sizeof *want), sum = 0;
            draw(w, seed, p);
            assert_int_equal(codec_gradients(w, c, 1, p, got), TAPER_OK);
            define(w, c, p, want);
            for (size_t k = 0; k < count; k++) {
                assert_true(fabs(got[k] - want[k]) < 6);
                sum += fabs(got[k] - want[k]);
            }
            assert_true(sum / (double)count < 1.2);
            free(p), free(got), free(want);
        }
}

/* A ramp has one orientation: a vote for it and for its opposite without sign, and nothing else. */
static void a_ramp_has_one_orientation(void **state) {
    (void)state;
    const codec_window w = {16, 16, 1, NULL};
    const codec_cells c = {1, 1};
    for (int turn = 0; turn < 4; turn++) {
        uint8_t p[256], got[PLANES + 1];
        for (int i = 0; i < 256; i++) {
            const int x = i % 16, y = i / 16, at[] = {x, y, 15 - x, 15 - y};
            p[i] = (uint8_t)(60 + 8 * at[turn]);
        }
        assert_int_equal(codec_gradients(w, c, 1, p, got), TAPER_OK);
        for (int k = 0; k < SIGNED; k++) /* 90 degrees are between 80 and 100 */
            assert_int_equal(got[k] > 0, turn % 2 ? k / 9 == turn / 2 && (k % 9 == 4 || k % 9 == 5)
                                                  : k == 9 * (turn / 2));
        assert_int_equal(got[PLANES], 120);
    }
}

/* Shapes count, not their brightness or contrast: the gradients hardly change, the colours do. */
static void contrast_hardly_counts(void **state) {
    (void)state;
    const codec_window w = {32, 32, 1, NULL};
    const codec_cells c = {4, 4};
    uint8_t p[1024], pale[1024], a[16 * (PLANES + 1)], b[16 * (PLANES + 1)];
    draw(w, 2, p);
    for (int i = 0; i < 1024; i++) pale[i] = (uint8_t)(p[i] / 2);
    assert_int_equal(codec_gradients(w, c, 1, p, a), TAPER_OK);
    assert_int_equal(codec_gradients(w, c, 1, pale, b), TAPER_OK);
    for (int i = 0; i < 16 * PLANES; i++) assert_true(abs(a[i] - b[i]) < 16);
    assert_true(abs(a[16 * PLANES] - b[16 * PLANES]) > 20);
}

static void flat_windows_have_only_a_colour(void **state) {
    (void)state;
    const codec_window w = {9, 8, 3, NULL};
    const codec_cells c = {3, 2};
    uint8_t p[9 * 8 * 3], got[6 * (PLANES + 3)];
    for (int level = 0; level < 256; level += 85) {
        memset(p, level, sizeof p);
        assert_int_equal(codec_gradients(w, c, 1, p, got), TAPER_OK);
        for (int i = 0; i < 6 * PLANES; i++) assert_int_equal(got[i], 0);
        for (int i = 6 * PLANES; i < 6 * (PLANES + 3); i++) assert_int_equal(got[i], level);
    }
}

/* Several windows at once are each as alone. */
static void windows_do_not_depend_on_others(void **state) {
    (void)state;
    const codec_window w = {12, 10, 3, NULL};
    const codec_cells c = {3, 5};
    enum { VALUES = 360, COUNT = 15 * (PLANES + 3) };
    uint8_t p[3 * VALUES], all[3 * COUNT], one[COUNT];
    for (int i = 0; i < 3; i++) draw(w, i + 1, p + i * VALUES);
    assert_int_equal(codec_gradients(w, c, 3, p, all), TAPER_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(codec_gradients(w, c, 1, p + i * VALUES, one), TAPER_OK);
        assert_memory_equal(one, all + i * COUNT, COUNT);
    }
}

static void cells_are_checked(void **state) {
    (void)state;
    static const struct {
        codec_window window;
        codec_cells cells;
        int legal;
    } cases[] = {{{32, 32, 3, NULL}, {16, 16}, 1},  {{32, 32, 3, NULL}, {17, 16}, 0},
                 {{32, 32, 3, NULL}, {16, 17}, 0},  {{32, 32, 3, NULL}, {0, 4}, 0},
                 {{32, 32, 3, NULL}, {4, 0}, 0},    {{2, 2, 1, NULL}, {1, 1}, 1},
                 {{1, 9, 1, NULL}, {1, 4}, 0},      {{256, 128, 1, NULL}, {64, 64}, 0},
                 {{256, 256, 1, NULL}, {65, 1}, 0}, {{256, 256, 1, NULL}, {64, 32}, 1},
                 {{256, 256, 3, NULL}, {64, 32}, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(codec_cells_are_legal(cases[i].window, cases[i].cells), cases[i].legal);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(values_are_those_of_the_definition),
                                       cmocka_unit_test(a_ramp_has_one_orientation),
                                       cmocka_unit_test(contrast_hardly_counts),
                                       cmocka_unit_test(flat_windows_have_only_a_colour),
                                       cmocka_unit_test(windows_do_not_depend_on_others),
                                       cmocka_unit_test(cells_are_checked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
