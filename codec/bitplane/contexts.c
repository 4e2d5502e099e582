/* contexts.c -- the prediction of a pass; see contexts.h. Integers only (promise P4). */
#include "codec/bitplane/contexts.h"
#include "codec/backend/simd.h"
#include "codec/bitplane/neighbours.h"
#include "codec/entropy/fixed_log.h"
#include <string.h>

enum {
    /* Limits of predicted values, in 1/16 threshold: 16 thresholds and 1 for signs; 3 from the
     * middle of an interval for refinements. */
    WIDELY = 16 * 16,
    NARROWLY = 16,
    BEYOND_MIDDLE = 3 * 16
};
/* If an image is one window, its features are those of a group without neighbours. */
CODEC_CLONES static void zero_absent_neighbours(const uint8_t *restrict sides, uint32_t n,
                                                uint16_t *restrict feature) {
    for (uint32_t p = 0; p < n; p++) feature[p] = sides[p] ? feature[p] : 0;
}

/* part[p] = the sum of weight * known[p] over four inputs, and before. */
CODEC_INLINE void weigh(const int16_t *const known[4], const int32_t weight[4], uint32_t n,
                        int is_first, int32_t *restrict part) {
    const int16_t *k0 = known[0], *k1 = known[1], *k2 = known[2], *k3 = known[3];
    int32_t w0 = weight[0], w1 = weight[1], w2 = weight[2], w3 = weight[3];
    for (uint32_t p = 0; p < n; p++)
        part[p] = (is_first ? 0 : part[p]) + w0 * k0[p] + w1 * k1[p] + w2 * k2[p] + w3 * k3[p];
}
CODEC_CLONES static void set_signed(const int16_t *const known[4], const int32_t weight[4],
                                    uint32_t n, int32_t *part) {
    weigh(known, weight, n, 1, part);
}
CODEC_CLONES static void add_signed(const int16_t *const known[4], const int32_t weight[4],
                                    uint32_t n, int32_t *part) {
    weigh(known, weight, n, 0, part);
}

/* part[p] = the sum over the inputs of a neighbour on this side, for a value of unit u. */
static void sum_inputs(const codec_group *g, uint32_t u, int side, int32_t *part) {
    uint32_t inputs =
        g->tables->units < CODEC_SIGNED_INPUTS ? g->tables->units : CODEC_SIGNED_INPUTS;
    for (uint32_t k = 0, from = 0; k < inputs || !from; from = 1) {
        const int16_t *known[4] = {g->signed_norm, g->signed_norm, g->signed_norm, g->signed_norm};
        int32_t weight[4] = {0};
        for (int i = 0; i < 4 && k < inputs; k++) {
            known[i] = g->signed_norm + (size_t)k * g->stride;
            weight[i] = g->tables->signed_weight[u][side][k];
            i += weight[i] != 0;
        }
        (from ? add_signed : set_signed)(known, weight, g->n, part);
    }
}

/* value[p] *= 2^(e / 16), from weights in 1/64 times values in 1/1024 to 1/16, clamped to +-4095.
 * Like codec_scale_exp2 with a fixed e, vectorised. */
CODEC_CLONES static void scale_signed(int32_t *value, int32_t e, uint32_t n) {
    enum { MOST = 4095, TO_16THS = 12 };
    int32_t whole = e >= 0 ? e / 16 : -((-e + 15) / 16), shift = 15 - whole + TO_16THS;
    uint32_t factor = codec_exp_fraction[e - 16 * whole];
    int large = shift < 0; /* 2^27 and more: every value except 0 exceeds MOST */
    shift = large ? 0 : shift > 63 ? 63 : shift;
    for (uint32_t p = 0; p < n; p++) {
        uint32_t magnitude = (uint32_t)(value[p] < 0 ? -(int64_t)value[p] : value[p]);
        uint64_t product = (uint64_t)magnitude * factor, scaled = product >> shift;
        int32_t v = scaled > MOST || (large && product) ? MOST : (int32_t)scaled;
        value[p] = value[p] < 0 ? -v : v;
    }
}

/* value[p] = x predicted from the neighbours' first units, in 1/16 of the threshold at log_ratio.
 */
static void predict_signed(const codec_context_model *m, const codec_group *g, uint32_t u,
                           int32_t log_ratio) {
    memset(m->value, 0, g->n * sizeof *m->value);
    for (int side = 0; side < 4; side++) {
        sum_inputs(g, u, side, m->from_side);
        codec_neighbours_add_i32(g, side, m->from_side, m->value);
    }
    scale_signed(m->value, -log_ratio, g->n);
}

static int32_t clamp(int32_t x, int32_t limit) {
    return x < -limit ? -limit : x > limit ? limit : x;
}

static int32_t feature_at(const uint16_t *values, uint32_t p) { return (int16_t)values[p]; }

/* The features of a magnitude bit, after to_log_features; see contexts.h. */
static inline void magnitude_features(const codec_context_model *m, const codec_group *g,
                                      uint32_t p, int32_t level, int has_value,
                                      int32_t f[CODEC_FEATURES]) {
    f[0] = feature_at(m->feature[0], p);
    f[1] = feature_at(m->feature[1], p);
    f[2] = g->signed_norm ? feature_at(m->feature[2], p) : 0;
    f[3] = f[7] = 0;
    if (has_value && (g->sides[p] || g->tables->fractions == 1)) {
        int32_t value = m->value[p];
        f[3] = codec_log16((uint32_t)(value < 0 ? -value : value) + 1) - 64;
        if (level)
            f[7] = clamp((level < 0 ? -value : value) - 16 * (2 * (level < 0 ? -level : level) + 1),
                         BEYOND_MIDDLE);
    }
    for (int i = 0; i < 3; i++) f[4 + i] = f[i] * f[i] / 64;
}

static inline void sign_features(const codec_context_model *m, uint32_t p, int has_value,
                                 int32_t f[CODEC_FEATURES]) {
    memset(f, 0, CODEC_FEATURES * sizeof *f);
    if (!has_value) return;
    f[0] = clamp(m->value[p], WIDELY);
    f[1] = clamp(m->value[p], NARROWLY);
}

int32_t codec_contexts_logit(const codec_code_tables *t, uint32_t class,
                             const int32_t f[CODEC_FEATURES]) {
    int32_t logit = t->bias[class] * 64;
    for (int i = 0; i < CODEC_FEATURES; i++) logit += t->weight[class][i] * f[i];
    return logit;
}

uint32_t codec_contexts_bin(const codec_code_tables *t, uint32_t class,
                            const int32_t f[CODEC_FEATURES], int32_t extra) {
    return (uint32_t)codec_bin_of_logit(codec_contexts_logit(t, class, f) + extra);
}

static const uint16_t *zeros16(const codec_context_model *m) {
    return (const uint16_t *)(const void *)m->zeros;
}

/* Feature 3 of significance bits; of zeros if values are not predicted. */
static const uint16_t *value_features(const codec_context_model *m, const codec_group *g,
                                      int has_value) {
    uint16_t *f = m->feature[3];
    if (!has_value) return zeros16(m);
    for (uint32_t p = 0; p < g->n; p++) {
        int32_t value = m->value[p];
        f[p] = (uint16_t)((value < 0 ? -value : value) + 1);
    }
    codec_log_features(f, -64, g->n);
    if (g->tables->fractions > 1) zero_absent_neighbours(g->sides, g->n, f);
    return f;
}

/* Set logit and context of the positions that the pass refines. */
static void predict_refinements(const codec_context_model *m, const codec_group *g, uint32_t u,
                                int has_value) {
    const codec_code_tables *t = g->tables;
    const int16_t *level = g->level + (size_t)u * g->stride;
    const uint8_t *plane_known = g->plane_known + (size_t)u * g->stride;
    const int32_t *more = t->conditional ? m->conditional.logit : m->zeros,
                  *causal = m->causal.on ? m->causal.logit : m->zeros;
    int32_t f[CODEC_FEATURES];
    for (uint32_t p = 0; (p = codec_next_nonzero(level, p, g->n)) < g->n; p++) {
        if (plane_known[p]) continue;
        magnitude_features(m, g, p, level[p], has_value, f);
        uint32_t class = codec_class(codec_kind_of_level(level[p]), u);
        m->logit[p] = codec_contexts_logit(t, class, f) + more[p];
        m->context[p] =
            (uint16_t)(class * CODEC_BINS + (uint32_t)codec_bin_of_logit(m->logit[p] + causal[p]));
    }
}

uint32_t codec_contexts_sign(const codec_context_model *m, const codec_group *g, uint32_t p) {
    uint32_t u = g->tables->pass[g->pass].unit, class = codec_class(CODEC_SIGN, u);
    int32_t f[CODEC_FEATURES];
    sign_features(m, p, codec_value_is_predicted(g, u), f);
    return class * CODEC_BINS +
           codec_contexts_bin(g->tables, class, f, codec_contexts_extra(m, g, p, CODEC_SIGN));
}

uint32_t codec_contexts_refresh(const codec_context_model *m, const codec_group *g, uint32_t p) {
    const codec_code_tables *t = g->tables;
    codec_pass pass = t->pass[g->pass];
    size_t at = (size_t)pass.unit * g->stride + p;
    int32_t level = g->level[at];
    int last = pass.fraction + 1u == t->fractions;
    if (g->plane_known[at] || (level && !last)) return CODEC_SKIP;
    codec_kind kind = codec_kind_of_level(level);
    uint32_t first = codec_class(kind, pass.unit) * CODEC_BINS,
             bin = (uint32_t)codec_bin_of_logit(m->logit[p] +
                                                codec_causal_logit(&m->causal, g, p, kind));
    return last || bin >= t->least[pass.fraction] ? first + bin : CODEC_SKIP;
}

/* The greatest context of each block, plus 1. Of CODEC_SKIP that is 0. */
CODEC_CLONES static void find_most(const uint16_t *restrict context, uint32_t blocks,
                                   uint16_t *restrict most) {
    for (uint32_t k = 0; k < blocks; k++, context += CODEC_BLOCK) {
        uint16_t greatest = 0;
        for (uint32_t i = 0; i < CODEC_BLOCK; i++) {
            uint16_t x = (uint16_t)(context[i] + 1);
            greatest = x > greatest ? x : greatest;
        }
        most[k] = greatest;
    }
}

/* Find the blocks that have flags. */
static void predict_flags(codec_context_model *m, const codec_group *g) {
    uint32_t end = (g->n + CODEC_BLOCK - 1) / CODEC_BLOCK * CODEC_BLOCK;
    for (uint32_t p = g->n; p < end; p++) m->context[p] = CODEC_SKIP;
    find_most(m->context, end / CODEC_BLOCK, m->most);
}

void codec_contexts_predict(codec_context_model *m, const codec_group *g) {
    const codec_code_tables *t = g->tables;
    codec_pass pass = t->pass[g->pass];
    uint32_t u = pass.unit;
    int has_value = codec_value_is_predicted(g, u);
    if (t->conditional) codec_conditional_predict(&m->conditional, g, m->pool);
    if (has_value) predict_signed(m, g, u, codec_log_ratio(t, u, pass.depth + 1u));
    m->causal.on = codec_causal_is_unit(&m->causal, u);
    if (m->causal.on) codec_causal_predict(&m->causal, g);
    codec_significance significance = {
        .group = g,
        .zeros = zeros16(m),
        .value = value_features(m, g, has_value),
        .more = t->conditional ? m->conditional.logit : m->zeros,
        .causal = m->causal.on ? m->causal.logit : m->zeros,
        .feature = {m->feature[0], m->feature[1], m->feature[2]},
        .logit = m->logit,
        .context = m->context,
    };
    codec_significance_contexts(&significance);
    /* Only the last fraction of a plane refines. */
    if (pass.fraction + 1u == t->fractions) predict_refinements(m, g, u, has_value);
    for (uint32_t p = 0; m->causal.on && m->causal.wide && p < g->n; p++)
        m->context[p] = CODEC_STALE;
    m->has_flags = !m->causal.on;
    if (m->has_flags) predict_flags(m, g);
}

int32_t codec_contexts_extra(const codec_context_model *m, const codec_group *g, uint32_t p,
                             codec_kind kind) {
    int32_t extra = m->causal.on ? codec_causal_logit(&m->causal, g, p, kind) : 0;
    if (!g->tables->conditional) return extra;
    return extra + (kind == CODEC_SIGN ? codec_conditional_sign(&m->conditional, p)
                                       : m->conditional.logit[p]);
}

void codec_contexts_features(const codec_context_model *m, const codec_group *g, uint32_t p,
                             codec_kind kind, int32_t f[CODEC_FEATURES]) {
    uint32_t u = g->tables->pass[g->pass].unit;
    int has_value = codec_value_is_predicted(g, u);
    if (kind == CODEC_SIGN)
        sign_features(m, p, has_value, f);
    else
        magnitude_features(m, g, p, g->level[(size_t)u * g->stride + p], has_value, f);
}
