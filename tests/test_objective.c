/* test_objective.c -- an objective of one's own beside those of dense training: labels, numbers
 * that are trained, the gradient against finite differences, both devices. */
#include "on_device.h"
#include "train/dense/dense_trainer.h"
#include "train/sampling/philox.h"
#include <math.h>
#include <stdio.h>

/* --- softmax regression on codes, in one page ----------------------------------------------- */

enum { CLASSES = 3 };

typedef struct classifier {
    const float *weight; /* [CLASSES][units] */
    float *weight_gradient;
    float *logit, *logit_gradient; /* [batch][CLASSES] */
    double *own;                   /* [batch] loss of each row */
} classifier;

static void lay_out(void *self, train_arena *arena, uint32_t units, size_t batch) {
    classifier *c = self;
    (void)units;
    c->logit = train_arena_floats(arena, batch, CLASSES);
    c->logit_gradient = train_arena_floats(arena, batch, CLASSES);
    c->own = train_arena_take(arena, batch, 1, sizeof *c->own);
}

static size_t numbers(void *self, uint32_t units) {
    (void)self;
    return (size_t)CLASSES * units;
}

static void place(void *self, const float *parameter, float *gradient) {
    classifier *c = self;
    c->weight = parameter;
    c->weight_gradient = gradient;
}

static taper_status loss(void *self, train_stream *s, const train_examples *e, double *row_loss,
                         double *figure) {
    classifier *c = self;
    assert_non_null(e->label);
    TAPER_TRY(train_zero(s, c->own, e->rows * sizeof *c->own));
    TAPER_TRY(
        s->ops->gemm(s, 0, 1, e->rows, CLASSES, e->units, e->code, c->weight, 0.0f, c->logit));
    TAPER_TRY(
        s->ops->cross_entropy(s, e->rows, CLASSES, c->logit, e->label, c->own, c->logit_gradient));
    TAPER_TRY(s->ops->add_doubles(s, e->rows, 1.0, c->own, row_loss));
    return s->ops->sum_doubles(s, e->rows, c->own, figure);
}

static taper_status gradient(void *self, train_stream *s, const train_examples *e,
                             float *code_gradient) {
    classifier *c = self;
    TAPER_TRY(s->ops->gemm(s, 1, 0, CLASSES, e->units, e->rows, c->logit_gradient, e->code, 0.0f,
                           c->weight_gradient));
    return s->ops->gemm(s, 0, 0, e->rows, e->units, CLASSES, c->logit_gradient, c->weight, 1.0f,
                        code_gradient);
}

static const train_objective classification = {"classification", lay_out, numbers, place, loss,
                                               gradient};

/* --- data: a blob in one of three places ----------------------------------------------------- */

enum { SIDE = 6, D = SIDE * SIDE, K = 5, N = 240 };
static uint8_t pixels[N * D];
static uint32_t label[N];
static const train_pixels data = {.pixels = pixels, .n = N, .inputs = D, .label = label};

static int set_up(void **state) {
    (void)state;
    for (uint64_t n = 0; n < N; n++) {
        uint32_t w[4];
        label[n] = (uint32_t)(n % CLASSES);
        for (uint64_t i = 0; i < D; i++) {
            train_philox(9, n * D + i, 700, w);
            float x = (float)(i % SIDE) - 1.0f - 1.5f * (float)label[n],
                  y = (float)(i / SIDE) - 2.5f;
            float v = 120.0f * expf(-(x * x + y * y) / 4.0f) + 60.0f * train_philox_uniform(w[0]);
            pixels[n * D + i] = (uint8_t)v;
        }
        if (n % 10 == 7) label[n] = TRAIN_UNLABELLED;
    }
    return 0;
}

static void start_network(codec_network *net) {
    static const uint32_t hidden[] = {8};
    assert_int_equal(codec_network_alloc(net, D, K, CODEC_UNTIED, hidden, 1, hidden, 1), TAPER_OK);
    for (uint64_t i = 0; i < K * D; i++) {
        uint32_t w[4];
        train_philox(3, i, 701, w);
        net->analysis[i] = net->synthesis[i] = 0.3f * (train_philox_uniform(w[0]) - 0.5f);
    }
    for (int i = 0; i < D; i++) net->mean[i] = 40.0f;
}

/* --- the tests ------------------------------------------------------------------------------ */

/* Of the whole loss by some numbers of the encoder and all of the objective's own. */
static void gradients_flow_both_ways(void **state) {
    (void)state;
    enum { ROWS = 17 };
    for (int kind = 0; kind < 2; kind++) {
        on_device d;
        codec_network net;
        train_autoencoder ae;
        classifier c = {0};
        train_objective_use also = {&classification, &c};
        float magnitude[K] = {20, 20, 20, 20, 20};
        train_cut cuts[ROWS];
        on_device_open(&d, kind ? TRAIN_SHADOW : TRAIN_PROCESSOR);
        start_network(&net);
        train_autoencoder_options o = {
            .batch = ROWS, .scale = 50.0f, .rate_scale = magnitude, .also = &also, .n_also = 1};
        assert_int_equal(train_autoencoder_create(&ae, &net, &d.device, &o), TAPER_OK);
        const size_t own = ae.weights.n - (size_t)CLASSES * K;
        const uint8_t *there = on_device_give(&d, pixels, sizeof pixels);
        const uint32_t *labels = on_device_give(&d, label, sizeof label);
        for (int r = 0; r < ROWS; r++) cuts[r] = (train_cut){1e6f, K}; /* no error but the mean's */
        assert_true(ae.n_objectives == 3 && c.weight == ae.weights.parameter + own);
        static float p[4096], g[4096];
        assert_true(ae.weights.n < 4096);
        on_device_take(&d, p, ae.weights.parameter, ae.weights.n * sizeof *p);
        for (size_t i = own; i < ae.weights.n; i++) {
            assert_true(p[i] == 0.0f); /* where they begin */
            p[i] = 0.1f * (float)((i * 7) % 11) - 0.5f;
        }
        double sums[TRAIN_LOSSES];
        train_upload(&ae.stream, ae.weights.parameter, p, ae.weights.n * sizeof *p);
        train_autoencoder_load(&ae, there, NULL, ROWS);
        train_autoencoder_label(&ae, labels, NULL);
        assert_int_equal(train_autoencoder_forward(&ae, cuts, ae.sums), TAPER_OK);
        assert_int_equal(train_autoencoder_backward(&ae), TAPER_OK);
        on_device_take(&d, g, ae.weights.gradient, ae.weights.n * sizeof *g);
        on_device_take(&d, sums, ae.sums, sizeof sums);
        assert_true(sums[3] > 0.0 && sums[3] < sums[0]);
        for (size_t i = 0; i < ae.weights.n; i += i < own ? 29 : 1) {
            float keep = p[i], h = 2e-3f;
            double at[2];
            if (i >= (size_t)K * D && i < own) continue; /* the encoder's path, and its own */
            for (int side = 0; side < 2; side++) {
                p[i] = keep + (side ? -h : h);
                train_upload(&ae.stream, ae.weights.parameter, p, ae.weights.n * sizeof *p);
                train_autoencoder_forward(&ae, cuts, ae.sums);
                on_device_take(&d, sums, ae.sums, sizeof sums);
                at[side] = sums[3] / ROWS;
            }
            p[i] = keep;
            double want = (at[0] - at[1]) / (2.0 * (double)h);
            if (!(fabs(g[i] - want) < 2e-3 * (1.0 + fabs(want))))
                fail_msg("number %zu: %g, finite differences say %g", i, (double)g[i], want);
        }
        train_autoencoder_free(&ae);
        codec_network_free(&net);
        on_device_close(&d);
    }
}

typedef struct seen {
    uint32_t epochs;
} seen;

static void count(void *user, uint32_t epoch, const train_dense_epoch *entry, double seconds) {
    (void)entry, (void)seconds;
    ((seen *)user)->epochs = epoch;
}

/* Class of the nearest class mean among the codes: how many are right. */
static int right_by_means(const float *codes) {
    double mean[CLASSES][K] = {{0}}, n[CLASSES] = {0};
    int right = 0;
    for (int i = 0; i < N; i++)
        if (label[i] < CLASSES) {
            for (int u = 0; u < K; u++) mean[label[i]][u] += codes[i * K + u];
            n[label[i]]++;
        }
    for (int i = 0; i < N; i++) {
        int best = 0;
        double least = INFINITY;
        for (int c = 0; c < CLASSES; c++) {
            double square = 0.0;
            for (int u = 0; u < K; u++) square += pow(codes[i * K + u] - mean[c][u] / n[c], 2.0);
            if (square < least) least = square, best = c;
        }
        right += (uint32_t)best == (uint32_t)(i % CLASSES);
    }
    return right;
}

/* A run with the third objective: labels reach it in every batch, and codes tell classes apart as
 * those of a run without it do not; both devices make the same network. */
static void labels_reach_training(void **state) {
    (void)state;
    static float codes[3][N * K], rows[N * D];
    for (int i = 0; i < N * D; i++) rows[i] = pixels[i];
    int right[3];
    for (int run = 0; run < 3; run++) {
        on_device d;
        codec_network net;
        classifier c = {0};
        seen s = {0};
        train_objective_use also = {&classification, &c};
        train_callbacks callbacks = {.user = &s, .epoch = count};
        train_dense_options o = train_dense_defaults();
        taper_error error = {0};
        o.epochs = 6, o.batch = 20, o.seed = 4, o.rate = 5e-3f;
        o.psnr_low = 12.0, o.psnr_high = 18.0; /* little to reconstruct */
        o.also = &also, o.n_also = run < 2;
        on_device_open(&d, run == 1 ? TRAIN_SHADOW : TRAIN_PROCESSOR);
        start_network(&net);
        if (train_dense(&o, &data, &d.device, &net, &callbacks, NULL, &error) != TAPER_OK)
            fail_msg("%s", error.text);
        assert_int_equal(s.epochs, 6);
        assert_int_equal(codec_network_encode(&net, &d.be, rows, N, codes[run]), TAPER_OK);
        right[run] = right_by_means(codes[run]);
        codec_network_free(&net);
        on_device_close(&d);
    }
    printf("right of %d: %d with the objective, %d without\n", N, right[0], right[2]);
    assert_memory_equal(codes[0], codes[1], sizeof codes[0]);
    assert_memory_not_equal(codes[0], codes[2], sizeof codes[0]);
    assert_true(right[0] > right[2]);
}

static void there_is_room_for_one_more(void **state) {
    (void)state;
    on_device d;
    codec_network net;
    train_autoencoder ae;
    classifier c = {0};
    train_objective_use also[2] = {{&classification, &c}, {&classification, &c}};
    float magnitude[K] = {1, 1, 1, 1, 1};
    train_autoencoder_options o = {
        .batch = 2, .scale = 1.0f, .rate_scale = magnitude, .also = also, .n_also = 2};
    on_device_open(&d, TRAIN_PROCESSOR);
    start_network(&net);
    assert_int_equal(train_autoencoder_create(&ae, &net, &d.device, &o), TAPER_ERR_ARG);
    codec_network_free(&net);
    on_device_close(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradients_flow_both_ways),
        cmocka_unit_test(labels_reach_training),
        cmocka_unit_test(there_is_room_for_one_more),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
