/* test_contexts.c -- what a pass is predicted from, against the same in floating point. */
#include "cmocka_all.h"
#include "codec/bitplane/chunk_coder.h"
#include "codec/bitplane/neighbours.h"
#include "codec/entropy/fixed_log.h"
#include "dct_model.h"

enum { SEED = 41, UNITS = 48 };

typedef struct fixture {
    taper_model *model;
    codec_chunk_coder coder;
} fixture;

/* Two images, one of 3 x 2 windows and one of a single window. */
static fixture open_group(int linked) {
    fixture f;
    formats_buffer file = formats_buffer_make(1 << 24);
    codec_grid grid[2] = {{linked ? 3 : 1, linked ? 2 : 1}, {1, 1}};
    f.model = dct_model_make((codec_window){4, 4, 3, NULL}, UNITS, 2, &file);
    formats_buffer_free(&file);
    assert_int_equal(codec_chunk_coder_alloc(&f.coder, &f.model->tables, grid, 2, NULL), TAPER_OK);
    codec_group_set_norms(&f.coder.group, UNITS);
    return f;
}

static void close_group(fixture *f) {
    codec_chunk_coder_free(&f->coder);
    assert_null(f->coder.group.level);
    taper_model_free(f->model);
}

static void neighbours_are_the_four_beside(void **unused) {
    (void)unused;
    fixture f = open_group(1);
    const codec_group *g = &f.coder.group;
    assert_int_equal(g->n, 7);
    static const uint32_t left[] = {7, 0, 1, 7, 3, 4, 7}, right[] = {1, 2, 7, 4, 5, 7, 7};
    static const uint32_t up[] = {7, 7, 7, 0, 1, 2, 7}, down[] = {3, 4, 5, 7, 7, 7, 7};
    static const uint8_t count[] = {2, 3, 2, 2, 3, 2, 0};
    for (int p = 0; p < 7; p++) {
        assert_int_equal(g->neighbour[CODEC_LEFT][p], left[p]);
        assert_int_equal(g->neighbour[CODEC_RIGHT][p], right[p]);
        assert_int_equal(g->neighbour[CODEC_UP][p], up[p]);
        assert_int_equal(g->neighbour[CODEC_DOWN][p], down[p]);
        assert_int_equal(codec_neighbours_count(g->sides[p]), count[p]);
    }
    close_group(&f);
    f = open_group(0);
    assert_null(f.coder.group.neighbour[0]);
    assert_null(f.coder.group.signed_norm);
    close_group(&f);
}

static void probabilities_begin_at_their_bin(void **unused) {
    (void)unused;
    fixture f = open_group(0);
    for (uint32_t c = 0; c < CODEC_CLASSES; c++)
        for (uint32_t b = 0; b < CODEC_BINS; b++) {
            double logit = ((int)b - CODEC_BINS / 2) / 4.0 + f.model->tables.prior[c][b] / 32.0;
            double p = 65536 / (1 + exp(-logit));
            assert_true(fabs(f.coder.contexts.bit[c][b].p1 - p) <= 120);
        }
    close_group(&f);
}

static void nothing_is_known_at_first(void **unused) {
    (void)unused;
    fixture f = open_group(1);
    const codec_group *g = &f.coder.group;
    uint8_t unknown = f.model->tables.zero_norm[CODEC_RATIO_BINS - 1];
    for (uint32_t u = 0; u < UNITS; u++) {
        for (uint32_t p = 0; p < g->n; p++) assert_int_equal(g->norm[u * g->stride + p], unknown);
        assert_int_equal(g->norm[u * g->stride + g->n], 0); /* the absent neighbour */
    }
    assert_int_equal(codec_group_units_known(g), 0);
    close_group(&f);
}

/* Weighted mean of norms over a stencil of units, in units of scale; 0.8 where none is there. */
static double stencil_mean(const codec_group *g, uint32_t u, uint32_t p, const int *distance,
                           const int *weight, int n) {
    double sum = 0, total = 0;
    for (int i = 0; i < n; i++)
        for (int side = -1; side <= 1; side += 2) {
            int other = (int)u + side * distance[i];
            if (other < 0 || other >= UNITS) continue;
            sum += weight[i] * g->norm[(uint32_t)other * g->stride + p];
            total += weight[i];
        }
    return total > 0 ? sum / total / CODEC_NORM_ONE : 51.0 / 64;
}

static double beside_mean(const codec_group *g, uint32_t u, uint32_t p) {
    double sum = 0;
    if (!g->sides[p]) return 51.0 / 64;
    for (int side = 0; side < 4; side++) sum += g->norm[u * g->stride + g->neighbour[side][p]];
    return sum / codec_neighbours_count(g->sides[p]) / CODEC_NORM_ONE;
}

/* x in thresholds, from the neighbours' signed values. */
static double signed_value(const codec_group *g, uint32_t u, uint32_t p, int32_t ratio) {
    double sum = 0;
    for (int side = 0; side < 4; side++)
        for (uint32_t k = 0; k < CODEC_SIGNED_INPUTS; k++)
            sum += g->tables->signed_weight[u][side][k] / 64.0 *
                   g->signed_norm[k * g->stride + g->neighbour[side][p]] / CODEC_SIGNED_ONE;
    return sum * exp2(-ratio / 16.0);
}

static double log16_of(double mean, int32_t ratio) {
    double f = mean > 1e-9 ? 16 * log2(mean) - ratio : -511;
    return f < -511 ? -511 : f > 511 ? 511 : f;
}

/* Random knowledge; the pass in work is of the unit asked for, with random levels there. */
static void scatter(codec_group *g, uint32_t pass, uint64_t *state) {
    for (uint32_t u = 0; u < UNITS; u++)
        for (uint32_t p = 0; p < g->n; p++)
            g->norm[u * g->stride + p] =
                (uint16_t)(64 + picture_random(state) % (CODEC_NORM_MAX - 63));
    for (uint32_t u = 0; u < CODEC_SIGNED_UNITS && g->signed_norm; u++)
        for (uint32_t p = 0; p < g->n; p++)
            g->signed_norm[u * g->stride + p] = (int16_t)(picture_random(state) >> 48);
    g->pass = pass;
    codec_pass at = g->tables->pass[pass];
    for (uint32_t p = 0; p < g->n; p++) {
        int top = at.depth ? 1 << at.depth : 1;
        int level = (int)(picture_random(state) % (unsigned)top);
        g->level[at.unit * g->stride + p] = (int16_t)(picture_random(state) & 1 ? -level : level);
    }
}

static void check_features(const codec_chunk_coder *coder, uint32_t p) {
    const codec_group *g = &coder->group;
    const codec_context_model *m = &coder->contexts;
    static const int near[] = {1, 2, 3, 4, 5, 6, 7, 8}, near_weight[] = {7, 6, 5, 4, 3, 3, 2, 2};
    static const int far[] = {10, 13, 17, 22, 29, 38}, far_weight[] = {7, 6, 6, 5, 4, 4};
    codec_pass pass = g->tables->pass[g->pass];
    uint32_t u = pass.unit;
    int32_t ratio = codec_log_ratio(g->tables, u, pass.depth + 1u), f[CODEC_FEATURES];
    int level = g->level[u * g->stride + p], is_signed = g->signed_norm && u < CODEC_SIGNED_UNITS;
    codec_kind kind = codec_kind_of_level(level);
    assert_int_equal(kind, level == 0 ? 0 : abs(level) == 1 ? 2 : 3);
    codec_contexts_features(m, g, p, kind, f);
    assert_true(fabs(f[0] - log16_of(stencil_mean(g, u, p, near, near_weight, 8), ratio)) <= 2);
    assert_true(fabs(f[1] - log16_of(stencil_mean(g, u, p, far, far_weight, 6), ratio)) <= 2);
    if (g->signed_norm)
        assert_true(fabs(f[2] - log16_of(beside_mean(g, u, p), ratio)) <= 3);
    else
        assert_int_equal(f[2], 0);
    for (int i = 0; i < 3; i++) assert_int_equal(f[4 + i], f[i] * f[i] / 64);
    double value = is_signed ? 16 * signed_value(g, u, p, ratio) : 0;
    value = value > 4095 ? 4095 : value < -4095 ? -4095 : value;
    assert_true(!is_signed ? f[3] == 0 : fabs(f[3] - (16 * log2(fabs(value) + 1) - 64)) <= 17);
    double middle = (level < 0 ? -value : value) - 16 * (2 * abs(level) + 1);
    middle = middle < -48 ? -48 : middle > 48 ? 48 : middle;
    assert_true(!is_signed || !level ? f[7] == 0 : fabs(f[7] - middle) <= 2);
    assert_int_equal(m->context[p], codec_class(kind, u) * CODEC_BINS +
                                        codec_contexts_bin(g->tables, codec_class(kind, u), f, 0));
    assert_int_equal(codec_sign_is_predicted(m, g, u), is_signed);
    if (!is_signed) return;
    codec_contexts_features(m, g, p, CODEC_SIGN, f);
    assert_true(fabs(f[0] - fmin(fmax(value, -256), 256)) <= 1);
    assert_true(fabs(f[1] - fmin(fmax(value, -16), 16)) <= 1);
    for (int i = 2; i < CODEC_FEATURES; i++) assert_int_equal(f[i], 0);
    assert_int_equal(codec_contexts_sign(m, g, p),
                     codec_class(CODEC_SIGN, u) * CODEC_BINS +
                         codec_contexts_bin(g->tables, codec_class(CODEC_SIGN, u), f, 0));
}

static void features_are_as_documented(void **unused) {
    (void)unused;
    uint64_t state = SEED;
    printf("seed %d\n", SEED);
    for (int linked = 0; linked < 2; linked++) {
        fixture f = open_group(linked);
        for (uint32_t pass = 0; pass < f.model->tables.n_passes; pass++) {
            scatter(&f.coder.group, pass, &state);
            codec_contexts_predict(&f.coder.contexts, &f.coder.group);
            for (uint32_t p = 0; p < f.coder.group.n; p++) check_features(&f.coder, p);
        }
        close_group(&f);
    }
}

/* The logit is bias + weights * features, in bins of a quarter, held within the bins. */
static void logits_fall_into_bins(void **unused) {
    (void)unused;
    fixture f = open_group(0);
    codec_code_tables *t = &f.model->tables;
    uint64_t state = SEED + 1;
    for (int i = 0; i < 20000; i++) {
        int32_t x[CODEC_FEATURES];
        uint32_t class = (uint32_t)picture_random(&state) % CODEC_CLASSES;
        double logit = 0;
        t->bias[class] = (int16_t)(picture_random(&state) >> 53);
        for (int k = 0; k < CODEC_FEATURES; k++) {
            t->weight[class][k] = (int16_t)((int)(picture_random(&state) >> 57) - 64);
            x[k] = (int32_t)(picture_random(&state) % 1023) - 511;
            logit += t->weight[class][k] * x[k] / 4096.0;
        }
        logit += t->bias[class] / 64.0;
        double bin = floor(logit * 4 + 48.5);
        bin = logit < -12 ? 0 : bin > CODEC_BINS - 1 ? CODEC_BINS - 1 : bin;
        assert_int_equal(codec_contexts_bin(t, class, x, 0), (int)bin);
    }
    int32_t extreme[CODEC_FEATURES] = {511, 511, 511, 128, 4080, 4080, 4080, 48};
    for (int sign = 0; sign < 2; sign++) { /* the largest that a hostile model can ask for */
        for (int k = 0; k < CODEC_FEATURES; k++) t->weight[0][k] = sign ? -32768 : 32767;
        t->bias[0] = sign ? -32768 : 32767;
        assert_int_equal(codec_contexts_bin(t, 0, extreme, 0), sign ? 0 : CODEC_BINS - 1);
    }
    close_group(&f);
}

/* The largest and the smallest norms do not overflow the 16-bit sums. */
static void sums_do_not_wrap(void **unused) {
    (void)unused;
    fixture f = open_group(1);
    codec_group *g = &f.coder.group;
    for (uint32_t pass = 0; pass < f.model->tables.n_passes; pass++)
        for (int high = 0; high < 2; high++) {
            g->pass = pass;
            for (uint32_t u = 0; u < UNITS; u++)
                for (uint32_t p = 0; p < g->n; p++)
                    g->norm[u * g->stride + p] = high ? CODEC_NORM_MAX : 1;
            codec_contexts_predict(&f.coder.contexts, g);
            for (uint32_t p = 0; p < g->n; p++) check_features(&f.coder, p);
        }
    close_group(&f);
}

/* The logarithm of features is codec_log16's for every sum there can be. */
static void every_sum_has_its_logarithm(void **unused) {
    (void)unused;
    fixture f = open_group(0);
    codec_group *g = &f.coder.group;
    int32_t x[CODEC_FEATURES];
    g->pass = f.model->tables.n_passes - 1;
    codec_pass pass = f.model->tables.pass[g->pass];
    int32_t ratio = codec_log_ratio(&f.model->tables, pass.unit, pass.depth + 1u);
    for (uint32_t value = 0; value <= CODEC_NORM_MAX; value++) {
        for (uint32_t u = 0; u < UNITS; u++) g->norm[u * g->stride] = (uint16_t)value;
        codec_contexts_predict(&f.coder.contexts, g);
        codec_contexts_features(&f.coder.contexts, g, 0, CODEC_SIGNIFICANCE, x);
        uint32_t total = 0; /* of the units that are there, out of 64 */
        static const uint32_t weight[] = {7, 6, 5, 4, 3, 3, 2, 2};
        for (uint32_t i = 0; i < 8; i++)
            total += weight[i] * ((pass.unit > i) + (pass.unit + i + 1 < UNITS));
        uint32_t sum = total == 64 ? 64 * value : total * value * (64 * 256 / total) / 256;
        int32_t want = codec_log16(sum) - 192 - ratio;
        assert_int_equal(x[0], want < -511 ? -511 : want > 511 ? 511 : want);
    }
    close_group(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_are_the_four_beside),
        cmocka_unit_test(probabilities_begin_at_their_bin),
        cmocka_unit_test(nothing_is_known_at_first),
        cmocka_unit_test(features_are_as_documented),
        cmocka_unit_test(logits_fall_into_bins),
        cmocka_unit_test(sums_do_not_wrap),
        cmocka_unit_test(every_sum_has_its_logarithm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
