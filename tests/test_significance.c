/* test_significance.c -- every kernel for the contexts of significance bits, against the
 * definition. test_contexts.c compares the definition with floating point. */
#include "cmocka_all.h"
#include "codec/bitplane/chunk_coder.h"
#include "dct_model.h"

enum { SEED = 4200, UNITS = 48, MOST_LOGIT = 1 << 22 };

/* A value of at most `most` on either side of 0. */
static int32_t drawn(uint64_t *state, uint32_t most) {
    return (int32_t)(picture_random(state) % (2 * most + 1)) - (int32_t)most;
}

/* Random weights, of the size of usual ones or the largest. */
static void draw_weights(codec_code_tables *t, int large, uint64_t *state) {
    for (uint32_t c = 0; c < CODEC_CLASSES; c++) {
        t->bias[c] = (int16_t)drawn(state, large ? 32767 : 300);
        for (int i = 0; i < CODEC_FEATURES; i++)
            t->weight[c][i] = (int16_t)drawn(state, large ? 32767 : 60);
    }
}

/* Random norms, many of them 0 or the largest, and random levels of the pass. */
static void draw_group(codec_group *g, uint64_t *state) {
    static const uint16_t usual[] = {0, 1, 51, CODEC_NORM_MAX};
    for (uint32_t u = 0; u < UNITS; u++)
        for (uint32_t p = 0; p < g->n; p++) {
            uint64_t r = picture_random(state);
            g->norm[u * g->stride + p] =
                r & 1 ? usual[r >> 1 & 3] : (uint16_t)((r >> 8) % (CODEC_NORM_MAX + 1));
        }
    size_t at = (size_t)g->tables->pass[g->pass].unit * g->stride;
    for (uint32_t p = 0; p < g->n; p++) {
        g->plane_known[at + p] = picture_random(state) % 4 == 0;
        g->level[at + p] = picture_random(state) % 2 ? 0 : (int16_t)(picture_random(state) >> 48);
    }
}

/* Rows of a pass: inputs at random, outputs filled with a value of their own. */
typedef struct rows {
    uint16_t *value, *zeros, *feature[3], *context;
    int32_t *more, *causal, *logit;
} rows;

static rows make_rows(const codec_group *g) {
    rows r;
    uint16_t **of16[] = {&r.value,      &r.zeros,      &r.feature[0],
                         &r.feature[1], &r.feature[2], &r.context};
    int32_t **of32[] = {&r.more, &r.causal, &r.logit};
    for (int i = 0; i < 6; i++) assert_non_null(*of16[i] = calloc(g->stride, sizeof(uint16_t)));
    for (int i = 0; i < 3; i++) assert_non_null(*of32[i] = calloc(g->stride, sizeof(int32_t)));
    return r;
}

static void free_rows(rows *r) {
    free(r->value), free(r->zeros), free(r->context);
    for (int i = 0; i < 3; i++) free(r->feature[i]);
    free(r->more), free(r->causal), free(r->logit);
}

static codec_significance pass_of(const codec_group *g, const rows *r) {
    return (codec_significance){.group = g,
                                .zeros = r->zeros,
                                .value = r->value,
                                .more = r->more,
                                .causal = r->causal,
                                .feature = {r->feature[0], r->feature[1], r->feature[2]},
                                .logit = r->logit,
                                .context = r->context};
}

static void check_pass(const codec_group *g, rows *got, rows *want, uint64_t *state) {
    size_t kernels;
    const codec_significance_kernel *kernel = codec_significance_kernels(&kernels);
    for (uint32_t p = 0; p < g->n; p++) {
        got->value[p] = want->value[p] = (uint16_t)drawn(state, 511);
        got->more[p] = want->more[p] = drawn(state, p % 3 ? 20000 : MOST_LOGIT);
        got->causal[p] = want->causal[p] = drawn(state, p % 5 ? 4000 : MOST_LOGIT);
    }
    codec_significance s = pass_of(g, want);
    kernel[kernels - 1].contexts(&s);
    for (size_t k = 0; k + 1 < kernels; k++) {
        if (!kernel[k].runs()) continue;
        s = pass_of(g, got);
        kernel[k].contexts(&s);
        for (int i = 0; i < 3; i++)
            assert_memory_equal(got->feature[i], want->feature[i], g->n * sizeof(uint16_t));
        assert_memory_equal(got->logit, want->logit, g->n * sizeof(int32_t));
        assert_memory_equal(got->context, want->context, g->n * sizeof(uint16_t));
    }
}

/* Groups of one run and of several, of less than a vector and of more than a block, and images of
 * one window; with fractions and without. */
static void contexts_are_as_defined(void **unused) {
    (void)unused;
    static const codec_grid grids[][4] = {{{1, 1}, {1, 1}, {1, 1}, {1, 1}},
                                          {{3, 2}, {1, 1}, {1, 3}, {17, 5}},
                                          {{16, 8}, {16, 4}, {16, 1}, {16, 2}},
                                          {{65, 1}, {2, 40}, {1, 1}, {1, 1}}};
    uint64_t state = SEED;
    printf("seed %d\n", SEED);
    for (uint32_t round = 0; round < 24; round++) {
        formats_buffer file = formats_buffer_make(1 << 24);
        taper_model *m = dct_model_make((codec_window){4, 4, 3, NULL}, UNITS, 2, &file);
        formats_buffer_free(&file);
        codec_chunk_coder c;
        int fractions = round / 4 % 2;
        draw_weights(&m->tables, round >= 16, &state);
        assert_int_equal(codec_chunk_coder_alloc(&c, &m->tables, grids[round % 4], 4, NULL),
                         TAPER_OK);
        m->tables.fractions = fractions ? 3 : 1;
        m->tables.least[0] = 60, m->tables.least[1] = 40;
        rows got = make_rows(&c.group), want = make_rows(&c.group);
        for (c.group.pass = 0; c.group.pass < m->tables.n_passes; c.group.pass++) {
            m->tables.pass[c.group.pass].fraction =
                fractions ? (uint8_t)(picture_random(&state) % 3) : 0;
            draw_group(&c.group, &state);
            check_pass(&c.group, &got, &want, &state);
        }
        free_rows(&got), free_rows(&want);
        codec_chunk_coder_free(&c);
        taper_model_free(m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(contexts_are_as_defined)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
