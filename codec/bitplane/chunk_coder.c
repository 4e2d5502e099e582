/* chunk_coder.c -- coding passes; see chunk_coder.h. */
#include "codec/bitplane/chunk_coder.h"
#include "codec/backend/simd.h"
#include <math.h>
#include <stdlib.h>

enum { P_HALF = 32768 };

void codec_chunk_coder_lay_out(codec_chunk_coder *c, const codec_code_tables *tables,
                               const codec_group_shape *shape, codec_group_layout *at) {
    codec_group_lay_out(&c->group, tables, shape, at);
    codec_context_model_lay_out(&c->contexts, &c->group, at);
}

void codec_chunk_coder_begin(codec_chunk_coder *c, const codec_grid *grid, size_t n_images) {
    c->code_stride = c->group.stride;
    codec_group_begin(&c->group, grid, n_images);
    codec_context_model_reset(&c->contexts, &c->group);
}

taper_status codec_chunk_coder_alloc(codec_chunk_coder *c, const codec_code_tables *tables,
                                     const codec_grid *grid, size_t n_images, taper_error *error) {
    const codec_group_shape shape = codec_group_shape_of(grid, n_images);
    codec_group_layout at = {0};
    codec_group_blocks own;
    codec_chunk_coder_lay_out(c, tables, &shape, &at);
    *c = (codec_chunk_coder){0};
    TAPER_TRY(codec_group_take(&own, &at, &shape, NULL, error));
    codec_chunk_coder_lay_out(c, tables, &shape, &at);
    c->group.own = own;
    codec_chunk_coder_begin(c, grid, n_images);
    return TAPER_OK;
}

void codec_chunk_coder_end_coding(codec_chunk_coder *c) {
    c->contexts = (codec_context_model){0};
    c->group.norm = NULL, c->group.signed_norm = NULL;
}

void codec_chunk_coder_free(codec_chunk_coder *c) {
    if (!c) return;
    codec_group_free(&c->group);
    *c = (codec_chunk_coder){0};
}

void codec_chunk_coder_reset(codec_chunk_coder *c) {
    codec_group_reset(&c->group);
    codec_context_model_reset(&c->contexts, &c->group);
    c->predicted = c->awaits_sign = c->flagged = 0;
}

static codec_bit *adaptive(codec_chunk_coder *c) { return &c->contexts.bit[0][0]; }

/* -log2 of the probability of a bit. */
static double ideal_bits(uint32_t p1, int bit) {
    return -log2f((float)(bit ? p1 : 65536 - p1) / 65536.0f);
}

/* The first context of bits whose level is not 0. CODEC_STALE and CODEC_SKIP are above, too. */
enum { FIRST_OF_LEVELS = CODEC_REFINE_FIRST * CODEC_BANDS * CODEC_BINS };

/* plane_known of positions from .. to - 1, which are decoded. */
CODEC_CLONES static void mark_known(const uint16_t *restrict context, uint32_t from, uint32_t to,
                                    uint8_t *restrict plane_known) {
    for (uint32_t p = from; p < to; p++) plane_known[p] |= context[p] != CODEC_SKIP;
}

/* How the bits of a run of positions are coded. */
typedef struct run_bits {
    codec_bit *bit; /* by context */
    int sign_predicted, shift;
} run_bits;

/* Encode positions p .. end - 1. */
static void encode_run(codec_chunk_coder *c, codec_rc_encoder *rc, run_bits by, uint32_t p,
                       uint32_t end, const int16_t *code, double *bits) {
    codec_group *g = &c->group;
    codec_context_model *m = &c->contexts;
    int16_t *level = g->level + (size_t)g->tables->pass[g->pass].unit * g->stride;
    for (; p < end; p++) {
        if (!bits)
            p = codec_rc_encode_zeros(rc, by.bit, m->context, FIRST_OF_LEVELS, code,
                                      (1 << by.shift) - 1, p, end);
        if (p == end) break;
        uint32_t context = codec_contexts_at(m, g, p);
        if (context == CODEC_SKIP) continue;
        int32_t q = abs(code[p]) >> by.shift, bit = q & 1;
        if (bits) *bits += ideal_bits(by.bit[context].p1, bit);
        codec_rc_encode_adaptive(rc, bit, &by.bit[context]);
        if (q == 1) {
            int negative = code[p] < 0;
            codec_bit *sign = by.sign_predicted ? adaptive(c) + codec_contexts_sign(m, g, p) : NULL;
            if (bits) *bits += ideal_bits(sign ? sign->p1 : P_HALF, !negative);
            if (sign)
                codec_rc_encode_adaptive(rc, !negative, sign);
            else
                codec_rc_encode(rc, !negative, P_HALF);
        }
        level[p] = (int16_t)(code[p] < 0 ? -q : q);
        codec_contexts_update(m, g, p, level[p]);
    }
}

/* The first position from p on of a block with a flag, or n. *flag: its bit. */
static uint32_t next_flag(codec_chunk_coder *c, uint32_t p, codec_bit **flag) {
    const uint32_t n = c->group.n;
    *flag = NULL;
    if (!c->contexts.has_flags) return n;
    for (p = (p + CODEC_BLOCK - 1) / CODEC_BLOCK * CODEC_BLOCK; p < n; p += CODEC_BLOCK)
        if ((*flag = codec_contexts_flag(&c->contexts, &c->group, p / CODEC_BLOCK))) return p;
    return n;
}

static uint32_t block_end(const codec_group *g, uint32_t p) {
    return g->n - p < CODEC_BLOCK ? g->n : p + CODEC_BLOCK;
}

/* Nonzero if a position of the block becomes significant. */
static int any_is_significant(const codec_chunk_coder *c, const int16_t *code, int shift,
                              uint32_t p, uint32_t end) {
    for (; p < end; p++)
        if (c->contexts.context[p] != CODEC_SKIP && abs(code[p]) >> shift) return 1;
    return 0;
}

/* Encode one pass. code: [n] of the pass's unit. */
static void encode_pass(codec_chunk_coder *c, codec_rc_encoder *rc, const int16_t *code,
                        double *bits) {
    codec_group *g = &c->group;
    codec_context_model *m = &c->contexts;
    codec_pass pass = g->tables->pass[g->pass];
    codec_contexts_predict(m, g);
    run_bits by = {adaptive(c), codec_sign_is_predicted(m, g, pass.unit),
                   g->tables->planes[pass.unit] - pass.depth - 1};
    run_bits within = {&m->within[0][0], by.sign_predicted, by.shift};
    for (uint32_t p = 0; p < g->n;) {
        codec_bit *flag;
        uint32_t at = next_flag(c, p, &flag);
        encode_run(c, rc, by, p, at, code, bits);
        p = at;
        if (!flag) break;
        uint32_t end = block_end(g, p);
        int any = any_is_significant(c, code, by.shift, p, end);
        if (bits) *bits += ideal_bits(flag->p1, any);
        codec_rc_encode_adaptive(rc, any, flag);
        if (any) encode_run(c, rc, within, p, end, code, bits);
        p = end;
    }
    if (pass.fraction + 1u < g->tables->fractions)
        mark_known(m->context, 0, g->n, g->plane_known + (size_t)pass.unit * g->stride);
    codec_group_finish_pass(g);
}

/* The same for a unit of a binary model. */
static void encode_binary_pass(codec_chunk_coder *c, codec_rc_encoder *rc, const int16_t *code,
                               double *bits) {
    codec_group *g = &c->group;
    uint32_t u = g->tables->pass[g->pass].unit;
    int16_t *level = g->level + (size_t)u * g->stride;
    codec_mixed_bit mixed = codec_mixed_bit_start(g->tables->density[u]);
    for (uint32_t p = 0; p < g->n; p++) {
        uint32_t p1 = codec_mixed_bit_p1(&mixed);
        level[p] = code[p];
        if (bits) *bits += ideal_bits(p1, code[p]);
        codec_rc_encode(rc, code[p], p1);
        codec_mixed_bit_update(&mixed, code[p]);
    }
    codec_group_finish_pass(g);
}

taper_status codec_chunk_encode_passes(codec_chunk_coder *c, const int16_t *code, uint32_t end,
                                       codec_rc_encoder *rc, double *bits) {
    const codec_group *g = &c->group;
    while (g->pass < end && rc->out->status == TAPER_OK) {
        uint32_t pass = g->pass;
        const int16_t *of_unit = code + (size_t)g->tables->pass[pass].unit * c->code_stride;
        (g->tables->density ? encode_binary_pass : encode_pass)(c, rc, of_unit,
                                                                bits ? &bits[pass] : NULL);
    }
    return rc->out->status;
}

taper_status codec_chunk_encode(codec_chunk_coder *c, const int16_t *code, uint32_t end,
                                formats_buffer *out, double *bits) {
    codec_rc_encoder rc;
    codec_rc_encoder_init(&rc, out);
    codec_chunk_encode_passes(c, code, end, &rc, bits);
    codec_rc_encoder_finish(&rc);
    return out->status;
}

/* The sign of a newly significant position: 1 positive, 0 negative, or CODEC_RC_STARVED. */
static inline int decode_sign(codec_chunk_coder *c, codec_rc_decoder *rc, uint32_t p,
                              int sign_predicted) {
    return sign_predicted ? codec_rc_decode_adaptive(
                                rc, adaptive(c) + codec_contexts_sign(&c->contexts, &c->group, p))
                          : codec_rc_decode(rc, P_HALF);
}

/* Decode the bit of one position, and its sign. Returns 0 if more bytes are needed. */
static int decode_position(codec_chunk_coder *c, codec_rc_decoder *rc, codec_bit *bits, uint32_t p,
                           int16_t *level) {
    codec_group *g = &c->group;
    codec_context_model *m = &c->contexts;
    int32_t was = *level, now;
    int bit = 1;
    if (!c->awaits_sign && (bit = codec_rc_decode_adaptive(rc, bits + m->context[p])) < 0) return 0;
    if (was == 0 && bit) {
        int sign_predicted = codec_sign_is_predicted(m, g, g->tables->pass[g->pass].unit);
        int positive = decode_sign(c, rc, p, sign_predicted);
        c->awaits_sign = positive < 0;
        if (positive < 0) return 0;
        now = positive ? 1 : -1;
    } else {
        now = 2 * was + (was < 0 ? -bit : bit);
    }
    *level = (int16_t)now;
    codec_contexts_update(m, g, p, now);
    return 1;
}

/* Decode positions p .. end - 1. bits: by context. Returns `end`, or the position that needs more
 * bytes. */
static uint32_t decode_run(codec_chunk_coder *c, codec_rc_decoder *rc, codec_bit *bits, uint32_t p,
                           uint32_t end, int16_t *level) {
    const codec_group *g = &c->group;
    const codec_context_model *m = &c->contexts;
    for (; p < end; p++) {
        if (!c->awaits_sign)
            p = codec_rc_decode_zeros(rc, bits, m->context, FIRST_OF_LEVELS, p, end);
        if (p == end) break;
        if (codec_contexts_at(m, g, p) == CODEC_SKIP) continue;
        if (!decode_position(c, rc, bits, p, level + p)) break;
    }
    return p;
}

/* Decode from position p on. Returns n, or the position that needs more bytes. */
static uint32_t decode_positions(codec_chunk_coder *c, codec_rc_decoder *rc, uint32_t p,
                                 int16_t *level) {
    const codec_group *g = &c->group;
    while (p < g->n) {
        codec_bit *flag;
        if (!c->flagged) {
            uint32_t at = next_flag(c, p, &flag);
            p = decode_run(c, rc, adaptive(c), p, at, level);
            if (p < at || !flag) break;
            int any = codec_rc_decode_adaptive(rc, flag);
            if (any < 0) break;
            c->flagged = any;
        }
        uint32_t end = p / CODEC_BLOCK * CODEC_BLOCK + CODEC_BLOCK;
        if (end > g->n) end = g->n;
        p = c->flagged ? decode_run(c, rc, &c->contexts.within[0][0], p, end, level) : end;
        if (p < end) break;
        c->flagged = 0;
    }
    return p;
}

/* Continue the next pass. Returns 1 once it is complete, 0 if more bytes are needed. */
static int decode_pass(codec_chunk_coder *c, codec_rc_decoder *rc) {
    codec_group *g = &c->group;
    codec_pass pass = g->tables->pass[g->pass];
    size_t at = (size_t)pass.unit * g->stride;
    if (!c->predicted) codec_contexts_predict(&c->contexts, g);
    c->predicted = 1;
    uint32_t from = g->position, to = decode_positions(c, rc, from, g->level + at);
    g->position = to;
    /* After the last fraction nothing reads plane_known before it is cleared. */
    if (to < g->n || pass.fraction + 1u < g->tables->fractions)
        mark_known(c->contexts.context, from, to, g->plane_known + at);
    if (to < g->n) return 0;
    c->predicted = 0;
    codec_group_finish_pass(g);
    return 1;
}

/* The same for a binary model. */
static int decode_binary_pass(codec_chunk_coder *c, codec_rc_decoder *rc) {
    codec_group *g = &c->group;
    uint32_t u = g->tables->pass[g->pass].unit, p = g->position, n = g->n;
    int16_t *level = g->level + (size_t)u * g->stride;
    uint8_t *plane_known = g->plane_known + (size_t)u * g->stride;
    codec_mixed_bit mixed = c->predicted ? c->mixed : codec_mixed_bit_start(g->tables->density[u]);
    for (; p < n; p++) {
        int bit = codec_rc_decode(rc, codec_mixed_bit_p1(&mixed));
        if (bit < 0) break;
        level[p] = (int16_t)bit, plane_known[p] = 1;
        codec_mixed_bit_update(&mixed, bit);
    }
    g->position = p;
    c->mixed = mixed;
    c->predicted = 1;
    if (p < n) return 0;
    c->predicted = 0;
    codec_group_finish_pass(g);
    return 1;
}

int codec_chunk_decode(codec_chunk_coder *c, codec_rc_decoder *rc, uint32_t end) {
    int binary = c->group.tables->density != NULL;
    while (c->group.pass < end)
        if (!(binary ? decode_binary_pass(c, rc) : decode_pass(c, rc))) return 0;
    return 1;
}

/* -log2(CODEC_P_MAX / 65536) is 1 / 1419 bit, so a byte contains at most 11,353 bits. */
uint64_t codec_chunk_least_bytes(const codec_group *g, uint32_t end) {
    const codec_code_tables *t = g->tables;
    const uint32_t flags = (g->n + CODEC_BLOCK - 1) / CODEC_BLOCK;
    uint64_t bits = 0; /* of planes that are complete, with all fractions, in this chunk */
    for (uint32_t i = g->pass; i < end; i++) {
        codec_pass pass = t->pass[i];
        int begun = pass.depth == g->depth[pass.unit] && g->fraction[pass.unit];
        if (pass.fraction + 1u < t->fractions || begun) continue;
        bits +=
            t->density || (t->causal && g->sides && pass.unit < CODEC_CAUSAL_UNITS) ? g->n : flags;
    }
    return bits / CODEC_CHUNK_BITS_PER_BYTE;
}
