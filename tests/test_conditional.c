/* test_conditional.c -- the conditional model: what it predicts against its definition written
 * plainly in 64 bits, coding with it, and its file form with every illegal field. */
#include "cmocka_all.h"
#include "codec/bitplane/quantiser.h"
#include "codec/bitplane/chunk_coder.h"
#include "codec/bitplane/head.h"
#include "dct_model.h"
#include "formats/model_file.h"
#include "random_conditional.h"

enum { SEED = 71, UNITS = 30, OWN = 20, BESIDE = 11, HIDDEN = 24, STAGES = 9 };
enum { SIDES = CODEC_CONDITIONAL_SIDES, KINDS = CODEC_CONDITIONAL_KINDS };

/* --- a model and codes ----------------------------------------------------------------- */

typedef struct fixture {
    taper_model *model;
    codec_grid grid[3];
    int16_t *code; /* [units][stride] */
    uint32_t n, stride;
} fixture;

static void open_group(const fixture *f, codec_chunk_coder *g) {
    assert_int_equal(codec_chunk_coder_alloc(g, &f->model->tables, f->grid, 3, NULL), TAPER_OK);
}

static fixture make_in_parts(int linked, int extreme, uint32_t parts, uint64_t seed) {
    fixture f = {.grid = {{linked ? 5 : 1, linked ? 3 : 1}, {1, 1}, {1, linked ? 4 : 1}}};
    formats_buffer file = formats_buffer_make(1 << 24);
    f.model = dct_model_in_parts((codec_window){4, 4, 3, NULL}, UNITS, 2, parts, &file);
    formats_buffer_free(&file);
    codec_code_tables *t = &f.model->tables;
    t->conditional = conditional_random(KINDS, UNITS, t->n_passes * 3 / 4, STAGES, HIDDEN, OWN,
                                        BESIDE, extreme, seed);
    codec_chunk_coder g;
    open_group(&f, &g);
    f.n = g.group.n, f.stride = g.group.stride;
    codec_chunk_coder_free(&g);
    f.code = calloc((size_t)UNITS * f.stride, sizeof *f.code);
    assert_non_null(f.code);
    for (uint32_t u = 0; u < UNITS; u++)
        for (uint32_t p = 0; p < f.n; p++) {
            double r = (double)(picture_random(&seed) >> 11) / (double)((uint64_t)1 << 53);
            double x = -log(r + 1e-12) * 60.0 / (1 + u) * (picture_random(&seed) & 1 ? -1 : 1);
            if (extreme || picture_random(&seed) % 50 == 0) x = x < 0 ? -1e9 : 1e9;
            f.code[u * f.stride + p] = codec_quantise(t, u, (float)x);
        }
    return f;
}

static fixture make(int linked, int extreme, uint64_t seed) {
    return make_in_parts(linked, extreme, 1, seed);
}

static void drop(fixture *f) {
    free(f->code);
    taper_model_free(f->model);
}

/* --- the definition, plainly ----------------------------------------------------------- */

/* Position of the window at (dx, dy) of p, or n. */
static uint32_t at_side(const fixture *f, uint32_t p, uint32_t side) {
    uint32_t first = 0, i = 0;
    while (p >= first + f->grid[i].columns * f->grid[i].rows)
        first += f->grid[i].columns * f->grid[i].rows, i++;
    int64_t columns = f->grid[i].columns, rows = f->grid[i].rows;
    int64_t x = (p - first) % columns + (int)(side % 3) - 1,
            y = (p - first) / columns + (int)(side / 3) - 1;
    if (x < 0 || y < 0 || x >= columns || y >= rows) return f->n;
    return first + (uint32_t)(y * columns + x);
}

/* 16 log2(1 + 4 |x| / scale), with the sign of x, in doubles. */
static double seen(const codec_group *g, uint32_t u, uint32_t p) {
    const codec_code_tables *t = g->tables;
    int32_t level = g->level[u * g->stride + p];
    if (!level) return 0;
    int32_t q = abs(level), ratio = codec_log_ratio(t, u, codec_planes_known(g, u, p));
    double c = t->recon[codec_ratio_bin(ratio)][(q < 4 ? q : 4) - 1] / 256.0;
    double a = fmin(16 * log2(1 + 4 * (q + c) * exp2(ratio / 16.0)), 127);
    return level < 0 ? -a : a;
}

static int64_t part(int64_t z) {
    z = (z + 8) >> 4;
    return z < 0 ? 0 : z > 127 ? 127 : z;
}

/* h2 from h0, both [hidden]. */
static void plain_middles(const codec_conditional *c, const int64_t *h0, int64_t *h2) {
    int64_t h[3][CODEC_CONDITIONAL_MOST_HIDDEN];
    uint32_t n = c->hidden;
    memcpy(h[0], h0, n * sizeof *h0);
    for (int l = 0; l < CODEC_CONDITIONAL_MIDDLES; l++)
        for (uint32_t j = 0; j < n; j++) {
            int64_t sum = 0;
            for (uint32_t i = 0; i < n; i++) sum += c->middle[l][i * n + j] * h[l][i];
            int64_t z = h[l][j] + part((sum * 16 >> c->middle_shift[l][j]) + c->middle_bias[l][j]);
            h[l + 1][j] = z > 127 ? 127 : z;
        }
    memcpy(h2, h[2], n * sizeof *h2);
}

/* The layers at widths below, at and above what the kernels take at a time, at few and many
 * activations that are not 0, and at ends of ranges. */
static void layers_are_as_defined(void **unused) {
    (void)unused;
    static const uint32_t widths[] = {8, 24, 64, 72, 256};
    enum { WIDTHS = sizeof widths / sizeof *widths, ROUNDS = 40 };
    uint64_t seed = SEED + 90;
    for (uint32_t i = 0; i < WIDTHS * ROUNDS; i++) {
        uint32_t n = widths[i % WIDTHS], round = i / WIDTHS;
        codec_conditional *c = conditional_random(1, 1, 1, 1, n, 1, 0, round == 0, seed + i);
        for (uint32_t k = 0; round == 1 && k < n * n; k++) c->middle[0][k] = -127;
        codec_conditional_pack(c);
        int32_t sum[CODEC_CONDITIONAL_MOST_HIDDEN], bias[CODEC_CONDITIONAL_MOST_HIDDEN];
        int64_t h0[CODEC_CONDITIONAL_MOST_HIDDEN], want[CODEC_CONDITIONAL_MOST_HIDDEN];
        uint8_t got[CODEC_CONDITIONAL_MOST_HIDDEN];
        for (uint32_t k = 0; k < n; k++) { /* from all activations 0 to all of them 127 */
            sum[k] = conditional_draw(&seed, 1 << 16);
            bias[k] = round < 3 ? 1 << 16 : conditional_draw(&seed, 3000) + 100 * (int)round - 2000;
            h0[k] = part(((int64_t)sum[k] * 8 >> c->first_shift[k]) + bias[k]);
        }
        plain_middles(c, h0, want);
        codec_conditional_layers(c, sum, bias, got);
        for (uint32_t k = 0; k < n; k++) assert_int_equal(got[k], want[k]);
        codec_conditional_free(c), free(c);
    }
}

/* h2 of every position at a stage, from a[own][n]. */
static void plain_hidden(const fixture *f, const codec_conditional *c, const int8_t *a,
                         uint32_t stage, int64_t *h2) {
    for (uint32_t p = 0; p < f->n; p++) {
        int64_t h0[HIDDEN];
        for (uint32_t j = 0; j < HIDDEN; j++) {
            int64_t sum = 0, bias = c->stage[stage * HIDDEN + j];
            for (uint32_t side = 0; side < SIDES; side++) {
                uint32_t q = at_side(f, p, side), self = side == CODEC_CONDITIONAL_SELF;
                if (q == f->n) continue;
                bias += c->place[side * HIDDEN + j];
                for (uint32_t u = 0; u < (self ? OWN : BESIDE); u++) {
                    const int8_t *w =
                        c->first + codec_conditional_input(OWN, BESIDE, side, u) * 2 * HIDDEN;
                    int64_t v = a[u * f->n + q];
                    sum += w[j] * v + w[HIDDEN + j] * (v < 0 ? -v : v);
                }
            }
            assert_true(llabs(sum * 8) <= INT32_MAX);
            h0[j] = part((sum * 8 >> c->first_shift[j]) + bias);
        }
        plain_middles(c, h0, h2 + (size_t)p * HIDDEN);
    }
}

static int64_t plain_logit(const fixture *f, const int64_t *h2, uint32_t p, uint32_t pass,
                           uint32_t kind) {
    const codec_conditional *c = f->model->tables.conditional;
    uint32_t row = f->model->tables.pass[pass].unit * KINDS + kind;
    int64_t sum = 0;
    for (uint32_t j = 0; j < HIDDEN; j++) sum += c->out[row * HIDDEN + j] * h2[p * HIDDEN + j];
    assert_true(llabs(sum * 256) <= INT32_MAX);
    return (sum * 256 >> c->out_shift[row]) + c->bias[kind * c->end + pass] * 64;
}

/* --- predictions ----------------------------------------------------------------------- */

/* a as the codec sees it, which is the logarithm within 1.5. */
static void look(const fixture *f, const codec_group *g, int8_t *a) {
    for (uint32_t u = 0; u < OWN; u++)
        for (uint32_t p = 0; p < f->n; p++) {
            int32_t level = g->level[u * g->stride + p];
            int32_t v = codec_conditional_seen(g->tables, u, codec_planes_known(g, u, p),
                                               (uint32_t)abs(level));
            if (!(fabs(v - fabs(seen(g, u, p))) <= 1.0))
                fail_msg("unit %u, level %d: seen as %d, not %g", u, level, v, seen(g, u, p));
            a[u * f->n + p] = (int8_t)(level < 0 ? -v : v);
        }
}

static void check_pass(const fixture *f, const codec_chunk_coder *coder, const int64_t *h2) {
    const codec_group *g = &coder->group;
    const codec_conditional_state *s = &coder->contexts.conditional;
    const codec_conditional *c = f->model->tables.conditional;
    codec_pass pass = g->tables->pass[g->pass];
    uint32_t u = pass.unit;
    int predicted = g->pass < c->end, refines = pass.fraction + 1u == g->tables->fractions;
    for (uint32_t p = 0; p < f->n; p++) {
        int fresh = g->level[u * g->stride + p] == 0;
        int64_t logit = predicted ? plain_logit(f, h2, p, g->pass, fresh ? 0 : 2) : 0;
        int64_t sign = predicted && fresh ? plain_logit(f, h2, p, g->pass, 1) : 0;
        if (fresh || (refines && !g->plane_known[u * g->stride + p]))
            assert_int_equal(s->logit[p], logit);
        if (fresh) assert_int_equal(codec_conditional_sign(s, p), sign);
    }
}

static void walk_and_check(int linked, int extreme, uint64_t seed) {
    fixture f = make_in_parts(linked, extreme, 1 + (uint32_t)seed % 3, seed);
    const codec_code_tables *t = &f.model->tables;
    codec_chunk_coder g;
    open_group(&f, &g);
    int8_t *a = calloc(OWN * f.n, 1);
    int64_t *h2 = calloc((size_t)f.n * HIDDEN, sizeof *h2);
    assert_true(a && h2);
    for (uint32_t stage = 0; g.group.pass < t->n_passes;) {
        uint32_t u = t->pass[g.group.pass].unit,
                 shift = t->planes[u] - t->pass[g.group.pass].depth - 1u;
        codec_contexts_predict(&g.contexts, &g.group);
        if (stage < STAGES && g.group.pass == t->conditional->begin[stage]) {
            look(&f, &g.group, a);
            plain_hidden(&f, t->conditional, a, stage++, h2);
        }
        check_pass(&f, &g, h2);
        for (uint32_t p = 0; p < f.n; p++) {
            int32_t m = f.code[u * f.stride + p];
            if (codec_contexts_at(&g.contexts, &g.group, p) == CODEC_SKIP) continue;
            g.group.level[u * g.group.stride + p] = (int16_t)(m < 0 ? -(-m >> shift) : m >> shift);
            g.group.plane_known[u * g.group.stride + p] = 1;
            codec_contexts_update(&g.contexts, &g.group, p, g.group.level[u * g.group.stride + p]);
        }
        codec_group_finish_pass(&g.group);
    }
    codec_chunk_coder_free(&g);
    free(a), free(h2);
    drop(&f);
}

static void predicts_as_defined(void **unused) {
    (void)unused;
    for (uint64_t seed = SEED; seed < SEED + 4; seed++)
        for (int kind = 0; kind < 4; kind++) {
            print_message("seed %llu, %s, %s\n", (unsigned long long)seed,
                          kind & 1 ? "linked" : "single windows", kind & 2 ? "extreme" : "usual");
            walk_and_check(kind & 1, kind >> 1, seed);
        }
}

/* Knowledge taken over in one leap gives the same predictions as pass by pass. */
static void a_leap_predicts_the_same(void **unused) {
    (void)unused;
    fixture f = make(1, 0, SEED);
    uint32_t to = f.model->tables.conditional->begin[STAGES - 2];
    codec_chunk_coder walked, leapt;
    formats_buffer out = formats_buffer_make(1 << 24);
    open_group(&f, &walked);
    open_group(&f, &leapt);
    assert_int_equal(codec_chunk_encode(&walked, f.code, to, &out, NULL), TAPER_OK);
    codec_group_know(&leapt.group, f.code, to);
    codec_contexts_predict(&walked.contexts, &walked.group);
    codec_contexts_predict(&leapt.contexts, &leapt.group);
    for (uint32_t p = 0; p < f.n; p++) {
        assert_int_equal(codec_contexts_at(&walked.contexts, &walked.group, p),
                         codec_contexts_at(&leapt.contexts, &leapt.group, p));
        assert_int_equal(walked.contexts.conditional.logit[p], leapt.contexts.conditional.logit[p]);
    }
    codec_chunk_coder_free(&walked);
    codec_chunk_coder_free(&leapt);
    formats_buffer_free(&out);
    drop(&f);
}

/* --- coding ---------------------------------------------------------------------------- */

static void assert_same_levels(const fixture *f, const codec_group *g) {
    for (uint32_t u = 0; u < UNITS; u++)
        assert_memory_equal(g->level + (size_t)u * g->stride, f->code + (size_t)u * f->stride,
                            f->n * sizeof *f->code);
}

/* One string for all passes, decoded byte by byte. */
static void codes_survive_any_division(void **unused) {
    (void)unused;
    for (int kind = 0; kind < 4; kind++) {
        fixture f = make_in_parts(kind & 1, 0, kind & 2 ? 3 : 1, SEED + 9);
        uint32_t end = f.model->tables.n_passes;
        formats_buffer out = formats_buffer_make(1 << 24);
        codec_chunk_coder g;
        open_group(&f, &g);
        assert_int_equal(codec_chunk_encode(&g, f.code, end, &out, NULL), TAPER_OK);
        codec_chunk_coder_free(&g);
        open_group(&f, &g);
        codec_rc_decoder rc;
        codec_rc_decoder_init(&rc, out.data, 0, 0);
        for (size_t n = 1; n <= out.size; n++) {
            assert_int_equal(codec_chunk_decode(&g, &rc, end), 0);
            codec_rc_decoder_extend(&rc, out.data, n, n == out.size);
        }
        assert_int_equal(codec_chunk_decode(&g, &rc, end), 1);
        assert_same_levels(&f, &g.group);
        codec_chunk_coder_free(&g);
        formats_buffer_free(&out);
        drop(&f);
    }
}

/* A predictor that knows the bits makes them cheap: the logit reaches the coder with its sign. */
static void what_is_predicted_is_cheap(void **unused) {
    (void)unused;
    fixture f = make(1, 0, SEED);
    codec_conditional *c = f.model->tables.conditional;
    double bits[2][512] = {{0}}, sum[2] = {0, 0};
    memset(f.code, 0, (size_t)UNITS * f.stride * sizeof *f.code);
    memset(c->out, 0, (size_t)UNITS * KINDS * HIDDEN * sizeof *c->out);
    assert_true(f.model->tables.n_passes <= 512);
    for (int sure = 0; sure < 2; sure++) {
        for (uint32_t i = 0; i < c->end; i++) c->bias[i] = sure ? -64 * 12 : 0; /* no 1s */
        codec_chunk_coder g;
        formats_buffer out = formats_buffer_make(1 << 24);
        open_group(&f, &g);
        assert_int_equal(codec_chunk_encode(&g, f.code, c->end, &out, bits[sure]), TAPER_OK);
        for (uint32_t i = 0; i < c->end; i++) sum[sure] += bits[sure][i];
        codec_chunk_coder_free(&g);
        formats_buffer_free(&out);
    }
    assert_true(sum[1] < 0.5 * sum[0]);
    drop(&f);
}

/* --- the head -------------------------------------------------------------------------- */

/* Of models of one part. */
static uint32_t depth_at(const codec_group *g, uint32_t u, uint32_t p) {
    int partial = g->position && g->tables->pass[g->pass].unit == u;
    uint32_t depth = g->depth[u] + (uint32_t)(partial && p < g->position);
    if (g->tables->fractions > 1) return codec_planes_known(g, u, p);
    assert_int_equal(depth, codec_planes_known(g, u, p));
    return depth;
}

/* Codes with the head, against codes without it and the definition. */
static void check_head(const fixture *f, codec_group *g) {
    codec_code_tables *t = &f->model->tables;
    codec_conditional *head = t->head;
    float *with = malloc((size_t)f->n * UNITS * sizeof *with),
          *without = malloc((size_t)f->n * UNITS * sizeof *without);
    int8_t *a = calloc(OWN * f->n, 1);
    int64_t *h2 = calloc((size_t)f->n * HIDDEN, sizeof *h2);
    uint32_t stage = 0, changed = 0, deepest[UNITS] = {0};
    while (stage + 1 < STAGES && head->begin[stage + 1] <= g->pass) stage++;
    for (uint32_t i = 0; i < head->end; i++)
        deepest[t->pass[i].unit] += t->pass[i].fraction == t->fractions - 1;
    for (uint32_t u = 0; u < OWN; u++)
        for (uint32_t p = 0; p < f->n; p++) {
            int32_t level = g->level[u * g->stride + p];
            int32_t v = codec_conditional_seen(t, u, depth_at(g, u, p), (uint32_t)abs(level));
            a[u * f->n + p] = (int8_t)(level < 0 ? -v : v);
        }
    plain_hidden(f, head, a, stage, h2);
    codec_head_dequantise(g, 0, f->n, with);
    t->head = NULL;
    codec_head_dequantise(g, 0, f->n, without);
    t->head = head;
    for (uint32_t p = 0; p < f->n; p++)
        for (uint32_t u = 0; u < UNITS; u++) {
            uint32_t depth = depth_at(g, u, p);
            double scale = exp2(t->log_scale[u] / 16.0), rest = 0;
            double open = depth ? fmin(scale, exp2(t->planes[u] - depth) / 2) : scale;
            int64_t sum = 0;
            for (uint32_t j = 0; j < HIDDEN; j++)
                sum += head->out[u * HIDDEN + j] * h2[p * HIDDEN + j];
            if (depth <= deepest[u] && g->pass < head->end)
                rest = (double)t->step[u] * open * (double)(sum * 256 >> head->out_shift[u]) / 4096;
            double got = (double)with[p * UNITS + u] - (double)without[p * UNITS + u];
            if (!(fabs(got - rest) <= 1e-3 * (fabs(rest) + 1)))
                fail_msg("pass %u, unit %u, position %u: %g, not %g", g->pass, u, p, got, rest);
            changed += fabs(got) > 0.01;
        }
    assert_true(g->pass < head->end ? changed > f->n : !changed);
    free(with), free(without), free(a), free(h2);
}

/* Of a unit that nothing is known of nothing limits what is open but its scale. */
static void a_scale_has_no_limit(void **unused) {
    static const int16_t log_scales[] = {-512, -17, 0, 131, 155, 383, 384, 700, 1023};
    int16_t log_scale;
    uint8_t planes = 15;
    codec_code_tables t = {.units = 1, .planes = &planes, .log_scale = &log_scale};
    (void)unused;
    for (size_t i = 0; i < sizeof log_scales / sizeof *log_scales; i++) {
        log_scale = log_scales[i];
        double expected = exp2(log_scale / 16.0), open = codec_head_uncertainty(&t, 0, 0);
        assert_true(fabs(open - expected) <= expected * 0x1p-14 + 0x1p-16);
        assert_true(codec_head_uncertainty(&t, 0, 1) == fmin(open, 1 << 13));
    }
}

static void heads_add_what_is_defined(void **unused) {
    (void)unused;
    for (int kind = 0; kind < 4; kind++) {
        fixture f = make_in_parts(kind & 1, 0, kind & 2 ? 3 : 1, SEED + 3);
        codec_code_tables *t = &f.model->tables;
        uint32_t end = t->n_passes;
        assert_int_equal(codec_head_attach(t, conditional_random(1, UNITS, end * 3 / 4, STAGES,
                                                                 HIDDEN, OWN, BESIDE, 0, 8)),
                         TAPER_OK);
        formats_buffer out = formats_buffer_make(1 << 24);
        codec_chunk_coder g;
        open_group(&f, &g);
        assert_int_equal(codec_group_units_known(&g.group), UNITS);
        assert_int_equal(codec_chunk_encode(&g, f.code, end, &out, NULL), TAPER_OK);
        codec_chunk_coder_free(&g);
        open_group(&f, &g);
        codec_rc_decoder rc;
        codec_rc_decoder_init(&rc, out.data, 0, 0);
        for (size_t n = 0; n <= out.size; n += 1 + out.size / 23) { /* inside passes, mostly */
            check_head(&f, &g.group);
            codec_rc_decoder_extend(&rc, out.data, n, n == out.size);
            codec_chunk_decode(&g, &rc, end);
        }
        check_head(&f, &g.group);
        codec_chunk_coder_free(&g);
        formats_buffer_free(&out);
        drop(&f);
    }
}

/* --- file form ------------------------------------------------------------------------- */

static uint64_t most_bytes = 1 << 20; /* limit on a model */
static uint32_t passes_there = 200;   /* of the tables that read_back stands for */

static taper_status read_back(const formats_buffer *file, codec_conditional *c) {
    formats_cursor in = formats_cursor_over(file->data, file->size);
    taper_error error = {0};
    taper_status status = codec_conditional_read(c, CODEC_CONDITIONAL_KINDS, UNITS, passes_there,
                                                 most_bytes, &in, &error);
    if (status != TAPER_OK) {
        assert_true(error.text[0] != 0);
        assert_null(c->begin);
    }
    return status;
}

static void file_form_is_read_as_written(void **unused) {
    (void)unused;
    codec_conditional *c = conditional_random(KINDS, UNITS, 150, STAGES, HIDDEN, OWN, BESIDE, 0,
                                              SEED),
                      back;
    formats_buffer file = formats_buffer_make(1 << 24), again = formats_buffer_make(1 << 24);
    assert_int_equal(codec_conditional_write(c, &file), TAPER_OK);
    assert_int_equal(read_back(&file, &back), TAPER_OK);
    assert_memory_equal(back.begin, c->begin, STAGES * sizeof *c->begin);
    assert_memory_equal(back.out, c->out, UNITS * KINDS * HIDDEN * sizeof *c->out);
    assert_memory_equal(back.out_shift, c->out_shift, UNITS * KINDS);
    assert_memory_equal(back.bias, c->bias, KINDS * 150 * sizeof *c->bias);
    assert_int_equal(codec_conditional_write(&back, &again), TAPER_OK);
    assert_int_equal(again.size, file.size);
    assert_memory_equal(again.data, file.data, file.size);
    codec_conditional_free(&back);
    for (size_t n = 0; n < file.size; n += 1 + n / 50) { /* no prefix is legal */
        formats_buffer cut = {.data = file.data, .size = n};
        assert_true(read_back(&cut, &back) != TAPER_OK);
    }
    formats_buffer_free(&file);
    formats_buffer_free(&again);
    codec_conditional_free(c);
    free(c);
}

/* Before memory is taken: the shape alone tells. */
static void large_ones_meet_the_limit(void **unused) {
    (void)unused;
    codec_conditional *c = conditional_random(KINDS, UNITS, 150, STAGES, HIDDEN, OWN, BESIDE, 0,
                                              SEED),
                      back;
    formats_buffer file = formats_buffer_make(1 << 24);
    assert_int_equal(codec_conditional_write(c, &file), TAPER_OK);
    most_bytes = 20000;
    assert_int_equal(read_back(&file, &back), TAPER_ERR_LIMIT);
    most_bytes = 1 << 20;
    assert_int_equal(read_back(&file, &back), TAPER_OK);
    codec_conditional_free(&back);
    formats_buffer_free(&file);
    codec_conditional_free(c);
    free(c);
}

/* One field changed in an otherwise legal model. */
static void refuses(void (*change)(codec_conditional *c)) {
    codec_conditional *c = conditional_random(KINDS, UNITS, 150, STAGES, HIDDEN, OWN, BESIDE, 0,
                                              SEED),
                      back;
    formats_buffer file = formats_buffer_make(1 << 24);
    change(c);
    assert_int_equal(codec_conditional_write(c, &file), TAPER_OK);
    assert_int_equal(read_back(&file, &back), TAPER_ERR_CORRUPT);
    formats_buffer_free(&file);
    passes_there = 200;
    codec_conditional_free(c);
    free(c);
}

static void too_narrow(codec_conditional *c) { c->hidden = 0; }
static void odd_width(codec_conditional *c) { c->hidden = 23; }
static void nothing_seen(codec_conditional *c) { c->own = 0; }
static void more_beside(codec_conditional *c) { c->own = BESIDE - 1; }
static void too_many_passes(codec_conditional *c) { passes_there = c->end - 1; }
static void stage_past_the_end(codec_conditional *c) { c->begin[STAGES - 1] = 150; }
static void stage_without_passes(codec_conditional *c) { c->begin[3] = c->begin[2]; }
static void large_output(codec_conditional *c) { c->out[5] = -128; }
static void large_middle(codec_conditional *c) { c->middle[1][7] = -128; }
static void large_bias(codec_conditional *c) { c->bias[9] = CODEC_CONDITIONAL_MOST_BIAS + 1; }
static void large_place(codec_conditional *c) { c->place[3] = -CODEC_CONDITIONAL_MOST_BIAS - 1; }
static void large_stage(codec_conditional *c) { c->stage[3] = CODEC_CONDITIONAL_MOST_BIAS + 1; }
static void fine_step(codec_conditional *c) { c->out_shift[2] = CODEC_INT_MATRIX_MOST_SHIFT + 1; }

static void illegal_fields_are_refused(void **unused) {
    (void)unused;
    void (*const change[])(codec_conditional *) = {
        too_narrow,   odd_width,   nothing_seen, more_beside,        too_many_passes,
        large_output, large_bias,  large_middle, stage_past_the_end, stage_without_passes,
        large_place,  large_stage, fine_step};
    for (size_t i = 0; i < sizeof change / sizeof *change; i++) {
        print_message("change %zu\n", i);
        refuses(change[i]);
    }
}

/* Any byte changed: refused, or a model that predicts without leaving its arrays or its range. */
static void any_byte_is_refused_or_usable(void **unused) {
    (void)unused;
    fixture f = make(1, 0, SEED);
    codec_code_tables *t = &f.model->tables;
    codec_conditional *own = t->conditional, back;
    formats_buffer file = formats_buffer_make(1 << 24);
    uint64_t state = SEED;
    size_t usable = 0, refused = 0;
    assert_int_equal(codec_conditional_write(own, &file), TAPER_OK);
    for (size_t at = 0; at < file.size; at += at < 200 ? 1 : 37) {
        uint8_t was = file.data[at];
        formats_cursor in = formats_cursor_over(file.data, file.size);
        file.data[at] = (uint8_t)picture_random(&state);
        int legal = codec_conditional_read(&back, CODEC_CONDITIONAL_KINDS, UNITS, t->n_passes,
                                           most_bytes, &in, NULL) == TAPER_OK;
        file.data[at] = was;
        refused += !legal, usable += (size_t)legal;
        if (!legal) continue;
        t->conditional = &back;
        codec_chunk_coder g;
        open_group(&f, &g);
        for (uint32_t pass = 0; pass < back.end; pass += 1 + back.end / 5) {
            codec_group_know(&g.group, f.code, pass);
            codec_contexts_predict(&g.contexts, &g.group);
            for (uint32_t p = 0; p < f.n; p++)
                assert_true(
                    codec_contexts_at(&g.contexts, &g.group, p) < CODEC_CLASSES * CODEC_BINS &&
                    codec_contexts_sign(&g.contexts, &g.group, p) < CODEC_CLASSES * CODEC_BINS);
        }
        codec_chunk_coder_free(&g);
        codec_conditional_free(&back);
    }
    print_message("%zu changes refused, %zu usable\n", refused, usable);
    assert_true(refused > 50 && usable > 50);
    t->conditional = own;
    formats_buffer_free(&file);
    drop(&f);
}

/* In a model file: written, loaded, and its bits are needed to read what was written with it. */
static void models_carry_it(void **unused) {
    (void)unused;
    fixture f = make(1, 0, SEED);
    formats_buffer file = formats_buffer_make(1 << 24);
    codec_weight_precision precision = {0.05, 8};
    taper_image image[3];
    for (uint32_t i = 0; i < 3; i++) image[i] = dct_picture(19 + i, 23, 3, i);
    codec_conditional *head =
        conditional_random(1, UNITS, f.model->tables.n_passes, STAGES, HIDDEN, OWN, BESIDE, 0, 8);
    for (uint32_t u = 0; u < UNITS; u++) head->out_shift[u] = 18; /* next to nothing: P2 holds */
    assert_int_equal(codec_head_attach(&f.model->tables, head), TAPER_OK);
    assert_int_equal(codec_model_write(f.model, &precision, &file, NULL), TAPER_OK);
    taper_model *loaded;
    taper_error error = {0};
    if (taper_model_load(&loaded, file.data, file.size, NULL, &error)) fail_msg("%s", error.text);
    assert_non_null(loaded->tables.conditional);
    assert_non_null(loaded->tables.head);
    assert_memory_equal(loaded->tables.head->out, head->out, UNITS * HIDDEN * sizeof *head->out);
    formats_buffer with = dct_encode(loaded, image, 3, NULL, 0),
                   pixels = formats_buffer_make(1 << 20);
    size_t before = 0;
    double last = 0;
    for (size_t size = dct_info(&with, loaded).front_bytes; size <= with.size;
         size++) { /* P1, P2 */
        formats_buffer_clear(&pixels);
        assert_int_equal(dct_pull(with.data, size, loaded, &pixels, NULL), TAPER_OK);
        double psnr = dct_mean_psnr(image, 3, pixels.data);
        assert_true(psnr >= last - 0.05);
        last = fmax(last, psnr), before = size;
    }
    assert_int_equal(before, with.size);
    assert_true(last > 35);
    formats_buffer_free(&with);
    formats_buffer_free(&pixels);
    formats_buffer_free(&file);
    for (uint32_t i = 0; i < 3; i++) free(image[i].pixels);
    taper_model_free(loaded);
    drop(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_are_as_defined),
        cmocka_unit_test(predicts_as_defined),
        cmocka_unit_test(a_leap_predicts_the_same),
        cmocka_unit_test(codes_survive_any_division),
        cmocka_unit_test(what_is_predicted_is_cheap),
        cmocka_unit_test(heads_add_what_is_defined),
        cmocka_unit_test(a_scale_has_no_limit),
        cmocka_unit_test(file_form_is_read_as_written),
        cmocka_unit_test(large_ones_meet_the_limit),
        cmocka_unit_test(illegal_fields_are_refused),
        cmocka_unit_test(any_byte_is_refused_or_usable),
        cmocka_unit_test(models_carry_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
