/* test_flags.c -- blocks of unlikely bits: their flags, bytes that arrive one by one, what is
 * saved. */
#include "cmocka_all.h"
#include "codec/bitplane/chunk_coder.h"
#include "dct_model.h"

enum { UNITS = 40, COLUMNS = 21, ROWS = 13, N = COLUMNS * ROWS };

typedef struct fixture {
    taper_model *model;
    int16_t *code; /* [units][stride] */
    uint32_t stride;
} fixture;

/* Codes of which one in `rare` is not 0, and a model that expects few of them. */
static fixture make(uint32_t fractions, uint64_t rare, uint64_t seed) {
    fixture f = {.stride = (uint32_t)codec_group_stride(N)};
    formats_buffer file = formats_buffer_make(1 << 24);
    f.model = dct_model_in_parts((codec_window){4, 4, 3, NULL}, UNITS, 2, fractions, &file);
    formats_buffer_free(&file);
    codec_code_tables *t = &f.model->tables;
    for (uint32_t c = 0; c < CODEC_BANDS; c++) t->bias[c] = -620; /* about -10 */
    f.code = calloc((size_t)UNITS * f.stride, sizeof *f.code);
    assert_non_null(f.code);
    for (uint32_t u = 0; u < UNITS; u++)
        for (uint32_t p = 0; p < N; p++)
            if (picture_random(&seed) % rare == 0) {
                int32_t most = (1 << t->planes[u]) - 1, v = 1 + (int32_t)(seed >> 40) % most;
                f.code[u * f.stride + p] = (int16_t)(seed & 1 << 20 ? v : -v);
            }
    return f;
}

static void drop(fixture *f) {
    free(f->code);
    taper_model_free(f->model);
}

static codec_chunk_coder open(const fixture *f) {
    const codec_grid grid = {COLUMNS, ROWS};
    codec_chunk_coder c;
    assert_int_equal(codec_chunk_coder_alloc(&c, &f->model->tables, &grid, 1, NULL), TAPER_OK);
    assert_int_equal(c.group.stride, f->stride);
    return c;
}

/* The blocks of the next pass, by their definition, beside those that were found. Returns how many
 * have flags. */
static uint32_t check_blocks(codec_chunk_coder *c) {
    codec_group *g = &c->group;
    codec_context_model *m = &c->contexts;
    uint32_t u = g->tables->pass[g->pass].unit, class = codec_class(CODEC_SIGNIFICANCE, u), n = 0;
    assert_int_equal(m->has_flags, !codec_causal_is_unit(&m->causal, u));
    for (uint32_t first = 0; m->has_flags && first < N; first += CODEC_BLOCK) {
        int32_t most = -1, others = 0;
        for (uint32_t p = first; p < first + CODEC_BLOCK && p < N; p++) {
            int32_t context = m->context[p];
            if (context == CODEC_SKIP) continue;
            others |= (uint32_t)context / CODEC_BINS != class;
            most = context % CODEC_BINS > most ? context % CODEC_BINS : most;
        }
        codec_bit *flag = codec_contexts_flag(m, g, first / CODEC_BLOCK);
        if (most < 0 || others || most > CODEC_FLAG_BIN)
            assert_null(flag);
        else
            assert_ptr_equal(flag, &m->flag[class][most]);
        n += flag != NULL;
    }
    return n;
}

static void blocks_of_unlikely_bits_have_flags(void **unused) {
    (void)unused;
    for (uint32_t fractions = 1; fractions <= 3; fractions++) {
        fixture f = make(fractions, 400, 5 + fractions);
        codec_chunk_coder c = open(&f);
        formats_buffer out = formats_buffer_make(1 << 24);
        uint32_t flags = 0, blocks = 0;
        while (c.group.pass < f.model->tables.n_passes) {
            codec_contexts_predict(&c.contexts, &c.group);
            flags += check_blocks(&c);
            blocks += (N + CODEC_BLOCK - 1) / CODEC_BLOCK;
            assert_int_equal(codec_chunk_encode(&c, f.code, c.group.pass + 1, &out, NULL), 0);
        }
        assert_true(flags > blocks / 20);
        assert_true(flags < blocks);
        codec_chunk_coder_free(&c);
        formats_buffer_free(&out);
        drop(&f);
    }
}

/* Bytes one by one, and all at once: the same levels; and never a level that is not the code's. */
static void decoding_goes_on_within_a_block(void **unused) {
    (void)unused;
    uint32_t within = 0;
    for (uint32_t round = 0; round < 8; round++) {
        fixture f = make(1 + round % 3, 30 + 10 * round, 77 + round);
        const codec_code_tables *t = &f.model->tables;
        formats_buffer out = formats_buffer_make(1 << 24);
        codec_chunk_coder from = open(&f), to = open(&f);
        assert_int_equal(codec_chunk_encode(&from, f.code, t->n_passes, &out, NULL), TAPER_OK);
        codec_rc_decoder rc;
        codec_rc_decoder_init(&rc, out.data, 0, 0);
        for (size_t size = 0; size <= out.size; size++) {
            codec_rc_decoder_extend(&rc, out.data, size, size == out.size);
            assert_int_equal(codec_chunk_decode(&to, &rc, t->n_passes), size == out.size);
            within += to.flagged;
            for (uint32_t u = 0; u < UNITS; u++)
                for (uint32_t p = 0; p < N; p++) {
                    int shift = t->planes[u] - (int)codec_planes_known(&to.group, u, p);
                    int code = f.code[u * f.stride + p];
                    assert_int_equal(to.group.level[u * f.stride + p],
                                     code < 0 ? -(-code >> shift) : code >> shift);
                }
        }
        codec_chunk_coder_free(&from), codec_chunk_coder_free(&to);
        formats_buffer_free(&out);
        drop(&f);
    }
    assert_true(within > 20); /* bytes have ended there */
}

/* The ideal sizes of passes, with flags, are the size of the string. */
static void ideal_sizes_count_flags(void **unused) {
    (void)unused;
    fixture f = make(2, 60, 3);
    const uint32_t passes = f.model->tables.n_passes;
    double *bits = calloc(passes, sizeof *bits), sum = 0;
    formats_buffer a = formats_buffer_make(1 << 24), b = formats_buffer_make(1 << 24);
    codec_chunk_coder one = open(&f), two = open(&f);
    assert_int_equal(codec_chunk_encode(&one, f.code, passes, &a, NULL), TAPER_OK);
    assert_int_equal(codec_chunk_encode(&two, f.code, passes, &b, bits), TAPER_OK);
    assert_int_equal(a.size, b.size);
    assert_memory_equal(a.data, b.data, a.size);
    for (uint32_t i = 0; i < passes; i++) sum += bits[i];
    assert_true(fabs(sum / 8 - (double)a.size) < 12);
    free(bits);
    codec_chunk_coder_free(&one), codec_chunk_coder_free(&two);
    formats_buffer_free(&a), formats_buffer_free(&b);
    drop(&f);
}

/* Zeros take a flag for sixteen of them. */
static void zeros_take_few_bytes(void **unused) {
    (void)unused;
    fixture f = make(1, UINT64_MAX, 3);
    const uint32_t passes = f.model->tables.n_passes;
    formats_buffer out = formats_buffer_make(1 << 24);
    codec_chunk_coder c = open(&f);
    assert_int_equal(codec_chunk_encode(&c, f.code, passes, &out, NULL), TAPER_OK);
    assert_true(out.size < passes * N / 1419 / 2);
    codec_chunk_coder_reset(&c);
    assert_true(codec_chunk_least_bytes(&c.group, passes) <= out.size + CODEC_CHUNK_TRIMMED);
    codec_chunk_coder_free(&c);
    formats_buffer_free(&out);
    drop(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_of_unlikely_bits_have_flags),
        cmocka_unit_test(decoding_goes_on_within_a_block),
        cmocka_unit_test(ideal_sizes_count_flags),
        cmocka_unit_test(zeros_take_few_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
