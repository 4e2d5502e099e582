/* head_rows.c -- see head_rows.h. Integers only. */
#include "codec/render/head_rows.h"
#include "codec/backend/int8_dot.h"
#include "codec/entropy/fixed_log.h"
#include <stdlib.h>

enum {
    SIDES = CODEC_CONDITIONAL_SIDES,
    SELF = CODEC_CONDITIONAL_SELF,
    SEEN_STEP = 8 /* inputs that are read at once */
};

/* --- the uncertainty ---------------------------------------------------------------------- */

static int bits_in(uint64_t x) { return x ? 64 - __builtin_clzll(x) : 0; }

/* The scale of unit u in 1/65536 of its step, at most 2^40. */
static uint64_t scale_of(int32_t log_scale) {
    enum { MOST = 40 };
    if (log_scale >= 16 * (MOST - 16)) return (uint64_t)1 << MOST;
    return codec_scale_exp2((uint64_t)1 << 16, log_scale);
}

/* v of head_rows.h. */
static uint64_t uncertainty_of(const codec_code_tables *t, uint32_t u, uint32_t depth) {
    if (depth > t->head_depth[u] || depth > t->planes[u]) return 0;
    uint64_t scale = scale_of(t->log_scale[u]);
    uint64_t half = depth ? (uint64_t)1 << (t->planes[u] - depth + 15) : scale;
    return half < scale ? half : scale;
}

static codec_head_scale head_scale_of(const codec_group *g, uint32_t u, uint32_t depth, int bits) {
    const codec_code_tables *t = g->tables;
    uint64_t v = uncertainty_of(t, u, depth);
    if (!v) return (codec_head_scale){0};
    codec_scaled step = codec_scaled_of(t->step[u]);
    int drop = bits_in(v) - 16;
    uint64_t top = drop > 0 ? v >> drop : v << -drop;
    uint32_t factor = (uint32_t)((top * (step.mantissa >> 8)) >> 16);
    /* U = factor 2^16 2^drop 2^-16 2^8 2^step.exponent 2^bits; then 2^(8 - shift - 12) */
    int exponent = drop + 8 + step.exponent + bits - 4 - t->head->out_shift[u];
    return (codec_head_scale){factor, exponent};
}

/* x 2^exponent, rounded; in 64 bits for |x| < 2^40 and exponents up to 20. */
static int64_t shifted(int64_t x, int exponent) {
    if (exponent >= 0) return x * ((int64_t)1 << (exponent < 20 ? exponent : 20));
    if (exponent < -60) return 0;
    return (x + ((int64_t)1 << (-exponent - 1))) >> -exponent;
}

/* --- folding ------------------------------------------------------------------------------ */

/* g of head_rows.h; INT32_MIN: no unit is corrected. */
static int32_t fold_bits(const codec_head_rows *r) {
    int32_t most = INT32_MIN;
    for (uint32_t u = 0; u < r->head->units; u++) {
        const codec_head_scale *s = &r->scale[u][0];
        int32_t bits = bits_in(127 * (uint64_t)s->factor) + s->exponent;
        if (s->factor && bits > most) most = bits;
    }
    return most == INT32_MIN ? most : 13 - most;
}

/* K(u,h) */
static int16_t folded_weight(const codec_head_rows *r, uint32_t u, uint32_t h) {
    if (u >= r->head->units || !r->scale[u][0].factor) return 0;
    int64_t w = r->head->out[(size_t)u * r->head->hidden + h];
    return (int16_t)shifted(w * r->scale[u][0].factor, r->scale[u][0].exponent + r->bits);
}

/* Nonzero if the weights of unit u are those of `like`. */
static int same_weights(const codec_head_rows *r, const codec_head_rows *like, uint32_t u) {
    const codec_head_scale a = r->scale[u][0], b = like->scale[u][0];
    return a.factor == b.factor && (a.exponent == b.exponent || !a.factor);
}

/* What is folded. */
typedef struct folding {
    const codec_head_rows *rows, *like; /* like: NULL, or sums that are there already */
    const codec_synthesis *synthesis;
    const codec_term_rows *units;
} folding;

/* The weight of row k of the synthesis, less that of `like`: both are below 2^13. */
static int16_t weight_of_row(const folding *f, uint32_t k, uint32_t h) {
    if (k >= f->units->n) return 0;
    uint32_t u = codec_term_unit(f->units, k);
    if (!f->like) return folded_weight(f->rows, u, h);
    if (same_weights(f->rows, f->like, u)) return 0;
    return (int16_t)(folded_weight(f->rows, u, h) - folded_weight(f->like, u, h));
}

/* The weights of one activation that are not 0. Returns their number. */
static uint32_t fold_terms(const folding *f, uint32_t h) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < (f->units->n + 1) / 2; k++) {
        int16_t a = weight_of_row(f, 2 * k, h), b = weight_of_row(f, 2 * k + 1, h);
        if (a || b) f->rows->term[n++] = (codec_term){k, {a, b}};
    }
    return n;
}

/* Add to raw[hidden][lanes], which holds zeros or the sums of `like`. */
static void fold(const folding *f, int32_t *raw) {
    const codec_synthesis *s = f->synthesis;
    const codec_term *term = f->rows->term;
    for (uint32_t h = 0; h < f->rows->head->hidden; h++, raw += s->lanes) {
        uint32_t terms = fold_terms(f, h);
        for (uint32_t lane = 0, n; lane < s->lanes; lane += n) {
            n = s->lanes - lane < CODEC_SPARSE_BLOCK ? s->lanes - lane : CODEC_SPARSE_BLOCK;
            codec_sparse_sum(s->weight, s->lanes, lane, n, term, terms, raw + lane);
        }
    }
}

enum { MOST_ROW = 32767 };

CODEC_CLONES static uint32_t largest_of(const int32_t *raw, size_t n) {
    uint32_t most = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t x = raw[i] < 0 ? 0u - (uint32_t)raw[i] : (uint32_t)raw[i];
        most = x > most ? x : most;
    }
    return most;
}

/* to[2 i] = raw[i] / 2^by, rounded, by 1 .. 31; the results have 16 bits. */
CODEC_CLONES static void round_row(const int32_t *restrict raw, uint32_t n, int by,
                                   int16_t *restrict to) {
    CODEC_NO_VECTORS
    for (uint32_t i = 0; i < n; i++) to[2 * (size_t)i] = (int16_t)(((raw[i] >> (by - 1)) + 1) >> 1);
}

/* The same for any exponent, clamped. */
static void scale_row(const int32_t *raw, uint32_t n, int exponent, int16_t *to) {
    CODEC_NO_VECTORS
    for (uint32_t i = 0; i < n; i++) {
        int64_t x = shifted(raw[i], exponent);
        to[2 * (size_t)i] = (int16_t)(x < -MOST_ROW ? -MOST_ROW : x > MOST_ROW ? MOST_ROW : x);
    }
}

/* Round the raw sums to rows of 16 bits. */
static void round_rows(codec_head_rows *r, uint32_t lanes, int16_t *row) {
    enum { MOST_SHIFT = CODEC_TERMS_COARSE_BITS };
    const int32_t *raw = r->raw, bits = r->bits;
    int64_t most = largest_of(raw, (size_t)r->head->hidden * lanes);
    r->shift = 0;
    while (r->shift < MOST_SHIFT && shifted(most, -bits - r->shift) > MOST_ROW) r->shift++;
    int exponent = -bits - r->shift, fits = shifted(most, exponent) <= MOST_ROW;
    for (uint32_t h = 0; h < r->head->hidden; h++, raw += lanes) {
        int16_t *to = row + codec_sparse_at(lanes, h, 0);
        if (fits && exponent < 0 && exponent > -32)
            round_row(raw, lanes, -exponent, to);
        else
            scale_row(raw, lanes, exponent, to);
    }
}

/* raw and row. Rows of 16 bits are in the first part of the block. */
static int16_t *lay_out_folded(codec_head_rows *r, uint64_t hidden, uint32_t lanes,
                               formats_layout *at) {
    int16_t *row = formats_lay(at, hidden * lanes, sizeof *row);
    r->raw = formats_lay(at, hidden * lanes, sizeof *r->raw);
    return row;
}

/* Nonzero if all weights are those of `like`. */
static int is_same(const codec_head_rows *r, const codec_head_rows *like) {
    uint32_t u = 0;
    while (u < r->head->units && same_weights(r, like, u)) u++;
    return u == r->head->units;
}

static taper_status make_rows(codec_head_rows *r, const codec_synthesis *s,
                              const codec_term_rows *units, const codec_head_rows *like) {
    folding f = {r, NULL, s, units};
    r->bits = fold_bits(r);
    if (r->bits == INT32_MIN) return TAPER_OK;
    if (like && (!like->raw || like->bits != r->bits)) like = NULL;
    if (like && is_same(r, like)) {
        r->row = like->row, r->shift = like->shift;
        return TAPER_OK;
    }
    formats_layout at = {0};
    lay_out_folded(r, r->head->hidden, s->lanes, &at);
    r->raw = NULL;
    TAPER_TRY(formats_block_take(&r->folded, &at, NULL));
    int16_t *row = lay_out_folded(r, r->head->hidden, s->lanes, &at);
    if (like) memcpy(r->raw, like->raw, (size_t)r->head->hidden * s->lanes * sizeof *r->raw);
    f.like = like;
    fold(&f, r->raw);
    round_rows(r, s->lanes, row);
    r->row = row;
    return TAPER_OK;
}

/* --- the state ---------------------------------------------------------------------------- */

/* The inputs of the positions from unit u. */
static void see_unit(const codec_head_rows *r, uint32_t u) {
    enum { LEVELS = 32 };
    const codec_group *g = r->group;
    int8_t table[2][LEVELS];
    uint32_t has[2] = {0, 0}; /* levels that are in the table */
    const int16_t *level = g->level + (size_t)u * g->stride;
    const uint8_t *plane_known = g->plane_known + (size_t)u * g->stride;
    const uint32_t end = r->from + r->stride;
    for (uint32_t p = r->from; (p = codec_next_nonzero(level, p, end)) < end; p++) {
        uint32_t q = (uint32_t)abs(level[p]), more = plane_known[p];
        int is_listed = q < LEVELS && has[more] >> q & 1;
        int32_t a = is_listed ? table[more][q]
                              : codec_conditional_seen(g->tables, u, g->depth[u] + more, q);
        if (q < LEVELS) table[more][q] = (int8_t)a, has[more] |= (uint32_t)1 << q;
        r->seen[(size_t)(p - r->from) * r->seen_stride + u] = (int8_t)(level[p] < 0 ? -a : a);
    }
}

/* The scales of all units. At the same depth of as many planes they are those of `like`: groups
 * with raised planes have other numbers of planes, and all else of the model. */
static void set_scales(codec_head_rows *r, const int8_t *bits, const codec_head_rows *like) {
    const codec_group *g = r->group;
    for (uint32_t u = 0; u < g->tables->units; u++) {
        const uint8_t depth[2] = {g->depth[u], g->tables->planes[u]};
        if (like && !memcmp(like->depth[u], depth, sizeof depth))
            memcpy(r->scale[u], like->scale[u], sizeof r->scale[u]);
        else
            for (uint32_t more = 0; more < 2; more++)
                r->scale[u][more] = head_scale_of(g, u, g->depth[u] + more, bits[u]);
        memcpy(r->depth[u], depth, sizeof depth);
    }
}

static void see_units(codec_head_rows *r) {
    const codec_group *g = r->group;
    const codec_code_tables *t = g->tables;
    for (uint32_t u = 0; u < r->head->own; u++) see_unit(r, u);
    for (uint32_t border = 0; border < CODEC_CONDITIONAL_BORDERS; border++)
        codec_conditional_bias(r->head,
                               codec_conditional_stage(r->head, codec_model_pass(t, g->pass)),
                               border, r->bias[border]);
}

uint32_t codec_head_rows_inputs(const codec_conditional *head) {
    return codec_conditional_inputs(head->own, head->neighbour_units);
}

/* units: of the model; stride: of `seen`. */
static void lay_out(codec_head_rows *r, const codec_conditional *head, uint32_t units,
                    uint64_t stride, formats_layout *at) {
    r->lanes = codec_sparse_lanes(head->hidden);
    r->scale = formats_lay(at, units, sizeof *r->scale);
    r->seen_stride = (head->own + SEEN_STEP - 1) / SEEN_STEP * SEEN_STEP;
    r->seen = formats_lay(at, r->seen_stride * stride, 1);
    r->depth = formats_lay(at, units, sizeof *r->depth);
    r->term = formats_lay(at, (units + (uint64_t)1) / 2, sizeof *r->term);
}

uint64_t codec_head_rows_bytes(const codec_conditional *head, uint32_t units, uint32_t lanes,
                               uint64_t n, uint64_t columns) {
    codec_head_rows counted;
    formats_layout at = {0};
    lay_out(&counted, head, units, n + 2 * (columns + 1), &at); /* as set_range */
    lay_out_folded(&counted, head->hidden, lanes, &at);
    return at.used;
}

/* Set the range of positions: the windows, and those around them. */
static void set_range(codec_head_rows *r, uint32_t first, uint32_t n) {
    const codec_group *g = r->group;
    uint32_t columns = 0;
    for (uint32_t i = 0; i < g->runs; i++)
        columns = g->run[i].columns > columns ? g->run[i].columns : columns;
    r->from = first > columns + 1 ? first - columns - 1 : 0;
    uint32_t end = g->n - first - n > columns + 1 ? first + n + columns + 1 : g->n;
    r->stride = end - r->from;
}

taper_status codec_head_rows_begin(codec_head_rows *r, const codec_group *g,
                                   const codec_synthesis *s, const codec_term_rows *units,
                                   uint32_t first, uint32_t n, const codec_head_rows *like) {
    formats_layout at = {0};
    memset(r, 0, sizeof *r);
    r->group = g, r->head = g->tables->head;
    set_range(r, first, n);
    lay_out(r, r->head, g->tables->units, r->stride, &at);
    TAPER_TRY(formats_block_take(&r->block, &at, NULL));
    lay_out(r, r->head, g->tables->units, r->stride, &at);
    set_scales(r, units->bits, like);
    see_units(r);
    taper_status status = make_rows(r, s, units, like);
    if (status != TAPER_OK) formats_block_free(&r->block);
    return status;
}

void codec_head_rows_end(codec_head_rows *r) {
    formats_block_free(&r->block), formats_block_free(&r->folded);
}

/* --- windows ------------------------------------------------------------------------------ */

/* List the inputs that are not 0 among the first `units` of a window's, as terms from `row` on.
 * Returns their number. */
static uint32_t list_seen(const int8_t *seen, uint32_t units, uint32_t row, codec_term *term) {
    enum { AT_ONCE = 8 };
    uint32_t n = 0;
    for (uint32_t u = 0; u < units; u += AT_ONCE) {
        uint64_t some;
        memcpy(&some, seen + u, sizeof some);
        for (uint32_t k = u; some && k < u + AT_ONCE && k < units; k++) {
            const int32_t a = seen[k];
            if (a) term[n++] = (codec_term){row + k, {(int16_t)a, (int16_t)abs(a)}};
        }
    }
    return n;
}

/* The same of all inputs of window p: its own, and those of the windows around it. */
static uint32_t list_inputs(const codec_head_rows *r, uint32_t p, codec_term *term) {
    const codec_conditional *head = r->head;
    uint32_t n = 0;
    for (uint32_t side = 0; side < SIDES; side++) {
        const uint32_t from = side == SELF ? p : codec_conditional_neighbour(r->group, p, side);
        if (from == r->group->n) continue;
        n +=
            list_seen(r->seen + (size_t)(from - r->from) * r->seen_stride,
                      side == SELF ? head->own : head->neighbour_units,
                      codec_conditional_input(head->own, head->neighbour_units, side, 0), term + n);
    }
    return n;
}

void codec_head_rows_hidden(const codec_head_rows *r, uint32_t first, uint32_t n, codec_term *term,
                            uint8_t *h2) {
    for (uint32_t i = 0; i < n; i++, h2 += r->head->hidden) {
        int32_t sum[CODEC_CONDITIONAL_MOST_HIDDEN + CODEC_SPARSE_STEP] = {0};
        const uint32_t terms = list_inputs(r, first + i, term);
        for (uint32_t lane = 0, more; lane < r->lanes; lane += more) {
            more = r->lanes - lane < CODEC_SPARSE_BLOCK ? r->lanes - lane : CODEC_SPARSE_BLOCK;
            codec_sparse_sum(r->head->wide, r->lanes, lane, more, term, terms, sum + lane);
        }
        codec_conditional_layers(r->head, sum,
                                 r->bias[codec_conditional_border(r->group, first + i)], h2);
    }
}

void codec_head_rows_more(const codec_head_rows *r, uint32_t u, const uint8_t *quads,
                          int32_t more[CODEC_TERMS_WINDOWS]) {
    enum { MOST = 1 << CODEC_TERMS_MOST_BITS };
    const codec_head_scale *s = r->scale[u];
    int32_t rest[CODEC_TERMS_WINDOWS];
    codec_activation_lanes(quads, r->head->out + (size_t)u * r->head->hidden, r->head->hidden,
                           CODEC_TERMS_WINDOWS, rest);
    CODEC_NO_VECTORS
    for (uint32_t i = 0; i < CODEC_TERMS_WINDOWS; i++) {
        int64_t d = shifted((int64_t)rest[i] * s[1].factor, s[1].exponent) -
                    shifted((int64_t)rest[i] * s[0].factor, s[0].exponent);
        more[i] = (int32_t)(d < -MOST ? -MOST : d > MOST ? MOST : d);
    }
}
