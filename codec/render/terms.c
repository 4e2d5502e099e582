/* terms.c -- see terms.h. Integers only: every machine has the same coefficients. */
#include "codec/render/terms.h"
#include <math.h>
#include <stdlib.h>

enum { WINDOWS = CODEC_TERMS_WINDOWS, MOST = (1 << CODEC_TERMS_MOST_BITS) - 1 };

codec_scaled codec_scaled_of(float x) {
    int exponent;
    float part = frexpf(x, &exponent);
    return (codec_scaled){(uint32_t)ldexpf(part, 24), exponent - 24};
}

void codec_terms_lay_out(codec_terms *t, uint32_t rows, formats_layout *at) {
    *t = (codec_terms){.capacity = (rows + 1) / 2};
    t->fine = formats_lay(at, WINDOWS * (uint64_t)t->capacity, sizeof *t->fine);
    t->coarse = formats_lay(at, WINDOWS * (uint64_t)t->capacity, sizeof *t->coarse);
}

/* A unit's levels and known planes from the first window on, and how they become coefficients. */
typedef struct unit_row {
    uint32_t unit;
    const int16_t *level;       /* NULL: there is no such unit */
    const uint8_t *plane_known; /* NULL: 0 everywhere */
    uint32_t mantissa;
    int shift[2];            /* to the right; [1]: one plane deeper */
    const uint8_t *recon[2]; /* [CODEC_RECON_LEVELS] */
} unit_row;

static unit_row row_of(const codec_group *g, const codec_term_rows *rows, uint32_t k,
                       uint32_t first) {
    const codec_code_tables *t = g->tables;
    if (k >= rows->n) return (unit_row){0};
    uint32_t u = codec_term_unit(rows, k);
    unit_row r = {.unit = u};
    int split = codec_group_is_split(g, u);
    if (!g->depth[u] && !split) return r;
    codec_scaled step = codec_scaled_of(t->step[u]);
    r.level = g->level + (size_t)u * g->stride + first;
    if (split) r.plane_known = g->plane_known + (size_t)u * g->stride + first;
    r.mantissa = step.mantissa;
    for (uint32_t more = 0; more < 1u + (uint32_t)split; more++) {
        uint32_t depth = g->depth[u] + more;
        r.recon[more] = t->recon[codec_ratio_bin(codec_log_ratio(t, u, depth))];
        r.shift[more] = 8 - (step.exponent + (int)t->planes[u] - (int)depth + rows->bits[u]);
    }
    return r;
}

/* value / 2^shift, rounded, at most MOST. */
static int32_t scaled(uint64_t value, int shift) {
    if (shift > 62) return 0;
    if (shift > 0) value = (value + ((uint64_t)1 << (shift - 1))) >> shift;
    if (shift < 0 && value) value = shift < -CODEC_TERMS_MOST_BITS ? MOST : value << -shift;
    return value < MOST ? (int32_t)value : MOST;
}

static int32_t coefficient_of(const unit_row *r, int32_t level, uint32_t more) {
    uint32_t q = (uint32_t)abs(level);
    if (!q) return 0;
    uint32_t c = r->recon[more][(q < CODEC_RECON_LEVELS ? q : CODEC_RECON_LEVELS) - 1];
    int32_t x = scaled((uint64_t)(256 * q + c) * r->mantissa, r->shift[more]);
    return level < 0 ? -x : x;
}

/* The four levels from window i on, as one number: 0 if all are. */
static uint64_t four_levels(const unit_row *r, uint32_t i) {
    uint64_t four = 0;
    if (r->level) memcpy(&four, r->level + i, sizeof four);
    return four;
}

static uint32_t four_known(const unit_row *r, uint32_t i) {
    uint32_t four = 0;
    if (r->plane_known) memcpy(&four, r->plane_known + i, sizeof four);
    return four;
}

/* The arguments of the list. */
typedef struct list {
    unit_row row[2];
    int32_t more[2][WINDOWS]; /* of units that have planes of different depth */
    codec_terms *terms;
} list;

static int32_t value_at(const list *l, int which, uint32_t i) {
    const unit_row *r = &l->row[which];
    if (!r->level) return 0;
    uint32_t deeper = r->plane_known ? r->plane_known[i] : 0;
    int32_t x = coefficient_of(r, r->level[i], deeper);
    if (!deeper) return x;
    x += l->more[which][i];
    return x < -MOST ? -MOST : x < MOST ? x : MOST;
}

static int fits(int32_t x) { return x >= -32768 && x <= 32767; }

/* Add the pair of rows at window i. */
static void add(const list *l, uint32_t pair, uint32_t i) {
    enum { COARSE = 1 << CODEC_TERMS_COARSE_BITS };
    codec_terms *t = l->terms;
    int32_t a = value_at(l, 0, i), b = value_at(l, 1, i);
    if (!a && !b) return;
    if (!fits(a) || !fits(b)) {
        int32_t high = (a + COARSE / 2) >> CODEC_TERMS_COARSE_BITS,
                low = (b + COARSE / 2) >> CODEC_TERMS_COARSE_BITS;
        t->coarse[(size_t)i * t->capacity + t->n_coarse[i]++] =
            (codec_term){pair, {(int16_t)high, (int16_t)low}};
        a -= high * COARSE, b -= low * COARSE;
    }
    t->fine[(size_t)i * t->capacity + t->n_fine[i]++] =
        (codec_term){pair, {(int16_t)a, (int16_t)b}};
}

/* Add the pair of rows in n windows. */
static void add_all(const list *l, uint32_t pair, uint32_t n, int with_more) {
    uint32_t i = 0;
    for (; i + 4 <= n; i += 4) {
        uint64_t some = four_levels(&l->row[0], i) | four_levels(&l->row[1], i);
        if (with_more) some |= four_known(&l->row[0], i) | four_known(&l->row[1], i);
        for (uint32_t k = i; some && k < i + 4; k++) add(l, pair, k);
    }
    for (; i < n; i++) add(l, pair, i);
}

static int some_known(const unit_row *r, uint32_t n) {
    return r->plane_known && memchr(r->plane_known, 1, n) != NULL;
}

void codec_terms_list(const codec_group *g, const codec_term_rows *rows, uint32_t first, uint32_t n,
                      codec_terms_more_fn *more, const void *context, codec_terms *t) {
    list l = {.terms = t};
    memset(t->n_fine, 0, sizeof t->n_fine);
    memset(t->n_coarse, 0, sizeof t->n_coarse);
    for (uint32_t k = 0; k < rows->n; k += 2) {
        int with_more = 0;
        for (uint32_t i = 0; i < 2; i++) {
            l.row[i] = row_of(g, rows, k + i, first);
            if (!more || !some_known(&l.row[i], n)) {
                memset(l.more[i], 0, l.row[i].plane_known ? sizeof l.more[i] : 0);
                continue;
            }
            more(context, l.row[i].unit, l.more[i]);
            with_more = 1;
        }
        if (l.row[0].level || l.row[1].level) add_all(&l, k / 2, n, with_more);
    }
}
