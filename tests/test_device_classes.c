/* test_device_classes.c -- layers that are normalised, losses of classes without labels, and
 * steps by rows, on the processor with one thread and with three and on the shadow, to the same
 * bits, against plain loops in double and finite differences. Outputs are filled with NaN and
 * ringed before. */
#include "device_numbers.h"
#include <math.h>

static float *give(on_device *d, const float *x, size_t n) {
    return on_device_give(d, x, n * sizeof *x);
}

static void near(double got, double want, double tolerance, const char *what) {
    if (!(fabs(got - want) <= tolerance * (1.0 + fabs(want))))
        fail_msg("%s: %g, expected %g (seed %llu)", what, got, want, (unsigned long long)seed);
}

/* --- layers that are normalised ------------------------------------------------------------- */

static const size_t areas[][2] = {{1, 1},    {1, 40},  {2, 70},   {7, 3},   {64, 65},
                                  {257, 31}, {9, 300}, {600, 33}, {33, 128}};
enum { N_AREAS = sizeof areas / sizeof *areas, MOST_WIDTH = 300, MOST = 600 * 33 };
static float x[MOST], weight[MOST], bias[MOST_WIDTH], before[MOST_WIDTH];

/* A layer that was normalised, and what went back through it. */
static struct layer {
    float unit[MOST], y[MOST], back[MOST];
    float mean[MOST_WIDTH], inverse[MOST_WIDTH], sums[MOST_WIDTH];
} first, layer;

/* Each column has a mean of its own; each fifth is constant. */
static void draw_layer(size_t rows, size_t width) {
    randomise(x, rows * width, 3.0f), randomise(weight, rows * width, 1.0f);
    randomise(bias, width, 0.5f), randomise(before, width, 1.0f);
    for (size_t j = 0; j < width; j++) {
        float mean = draw(-5.0f, 5.0f);
        for (size_t r = 0; r < rows; r++) x[r * width + j] = mean + (j % 5 < 4) * x[r * width + j];
    }
}

/* `layer`: x normalised on device i, and `weight` as the gradient of its y taken back. */
static void normalise_on(int i, size_t rows, size_t width) {
    on_device *d = &device[i];
    const size_t n = rows * width, all = n * sizeof(float), columns = width * sizeof(float);
    train_normalised t = {rows,
                          width,
                          give(d, bias, width),
                          give(d, x, n),
                          give(d, NULL, n),
                          give(d, NULL, width),
                          give(d, NULL, width)};
    float *dy = give(d, weight, n), *dbias = give(d, before, width);
    assert_int_equal(d->stream.ops->normalise(&d->stream, &t), TAPER_OK);
    assert_int_equal(d->stream.ops->normalise_backward(&d->stream, &t, dy, dbias), TAPER_OK);
    on_device_take(d, layer.unit, t.unit, all), on_device_take(d, layer.y, t.y, all);
    on_device_take(d, layer.mean, t.mean, columns);
    on_device_take(d, layer.inverse, t.inverse, columns);
    on_device_take(d, layer.back, dy, all), on_device_take(d, layer.sums, dbias, columns);
    if (!i) first = layer;
    same(i, first.unit, layer.unit, all, "unit"), same(i, first.y, layer.y, all, "y");
    same(i, first.mean, layer.mean, columns, "mean");
    same(i, first.inverse, layer.inverse, columns, "inverse");
    if (i < PROCESSORS) /* in sums of another order a y may be 0, or not */
        same(i, first.back, layer.back, all, "dy"),
            same(i, first.sums, layer.sums, columns, "dbias");
    on_device_forget(d);
}

/* Of a column of x, whose number in row `changed` is moved by `by`. */
static void statistics(size_t rows, size_t width, size_t column, size_t changed, double by,
                       double *mean, double *inverse) {
    double variance = 0;
    *mean = by * (changed < rows) / (double)rows;
    for (size_t r = 0; r < rows; r++) *mean += (double)x[r * width + column] / (double)rows;
    for (size_t r = 0; r < rows; r++) {
        double e = (double)x[r * width + column] + (r == changed ? by : 0) - *mean;
        variance += e * e / (double)rows;
    }
    *inverse = 1 / sqrt(variance + (double)TRAIN_NORMALISE_LEAST);
}

/* A mean in a float is a little off, and the more so the unit where the column hardly varies. */
static void check_column(size_t rows, size_t width, size_t column) {
    double mean, inverse, sum = 0;
    statistics(rows, width, column, rows, 0, &mean, &inverse);
    const double tolerance = 5e-6 * (1 + inverse);
    near((double)layer.mean[column], mean, 5e-6, "mean");
    near((double)layer.inverse[column], inverse, 1e-5, "inverse");
    for (size_t i = column; i < rows * width; i += width) {
        near((double)layer.unit[i], ((double)x[i] - mean) * inverse, tolerance, "unit");
        assert_true(column % 5 < 4 || layer.unit[i] == 0.0f);
        assert_true(layer.y[i] == fmaxf(layer.unit[i] + bias[column], 0.0f));
        sum += (double)layer.unit[i];
    }
    near(sum / (double)rows, 0, tolerance, "mean of unit");
}

/* The formula, on the numbers that the way there left. */
static void check_column_back(size_t rows, size_t width, size_t column) {
    double sum = 0, product = 0;
    for (size_t i = column; i < rows * width; i += width) {
        double slope = layer.y[i] > 0 ? (double)weight[i] : 0;
        sum += slope, product += slope * (double)layer.unit[i];
    }
    near((double)layer.sums[column], (double)before[column] + sum, 1e-5, "dbias");
    for (size_t i = column; i < rows * width; i += width) {
        double slope = layer.y[i] > 0 ? (double)weight[i] : 0;
        double of = sum / (double)rows + (double)layer.unit[i] * product / (double)rows;
        double inverse = (double)layer.inverse[column];
        near((double)layer.back[i] / inverse, slope - of, 1e-6, "formula");
    }
}

/* What a column adds to the sum of weight y. Its unit + bias that is closest to 0 is *closest. */
static double column_loss(size_t rows, size_t width, size_t column, size_t changed, double by,
                          double *closest) {
    double mean, inverse, loss = 0;
    statistics(rows, width, column, changed, by, &mean, &inverse);
    *closest = INFINITY;
    for (size_t r = 0; r < rows; r++) {
        double from_mean = (double)x[r * width + column] + (r == changed ? by : 0) - mean;
        double sum = from_mean * inverse + (double)bias[column];
        *closest = fmin(*closest, fabs(sum));
        loss += (double)weight[r * width + column] * fmax(sum, 0);
    }
    return loss;
}

/* By finite differences, at some of a column's rows; 0 where ReLU's bend is too near. */
static int check_column_slope(size_t rows, size_t width, size_t column) {
    const double step = 1e-6, inverse = (double)layer.inverse[column];
    const size_t row[3] = {0, rows - 1, below((uint32_t)rows)};
    for (int k = 0; k < 3; k++) {
        double bend[2], up = column_loss(rows, width, column, row[k], step, &bend[0]),
                        down = column_loss(rows, width, column, row[k], -step, &bend[1]);
        if (fmin(bend[0], bend[1]) < 4 * step * (1 + inverse)) return 0;
        near((double)layer.back[row[k] * width + column] / inverse,
             (up - down) / (2 * step) / inverse, 1e-5 + 1e-6 * inverse, "slope");
    }
    return 1;
}

static void layers_are_normalised(void **state) {
    (void)state;
    for (size_t k = 0; k < N_AREAS; k++) {
        size_t rows = areas[k][0], width = areas[k][1];
        draw_layer(rows, width);
        for (int i = 0; i < DEVICES; i++) {
            size_t tried = 0;
            normalise_on(i, rows, width);
            for (size_t j = 0; j < width; j++) {
                check_column(rows, width, j), check_column_back(rows, width, j);
                tried += (size_t)check_column_slope(rows, width, j);
            }
            assert_true(2 * tried >= width);
        }
    }
}

/* --- losses of classes ---------------------------------------------------------------------- */

enum { MOST_CLASSES = 100, OPINIONS = 35 };
static float believed[OPINIONS * MOST_CLASSES], logit[OPINIONS * MOST_CLASSES];

/* The logarithms of the softmax, where logit `changed` is moved by `by`. */
static void log_softmax(const float *z, size_t classes, size_t changed, double by, double *log_p) {
    double most = -INFINITY, sum = 0;
    for (size_t j = 0; j < classes; j++) {
        log_p[j] = (double)z[j] + (j == changed ? by : 0);
        most = fmax(most, log_p[j]);
    }
    for (size_t j = 0; j < classes; j++) sum += exp(log_p[j] - most);
    for (size_t j = 0; j < classes; j++) log_p[j] -= most + log(sum);
}

/* The entropy of a row of logits; with `from` the divergence from the softmax of that. */
static double cost_of(const float *from, const float *z, size_t classes, size_t changed,
                      double by) {
    double log_p[MOST_CLASSES], log_q[MOST_CLASSES], cost = 0;
    log_softmax(z, classes, changed, by, log_q);
    if (from) log_softmax(from, classes, classes, 0, log_p);
    for (size_t j = 0; j < classes; j++)
        cost += from ? exp(log_p[j]) * (log_p[j] - log_q[j]) : -exp(log_q[j]) * log_q[j];
    return cost;
}

/* On device i: losses begin at the row's number. */
static void run_class_losses(int i, size_t rows, size_t classes, int divergence, double *loss,
                             float *slope) {
    on_device *d = &device[i];
    train_stream *s = &d->stream;
    const size_t n = rows * classes;
    for (size_t r = 0; r < rows; r++) loss[r] = (double)r;
    double *l = on_device_give(d, loss, rows * sizeof *loss);
    float *z = give(d, logit, n), *g = give(d, NULL, n);
    if (divergence)
        assert_int_equal(s->ops->class_divergence(s, rows, classes, give(d, believed, n), z, l, g),
                         TAPER_OK);
    else
        assert_int_equal(s->ops->class_entropy(s, rows, classes, z, l, g), TAPER_OK);
    on_device_take(d, loss, l, rows * sizeof *loss);
    on_device_take(d, slope, g, n * sizeof *slope);
    on_device_forget(d);
}

static void check_class_losses(size_t rows, size_t classes, int divergence) {
    static double want[OPINIONS * MOST_CLASSES];
    static float slope[OPINIONS * MOST_CLASSES], first_slope[OPINIONS * MOST_CLASSES];
    double loss[OPINIONS], first_loss[OPINIONS];
    const size_t n = rows * classes;
    const double step = 1e-4;
    for (size_t k = 0; k < n; k++) { /* e^100 is more than a float holds */
        float scale = k / classes % 3 ? 3.0f : 100.0f;
        logit[k] = draw(-scale, scale), believed[k] = draw(-scale, scale);
    }
    for (size_t k = 0; k < n; k++) {
        const size_t at = k - k % classes;
        const float *from = divergence ? believed + at : NULL;
        want[k] = (cost_of(from, logit + at, classes, k % classes, step) -
                   cost_of(from, logit + at, classes, k % classes, -step)) /
                  (2 * step);
    }
    for (int i = 0; i < DEVICES; i++) {
        run_class_losses(i, rows, classes, divergence, loss, slope);
        for (size_t r = 0; r < rows; r++)
            near(loss[r] - (double)r,
                 cost_of(divergence ? believed + r * classes : NULL, logit + r * classes, classes,
                         classes, 0),
                 2e-5, "loss");
        for (size_t k = 0; k < n; k++)
            near((double)slope[k] * (double)rows, want[k], 2e-5, "slope");
        if (!i) memcpy(first_slope, slope, sizeof slope), memcpy(first_loss, loss, sizeof loss);
        same(i, first_slope, slope, n * sizeof *slope, "slopes");
        same(i, first_loss, loss, rows * sizeof *loss, "losses");
    }
}

static const size_t class_counts[] = {1, 2, 10, 33, 100};
enum { N_COUNTS = sizeof class_counts / sizeof *class_counts };

static void price_all(int divergence) {
    for (int k = 0; k < N_COUNTS; k++)
        for (size_t rows = 1; rows <= OPINIONS; rows += rows == 1 ? 8 : OPINIONS - 9)
            check_class_losses(rows, class_counts[k], divergence);
}

static void classes_have_their_entropy(void **state) {
    (void)state;
    price_all(0);
}

static void classes_have_their_divergence(void **state) {
    (void)state;
    price_all(1);
}

static void equal_classes_do_not_diverge(void **state) {
    (void)state;
    static float slope[OPINIONS * MOST_CLASSES];
    double loss[OPINIONS];
    for (int k = 0; k < N_COUNTS; k++) {
        const size_t rows = 9, n = rows * class_counts[k];
        randomise(logit, n, 100.0f);
        memcpy(believed, logit, sizeof logit);
        for (int i = 0; i < DEVICES; i++) {
            run_class_losses(i, rows, class_counts[k], 1, loss, slope);
            for (size_t r = 0; r < rows; r++) assert_true(loss[r] == (double)r);
            for (size_t j = 0; j < n; j++) assert_true(slope[j] == 0.0f);
        }
    }
}

/* --- steps by rows -------------------------------------------------------------------------- */

enum { MOST_STEP_WIDTH = 3000, KINDS = 8, MOST_STEPS = KINDS + 1 };
static const float sizes[KINDS] = {0.0f, 1.0f, 1e-20f, 1e-42f, 1e30f, 3.0f, 3.0f, 3.0f};

/* Row r's size is that of its kind; the last two kinds hold infinity and NaN. */
static void draw_steps(size_t rows, size_t width, float *from, float *g) {
    randomise(from, rows * width, 1.0f);
    for (size_t r = 0; r < rows; r++) {
        float size = sizes[r % KINDS], *row = g + r * width;
        for (size_t j = 0; j < width; j++)
            row[j] = size * draw(0.1f, 1.0f) * (j % 3 ? 1.0f : -1.0f);
        if (r % KINDS == 6) row[width / 2] = -INFINITY;
        if (r % KINDS == 7) row[width - 1] = NAN;
    }
}

static void check_step(size_t width, double length, const float *from, const float *g,
                       const float *y) {
    double squares = 0, moved = 0;
    for (size_t j = 0; j < width; j++) squares += (double)g[j] * (double)g[j];
    if (!(squares > 0 && isfinite(squares))) {
        assert_memory_equal(y, from, width * sizeof *y);
        return;
    }
    for (size_t j = 0; j < width; j++) {
        double by = (double)y[j] - (double)from[j];
        near(by, length * (double)g[j] / sqrt(squares), 2e-7 * (1 + length), "step");
        moved += by * by;
    }
    near(sqrt(moved), length, 1e-5, "length of the step");
}

static void rows_take_steps(void **state) {
    (void)state;
    static const size_t widths[] = {1, 2, 33, 256, 257, MOST_STEP_WIDTH};
    static float from[MOST_STEPS * MOST_STEP_WIDTH], g[MOST_STEPS * MOST_STEP_WIDTH],
        y[MOST_STEPS * MOST_STEP_WIDTH], first_y[MOST_STEPS * MOST_STEP_WIDTH];
    for (size_t k = 0; k < 2 * sizeof widths / sizeof *widths; k++) {
        const size_t width = widths[k / 2], rows = k % 2 ? MOST_STEPS : 2, n = rows * width;
        const float length = k % 2 ? 2.5f : 0.01f;
        draw_steps(rows, width, from, g);
        for (int i = 0; i < DEVICES; i++) {
            on_device *d = &device[i];
            float *to = give(d, NULL, n);
            assert_int_equal(d->stream.ops->step_rows(&d->stream, rows, width, length,
                                                      give(d, from, n), give(d, g, n), to),
                             TAPER_OK);
            on_device_take(d, y, to, n * sizeof *y);
            for (size_t r = 0; r < rows; r++)
                check_step(width, (double)length, from + r * width, g + r * width, y + r * width);
            if (!i) memcpy(first_y, y, sizeof y);
            same(i, first_y, y, n * sizeof *y, "step_rows");
            on_device_forget(d);
        }
    }
}

/* --- nothing -------------------------------------------------------------------------------- */

/* No rows, or rows of nothing: what is added to and what stands a column or row stays. */
static void nothing_is_done_to_nothing(void **state) {
    (void)state;
    enum { N = 5 };
    float some[N], left[N];
    double loss[N] = {1, 2, 3, 4, 5}, left_loss[N];
    randomise(some, N, 1.0f);
    for (int k = 0; k < 2 * DEVICES; k++) {
        on_device *d = &device[k / 2];
        train_stream *s = &d->stream;
        const size_t rows = k % 2 ? N : 0, width = N - rows;
        float *none = give(d, NULL, 0), *columns[4], *g = give(d, NULL, 0);
        for (int j = 0; j < 4; j++) columns[j] = give(d, some, N);
        double *l = on_device_give(d, loss, sizeof loss);
        const train_normalised t = {rows, width, columns[0], none, g, columns[1], columns[2]};
        assert_int_equal(s->ops->normalise(s, &t), TAPER_OK);
        assert_int_equal(s->ops->normalise_backward(s, &t, none, columns[3]), TAPER_OK);
        assert_int_equal(s->ops->class_entropy(s, rows, width, none, l, g), TAPER_OK);
        assert_int_equal(s->ops->class_divergence(s, rows, width, none, none, l, g), TAPER_OK);
        assert_int_equal(s->ops->step_rows(s, rows, width, 1.0f, none, none, g), TAPER_OK);
        for (int j = 0; j < 4; j++) {
            on_device_take(d, left, columns[j], sizeof left);
            assert_memory_equal(left, some, sizeof left);
        }
        on_device_take(d, left_loss, l, sizeof left_loss);
        assert_memory_equal(left_loss, loss, sizeof loss);
        on_device_forget(d);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_are_normalised),
        cmocka_unit_test(classes_have_their_entropy),
        cmocka_unit_test(classes_have_their_divergence),
        cmocka_unit_test(equal_classes_do_not_diverge),
        cmocka_unit_test(rows_take_steps),
        cmocka_unit_test(nothing_is_done_to_nothing),
    };
    return cmocka_run_group_tests(tests, open_all, close_every_device);
}
