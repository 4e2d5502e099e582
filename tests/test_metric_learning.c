/* test_metric_learning.c -- linear MCML: its gradient by the metric against finite differences in
 * double, the projection, and that what is found is the least loss. */
#include "bench/paper-embedding/metric_learning.h"
#include "bench/paper-embedding/metric_loss.h"
#include "on_device.h"
#include "pictures.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { D = 5, N = 40, SEED = 401 };

/* Three clouds that overlap, stretched; row 4 has a label of its own, one in nine has none. */
static float number[N * D];
static uint32_t label[N];

static double uniform(uint64_t *state) {
    return (double)(picture_random(state) >> 11) * exp2(-53) - 0.5;
}

static train_labelled_rows draw(void) {
    uint64_t state = SEED;
    for (int r = 0; r < N; r++) {
        label[r] = r == 4 ? 7 : r % 9 == 5 ? UINT32_MAX : (uint32_t)(r % 3);
        for (int i = 0; i < D; i++)
            number[r * D + i] = (float)((i == 1 ? 4.0 : 1.0) * uniform(&state) +
                                        (i == 2 ? 0.7 * (r % 3) : 0.0) + 30.0);
    }
    return (train_labelled_rows){.numbers = number, .n = N, .inputs = D, .label = label};
}

static double squared(const double *m, int i, int j) {
    double sum = 0;
    for (int a = 0; a < D; a++)
        for (int b = 0; b < D; b++)
            sum += m[a * D + b] * ((double)number[i * D + a] - (double)number[j * D + a]) *
                   ((double)number[i * D + b] - (double)number[j * D + b]);
    return sum;
}

/* The loss, by its definition. */
static double plain_loss(const double *m) {
    double loss = 0, rows = 0;
    for (int i = 0; i < N; i++) {
        double sum = 0, logs = 0, same = 0;
        if (label[i] == UINT32_MAX) continue;
        rows++;
        for (int j = 0; j < N; j++) {
            if (j == i || label[j] == UINT32_MAX) continue;
            sum += exp(-squared(m, i, j));
            if (label[j] == label[i]) same++, logs -= squared(m, i, j);
        }
        if (same > 0) loss += -log(same) - logs / same + log(sum);
    }
    return loss / rows;
}

/* Its gradient by differences: of M[a][b] and M[b][a] at once, each of which has half. */
static void plain_gradient(const double *m, double *g) {
    const double h = 1e-5;
    double at[D * D];
    memcpy(at, m, sizeof at);
    for (int a = 0; a < D; a++)
        for (int b = a; b < D; b++) {
            double side[2];
            for (int k = 0; k < 2; k++) {
                const double step = k ? -h : h;
                at[a * D + b] += step;
                if (a != b) at[b * D + a] += step;
                side[k] = plain_loss(at);
                memcpy(at, m, sizeof at);
            }
            g[a * D + b] = g[b * D + a] = (side[0] - side[1]) / (2 * h) / (a == b ? 1 : 2);
        }
}

/* R R^T / 10 less `less` times the identity. */
static void draw_metric(uint64_t seed, double less, double *m) {
    double r[D * D];
    for (int k = 0; k < D * D; k++) r[k] = 2 * uniform(&seed);
    for (int a = 0; a < D; a++)
        for (int b = 0; b < D; b++) {
            m[a * D + b] = a == b ? -less : 0;
            for (int k = 0; k < D; k++) m[a * D + b] += r[a * D + k] * r[b * D + k] / 10;
        }
}

static double length(const double *m) {
    double sum = 0;
    for (int k = 0; k < D * D; k++) sum += m[k] * m[k];
    return sqrt(sum);
}

static void gradients_are_differences(void **unused) {
    (void)unused;
    static const size_t tiles[] = {0, 1, 7, N};
    const train_labelled_rows rows = draw();
    double m[D * D], g[D * D], want[D * D], loss, worst = 0;
    on_device d;
    printf("seed %d\n", SEED);
    on_device_open_threads(&d, TRAIN_PROCESSOR, 2);
    for (uint64_t k = 0; k < 8; k++) {
        embedding_metric_loss l;
        draw_metric(SEED + k, 0, m);
        plain_gradient(m, want);
        assert_int_equal(embedding_metric_loss_open(&l, &rows, tiles[k % 4], &d.device, NULL),
                         TAPER_OK);
        assert_int_equal(embedding_metric_loss_at(&l, m, &loss, NULL), TAPER_OK);
        assert_int_equal(embedding_metric_gradient(&l, g), TAPER_OK);
        assert_true(fabs(loss - plain_loss(m)) <= 1e-5 * fabs(loss));
        for (int i = 0; i < D * D; i++) {
            const double error = fabs(g[i] - want[i]) / length(want);
            if (!(error <= worst)) worst = error;
        }
        embedding_metric_loss_close(&l);
    }
    printf("gradients: within %.1e of finite differences\n", worst);
    assert_true(worst <= 1e-5);
    on_device_close(&d);
}

/* P is the nearest: P and P - M are positive semidefinite and orthogonal (Moreau). */
static double least_form(const double *m) {
    uint64_t state = SEED;
    double least = INFINITY;
    for (int k = 0; k < 20000; k++) {
        double v[D], sum = 0, square = 0;
        for (int i = 0; i < D; i++) v[i] = uniform(&state), square += v[i] * v[i];
        for (int a = 0; a < D; a++)
            for (int b = 0; b < D; b++) sum += m[a * D + b] * v[a] * v[b];
        least = fmin(least, sum / square);
    }
    return least;
}

static void metrics_are_projected(void **unused) {
    (void)unused;
    const train_labelled_rows rows = draw();
    on_device d;
    embedding_metric_loss l;
    on_device_open(&d, TRAIN_PROCESSOR);
    assert_int_equal(embedding_metric_loss_open(&l, &rows, 0, &d.device, NULL), TAPER_OK);
    for (int k = 0; k < 5; k++) {
        double m[D * D], p[D * D], apart[D * D], inner = 0, loss;
        draw_metric(SEED + 20 + (uint64_t)k, 0.2, m);
        memcpy(p, m, sizeof p);
        assert_int_equal(embedding_metric_loss_at(&l, p, &loss, NULL), TAPER_OK);
        for (int i = 0; i < D * D; i++) apart[i] = p[i] - m[i], inner += p[i] * apart[i];
        assert_true(length(apart) > 0.01 && l.rank < D);
        assert_true(least_form(p) >= -1e-12 && least_form(apart) >= -1e-12);
        assert_true(fabs(inner) <= 1e-12);
        assert_true(fabs(loss - plain_loss(p)) <= 1e-5 * fabs(loss));
    }
    double none[D * D] = {0}, loss; /* rank 0: all distances are 0 */
    assert_int_equal(embedding_metric_loss_at(&l, none, &loss, NULL), TAPER_OK);
    assert_true(l.rank == 0 && fabs(loss - plain_loss(none)) <= 1e-5 * fabs(loss));
    embedding_metric_loss_close(&l);
    on_device_close(&d);
}

/* Losses of a run. */
typedef struct curve {
    double loss[400];
    uint32_t n, stop_after;
} curve;
static int keep(void *user, const embedding_metric_step *step) {
    curve *c = user;
    assert_int_equal(step->step, c->n);
    assert_true(c->n < 400);
    c->loss[c->n++] = step->loss;
    return c->n > c->stop_after;
}

static taper_status learn_on(train_processor_kind kind, unsigned threads,
                             const train_labelled_rows *rows, curve *c, embedding_metric *metric,
                             taper_error *error) {
    embedding_metric_options options = embedding_metric_defaults();
    on_device d;
    options.tolerance = 1e-7, options.steps = 390;
    options.step = keep, options.user = c, options.tile_rows = 16;
    on_device_open_threads(&d, kind, threads);
    taper_status status = embedding_metric_learn(&options, rows, &d.device, metric, error);
    on_device_close(&d);
    return status;
}

/* The loss of the identity, divided by the mean squared distance of two rows. */
static double plain_start(void) {
    double one[D * D] = {0}, sum = 0;
    for (int i = 0; i < D; i++) one[i * D + i] = 1;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) sum += squared(one, i, j) / (N * (N - 1));
    for (int i = 0; i < D; i++) one[i * D + i] = 1 / sum;
    return plain_loss(one);
}

/* Least of a convex function over positive semidefinite matrices: its gradient there is positive
 * semidefinite itself, and orthogonal to the metric. */
static void the_least_loss_is_found(void **unused) {
    (void)unused;
    const train_labelled_rows rows = draw();
    curve c = {.stop_after = 1000};
    embedding_metric metric;
    double g[D * D], inner = 0;
    assert_int_equal(learn_on(TRAIN_PROCESSOR, 1, &rows, &c, &metric, NULL), TAPER_OK);
    printf("%u steps, loss %.4f to %.4f\n", metric.steps, c.loss[0], metric.loss);
    assert_true(metric.converged && metric.steps + 1 == c.n);
    assert_true(fabs(c.loss[0] - plain_start()) <= 1e-5);
    for (uint32_t i = 1; i < c.n; i++) assert_true(c.loss[i] < c.loss[i - 1]);
    assert_true(metric.loss == c.loss[c.n - 1]);
    assert_true(fabs(metric.loss - plain_loss(metric.matrix)) <= 1e-5);
    assert_true(least_form(metric.matrix) >= -1e-9);
    plain_gradient(metric.matrix, g);
    for (int i = 0; i < D * D; i++) inner += g[i] * metric.matrix[i];
    printf("<G, M> %.1e, least form of G %.1e, |G| %.1e, |M| %.1e\n", inner, least_form(g),
           length(g), length(metric.matrix));
    assert_true(fabs(inner) <= 1e-3 && least_form(g) >= -1e-3);
    embedding_metric_free(&metric);
}

/* Two classes told apart by number 0 plus number 3, beside loud noise. */
static void what_tells_classes_apart_is_found(void **unused) {
    (void)unused;
    enum { ROWS = 120 };
    static float x[ROWS * D];
    uint32_t of[ROWS];
    uint64_t state = SEED + 50;
    for (int r = 0; r < ROWS; r++) {
        of[r] = (uint32_t)(r % 2);
        for (int i = 0; i < D; i++) x[r * D + i] = (float)(5 * uniform(&state));
        x[r * D] = (float)(r % 2) + (float)(0.4 * uniform(&state)) - x[r * D + 3];
    }
    const train_labelled_rows rows = {.numbers = x, .n = ROWS, .inputs = D, .label = of};
    curve c = {.stop_after = 1000};
    embedding_metric metric;
    float weight[D], bias[1];
    codec_layer layer = {.inputs = D, .outputs = 1, .weight = weight, .bias = bias};
    double square = 0;
    assert_int_equal(learn_on(TRAIN_PROCESSOR, 1, &rows, &c, &metric, NULL), TAPER_OK);
    assert_int_equal(embedding_metric_map(&metric, &layer, NULL), TAPER_OK);
    for (int i = 0; i < D; i++) square += (double)weight[i] * weight[i];
    printf("%u steps, loss %.4f to %.2g, along the difference %.5f\n", metric.steps, c.loss[0],
           metric.loss, fabs(weight[0] + weight[3]) / sqrt(2 * square));
    assert_true(fabs(weight[0] + weight[3]) / sqrt(2 * square) > 0.999);
    assert_true(metric.loss < 0.1);
    embedding_metric_free(&metric);
}

/* With all units, codes have the metric's distances; fewer are the first of these. The mean row has
 * the code 0. */
static void maps_are_roots_of_metrics(void **unused) {
    (void)unused;
    const train_labelled_rows rows = draw();
    curve c = {.stop_after = 3};
    embedding_metric metric;
    float weight[D * D], bias[D], first[2 * D], bias_2[2];
    codec_layer all = {.inputs = D, .outputs = D, .weight = weight, .bias = bias},
                two = {.inputs = D, .outputs = 2, .weight = first, .bias = bias_2},
                more = {.inputs = D, .outputs = D + 1, .weight = NULL, .bias = NULL};
    assert_int_equal(learn_on(TRAIN_PROCESSOR, 1, &rows, &c, &metric, NULL), TAPER_OK);
    assert_int_equal(metric.steps, 3); /* it was told to end */
    assert_int_equal(embedding_metric_map(&metric, &all, NULL), TAPER_OK);
    assert_int_equal(embedding_metric_map(&metric, &two, NULL), TAPER_OK);
    for (int k = 0; k < 2 * D; k++) assert_true(fabs(first[k] - weight[k]) <= 1e-5);
    double mean = 0;
    for (int u = 0; u < D; u++) {
        mean = (double)bias[u];
        for (int i = 0; i < D; i++)
            for (int r = 0; r < N; r++) mean += (double)weight[u * D + i] * number[r * D + i] / N;
        assert_true(fabs(mean) <= 1e-4);
    }
    for (int r = 1; r < N; r++) {
        double sum = 0;
        for (int u = 0; u < D; u++) {
            double code = 0;
            for (int i = 0; i < D; i++)
                code += (double)weight[u * D + i] * (number[r * D + i] - number[i]);
            sum += code * code;
        }
        assert_true(fabs(sum - squared(metric.matrix, r, 0)) <= 1e-4 * (1 + sum));
    }
    assert_int_equal(embedding_metric_map(&metric, &more, NULL), TAPER_ERR_ARG);
    embedding_metric_free(&metric);
}

static void any_threads_and_the_shadow_give_the_same_bits(void **unused) {
    (void)unused;
    const train_labelled_rows rows = draw();
    embedding_metric first, other;
    curve c = {.stop_after = 5};
    assert_int_equal(learn_on(TRAIN_PROCESSOR, 1, &rows, &c, &first, NULL), TAPER_OK);
    for (int k = 0; k < 2; k++) {
        c = (curve){.stop_after = 5};
        assert_int_equal(learn_on(k ? TRAIN_SHADOW : TRAIN_PROCESSOR, 3, &rows, &c, &other, NULL),
                         TAPER_OK);
        assert_memory_equal(first.matrix, other.matrix, D * D * sizeof(double));
        embedding_metric_free(&other);
    }
    embedding_metric_free(&first);
}

/* Bytes are y / 255. */
static void bytes_are_numbers(void **unused) {
    (void)unused;
    static uint8_t byte[N * D];
    embedding_metric of_bytes, of_numbers;
    curve c = {.stop_after = 5};
    train_labelled_rows rows = draw();
    for (int k = 0; k < N * D; k++) {
        byte[k] = (uint8_t)(40 * (number[k] - 27));
        number[k] = (float)byte[k] / 255.0f;
    }
    assert_int_equal(learn_on(TRAIN_PROCESSOR, 1, &rows, &c, &of_numbers, NULL), TAPER_OK);
    rows.numbers = NULL, rows.bytes = byte, c = (curve){.stop_after = 5};
    assert_int_equal(learn_on(TRAIN_PROCESSOR, 1, &rows, &c, &of_bytes, NULL), TAPER_OK);
    assert_true(fabs(of_bytes.loss - of_numbers.loss) <= 1e-4);
    for (int i = 0; i < D; i++) assert_true(fabs(of_bytes.mean[i] - of_numbers.mean[i]) <= 1e-5);
    for (int k = 0; k < D * D; k++)
        assert_true(fabs(of_bytes.matrix[k] - of_numbers.matrix[k]) <=
                    1e-2 * length(of_numbers.matrix));
    embedding_metric_free(&of_bytes), embedding_metric_free(&of_numbers);
}

static void refused(const train_labelled_rows *rows, const char *why) {
    taper_error error = {0};
    embedding_metric metric;
    curve c = {0};
    assert_int_equal(learn_on(TRAIN_PROCESSOR, 1, rows, &c, &metric, &error), TAPER_ERR_ARG);
    if (!strstr(error.text, why)) fail_msg("'%s' does not say '%s'", error.text, why);
    assert_null(metric.matrix);
}

static void bad_input_is_named(void **unused) {
    (void)unused;
    train_labelled_rows rows = draw();
    static float flat[N * D];
    static uint32_t one[N];
    number[7] = NAN;
    refused(&rows, "row 1 has a number that is not finite");
    draw();
    for (int k = 0; k < N * D; k++) flat[k] = 3e38f * (float)(k % 3 - 1);
    rows.numbers = flat;
    refused(&rows, "overflow");
    memset(flat, 0, sizeof flat);
    refused(&rows, "all rows are the same");
    rows.numbers = number, rows.label = one;
    refused(&rows, "two labels");
    rows.label = NULL;
    refused(&rows, "needs labels");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_are_differences),
        cmocka_unit_test(metrics_are_projected),
        cmocka_unit_test(the_least_loss_is_found),
        cmocka_unit_test(what_tells_classes_apart_is_found),
        cmocka_unit_test(maps_are_roots_of_metrics),
        cmocka_unit_test(any_threads_and_the_shadow_give_the_same_bits),
        cmocka_unit_test(bytes_are_numbers),
        cmocka_unit_test(bad_input_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
