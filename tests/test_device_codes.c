/* test_device_codes.c -- operations on codes in shapes that tests of learners do not reach: codes
 * quantised and long ones priced, triangles of many sizes, the decay of rows, thresholds followed.
 * On the processor with one thread and with three and on the shadow, to the same bits; what a
 * kernel has to give to the bit is held to it. Outputs are filled with NaN and ringed before. */
#include "device_numbers.h"
#include "train/sampling/quantile.h"
#include <math.h>

enum { MOST = 75000 };
static float a[MOST], b[MOST], c[MOST], code[MOST];

/* --- codes at a cut ------------------------------------------------------------------------- */

static void codes_are_quantised(void **state) {
    (void)state;
    static const size_t shapes[][2] = {{1, 1}, {9, 31}, {33, 32}, {70, 129}};
    for (size_t t = 0; t < 4; t++) {
        size_t rows = shapes[t][0], units = shapes[t][1], n = rows * units;
        train_cut cuts[70];
        randomise(a, n, 30.0f);
        if (n > 100) a[3] = NAN, a[5] = 1e9f, a[7] = -0.0f;
        for (size_t r = 0; r < rows; r++)
            cuts[r] = (train_cut){4.0f + (float)r, (uint32_t)(r % 3 ? 1 + r * 7 % units : units)};
        for (int i = 0; i < DEVICES; i++) {
            on_device *d = &device[i];
            float *q = on_device_give(d, NULL, n * sizeof *a),
                  *slope = on_device_give(d, NULL, n * sizeof *a);
            const train_cut_codes codes = {rows, (uint32_t)units,
                                           on_device_give(d, a, n * sizeof *a),
                                           on_device_give(d, cuts, rows * sizeof *cuts), 2.0f};
            assert_int_equal(d->stream.ops->quantise(&d->stream, &codes, 0.25f, q, slope),
                             TAPER_OK);
            same_bits(i, b, q, n * sizeof *b);
            same_bits(i, c, slope, n * sizeof *c);
        }
        for (size_t k = 0; k < n; k++) {
            const train_cut *cut = &cuts[k / units];
            double m = 2.0 * fabs((double)a[k]) / cut->threshold;
            if (k % units >= cut->kept) {
                assert_true(b[k] == 0.0f && c[k] == 0.0f);
            } else if (isfinite(m) && fabs(m - round(m)) > 1e-5) {
                double want = m < 1.0 ? 0.0 : (floor(m) + 0.45) * cut->threshold / 2.0;
                assert_true(is_near(copysign(want, a[k]), b[k], 1e-5));
                assert_true(is_near(fmin(1.0, m + 0.25), c[k], 1e-5));
            }
        }
        if (n > 100) assert_true(isnan(b[3])); /* must not look like an empty one */
        give_back();
    }
}

/* More bits than the masses of zeros, multiplied, leave in a double. */
static void long_codes_have_their_price(void **state) {
    (void)state;
    enum { UNITS = 3000 };
    const train_cut cut = {1.0f, UNITS - 1};
    double bits = 0.0;
    for (size_t k = 0; k < UNITS; k++) a[k] = 0.25f, b[k] = 1e-9f;
    for (int i = 0; i < DEVICES; i++) {
        on_device *d = &device[i];
        double *price = on_device_give(d, NULL, sizeof bits);
        float *slope = on_device_give(d, NULL, UNITS * sizeof *a);
        const train_cut_codes codes = {1, UNITS, on_device_give(d, a, UNITS * sizeof *a),
                                       on_device_give(d, &cut, sizeof cut), 1.0f};
        assert_int_equal(d->stream.ops->rate(&d->stream, &codes,
                                             on_device_give(d, b, UNITS * sizeof *b), 1.0f, price,
                                             slope),
                         TAPER_OK);
        take_same(i, &bits, price, sizeof bits);
        take_same(i, code, slope, UNITS * sizeof *code);
    }
    assert_true(is_near((UNITS - 1) * log2(1e6), bits, 1e-5)); /* a mass is at least 1e-6 */
    assert_true(code[UNITS - 1] == 0.0f);
    give_back();
}

/* --- triangles ------------------------------------------------------------------------------ */

/* Rows beyond a block, units beyond a tile and at its edges; the odd ones with lengths kept. */
static const size_t triangles[][2] = {{1, 1},  {3, 0},   {0, 3},   {7, 31},  {8, 32},
                                      {9, 33}, {33, 64}, {17, 65}, {20, 99}, {2049, 36}};
enum { TRIANGLES = sizeof triangles / sizeof *triangles, MOST_TRIANGLE = 99 * 102 };
static float triangle[MOST_TRIANGLE];

/* [units][units + 3]; what lies on and above the diagonal is not to be looked at. */
static size_t draw_triangle(size_t units) {
    for (size_t i = 0; i < units * (units + 3); i++)
        triangle[i] = i % (units + 3) < i / (units + 3) ? draw(-0.3f, 0.3f) : NAN;
    return units * (units + 3) * sizeof *triangle;
}

static void decisions_have_the_same_bits(void **state) {
    (void)state;
    for (size_t t = 0; t < TRIANGLES; t++) {
        const size_t rows = triangles[t][0], units = triangles[t][1], bytes = rows * units * 4,
                     matrix = draw_triangle(units);
        static float bias[99];
        static uint32_t kept[2049];
        randomise(a, rows * units, 3.0f), randomise(bias, units, 0.5f);
        for (size_t r = 0; r < rows; r++) kept[r] = (uint32_t)(r * 7 % (units + 3));
        for (int i = 0; i < DEVICES; i++) {
            on_device *d = &device[i];
            const train_units u = {.rows = rows,
                                   .units = (uint32_t)units,
                                   .kept =
                                       t % 2 ? on_device_give(d, kept, rows * sizeof *kept) : NULL,
                                   .binary = 1,
                                   .centre = 0.3f,
                                   .bias = on_device_give(d, bias, units * sizeof *bias)};
            float *pre = on_device_give(d, a, bytes), *to = on_device_give(d, NULL, bytes);
            assert_int_equal(d->stream.ops->decide(&d->stream, &u,
                                                   on_device_give(d, triangle, matrix), units + 3,
                                                   pre, to),
                             TAPER_OK);
            same_bits(i, b, pre, bytes);
            same_bits(i, code, to, bytes);
        }
        for (size_t k = 0; k < rows * units; k++) {
            float x = b[k] > -bias[k % units] ? 1.0f - 0.3f : 0.0f - 0.3f;
            assert_true(code[k] == (t % 2 && k % units >= kept[k / units] ? 0.0f : x));
        }
        give_back();
    }
}

static void codes_of_any_size_are_mixed(void **state) {
    (void)state;
    for (size_t t = 0; t < TRIANGLES; t++) {
        const size_t rows = triangles[t][0], units = triangles[t][1], bytes = rows * units * 4,
                     matrix = draw_triangle(units);
        randomise(a, rows * units, 1.0f);
        for (int i = 0; i < DEVICES; i++) {
            on_device *d = &device[i];
            float *to = on_device_give(d, NULL, bytes);
            assert_int_equal(d->stream.ops->mix(&d->stream, rows, (uint32_t)units,
                                                on_device_give(d, triangle, matrix), units + 3,
                                                on_device_give(d, a, bytes), to),
                             TAPER_OK);
            take_same(i, b, to, bytes);
        }
        for (size_t k = 0; k < rows * units; k++) {
            size_t unit = k % units;
            double sum = a[k];
            for (size_t j = 0; j < unit; j++)
                sum += (double)triangle[unit * (units + 3) + j] * a[k - unit + j];
            assert_true(is_near(sum, b[k], 1e-5));
        }
        give_back();
    }
}

/* --- decay ---------------------------------------------------------------------------------- */

enum { DECAY_ROWS = 5 };
typedef struct decayed {
    double lambda[DECAY_ROWS], value;
} decayed;

/* In double: w is a, the gradient before is b, after it c. */
static void check_decay(train_penalty penalty, train_coefficient how, size_t rows, size_t width,
                        const double *given, const decayed *got) {
    double value = 1.0;
    for (size_t r = 0; r < rows; r++) {
        const float *w = a + r * width, *g = b + r * width;
        double own = 0.0, slopes = 0.0, size = 0.0, l = 0.5;
        for (size_t k = 0; k < width; k++) {
            own += (double)g[k] * g[k];
            slopes += penalty == TRAIN_PENALTY_L2 ? (double)w[k] * w[k] : (w[k] != 0.0f);
            size += penalty == TRAIN_PENALTY_L2 ? 0.5 * w[k] * w[k] : fabs((double)w[k]);
        }
        if (how == TRAIN_COEFFICIENT_ADAPTIVE) l = slopes > 0.0 ? 0.5 * sqrt(own / slopes) : 0.0;
        if (how == TRAIN_COEFFICIENT_GIVEN) l = given[r];
        assert_true(is_near(l, got->lambda[r], 1e-9));
        if (l > 0.0) value += l * size;
        for (size_t k = 0; k < width; k++) {
            double by = penalty == TRAIN_PENALTY_L2 ? w[k] : (w[k] > 0.0f) - (w[k] < 0.0f);
            if (how == TRAIN_COEFFICIENT_GIVEN && !(l > 0.0)) by = 0.0;
            assert_true(is_near(g[k] + l * by, c[r * width + k], 1e-6));
        }
    }
    assert_true(is_near(value, got->value, 1e-9));
}

static void one_decay(train_penalty penalty, train_coefficient how, size_t rows, size_t width) {
    const size_t bytes = rows * width * sizeof *a;
    double given[DECAY_ROWS];
    decayed got = {{0}, 0};
    const double one = 1.0;
    randomise(a, rows * width, 1.0f), randomise(b, rows * width, 2.0f);
    for (size_t k = 0; k < rows * width; k += 3) a[k] = 0.0f;
    for (size_t k = 0; k < width && rows > 2; k++) a[2 * width + k] = 0.0f; /* no penalty's slope */
    for (size_t r = 0; r < rows; r++) given[r] = r % 4 ? 0.1 * (double)r : 0.0;
    for (int i = 0; i < DEVICES; i++) {
        on_device *d = &device[i];
        const int is_given = how == TRAIN_COEFFICIENT_GIVEN;
        train_decay of = {penalty,
                          how,
                          0.5,
                          rows,
                          width,
                          on_device_give(d, a, bytes),
                          on_device_give(d, b, bytes),
                          on_device_give(d, is_given ? given : NULL, rows * sizeof *given),
                          on_device_give(d, &one, sizeof one)};
        assert_int_equal(d->stream.ops->decay(&d->stream, &of), TAPER_OK);
        take_same(i, c, of.gradient, bytes);
        take_same(i, got.lambda, of.lambda, rows * sizeof *of.lambda);
        take_same(i, &got.value, of.value, sizeof *of.value);
        of.gradient = on_device_give(d, b, bytes);
        of.lambda = is_given ? of.lambda : NULL, of.value = NULL; /* neither is asked for */
        assert_int_equal(d->stream.ops->decay(&d->stream, &of), TAPER_OK);
        take_same(i, c, of.gradient, bytes);
    }
    check_decay(penalty, how, rows, width, given, &got);
    give_back();
}

static void weights_decay(void **state) {
    (void)state;
    static const size_t shapes[][2] = {{0, 5}, {1, 1}, {DECAY_ROWS, 257}, {2, 600}};
    for (int how = 0; how < 3; how++)
        for (size_t t = 0; t < 4; t++) {
            one_decay(TRAIN_PENALTY_L1, (train_coefficient)how, shapes[t][0], shapes[t][1]);
            one_decay(TRAIN_PENALTY_L2, (train_coefficient)how, shapes[t][0], shapes[t][1]);
        }
}

/* --- thresholds ------------------------------------------------------------------------------ */

enum { MOST_UNITS = 4100 };
static float bias[MOST_UNITS], spread[MOST_UNITS];

typedef struct thresholds {
    float bias[MOST_UNITS], spread[MOST_UNITS];
} thresholds;

/* a[rows][stride] of all devices' next batch. */
static void see(size_t rows, size_t stride, size_t units, double beta, const train_verdict *verdict,
                thresholds *after) {
    for (int i = 0; i < DEVICES; i++) {
        on_device *d = &device[i];
        float *own = on_device_give(d, bias, units * sizeof *bias),
              *width = on_device_give(d, spread, units * sizeof *spread);
        /* after its last unit's last value there need be nothing */
        const float *all = on_device_give(d, a, ((rows - 1) * stride + units) * sizeof *a);
        const train_verdict *said = verdict ? on_device_give(d, verdict, sizeof *verdict) : NULL;
        const train_quantiles q = {rows, stride, units, beta, all, own, width};
        assert_int_equal(d->stream.ops->follow_quantiles(&d->stream, &q, said), TAPER_OK);
        take_same(i, after->bias, own, units * sizeof *bias);
        take_same(i, after->spread, width, units * sizeof *spread);
        if (i < PROCESSORS) continue;
        float got[MOST_UNITS]; /* what is exact on the first device is exact on all */
        on_device_take(d, got, own, units * sizeof *got);
        for (size_t k = 0; k < units; k++)
            if (!(spread[k] >= 0.0f)) assert_true(got[k] == after->bias[k]);
    }
    give_back();
}

/* Every third unit has seen a batch, of many units nearly all; values are of many sizes, or few,
 * which thresholds meet. */
static void draw_batch(size_t rows, size_t stride, size_t units) {
    for (size_t k = 0; k < units; k++) {
        float size = powf(10.0f, (float)(k % 9) - 4.0f), centre = draw(-1.0f, 1.0f);
        const int is_new = units > 1000 ? k > 4095 : k % 3 != 0;
        bias[k] = is_new ? 123.0f : k % 5 == 4 ? -rintf(3.0f * centre) : -size * centre;
        spread[k] = is_new ? (k % 6 == 1 ? -1.0f : NAN) : size * draw(0.0f, 1.0f);
        for (size_t r = 0; r < rows; r++)
            a[r * stride + k] = k % 5 == 4 ? rintf(draw(-3.0f, 3.0f)) : size * draw(-1.0f, 2.0f);
    }
    if (units > 30 && rows > 2) {
        a[stride + 10] = NAN, a[stride + 11] = INFINITY; /* of new units */
        a[stride + 12] = NAN, a[stride + 15] = -INFINITY;
    }
}

/* In the plain way. */
static void check_thresholds(size_t rows, size_t stride, size_t units, double beta,
                             const thresholds *after) {
    float *values = malloc(rows * sizeof *values);
    assert_non_null(values);
    for (size_t k = 0; k < units; k++) {
        double distance = 0.0, above = 0.0;
        for (size_t r = 0; r < rows; r++) values[r] = a[r * stride + k];
        float t = spread[k] >= 0.0f ? -bias[k] : train_exact_quantile(values, rows, beta);
        for (size_t r = 0; r < rows; r++)
            distance += fabs((double)values[r] - t) / (double)rows, above += values[r] > t;
        double width = spread[k] + 0.1 * (distance - spread[k]);
        if (!isfinite(distance)) {
            assert_true(after->bias[k] == bias[k]);
            assert_true(!(spread[k] >= 0.0f) || after->spread[k] == spread[k]);
        } else if (spread[k] >= 0.0f) {
            assert_true(is_near(width, after->spread[k], 1e-5));
            assert_true(is_near(t + width * (above / (double)rows - beta), -after->bias[k], 1e-5));
        } else {
            assert_true(after->bias[k] == -t && is_near(distance, after->spread[k], 1e-5));
        }
    }
    free(values);
}

static void thresholds_are_found_and_followed(void **state) {
    (void)state;
    static const size_t shapes[][3] = {{1, 1, 1},    {2, 9, 8},     {63, 40, 33},  {64, 33, 33},
                                       {65, 65, 64}, {300, 50, 41}, {1100, 10, 9}, {3, 4100, 4100}};
    static thresholds after;
    for (size_t t = 0; t < sizeof shapes / sizeof *shapes; t++) {
        const size_t rows = shapes[t][0], stride = shapes[t][1], units = shapes[t][2];
        const double beta = 0.1 + 0.4 * (double)(t % 3);
        draw_batch(rows, stride, units);
        see(rows, stride, units, beta, NULL, &after);
        check_thresholds(rows, stride, units, beta, &after);
    }
    const train_verdict sound = {.scale = 1.0f}, diverged = {.diverged = 7, .scale = 1.0f};
    draw_batch(65, 40, 33);
    see(65, 40, 33, 0.3, &sound, &after);
    check_thresholds(65, 40, 33, 0.3, &after);
    see(65, 40, 33, 0.3, &diverged, &after);
    assert_memory_equal(after.bias, bias, 33 * sizeof *bias);
    assert_memory_equal(after.spread, spread, 33 * sizeof *spread);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_are_quantised),
        cmocka_unit_test(long_codes_have_their_price),
        cmocka_unit_test(decisions_have_the_same_bits),
        cmocka_unit_test(codes_of_any_size_are_mixed),
        cmocka_unit_test(weights_decay),
        cmocka_unit_test(thresholds_are_found_and_followed),
    };
    return cmocka_run_group_tests(tests, open_all, close_every_device);
}
