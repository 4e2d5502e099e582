/* fuzz_strips.c -- any bytes as a chunk of a group of several strips, of which most bits are
 * unlikely; the first byte draws how the chunk arrives. Decoding in pieces must give what decoding
 * at once gives, and coding what was decoded a chunk that decodes to the same. */
#include "../dct_model.h"
#include "codec/bitplane/strips.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

enum { UNITS = 3, COLUMNS = 48, ROWS = 33 };

static void must(int holds) {
    if (!holds) abort();
}

static const codec_code_tables *the_tables(void) {
    static taper_model *model;
    formats_buffer file = formats_buffer_make(1 << 20);
    if (!model) {
        model = dct_model_make((codec_window){4, 4, 1, NULL}, UNITS, 60, &file);
        for (uint32_t c = 0; c < CODEC_BANDS; c++) model->tables.bias[c] = -500;
    }
    formats_buffer_free(&file);
    return &model->tables;
}

static codec_strips open_strips(void) {
    const codec_grid grid = {COLUMNS, ROWS};
    codec_strips s;
    must(codec_strips_alloc(&s, the_tables(), &grid, 1, NULL, NULL) == TAPER_OK && s.n == 2);
    return s;
}

static void decode(codec_strips *s, const uint8_t *bytes, size_t n, int whole) {
    const codec_chunk_bytes chunk = {bytes, n, whole};
    must(codec_strips_decode(s, chunk, the_tables()->n_passes) == TAPER_OK);
}

static void must_be_equal(const codec_strips *a, const codec_strips *b) {
    for (uint32_t i = 0; i < a->n; i++) {
        const codec_group *x = &a->coder[i].group, *y = &b->coder[i].group;
        must(x->pass == y->pass && x->position == y->position);
        must(!memcmp(x->level, y->level, sizeof *x->level * UNITS * x->stride));
    }
}

/* A string that begins with eight bytes FF is beyond the first interval: there, any bits do. */
static int is_legal(const codec_strips *s) {
    static const uint8_t beyond[8] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    for (uint32_t i = 0; i < s->n; i++) {
        const formats_buffer *b = &s->segments.string[i];
        if (b->size >= sizeof beyond && !memcmp(b->data, beyond, sizeof beyond)) return 0;
    }
    return 1;
}

/* Encode the levels of complete strips, and decode the result. */
static void code_again(const codec_strips *s) {
    const size_t stride = (size_t)codec_group_stride(COLUMNS * ROWS);
    int16_t *code = calloc(UNITS * stride, sizeof *code);
    formats_buffer chunk = formats_buffer_make(1 << 20);
    codec_strips from = open_strips(), to = open_strips();
    int ended;
    must(code != NULL);
    for (uint32_t i = 0; i < s->n; i++)
        for (uint32_t u = 0; u < UNITS; u++)
            memcpy(code + u * stride + s->first[i],
                   s->coder[i].group.level + (size_t)u * s->coder[i].group.stride,
                   s->coder[i].group.n * sizeof *code);
    must(codec_strips_encode(&from, code, stride, the_tables()->n_passes, 0, &chunk, &ended) ==
         TAPER_OK);
    decode(&to, chunk.data, chunk.size, 1);
    must_be_equal(s, &to);
    codec_strips_free(&from), codec_strips_free(&to);
    formats_buffer_free(&chunk);
    free(code);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    if (n < 2) return 0;
    const int whole = bytes[0] & 1;
    const size_t step = 1 + bytes[0] / 2;
    bytes++, n--;
    codec_strips once = open_strips(), pieces = open_strips();
    decode(&once, bytes, n, whole);
    for (size_t at = 0; at < n; at += step) decode(&pieces, bytes, at, 0);
    decode(&pieces, bytes, n, whole);
    if (is_legal(&once)) must_be_equal(&once, &pieces);
    if (whole) code_again(&once);
    codec_strips_free(&once), codec_strips_free(&pieces);
    return 0;
}
