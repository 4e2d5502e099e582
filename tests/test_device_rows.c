/* test_device_rows.c -- rows gathered and moved; vectors, their sums, and what the optimiser does
 * with them. On the processor with one thread and with three and on the shadow, to the same bits,
 * against double and finite differences. Outputs are filled with NaN and ringed before. */
#include "device_numbers.h"
#include "train/sampling/jitter.h"
#include "train/sampling/numbers.h"
#include <math.h>

enum { MOST = 40000 };

/* --- rows ----------------------------------------------------------------------------------- */

enum { OF_ROWS = 40, MOST_WIDTH = 1300 };

/* Into memory that is `shift` bytes from where a device's pieces begin. */
static void one_gathering(on_device *d, size_t rows, size_t width, size_t shift,
                          const uint32_t *order) {
    static uint8_t pixels[OF_ROWS * MOST_WIDTH], got[OF_ROWS * MOST_WIDTH + 16];
    static float mean[MOST_WIDTH], to[OF_ROWS * MOST_WIDTH];
    const size_t size = OF_ROWS * width;
    train_stream *s = &d->stream;
    for (size_t i = 0; i < size; i++) pixels[i] = (uint8_t)(i * 37);
    randomise(mean, width, 100.0f);
    const uint8_t *from = on_device_give(d, pixels, size);
    const uint32_t *by = order ? on_device_give(d, order, OF_ROWS * sizeof *order) : NULL;
    const float *centre = on_device_give(d, mean, width * sizeof *mean);
    uint8_t *bytes = on_device_give(d, NULL, shift + rows * width);
    float *x = on_device_give(d, NULL, rows * width * sizeof *x);
    assert_int_equal(s->ops->gather_rows(s, rows, width, from, by, bytes + shift), TAPER_OK);
    assert_int_equal(s->ops->centre_rows(s, rows, width, from, by, centre, 0.25f, x), TAPER_OK);
    on_device_take(d, got, bytes, shift + rows * width);
    on_device_take(d, to, x, rows * width * sizeof *x);
    for (size_t j = 0; j < shift; j++) assert_int_equal(got[j], 0xff);
    for (size_t r = 0; r < rows; r++)
        for (size_t j = 0; j < width; j++) {
            uint8_t want = pixels[(order ? order[r] : r) * width + j];
            assert_int_equal(got[shift + r * width + j], want);
            assert_true(to[r * width + j] == ((float)want - mean[j]) * 0.25f);
        }
    on_device_forget(d);
}

static void rows_are_gathered_and_centred(void **state) {
    (void)state;
    static const size_t widths[] = {1, 4, 32, 67, 112, MOST_WIDTH}, shifts[] = {0, 4, 1};
    uint32_t order[OF_ROWS];
    for (uint32_t i = 0; i < OF_ROWS; i++) order[i] = i * 13 % OF_ROWS;
    for (int i = 0; i < DEVICES; i++)
        for (size_t rows = 0; rows <= OF_ROWS; rows += 17)
            for (int w = 0; w < 6; w++)
                for (int k = 0; k < 6; k++)
                    one_gathering(&device[i], rows, widths[w], shifts[k / 2], k % 2 ? order : NULL);
}

/* Examples move as jitter.h says, by the number of the row that they become. */
static void rows_are_moved(void **state) {
    (void)state;
    static const train_jitter jitters[] = {{9, 7, 3, 0.5f, 0, 0, 0, NULL},
                                           {20, 14, 2, 1.0f, 0, 0, 0, NULL},
                                           {2, 2, 1, 0.9f, 0, 0, 0, NULL},
                                           {1, 40, 1, 1.0f, 0, 0, 0, NULL},
                                           {9, 7, 3, 0.9f, 3.0f, 0.4f, 1.3f, NULL}};
    enum { MOST_VALUES = 20 * 14 * 2, MANY = 2100 };
    static uint8_t pixels[OF_ROWS * MOST_VALUES], got[MANY * 189], want[MOST_VALUES];
    static uint32_t order[MANY];
    for (size_t i = 0; i < sizeof pixels; i++) pixels[i] = (uint8_t)(i * i * 37);
    for (uint32_t i = 0; i < MANY; i++) order[i] = i * 13 % OF_ROWS;
    for (int i = 0; i < DEVICES; i++)
        for (int k = 0; k < 10; k++) {
            train_jitter moves = jitters[k == 9 ? 4 : k / 2 % 4];
            const train_jitter *j = &moves;
            const size_t values = (size_t)j->width * j->height * j->channels,
                         rows = k == 8       ? MANY
                                : k % 4 == 3 ? 1
                                             : OF_ROWS - 3;
            const int ordered = k == 8 || k % 2;
            on_device *d = &device[i];
            const uint8_t *from = on_device_give(d, pixels, OF_ROWS * values);
            const uint32_t *by = ordered ? on_device_give(d, order, rows * sizeof *order) : NULL;
            if (k % 3 == 2) moves.position = on_device_give(d, order, rows * sizeof *order);
            uint8_t *to = on_device_give(d, NULL, rows * values);
            assert_int_equal(d->stream.ops->jitter(&d->stream, j, rows, from, by, 5, 77, to),
                             TAPER_OK);
            on_device_take(d, got, to, rows * values);
            for (size_t r = 0; r < rows; r++) {
                train_jitter_row(j, pixels + (ordered ? order[r] : r) * values, 5, 77,
                                 k % 3 == 2 ? order[r] : r, want);
                assert_memory_equal(got + r * values, want, values);
            }
            on_device_forget(d);
        }
}

/* Gradients are those of codec/transform/gradients.h, to the bit. */
static void rows_are_described(void **state) {
    (void)state;
    static const struct {
        codec_window window;
        codec_cells cells;
    } shapes[] = {{{32, 32, 3, NULL}, {4, 4}},
                  {{28, 20, 1, NULL}, {14, 3}},
                  {{9, 7, 3, NULL}, {1, 1}},
                  {{20, 21, 1, NULL}, {10, 10}}};
    enum { MOST_VALUES = 32 * 32 * 3, MOST_COUNT = 100 * 34, ROWS = 11 };
    static uint8_t pixels[ROWS * MOST_VALUES], got[ROWS * MOST_COUNT], want[MOST_COUNT];
    uint32_t order[ROWS];
    for (size_t i = 0; i < sizeof pixels; i++)
        pixels[i] = (uint8_t)(i % 1000 < 500 ? i * i * 37 >> 7 : 255 * (i % 3 == 0));
    for (uint32_t i = 0; i < ROWS; i++) order[i] = i * 7 % ROWS;
    for (int i = 0; i < DEVICES; i++)
        for (int k = 0; k < 8; k++) {
            on_device *d = &device[i];
            const codec_window w = shapes[k / 2].window;
            const codec_cells c = shapes[k / 2].cells;
            const size_t values = codec_window_values(w), count = codec_gradients_count(w, c);
            const size_t scratch = ROWS * c.across * c.down * CODEC_GRADIENT_SIGNED;
            train_gradients g = {w, c, k == 1 ? 1 : ROWS, NULL, NULL, NULL, NULL};
            g.pixels = on_device_give(d, pixels, ROWS * values);
            if (k % 2) g.order = on_device_give(d, order, sizeof order);
            g.votes = on_device_give(d, NULL, scratch * sizeof *g.votes);
            g.to = on_device_give(d, NULL, g.rows * count);
            assert_int_equal(d->stream.ops->gradients(&d->stream, &g), TAPER_OK);
            on_device_take(d, got, g.to, g.rows * count);
            for (size_t r = 0; r < g.rows; r++) {
                const size_t of = k % 2 ? order[r] : r;
                assert_int_equal(codec_gradients(w, c, 1, pixels + of * values, want), TAPER_OK);
                assert_memory_equal(got + r * count, want, count);
            }
            on_device_forget(d);
        }
}

/* --- vectors -------------------------------------------------------------------------------- */

/* the last is small again: what a longer sum has left behind is none of its business */
static const size_t sizes[] = {0, 1, 7, 33, 32768, 32769, MOST, 40};
enum { N_SIZES = sizeof sizes / sizeof *sizes };

static void vectors_equal_their_definitions(void **state) {
    (void)state;
    static float a[MOST], b[MOST], y[MOST], got[4][MOST];
    for (size_t k = 0; k < N_SIZES; k++)
        for (int i = 0; i < DEVICES; i++) {
            on_device *d = &device[i];
            train_stream *s = &d->stream;
            size_t n = sizes[k], bytes = n * sizeof *a;
            randomise(a, n, 3.0f), randomise(b, n, 3.0f), randomise(y, n, 3.0f);
            const float *x = on_device_give(d, a, bytes), *z = on_device_give(d, b, bytes);
            float *to[3] = {on_device_give(d, NULL, bytes), on_device_give(d, NULL, bytes),
                            on_device_give(d, y, bytes)};
            assert_int_equal(s->ops->scale(s, n, 0.3f, x, to[0]), TAPER_OK);
            assert_int_equal(s->ops->exponential(s, n, -2.0f, x, to[1]), TAPER_OK);
            assert_int_equal(s->ops->add_products(s, n, x, z, to[2]), TAPER_OK);
            for (int t = 0; t < 3; t++) on_device_take(d, got[t], to[t], bytes);
            for (size_t j = 0; j < n; j++) {
                assert_true(got[0][j] == 0.3f * a[j]);
                assert_true(got[1][j] == train_exp(-2.0f * a[j]));
                assert_true(got[2][j] == y[j] + a[j] * b[j]);
            }
            on_device_forget(d);
        }
}

static void sums_equal_double(void **state) {
    (void)state;
    static float x[MOST];
    static double y[1000];
    for (size_t k = 0; k < N_SIZES; k++) {
        double first = 0.0;
        randomise(x, sizes[k], 1.0f);
        for (int i = 0; i < DEVICES; i++) {
            on_device *d = &device[i];
            train_stream *s = &d->stream;
            float *there = on_device_give(d, x, sizes[k] * sizeof *x);
            double *sum = on_device_give(d, NULL, sizeof *sum), got[2], want = 0.0;
            for (size_t j = 0; j < sizes[k]; j++) want += (double)x[j] * x[j];
            for (int add_to = 0; add_to < 2; add_to++) {
                assert_int_equal(s->ops->sum_squares(s, sizes[k], there, add_to, sum), TAPER_OK);
                on_device_take(d, &got[add_to], sum, sizeof *sum);
            }
            assert_true(fabs(got[0] - want) <= 1e-12 * (double)(sizes[k] + 1));
            assert_true(got[1] == 2.0 * got[0]);
            if (!i) first = got[0];
            assert_true(agrees(i, DOUBLES, &first, got, sizeof first));
            if (sizes[k]) {
                const float nan = NAN;
                train_upload(s, there + sizes[k] / 2, &nan, sizeof nan);
                s->ops->sum_squares(s, sizes[k], there, 0, sum);
                on_device_take(d, got, sum, sizeof *sum);
                assert_true(isnan(got[0]));
            }
            on_device_forget(d);
        }
    }
    for (int j = 0; j < 1000; j++) y[j] = j * 0.5;
    for (int i = 0; i < DEVICES; i++) {
        on_device *d = &device[i];
        train_stream *s = &d->stream;
        const double *there = on_device_give(d, y, sizeof y);
        double *to = on_device_give(d, y, sizeof y), *sum = on_device_give(d, NULL, sizeof *sum);
        double got;
        assert_int_equal(s->ops->add_doubles(s, 1000, 3.0, there, to), TAPER_OK);
        assert_int_equal(s->ops->sum_doubles(s, 1000, to, sum), TAPER_OK);
        on_device_take(d, &got, sum, sizeof got);
        assert_true(got == 4.0 * 0.5 * 999 * 1000 / 2);
        assert_int_equal(s->ops->sum_doubles(s, 0, to, sum), TAPER_OK);
        on_device_take(d, &got, sum, sizeof got);
        assert_true(got == 0.0);
        on_device_forget(d);
    }
}

/* --- the optimiser -------------------------------------------------------------------------- */

static train_verdict judged(on_device *d, uint64_t step, double loss, double most, double squares,
                            float max_norm, train_verdict before) {
    train_verdict *there = on_device_give(d, &before, sizeof before), got;
    assert_int_equal(d->stream.ops->judge(&d->stream, step, on_device_give(d, &loss, sizeof loss),
                                          most, on_device_give(d, &squares, sizeof squares),
                                          max_norm, there),
                     TAPER_OK);
    on_device_take(d, &got, there, sizeof got);
    on_device_forget(d);
    return got;
}

static void verdicts_are_just(void **state) {
    (void)state;
    const train_verdict none = {0, 7.0f}, old = {3, 1.0f};
    for (int i = 0; i < DEVICES; i++) {
        on_device *d = &device[i];
        train_verdict v = judged(d, 5, 1e30, INFINITY, 16.0, 2.0f, none);
        assert_true(v.diverged == 0 && v.scale == 0.5f);
        v = judged(d, 5, 1.0, INFINITY, 16.0, 0.0f, none);
        assert_true(v.diverged == 0 && v.scale == 1.0f);
        v = judged(d, 5, 1.0, INFINITY, 16.0, 5.0f, none);
        assert_true(v.diverged == 0 && v.scale == 1.0f);
        assert_int_equal(judged(d, 5, NAN, INFINITY, 1.0, 0.0f, none).diverged, 5);
        assert_int_equal(judged(d, 5, -INFINITY, INFINITY, 1.0, 0.0f, none).diverged, 5);
        assert_int_equal(judged(d, 5, 1e12, 1e12, 1.0, 0.0f, none).diverged, 5);
        assert_int_equal(judged(d, 5, 1.0, INFINITY, NAN, 1.0f, none).diverged, 5);
        assert_int_equal(judged(d, 5, 1.0, INFINITY, INFINITY, 1.0f, none).diverged, 5);
        assert_int_equal(judged(d, 5, NAN, INFINITY, 1.0, 0.0f, old).diverged, 3);
        assert_int_equal(judged(d, 5, 1.0, INFINITY, 1.0, 0.0f, old).diverged, 3);
    }
}

static const train_adam_step adam_step = {0.01f, 0.9f, 0.99f, 1e-6f};

static void adam_equals_double(void **state) {
    (void)state;
    static float g[MOST], w[3][MOST], got[3][MOST], first[3][MOST];
    static double want[3][MOST];
    for (size_t k = 0; k < N_SIZES; k++) {
        size_t n = sizes[k], bytes = n * sizeof *g;
        randomise(g, n, 1.0f);
        for (int t = 0; t < 3; t++) randomise(w[t], n, 1.0f);
        for (size_t j = 0; j < n; j++) {
            double gradient = 0.25 * g[j], v0 = fabs((double)w[2][j]);
            w[2][j] = fabsf(w[2][j]);
            want[1][j] = (double)adam_step.beta1 * w[1][j] + (1.0 - adam_step.beta1) * gradient;
            want[2][j] =
                (double)adam_step.beta2 * v0 + (1.0 - adam_step.beta2) * gradient * gradient;
            want[0][j] = w[0][j] - adam_step.rate * want[1][j] /
                                       (sqrt(want[2][j]) + (double)adam_step.epsilon);
        }
        for (int i = 0; i < DEVICES; i++) {
            on_device *d = &device[i];
            train_verdict go = {0, 0.25f}, stop = {1, 0.25f};
            float *to[3];
            const float *gradient = on_device_give(d, g, bytes);
            for (int t = 0; t < 3; t++) to[t] = on_device_give(d, w[t], bytes);
            assert_int_equal(d->stream.ops->adam(&d->stream, n, &adam_step,
                                                 on_device_give(d, &stop, sizeof stop), gradient,
                                                 to[0], to[1], to[2]),
                             TAPER_OK);
            for (int t = 0; t < 3; t++) on_device_take(d, got[t], to[t], bytes);
            for (int t = 0; t < 3; t++) assert_memory_equal(got[t], w[t], bytes);
            assert_int_equal(d->stream.ops->adam(&d->stream, n, &adam_step,
                                                 on_device_give(d, &go, sizeof go), gradient, to[0],
                                                 to[1], to[2]),
                             TAPER_OK);
            for (int t = 0; t < 3; t++) {
                on_device_take(d, got[t], to[t], bytes);
                close_to(got[t], want[t], n, t ? 2e-7 : 2e-6, "adam");
                if (!i) memcpy(first[t], got[t], bytes);
                same(i, first[t], got[t], bytes, "adam");
            }
            on_device_forget(d);
        }
    }
}

/* A weight whose gradient stays 0, or nearly: its moments end at 0, on no path through numbers that
 * are slow to reckon with. */
static void adam_moments_are_never_subnormal(void **state) {
    (void)state;
    enum { N = 40, STEPS = 12000 };
    on_device *d = &device[0];
    const float zeros[N] = {0};
    const train_verdict go = {0, 1.0f};
    float g[N], m[N], v[N], *there[4];
    for (int t = 0; t < 4; t++) there[t] = on_device_give(d, zeros, sizeof zeros);
    const train_verdict *verdict = on_device_give(d, &go, sizeof go);
    for (int t = 0; t < STEPS; t++) {
        for (int k = 0; k < N; k++) g[k] = t ? ldexpf(1.0f, -4 * k) * (float)(k % 2) : 1.0f;
        train_upload(&d->stream, there[0], g, sizeof g);
        assert_int_equal(d->stream.ops->adam(&d->stream, N, &adam_step, verdict, there[0], there[1],
                                             there[2], there[3]),
                         TAPER_OK);
        on_device_take(d, m, there[2], sizeof m);
        on_device_take(d, v, there[3], sizeof v);
        for (int k = 0; k < N; k++)
            if (fpclassify(m[k]) == FP_SUBNORMAL || fpclassify(v[k]) == FP_SUBNORMAL)
                fail_msg("step %d, weight %d: %g, %g", t, k, (double)m[k], (double)v[k]);
    }
    for (int k = 0; k < N; k += 2) assert_true(m[k] == 0 && v[k] == 0);
    on_device_forget(d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_gathered_and_centred),
        cmocka_unit_test(rows_are_moved),
        cmocka_unit_test(rows_are_described),
        cmocka_unit_test(vectors_equal_their_definitions),
        cmocka_unit_test(sums_equal_double),
        cmocka_unit_test(verdicts_are_just),
        cmocka_unit_test(adam_equals_double),
        cmocka_unit_test(adam_moments_are_never_subnormal),
    };
    return cmocka_run_group_tests(tests, open_all, close_every_device);
}
