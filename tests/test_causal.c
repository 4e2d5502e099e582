/* test_causal.c -- contexts that look at their own pass: against the same in floating point, and
 * that they depend on nothing but the image. */
#include "cmocka_all.h"
#include "codec/bitplane/chunk_coder.h"
#include "dct_model.h"
#include "train/calibrate/calibrate.h"

enum { SEED = 53, UNITS = 40, COLUMNS = 5, ROWS = 4 };

static taper_model *model_in_parts(uint32_t parts, float step) {
    formats_buffer file = formats_buffer_make(1 << 24);
    taper_model *m = dct_model_in_parts((codec_window){4, 4, 3, NULL}, UNITS, step, parts, &file);
    formats_buffer_free(&file);
    return m;
}

static void units_are_those_of_the_bands(void **unused) {
    (void)unused;
    assert_int_equal(codec_band(CODEC_CAUSAL_UNITS - 1), CODEC_CAUSAL_BANDS - 1);
    assert_int_equal(codec_band(CODEC_CAUSAL_UNITS), CODEC_CAUSAL_BANDS);
}

/* Where an image ends, the window opposite stands in; beside a single one, itself. */
static void around_is_mirrored(void **unused) {
    (void)unused;
    taper_model *m = model_in_parts(2, 2);
    codec_group g;
    codec_grid grid[3] = {{3, 2}, {1, 1}, {1, 3}};
    assert_int_equal(codec_group_alloc(&g, &m->tables, grid, 3, NULL), TAPER_OK);
    static const uint32_t want[10][CODEC_AROUND] = {
        {1, 1, 3, 3, 4, 4, 4, 4}, {0, 2, 4, 4, 3, 5, 3, 5}, {1, 1, 5, 5, 4, 4, 4, 4},
        {4, 4, 0, 0, 1, 1, 1, 1}, {3, 5, 1, 1, 0, 2, 0, 2}, {4, 4, 2, 2, 1, 1, 1, 1},
        {6, 6, 6, 6, 6, 6, 6, 6}, {7, 7, 8, 8, 8, 8, 8, 8}, {8, 8, 7, 9, 7, 7, 9, 9},
        {9, 9, 8, 8, 8, 8, 8, 8}};
    for (uint32_t p = 0; p < 10; p++) {
        uint32_t around[CODEC_AROUND];
        codec_causal_around(&g, p, around);
        for (int i = 0; i < CODEC_AROUND; i++) assert_int_equal(around[i], want[p][i]);
    }
    codec_group_free(&g);
    taper_model_free(m);
}

/* What is known of unit u at p, in 1/16 of the threshold after the pass, as the specification says.
 */
static int64_t known_16ths(const codec_group *g, uint32_t u, uint32_t p) {
    const codec_code_tables *t = g->tables;
    uint32_t q = (uint32_t)abs(g->level[u * g->stride + p]);
    uint32_t bin = codec_ratio_bin(codec_log_ratio(t, u, codec_planes_known(g, u, p)));
    if (!q) return 0;
    int64_t v = (256 * q + t->recon[bin][(q < 4 ? q : 4) - 1]) >>
                (g->plane_known[u * g->stride + p] ? 4 : 3);
    return g->level[u * g->stride + p] < 0 ? -v : v;
}

static void check_context(const codec_causal *c, const codec_group *g, uint32_t p,
                          codec_kind kind) {
    uint32_t u = g->tables->pass[g->pass].unit, around[CODEC_AROUND];
    int64_t v = 2048, least = INT32_MAX, most = INT32_MIN, level = g->level[u * g->stride + p];
    codec_causal_around(g, p, around);
    for (int i = 0; i < CODEC_AROUND; i++) {
        int64_t x = known_16ths(g, u, around[i]);
        v += g->tables->causal_weight[u][i] * x;
        if (i < 4) least = x < least ? x : least, most = x > most ? x : most;
    }
    v >>= 12;
    int64_t beyond = (level < 0 ? -v : v) - 16 * (2 * llabs(level) + 1);
    int64_t place = kind == CODEC_SIGNIFICANCE ? llabs(v) >> 2
                    : kind == CODEC_SIGN       ? (v >> 2) + 8
                                               : (beyond >> 2) + 8;
    place = place < 0 ? 0 : place > 15 ? 15 : place;
    static const int edge[] = {10, 20, 32, 56, 96};
    uint32_t context = (uint32_t)place * 6;
    for (int i = 0; i < 5; i++) context += most - least >= edge[i];
    assert_int_equal(codec_causal_context(c, g, p, kind), context);
    int logit = 256 * g->tables->causal_logit[codec_causal_class(kind, u)][context];
    assert_int_equal(codec_causal_logit(c, g, p, kind), g->sides[p] ? logit : 0);
}

/* Codes that wander from window to window. */
static void smooth_codes(const codec_code_tables *t, uint32_t n, uint32_t stride, uint64_t *state,
                         int16_t *code) {
    for (uint32_t u = 0; u < t->units; u++) {
        int top = (1 << t->planes[u]) - 1, value = 0;
        for (uint32_t p = 0; p < n; p++) {
            value += (int)(picture_random(state) % (unsigned)(top / 2 + 1)) - top / 4;
            value = value < -top ? -top : value > top ? top : value;
            code[u * stride + p] = (int16_t)value;
        }
    }
}

/* Walk a pass over the codes, as encoder and decoder do; contexts to seen, CODEC_SKIP included.
 * Those made at once must be those made one by one; check: and as defined. */
static void walk_pass(codec_chunk_coder *coder, const int16_t *code, uint32_t *seen, int check) {
    codec_group *g = &coder->group;
    codec_context_model *m = &coder->contexts;
    codec_pass pass = g->tables->pass[g->pass];
    size_t at = (size_t)pass.unit * g->stride;
    int shift = g->tables->planes[pass.unit] - pass.depth - 1;
    codec_contexts_predict(m, g);
    assert_int_equal(m->causal.on, pass.unit < CODEC_CAUSAL_UNITS);
    for (uint32_t p = 0; p < g->n; p++) {
        seen[p] = codec_contexts_at(m, g, p);
        if (m->causal.on) assert_int_equal(seen[p], codec_contexts_refresh(m, g, p));
        if (check && m->causal.on && !g->plane_known[at + p]) {
            check_context(&m->causal, g, p, codec_kind_of_level(g->level[at + p]));
            if (!g->level[at + p]) check_context(&m->causal, g, p, CODEC_SIGN);
        }
        if (seen[p] == CODEC_SKIP) continue;
        int q = abs(code[at + p]) >> shift;
        g->level[at + p] = (int16_t)(code[at + p] < 0 ? -q : q);
        g->plane_known[at + p] = 1;
        codec_contexts_update(m, g, p, g->level[at + p]);
    }
    codec_group_finish_pass(g);
}

/* Passes in whose beginning all contexts, or some, have been left to be made one by one. */
typedef struct one_by_one {
    int all, some;
} one_by_one;

static one_by_one count_stale(codec_chunk_coder *coder) {
    const codec_group *g = &coder->group;
    codec_context_model *m = &coder->contexts;
    one_by_one n = {1, 0};
    codec_contexts_predict(m, g);
    for (uint32_t p = 0; p < g->n; p++) {
        int stale = m->context[p] == CODEC_STALE;
        n.all &= stale, n.some |= stale;
    }
    return n;
}

/* Images of several widths, some of one row or column; weights so large that sums of products take
 * more than 32 bits in the finer passes, which are then made one by one, or usual ones. */
static void check_contexts(int large) {
    uint64_t state = SEED;
    taper_model *m = model_in_parts(3, large ? 0.25f : 2);
    codec_grid grid[6] = {{3, 2}, {3, 1}, {1, 1}, {1, 3}, {5, 3}, {2, 2}};
    codec_chunk_coder g;
    for (int u = 0; u < CODEC_CAUSAL_UNITS && large; u++)
        for (int i = 0; i < CODEC_AROUND; i++) m->tables.causal_weight[u][i] = 32767;
    assert_int_equal(codec_chunk_coder_alloc(&g, &m->tables, grid, 6, NULL), TAPER_OK);
    int16_t *code = calloc((size_t)UNITS * g.group.stride, sizeof *code);
    uint32_t seen[32];
    assert_int_equal(g.group.n, 32);
    assert_non_null(code);
    smooth_codes(&m->tables, g.group.n, g.group.stride, &state, code);
    int wide = 0, narrow = 0;
    while (g.group.pass < m->tables.n_passes) {
        if (codec_causal_is_unit(&g.contexts.causal, m->tables.pass[g.group.pass].unit)) {
            one_by_one n = count_stale(&g);
            wide += n.all, narrow += !n.some;
        }
        walk_pass(&g, code, seen, 1);
    }
    assert_true(narrow > 0 && (wide > 0) == large);
    free(code);
    codec_chunk_coder_free(&g);
    taper_model_free(m);
}

static void contexts_are_as_documented(void **unused) {
    (void)unused;
    printf("seed %d\n", SEED);
    check_contexts(0);
    check_contexts(1);
}

/* An image's contexts are those it has alone: which images share its group must not matter, as
 * parts of planes would hold other positions. */
static void contexts_stay_within_the_image(void **unused) {
    (void)unused;
    uint64_t state = SEED + 1;
    taper_model *m = model_in_parts(3, 2);
    enum { N = COLUMNS * ROWS };
    codec_grid grid[3] = {{COLUMNS, ROWS}, {1, 1}, {COLUMNS, ROWS}};
    codec_chunk_coder alone, together;
    assert_int_equal(codec_chunk_coder_alloc(&alone, &m->tables, grid, 1, NULL), TAPER_OK);
    assert_int_equal(codec_chunk_coder_alloc(&together, &m->tables, grid, 3, NULL), TAPER_OK);
    int16_t *code = calloc((size_t)UNITS * alone.group.stride, sizeof *code);
    int16_t *codes = calloc((size_t)UNITS * together.group.stride, sizeof *codes);
    assert_true(code && codes);
    smooth_codes(&m->tables, COLUMNS * ROWS, alone.group.stride, &state, code);
    smooth_codes(&m->tables, COLUMNS * ROWS, together.group.stride, &state, codes);
    for (uint32_t u = 0; u < UNITS; u++) /* ours comes last */
        memcpy(codes + (size_t)u * together.group.stride + N + 1,
               code + (size_t)u * alone.group.stride, N * sizeof *code);
    while (alone.group.pass < m->tables.n_passes) {
        uint32_t seen[N], seen_together[2 * N + 1];
        walk_pass(&alone, code, seen, 0);
        walk_pass(&together, codes, seen_together, 0);
        for (uint32_t p = 0; p < N; p++) assert_int_equal(seen[p], seen_together[N + 1 + p]);
    }
    free(code), free(codes);
    codec_chunk_coder_free(&alone), codec_chunk_coder_free(&together);
    taper_model_free(m);
}

/* --- what it is for -------------------------------------------------------------------- */

enum { SIDE = 16, IMAGES = 12, FEW_UNITS = 4 };

/* Unit 0 is a smooth hill over the windows of an image, the others are noise. */
static void hills(float *code) {
    uint64_t state = SEED + 2;
    for (int i = 0; i < IMAGES; i++) {
        double a = (double)(picture_random(&state) % 1000) / 150,
               b = (double)(picture_random(&state) % 1000) / 150;
        for (int y = 0; y < SIDE; y++)
            for (int x = 0; x < SIDE; x++, code += FEW_UNITS) {
                code[0] = (float)(900 * sin(a + 0.35 * x) * cos(b + 0.3 * y));
                for (int u = 0; u < FEW_UNITS; u++)
                    code[u] += (float)(picture_random(&state) % 2001) / 250 - 4;
            }
    }
}

/* Bits of all passes of unit 0 under the model's contexts. */
static double bits_of_unit_0(taper_model *m, const train_codes *codes) {
    double *bits = calloc(m->tables.n_passes + 1, sizeof *bits), sum = 0;
    assert_non_null(bits);
    assert_int_equal(train_measure_bits(m, codes, bits, NULL), TAPER_OK);
    for (uint32_t i = 0; i < m->tables.n_passes; i++)
        if (m->tables.pass[i].unit == 0) sum += bits[i];
    free(bits);
    return sum;
}

static void smooth_units_cost_less(void **unused) {
    (void)unused;
    static float code[IMAGES * SIDE * SIDE * FEW_UNITS];
    codec_grid grid[IMAGES];
    for (int i = 0; i < IMAGES; i++) grid[i] = (codec_grid){SIDE, SIDE};
    hills(code);
    train_codes codes = {.n = IMAGES * SIDE * SIDE, .code = code, .grid = grid, .n_images = IMAGES};
    taper_model m = {.window = {4, 4, 1, NULL}};
    m.network.units = FEW_UNITS;
    train_calibrate_options options = {.step = 4};
    assert_int_equal(train_calibrate(&m, &codes, &options, NULL), TAPER_OK);
    assert_int_equal(m.tables.causal, 1);
    double with = bits_of_unit_0(&m, &codes);
    m.tables.causal = 0;
    assert_int_equal(train_refit_contexts(&m, &codes, NULL), TAPER_OK);
    double without = bits_of_unit_0(&m, &codes);
    printf("%.2f bits a window of the smooth unit, %.2f without\n", with / (double)codes.n,
           without / (double)codes.n);
    assert_true(with < 0.8 * without);
    codec_code_tables_free(&m.tables);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_are_those_of_the_bands),
        cmocka_unit_test(around_is_mirrored),
        cmocka_unit_test(contexts_are_as_documented),
        cmocka_unit_test(contexts_stay_within_the_image),
        cmocka_unit_test(smooth_units_cost_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
