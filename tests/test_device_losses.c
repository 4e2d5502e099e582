/* test_device_losses.c -- bits and errors, what they cost and their gradients; labels.
 * On the processor with one thread and with three and on the shadow, to the same bits, against
 * double and finite differences. Outputs are filled with NaN and ringed before. */
#include "device_numbers.h"
#include "train/sampling/numbers.h"
#include <math.h>

enum { MOST = 40000 };

/* --- codes ---------------------------------------------------------------------------------- */

/* Bits of a unit as train/objectives/rate.h defines them. */
static double price(double x, double threshold, double log_scale) {
    double t = threshold / exp(log_scale), r = fmax(fabs(x) / threshold - 0.5, 0.0);
    return -log2(1.0 - exp(-t)) + fmin(r, 1.0) + r * t / log(2.0);
}

typedef struct priced {
    double bits[70];
    float dlog[70 * 129], dx[70 * 129];
} priced;

static void price_on(on_device *d, size_t rows, uint32_t units, const train_cut *cuts,
                     const float *x, const float *inverse, const float *before, priced *to) {
    train_stream *s = &d->stream;
    size_t n = rows * units * sizeof *x;
    const train_cut_codes codes = {rows, units, on_device_give(d, x, n),
                                   on_device_give(d, cuts, rows * sizeof *cuts), 2.0f};
    const float *scale = on_device_give(d, inverse, units * sizeof *inverse);
    double *bits = on_device_give(d, NULL, rows * sizeof *bits);
    float *dlog = on_device_give(d, NULL, n), *dx = on_device_give(d, before, n);
    assert_int_equal(s->ops->rate(s, &codes, scale, 3.0f, bits, dlog), TAPER_OK);
    assert_int_equal(s->ops->rate_gradient(s, &codes, scale, 5.0f, dx), TAPER_OK);
    on_device_take(d, to->bits, bits, rows * sizeof *bits);
    on_device_take(d, to->dlog, dlog, n);
    on_device_take(d, to->dx, dx, n);
    on_device_forget(d);
}

static void bits_have_their_gradients(void **state) {
    (void)state;
    static const size_t shapes[][2] = {{1, 1}, {17, 9}, {70, 129}};
    static float x[70 * 129], inverse[129], before[70 * 129];
    static priced first, got;
    for (size_t k = 0; k < 3; k++) {
        size_t rows = shapes[k][0], units = shapes[k][1], n = rows * units;
        train_cut cuts[70];
        randomise(x, n, 30.0f), randomise(before, n, 1.0f), randomise(inverse, units, 0.05f);
        for (size_t u = 0; u < units; u++) inverse[u] = fabsf(inverse[u]) + 0.05f;
        for (size_t r = 0; r < rows; r++)
            cuts[r] = (train_cut){8.0f + (float)r, r % 3 ? (uint32_t)units : 1 + (uint32_t)r % 5};
        for (size_t r = 0; r < rows; r++)
            if (cuts[r].kept > units) cuts[r].kept = (uint32_t)units;
        for (int i = 0; i < DEVICES; i++) {
            price_on(&device[i], rows, (uint32_t)units, cuts, x, inverse, before, &got);
            if (!i) first = got;
            same(i, first.bits, got.bits, rows * sizeof *got.bits, "rate");
            same(i, first.dlog, got.dlog, n * sizeof *got.dlog, "rate, log scale");
            same(i, first.dx, got.dx, n * sizeof *got.dx, "rate, code");
        }
        for (size_t r = 0; r < rows; r++) {
            double sum = 0.0, threshold = cuts[r].threshold / 2.0, h = 1e-5;
            for (size_t u = 0; u < units; u++) {
                size_t at = r * units + u;
                double log_scale = -log((double)inverse[u]), code = x[at];
                int kept = u < cuts[r].kept;
                double by_x = (price(code + h, threshold, log_scale) -
                               price(code - h, threshold, log_scale)) /
                              (2 * h),
                       by_scale = (price(code, threshold, log_scale + h) -
                                   price(code, threshold, log_scale - h)) /
                                  (2 * h);
                if (kept) sum += price(code, threshold, log_scale);
                double near = fabs(fabs(code) / threshold - 0.5);
                if (near < 1e-4 || fabs(near - 1.0) < 1e-4) continue; /* a kink */
                assert_true(fabs(first.dx[at] - before[at] - (kept ? 5.0 * by_x : 0.0)) < 1e-4);
                assert_true(fabs(first.dlog[at] - (kept ? 3.0 * by_scale : 0.0)) <
                            1e-4 * (1.0 + fabs(by_scale)));
            }
            assert_true(fabs(first.bits[r] - sum) < 1e-5 * (1.0 + sum));
        }
    }
}

/* --- losses --------------------------------------------------------------------------------- */

static void errors_and_their_gradient(void **state) {
    (void)state;
    static const size_t shapes[][2] = {{1, 1}, {1, 65}, {7, 3}, {33, 64}, {70, 129}, {4, 700}};
    static float target[MOST], y[MOST], e[MOST], first[MOST], after[MOST], first_after[MOST];
    double square[70], first_square[70], weight[70];
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        size_t rows = shapes[k][0], width = shapes[k][1], n = rows * width;
        randomise(target, n, 2.0f), randomise(y, n, 2.0f);
        for (size_t r = 0; r < rows; r++) weight[r] = 0.1 + (double)r;
        for (int i = 0; i < DEVICES; i++) {
            on_device *d = &device[i];
            train_stream *s = &d->stream;
            float *there = on_device_give(d, y, n * sizeof *y);
            const float *aim = on_device_give(d, target, n * sizeof *target);
            double *sums = on_device_give(d, NULL, rows * sizeof *sums);
            const double *weights = on_device_give(d, weight, rows * sizeof *weight);
            assert_int_equal(s->ops->errors(s, rows, width, aim, there, sums), TAPER_OK);
            on_device_take(d, e, there, n * sizeof *e);
            on_device_take(d, square, sums, rows * sizeof *square);
            assert_int_equal(s->ops->error_gradient(s, rows, width, weights, there), TAPER_OK);
            on_device_take(d, after, there, n * sizeof *after);
            if (!i) {
                memcpy(first, e, sizeof e), memcpy(first_after, after, sizeof after);
                memcpy(first_square, square, sizeof square);
            }
            same(i, first, e, n * sizeof *e, "errors");
            same(i, first_after, after, n * sizeof *e, "error_gradient");
            same(i, first_square, square, rows * sizeof *square, "squared errors");
            on_device_forget(d);
        }
        for (size_t r = 0; r < rows; r++) {
            double sum = 0.0;
            for (size_t j = 0; j < width; j++) {
                size_t at = r * width + j;
                assert_true(first[at] == y[at] - target[at]);
                sum += (double)first[at] * first[at];
                /* d (mean of weight |e|^2) / d e */
                double want = 2.0 * weight[r] * first[at] / (double)rows;
                assert_true(fabs(first_after[at] - want) <= 1e-6 * (1.0 + fabs(want)));
            }
            assert_true(fabs(first_square[r] - sum) <= 1e-5 * (1.0 + sum));
        }
    }
}

/* Of more rows than a launch has blocks. */
static void many_rows_have_their_gradient(void **state) {
    (void)state;
    enum { ROWS = 2100, WIDTH = 3 };
    static float e[ROWS * WIDTH], got[ROWS * WIDTH];
    static double weight[ROWS];
    randomise(e, ROWS * WIDTH, 2.0f);
    for (int r = 0; r < ROWS; r++) weight[r] = r;
    for (int i = 0; i < DEVICES; i++) {
        on_device *d = &device[i];
        float *there = on_device_give(d, e, sizeof e);
        assert_int_equal(d->stream.ops->error_gradient(&d->stream, ROWS, WIDTH,
                                                       on_device_give(d, weight, sizeof weight),
                                                       there),
                         TAPER_OK);
        on_device_take(d, got, there, sizeof got);
        for (int k = 0; k < ROWS * WIDTH; k++)
            assert_true(got[k] == e[k] * (float)(2.0 * weight[k / WIDTH] / ROWS));
        on_device_forget(d);
    }
}

static void errors_are_weighed(void **state) {
    (void)state;
    enum { ROWS = 30 };
    train_cut cuts[ROWS];
    double error[ROWS], weight[ROWS], loss[ROWS], before[ROWS], logs[ROWS];
    for (int r = 0; r < ROWS; r++) {
        cuts[r] = (train_cut){r % 2 ? 10.0f : 1000.0f, 1}; /* two qualities, far apart */
        error[r] = 1.0 + r, before[r] = 100.0 * r;
    }
    for (int i = 0; i < DEVICES; i++) {
        on_device *d = &device[i];
        train_stream *s = &d->stream;
        const train_cut *cut = on_device_give(d, cuts, sizeof cuts);
        const double *of = on_device_give(d, error, sizeof error);
        double *w = on_device_give(d, NULL, sizeof weight),
               *l = on_device_give(d, before, sizeof loss),
               *l2 = on_device_give(d, before, sizeof logs);
        assert_int_equal(s->ops->weigh_errors(s, ROWS, cut, 10.0f, 0.5f, of, w, l), TAPER_OK);
        on_device_take(d, weight, w, sizeof weight);
        on_device_take(d, loss, l, sizeof loss);
        assert_int_equal(s->ops->log_errors(s, ROWS, 0.5, of, w, l2), TAPER_OK);
        on_device_take(d, logs, l2, sizeof logs);
        for (int r = 0; r < ROWS; r++) {
            double mean = r % 2 ? 16.0 : 15.0, t = r % 2 ? 1.0 : 100.0;
            double want = sqrt(fmin(10.0, fmax(0.1, mean / error[r]))) / (t * t);
            assert_true(fabs(weight[r] - want) < 1e-9 * want);
            assert_true(fabs(loss[r] - before[r] - want * error[r]) < 1e-9 * (1.0 + before[r]));
            assert_true(fabs(logs[r] - before[r] - log(error[r] + 0.5)) < 1e-9 * (1 + before[r]));
        }
        on_device_forget(d);
    }
}

/* A batch of eight qualities, each of its own part of the range: against double, by their means. */
static void many_qualities_are_weighed(void **state) {
    (void)state;
    enum { ROWS = 700, PARTS = 8 };
    static train_cut cuts[ROWS];
    static double error[ROWS], before[ROWS], weight[ROWS], loss[ROWS];
    double sum[PARTS] = {0}, count[PARTS] = {0}, all = 0.0;
    float within[ROWS], size[ROWS];
    randomise(within, ROWS, 0.4f), randomise(size, ROWS, 1.0f);
    for (int r = 0; r < ROWS; r++) { /* an octave each, from 2 to 512, and both its ends */
        float octave = (float)(r % PARTS) + 0.5f + within[r];
        cuts[r] = (train_cut){r == 200 ? 2.0f : r == 327 ? 512.0f : exp2f(1.0f + octave), 1};
        error[r] = exp(3.0 * size[r]), before[r] = 0.01 * r;
        sum[r % PARTS] += error[r], count[r % PARTS] += 1.0, all += error[r];
    }
    for (int i = 0; i < 2 * DEVICES; i++) {
        on_device *d = &device[i / 2];
        train_stream *s = &d->stream;
        const float balance = i % 2 ? 0.7f : 0.0f;
        const double zeros[3] = {0};
        double *w = on_device_give(d, NULL, sizeof weight),
               *l = on_device_give(d, before, sizeof before),
               *total = on_device_give(d, zeros, sizeof zeros), got[3];
        const double *of = on_device_give(d, error, sizeof error);
        assert_int_equal(s->ops->weigh_errors(s, ROWS, on_device_give(d, cuts, sizeof cuts), 4.0f,
                                              balance, of, w, l),
                         TAPER_OK);
        assert_int_equal(s->ops->error_losses(s, ROWS, of, of, 0.5, 3.0, 10.0, total), TAPER_OK);
        assert_int_equal(s->ops->weigh_errors(s, 0, NULL, 4.0f, balance, NULL, NULL, NULL),
                         TAPER_OK);
        on_device_take(d, weight, w, sizeof weight);
        on_device_take(d, loss, l, sizeof loss);
        on_device_take(d, got, total, sizeof got);
        for (int r = 0; r < ROWS; r++) {
            double mean = sum[r % PARTS] / count[r % PARTS], t = (double)cuts[r].threshold / 4.0;
            double want = pow(fmin(10.0, fmax(0.1, mean / error[r])), (double)balance) / (t * t);
            assert_true(fabs(weight[r] - want) < 1e-9 * want);
            assert_true(fabs(loss[r] - before[r] - want * error[r]) < 1e-9 * (1.0 + loss[r]));
        }
        assert_true(is_near(1.5 * all / 10.0, got[0], 1e-12));
        assert_true(is_near(9.0 * all / 10.0, got[1], 1e-12));
        assert_true(is_near(all / 10.0, got[2], 1e-12));
        on_device_forget(d);
    }
}

/* Loss of labels under logits, as operations.h defines it. */
static double entropy(const float *logit, size_t classes, uint32_t label, size_t moved, double by) {
    double sum = 0.0;
    for (size_t c = 0; c < classes; c++) sum += exp((double)logit[c] + (c == moved ? by : 0.0));
    return log(sum) - (double)logit[label] - (label == moved ? by : 0.0);
}

static void labels_have_their_price(void **state) {
    (void)state;
    static const size_t shapes[][2] = {{1, 1}, {19, 10}, {40, 100}};
    static float logit[4000], first[4000], gradient[4000];
    for (size_t k = 0; k < 3; k++) {
        size_t rows = shapes[k][0], classes = shapes[k][1], n = rows * classes;
        uint32_t label[40];
        double loss[40], before[40];
        randomise(logit, n, 20.0f);
        for (size_t r = 0; r < rows; r++) {
            label[r] = r % 8 == 3   ? UINT32_MAX
                       : r % 4 == 3 ? (uint32_t)classes
                                    : (uint32_t)((r * 7) % classes);
            before[r] = (double)r;
        }
        for (int i = 0; i < DEVICES; i++) {
            on_device *d = &device[i];
            train_stream *s = &d->stream;
            const float *x = on_device_give(d, logit, n * sizeof *logit);
            const uint32_t *y = on_device_give(d, label, rows * sizeof *label);
            double *l = on_device_give(d, before, rows * sizeof *loss);
            float *g = on_device_give(d, NULL, n * sizeof *g);
            assert_int_equal(s->ops->cross_entropy(s, rows, classes, x, y, l, g), TAPER_OK);
            on_device_take(d, gradient, g, n * sizeof *g);
            on_device_take(d, loss, l, rows * sizeof *loss);
            if (!i) memcpy(first, gradient, sizeof first);
            same(i, first, gradient, n * sizeof *g, "cross_entropy");
            on_device_forget(d);
        }
        for (size_t r = 0; r < rows; r++) {
            const float *x = logit + r * classes;
            int labelled = label[r] < classes;
            double want = labelled ? entropy(x, classes, label[r], classes, 0.0) : 0.0;
            assert_true(fabs(loss[r] - before[r] - want) < 1e-5 * (1.0 + want));
            for (size_t c = 0; c < classes; c++) {
                double h = 1e-4, slope = 0.0;
                if (labelled)
                    slope = (entropy(x, classes, label[r], c, h) -
                             entropy(x, classes, label[r], c, -h)) /
                            (2 * h);
                assert_true(fabs(gradient[r * classes + c] * (double)rows - slope) < 1e-5);
            }
        }
    }
}

/* Cost of a pixel under a logit, as operations.h defines it. */
static double pixel_cost(double a, double x) {
    return (a > 0.0 ? a : 0.0) - x * a + log1p(exp(-fabs(a)));
}

static void pixels_have_their_price(void **state) {
    (void)state;
    enum { NUMBERS = 20 * 300 };
    static const size_t shapes[][2] = {{1, 1}, {1, 300}, {20, 33}, {19, 300}};
    static float logit[NUMBERS], got[NUMBERS];
    static uint8_t pixels[NUMBERS];
    static const float zeros[300];
    uint32_t order[20];
    for (size_t j = 0; j < NUMBERS; j++) pixels[j] = (uint8_t)(j * 37 % 256);
    for (size_t k = 0; k < 4; k++) {
        const size_t rows = shapes[k][0], width = shapes[k][1], n = rows * width;
        double cost[20];
        randomise(logit, n, 20.0f);
        logit[0] = 300.0f, logit[n - 1] = -300.0f, pixels[5] = 255;
        for (size_t r = 0; r < rows; r++) order[r] = (uint32_t)(k % 2 ? (r * 3 + 1) % rows : r);
        for (int i = 0; i < DEVICES; i++) {
            on_device *d = &device[i];
            train_stream *s = &d->stream;
            float *a = on_device_give(d, logit, n * sizeof *a);
            float *e = k % 2 ? a : on_device_give(d, NULL, n * sizeof *e);
            double *c = on_device_give(d, NULL, rows * sizeof *c);
            const train_inputs in = {rows,
                                     width,
                                     on_device_give(d, pixels, n),
                                     k % 2 ? on_device_give(d, order, rows * sizeof *order) : NULL,
                                     on_device_give(d, zeros, width * sizeof *zeros),
                                     1.0f / 255.0f};
            assert_int_equal(s->ops->pixel_entropy(s, &in, 0.5f, a, e, c), TAPER_OK);
            on_device_take(d, got, e, n * sizeof *got);
            on_device_take(d, cost, c, rows * sizeof *cost);
            for (size_t r = 0; r < rows; r++) {
                double want = 0.0;
                for (size_t j = 0; j < width; j++) {
                    const double h = 1e-4, x = pixels[order[r] * width + j] / 255.0;
                    const double at = (double)logit[r * width + j];
                    const double slope = (pixel_cost(at + h, x) - pixel_cost(at - h, x)) / (2 * h);
                    assert_true(fabs((double)got[r * width + j] - 0.5 * slope) < 1e-6);
                    want += pixel_cost(at, x);
                }
                assert_true(fabs(cost[r] - want) < 1e-5 * (1.0 + want));
            }
            on_device_forget(d);
        }
    }
}

/* Rows that hold what is not finite: NaN, but for -infinity. */
static void labels_tell_what_is_not_finite(void **state) {
    (void)state;
    enum { WIDTH = 40, ROWS = 5 };
    float x[ROWS * WIDTH], got[ROWS * WIDTH];
    double loss[ROWS] = {0};
    const uint32_t label[ROWS] = {0};
    randomise(x, ROWS * WIDTH, 5.0f);
    x[35] = -INFINITY, x[WIDTH + 33] = NAN, x[2 * WIDTH] = NAN, x[3 * WIDTH + 9] = INFINITY;
    for (int i = 0; i < DEVICES; i++) {
        on_device *d = &device[i];
        float *to = on_device_give(d, NULL, sizeof x);
        assert_int_equal(d->stream.ops->cross_entropy(&d->stream, ROWS, WIDTH,
                                                      on_device_give(d, x, sizeof x),
                                                      on_device_give(d, label, sizeof label),
                                                      on_device_give(d, loss, sizeof loss), to),
                         TAPER_OK);
        on_device_take(d, got, to, sizeof got);
        for (int k = 0; k < ROWS * WIDTH; k++) {
            int finite = k / WIDTH == 0 || k / WIDTH == 4;
            assert_true(finite ? isfinite(got[k]) : isnan(got[k]));
        }
        assert_true(got[35] == 0.0f);
        on_device_forget(d);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_have_their_gradients),
        cmocka_unit_test(errors_and_their_gradient),
        cmocka_unit_test(many_rows_have_their_gradient),
        cmocka_unit_test(errors_are_weighed),
        cmocka_unit_test(many_qualities_are_weighed),
        cmocka_unit_test(labels_have_their_price),
        cmocka_unit_test(pixels_have_their_price),
        cmocka_unit_test(labels_tell_what_is_not_finite),
    };
    return cmocka_run_group_tests(tests, open_all, close_every_device);
}
