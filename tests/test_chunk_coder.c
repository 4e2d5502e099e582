/* test_chunk_coder.c -- passes through contexts and range coder and back; quantising and its
 * reverse; decoding as bytes arrive. */
#include "cmocka_all.h"
#include "codec/bitplane/chunk_coder.h"
#include "codec/bitplane/quantiser.h"
#include "dct_model.h"

enum { SEED = 51, UNITS = 30 };

typedef struct fixture {
    taper_model *model;
    codec_grid grid[3];
    int16_t *code; /* [units][stride] */
    uint32_t n, stride;
} fixture;

/* Codes that look like an image's: Laplacian, the scale falling with the unit; a few at the limit.
 */
static fixture make_in_parts(int linked, uint32_t parts, uint64_t seed) {
    fixture f = {.grid = {{linked ? 5 : 1, linked ? 3 : 1}, {1, 1}, {1, linked ? 4 : 1}}};
    formats_buffer file = formats_buffer_make(1 << 24);
    f.model = dct_model_in_parts((codec_window){4, 4, 3, NULL}, UNITS, 2, parts, &file);
    formats_buffer_free(&file);
    codec_chunk_coder g;
    const codec_code_tables *t = &f.model->tables;
    assert_int_equal(codec_chunk_coder_alloc(&g, t, f.grid, 3, NULL), TAPER_OK);
    f.n = g.group.n, f.stride = g.group.stride;
    codec_chunk_coder_free(&g);
    f.code = calloc((size_t)UNITS * f.stride, sizeof *f.code);
    assert_non_null(f.code);
    for (uint32_t u = 0; u < UNITS; u++)
        for (uint32_t p = 0; p < f.n; p++) {
            double r = (double)(picture_random(&seed) >> 11) / (double)((uint64_t)1 << 53);
            double x = -log(r + 1e-12) * 60.0 / (1 + u) * (picture_random(&seed) & 1 ? -1 : 1);
            if (picture_random(&seed) % 50 == 0) x = x < 0 ? -1e9 : 1e9;
            f.code[u * f.stride + p] = codec_quantise(t, u, (float)x);
        }
    return f;
}

static fixture make(int linked, uint64_t seed) { return make_in_parts(linked, 1, seed); }

static int is_plausible(const codec_group *group, uint32_t end, uint64_t size) {
    return codec_chunk_least_bytes(group, end) <= size + CODEC_CHUNK_TRIMMED;
}

static void drop(fixture *f) {
    free(f->code);
    taper_model_free(f->model);
}

static void open_group(const fixture *f, codec_chunk_coder *g) {
    assert_int_equal(codec_chunk_coder_alloc(g, &f->model->tables, f->grid, 3, NULL), TAPER_OK);
}

/* Ends of chunks: as many as the seed draws, the last at the end of the order. */
static uint32_t draw_ends(const fixture *f, uint64_t *state, uint32_t *end) {
    uint32_t n = 0, pass = 0;
    while (pass < f->model->tables.n_passes) {
        pass += 1 + (uint32_t)picture_random(state) % 60;
        if (pass > f->model->tables.n_passes) pass = f->model->tables.n_passes;
        end[n++] = pass;
    }
    return n;
}

static void assert_levels(const fixture *f, const codec_group *g) {
    const codec_code_tables *t = g->tables;
    for (uint32_t u = 0; u < UNITS; u++)
        for (uint32_t p = 0; p < f->n; p++) {
            int more = g->pass < t->n_passes && t->pass[g->pass].unit == u && p < g->position;
            int code = f->code[u * f->stride + p], plane_known = g->plane_known[u * g->stride + p],
                shift = t->planes[u] - g->depth[u] - plane_known;
            assert_true(t->fractions > 1 ? codec_group_is_split(g, u) || !plane_known
                                         : plane_known == more);
            int level = abs(code) >> shift;
            assert_int_equal(g->level[u * g->stride + p], code < 0 ? -level : level);
        }
}

static void chunks_decode_to_the_codes(void **unused) {
    (void)unused;
    uint64_t state = SEED;
    printf("seed %d\n", SEED);
    for (int round = 0; round < 12; round++) {
        fixture f = make_in_parts(round % 2, 1 + (uint32_t)round % 5 % 4, picture_random(&state));
        uint32_t end[512], n = draw_ends(&f, &state, end);
        formats_buffer out = formats_buffer_make(1 << 24);
        size_t at[513] = {0};
        codec_chunk_coder g;
        double *bits = calloc(f.model->tables.n_passes, sizeof *bits), ideal = 0;
        assert_non_null(bits);
        open_group(&f, &g);
        for (uint32_t c = 0; c < n; c++) {
            assert_int_equal(codec_chunk_encode(&g, f.code, end[c], &out, round & 4 ? bits : NULL),
                             0);
            at[c + 1] = out.size;
        }
        codec_chunk_coder last = g;
        for (uint32_t i = 0; i < f.model->tables.n_passes; i++) ideal += bits[i] / 8;
        if (round & 4) assert_true(fabs((double)out.size - ideal) <= 3.0 * n + ideal * 1e-4);
        codec_chunk_coder back;
        open_group(&f, &back);
        for (uint32_t c = 0; c < n; c++) {
            codec_rc_decoder rc;
            assert_true(is_plausible(&back.group, end[c], at[c + 1] - at[c]));
            codec_rc_decoder_init(&rc, out.data + at[c], at[c + 1] - at[c], 1);
            assert_int_equal(codec_chunk_decode(&back, &rc, end[c]), 1);
            assert_int_equal(back.group.pass, end[c]);
            assert_levels(&f, &back.group);
        }
        assert_memory_equal(back.contexts.bit, last.contexts.bit, sizeof back.contexts.bit);
        assert_memory_equal(back.group.norm, g.group.norm,
                            (size_t)UNITS * g.group.stride * sizeof *g.group.norm);
        assert_memory_equal(back.group.depth, f.model->tables.planes, UNITS);
        codec_chunk_coder_free(&g), codec_chunk_coder_free(&back);
        formats_buffer_free(&out);
        free(bits);
        drop(&f);
    }
}

/* One chunk, its bytes one by one: every state on the way is a true one, and no worse than before.
 */
static void every_byte_helps(void **unused) {
    (void)unused;
    for (int kind = 0; kind < 4; kind++) {
        fixture f = make_in_parts(kind & 1, kind & 2 ? 3 : 1, SEED + 1);
        formats_buffer out = formats_buffer_make(1 << 24);
        codec_chunk_coder g, back, fresh;
        uint32_t end = f.model->tables.n_passes;
        open_group(&f, &g);
        assert_int_equal(codec_chunk_encode(&g, f.code, end, &out, NULL), TAPER_OK);
        open_group(&f, &back);
        codec_rc_decoder rc, own;
        codec_rc_decoder_init(&rc, out.data, 0, 0);
        uint64_t before = 0;
        for (size_t size = 0; size <= out.size; size++) {
            int whole = size == out.size;
            codec_rc_decoder_extend(&rc, out.data, size, whole);
            assert_int_equal(codec_chunk_decode(&back, &rc, end), whole);
            assert_levels(&f, &back.group);
            uint64_t known = (uint64_t)back.group.pass * f.n + back.group.position;
            assert_true(known >= before);
            before = known;
            if (size % 7 && !whole) continue;
            open_group(&f, &fresh); /* the same from the start */
            codec_rc_decoder_init(&own, out.data, size, whole);
            assert_int_equal(codec_chunk_decode(&fresh, &own, end), whole);
            assert_int_equal(fresh.group.pass, back.group.pass);
            assert_int_equal(fresh.group.position, back.group.position);
            assert_int_equal(fresh.awaits_sign, back.awaits_sign);
            assert_memory_equal(fresh.group.level, back.group.level,
                                (size_t)UNITS * g.group.stride * 2);
            codec_chunk_coder_free(&fresh);
        }
        codec_chunk_coder_free(&g), codec_chunk_coder_free(&back);
        formats_buffer_free(&out);
        drop(&f);
    }
}

static void short_strings_cannot_be_long_work(void **unused) {
    (void)unused;
    fixture f = make(0, SEED);
    codec_chunk_coder g;
    open_group(&f, &g);
    g.group.n = 1000000;
    assert_true(is_plausible(&g.group, 0, 0));
    assert_false(is_plausible(&g.group, 200, 100));
    assert_true(is_plausible(&g.group, 200, 1200));
    g.group.pass = 200;
    assert_true(is_plausible(&g.group, 200, 0));
    assert_true(is_plausible(&g.group, 100, 0));
    codec_chunk_coder_free(&g);
    drop(&f);
    f = make_in_parts(0, 3, SEED); /* a plane counts where all its parts come */
    const codec_code_tables *t = &f.model->tables;
    uint32_t first = 0;
    while (t->pass[first].fraction == 2) first++;
    open_group(&f, &g);
    g.group.n = 500 * 11500 * CODEC_BLOCK;
    codec_pass begun = t->pass[first];
    uint32_t last = first;
    while (t->pass[last].unit != begun.unit || t->pass[last].fraction < 2) last++;
    uint32_t planes = 0;
    for (uint32_t i = first; i <= last; i++) planes += t->pass[i].fraction == 2;
    g.group.pass = first, g.group.depth[begun.unit] = begun.depth;
    assert_false(is_plausible(&g.group, last + 1, 500 * planes - 17));
    assert_true(is_plausible(&g.group, last + 1, 500 * planes - 16));
    g.group.pass = first + 1, g.group.fraction[begun.unit] = (uint8_t)(begun.fraction + 1);
    assert_true(is_plausible(&g.group, last + 1, 500 * (planes - 1) - 16));
    codec_chunk_coder_free(&g);
    drop(&f);
}

/* The cheapest bits there are: a legal chunk of nothing but zeros is plausible. */
static void cheapest_chunk_is_plausible(void **unused) {
    (void)unused;
    fixture f = make(0, SEED);
    codec_grid *grid = calloc(100000, sizeof *grid);
    codec_chunk_coder g;
    assert_non_null(grid);
    for (int i = 0; i < 100000; i++) grid[i] = (codec_grid){1, 1};
    assert_int_equal(codec_chunk_coder_alloc(&g, &f.model->tables, grid, 100000, NULL), TAPER_OK);
    int16_t *code = calloc((size_t)UNITS * g.group.stride, sizeof *code);
    assert_non_null(code);
    formats_buffer out = formats_buffer_make(1 << 24);
    assert_int_equal(codec_chunk_encode(&g, code, 40, &out, NULL), TAPER_OK);
    g.group.pass = 0;
    assert_true(is_plausible(&g.group, 40, out.size));
    codec_chunk_coder_free(&g);
    formats_buffer_free(&out);
    free(code), free(grid);
    drop(&f);
}

static void quantising_clamps_and_rounds_down(void **unused) {
    (void)unused;
    fixture f = make(0, SEED);
    const codec_code_tables *t = &f.model->tables;
    int top = (1 << t->planes[3]) - 1;
    float step = t->step[3];
    assert_int_equal(codec_quantise(t, 3, 0.99f * step), 0);
    assert_int_equal(codec_quantise(t, 3, -0.99f * step), 0);
    assert_int_equal(codec_quantise(t, 3, step), 1);
    assert_int_equal(codec_quantise(t, 3, -2.999f * step), -2);
    assert_int_equal(codec_quantise(t, 3, 1e30f), top);
    assert_int_equal(codec_quantise(t, 3, -INFINITY), -top);
    assert_int_equal(codec_quantise(t, 3, NAN), 0);
    t->planes[3] = 0;
    assert_int_equal(codec_quantise(t, 3, 1e30f), 0);
    t->planes[3] = CODEC_MAX_PLANES;
    assert_int_equal(codec_quantise(t, 3, 1e30f), 32767);
    drop(&f);
}

/* What contexts see of a decoded value: its size, and with neighbours its sign, in units of scale.
 */
static void check_known(const codec_group *g, uint32_t u, uint32_t p, float value) {
    double scale = g->tables->step[u] * exp2(g->tables->log_scale[u] / 16.0), x = value / scale;
    double norm = fmin(fabs(x) * CODEC_NORM_ONE, CODEC_NORM_MAX);
    assert_true(fabs(g->norm[u * g->stride + p] - norm) <= 1 + norm * 1e-3);
    if (!g->signed_norm || u >= CODEC_SIGNED_UNITS) return;
    double limit = CODEC_SIGNED_MAX, known = fmin(fmax(x * CODEC_SIGNED_ONE, -limit), limit);
    assert_true(fabs(g->signed_norm[u * g->stride + p] - known) <= 1 + fabs(known) * 1e-3);
}

/* At every state of decoding: the value lies in its interval, has its sign, and only what is known
 * is not 0. Any block of positions gives the same. */
static void check_intervals(uint32_t parts) {
    uint64_t split[2] = {
        0, 0}; /* positions of units between two fractions: without the plane, with it */
    fixture f = make_in_parts(1, parts, SEED + 3);
    const codec_code_tables *t = &f.model->tables;
    formats_buffer out = formats_buffer_make(1 << 24);
    codec_chunk_coder g, back;
    open_group(&f, &g);
    assert_int_equal(codec_chunk_encode(&g, f.code, t->n_passes, &out, NULL), TAPER_OK);
    open_group(&f, &back);
    codec_rc_decoder rc;
    codec_rc_decoder_init(&rc, out.data, 0, 0);
    float *x = malloc(sizeof *x * UNITS * f.n), *one = malloc(sizeof *one * UNITS);
    assert_true(x && one);
    for (size_t size = 0; size <= out.size;
         size += size + 9 > out.size && size < out.size ? 1 : 9) {
        codec_rc_decoder_extend(&rc, out.data, size, size == out.size);
        codec_chunk_decode(&back, &rc, t->n_passes);
        codec_dequantise(&back.group, 0, f.n, x);
        uint32_t known = codec_group_units_known(&back.group);
        for (uint32_t p = 0; p < f.n; p++) {
            codec_dequantise(&back.group, p, 1, one);
            assert_memory_equal(one, x + (size_t)p * UNITS, sizeof *one * UNITS);
            for (uint32_t u = 0; u < UNITS; u++) {
                int partial = back.group.position && t->pass[back.group.pass].unit == u;
                int more = back.group.plane_known[u * back.group.stride + p];
                int depth = back.group.depth[u] + more,
                    level = back.group.level[u * back.group.stride + p];
                float value = one[u], T = t->step[u] * (float)(1 << (t->planes[u] - depth));
                if (u >= known) assert_int_equal(level, 0);
                if (back.group.fraction[u]) split[more]++;
                if (!level)
                    assert_true(value == 0);
                else
                    assert_true(fabsf(value) >= (float)abs(level) * T);
                if (level) assert_true(fabsf(value) < (float)(abs(level) + 1) * T);
                if (level) assert_true((value < 0) == (f.code[u * f.stride + p] < 0));
                if (!partial && level) check_known(&back.group, u, p, value);
            }
        }
    }
    assert_int_equal(back.group.pass, t->n_passes);
    assert_true(parts == 1 ? !split[0] && !split[1] : split[0] > 300 && split[1] > 300);
    free(x), free(one);
    codec_chunk_coder_free(&g), codec_chunk_coder_free(&back);
    formats_buffer_free(&out);
    drop(&f);
}

static void values_lie_in_their_intervals(void **unused) {
    (void)unused;
    check_intervals(1);
    check_intervals(3);
}

/* Bytes that no encoder made: decoding ends, within the group's bounds. */
static void any_bytes_decode(void **unused) {
    (void)unused;
    uint64_t state = SEED + 4;
    for (int round = 0; round < 60; round++) {
        fixture f = make_in_parts(round % 2, 1 + (uint32_t)round / 2 % 4, SEED);
        uint8_t bytes[300];
        size_t size = picture_random(&state) % sizeof bytes;
        for (size_t i = 0; i < size; i++)
            bytes[i] = round % 5 ? (uint8_t)(picture_random(&state) >> 30) : 0xFF;
        codec_chunk_coder g;
        open_group(&f, &g);
        codec_rc_decoder rc;
        codec_rc_decoder_init(&rc, bytes, size, round % 3 == 0);
        int done = codec_chunk_decode(&g, &rc, f.model->tables.n_passes);
        assert_true(done || round % 3);
        for (uint32_t u = 0; u < UNITS; u++)
            for (uint32_t p = 0; p < g.group.n; p++)
                assert_true(abs(g.group.level[u * g.group.stride + p]) <
                            1 << f.model->tables.planes[u]);
        codec_chunk_coder_free(&g);
        drop(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chunks_decode_to_the_codes),
        cmocka_unit_test(every_byte_helps),
        cmocka_unit_test(short_strings_cannot_be_long_work),
        cmocka_unit_test(cheapest_chunk_is_plausible),
        cmocka_unit_test(quantising_clamps_and_rounds_down),
        cmocka_unit_test(values_lie_in_their_intervals),
        cmocka_unit_test(any_bytes_decode),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
