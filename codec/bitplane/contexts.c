/* contexts.c -- the prediction of a pass; see contexts.h. Integers only (promise P4). */
#include "codec/bitplane/contexts.h"
#include "codec/backend/simd.h"
#include "codec/bitplane/neighbours.h"
#include "codec/entropy/fixed_log.h"
#include <string.h>

enum {
    FAR = 6,
    WEIGHT_SUM = 64,
    SUM_ONE_LOG16 = 16 * 12, /* codec_log16 of a sum that stands for 1 x scale */
    /* Limits of predicted values, in 1/16 threshold: 16 thresholds and 1 for signs; 3 from the
     * middle of an interval for refinements. */
    WIDELY = 16 * 16,
    NARROWLY = 16,
    BEYOND_MIDDLE = 3 * 16
};
/* The sum of the weights of one side is half of WEIGHT_SUM. */
const uint8_t codec_near_weight[CODEC_NEAR] = {7, 6, 5, 4, 3, 3, 2, 2};
static const uint8_t far_distance[FAR] = {10, 13, 17, 22, 29, 38};
static const uint8_t far_weight[FAR] = {7, 6, 6, 5, 4, 4};
/* Used if there is no near unit: 0.8 x scale. */
enum { SUM_UNKNOWN = 51 * WEIGHT_SUM };

/* sum[p] += a x[p] + b y[p]. Two terms at once halve the accesses to sum. */
CODEC_CLONES static void add_weighted(uint16_t *restrict sum, const uint16_t *restrict x,
                                      uint16_t a, const uint16_t *restrict y, uint16_t b,
                                      uint32_t n) {
    for (uint32_t p = 0; p < n; p++) sum[p] = (uint16_t)(sum[p] + a * x[p] + b * y[p]);
}

/* sum[p] = mean of |x| / scale over a stencil of units, times CODEC_NORM_ONE * WEIGHT_SUM. */
static void sum_units(const codec_group *g, uint32_t u, const uint8_t *distance,
                      const uint8_t *weight, int n_weights, uint16_t *sum) {
    memset(sum, 0, g->n * sizeof *sum);
    uint32_t total = 0;
    for (int i = 0; i < n_weights; i++) {
        uint32_t away = distance ? distance[i] : (uint32_t)i + 1;
        int below = u >= away, above = u + away < g->tables->units; /* the unit exists */
        const uint16_t *norm = g->norm + (size_t)u * g->stride;
        size_t rows = (size_t)away * g->stride;
        add_weighted(sum, below ? norm - rows : norm, below ? weight[i] : 0,
                     above ? norm + rows : norm, above ? weight[i] : 0, g->n);
        total += (uint32_t)(below + above) * weight[i];
    }
    if (total == WEIGHT_SUM) return;
    uint32_t scale = total ? WEIGHT_SUM * 256 / total : 0; /* for missing units at the ends */
    for (uint32_t p = 0; p < g->n; p++)
        sum[p] = total ? (uint16_t)((sum[p] * scale) >> 8) : SUM_UNKNOWN;
}

/* Turn sums over the existing neighbours into WEIGHT_SUM times their mean. */
CODEC_CLONES static void to_means(const uint8_t *restrict sides, uint32_t n,
                                  uint16_t *restrict sum) {
    for (uint32_t p = 0; p < n; p++) {
        uint32_t count = codec_neighbours_count(sides[p]);
        uint16_t factor = count == 1 ? 64 : count == 2 ? 32 : count == 3 ? 21 : 16;
        sum[p] = sides[p] ? (uint16_t)(sum[p] * factor) : SUM_UNKNOWN;
    }
}

/* The mean of |x| / scale over the neighbouring windows, with the same factor. */
static void sum_neighbours(const codec_group *g, uint32_t u, uint16_t *sum) {
    memset(sum, 0, g->n * sizeof *sum);
    for (int side = 0; side < 4; side++)
        codec_neighbours_add_u16(g, side, g->norm + (size_t)u * g->stride, sum);
    to_means(g->sides, g->n, sum);
}

/* The fraction of a position must not depend on other images of its group. So if an image is one
 * window, its features are those of a group without neighbours. */
CODEC_CLONES static void zero_absent_neighbours(const uint8_t *restrict sides, uint32_t n,
                                                uint16_t *restrict feature) {
    for (uint32_t p = 0; p < n; p++) feature[p] = sides[p] ? feature[p] : 0;
}

/* part[p] += weight * known[p] */
CODEC_CLONES static void add_signed(int32_t *restrict part, const int16_t *restrict known,
                                    int32_t weight, uint32_t n) {
    for (uint32_t p = 0; p < n; p++) part[p] += weight * known[p];
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
    int32_t *value = m->value, *part = m->from_side;
    uint32_t inputs =
        g->tables->units < CODEC_SIGNED_INPUTS ? g->tables->units : CODEC_SIGNED_INPUTS;
    memset(value, 0, g->n * sizeof *value);
    for (int side = 0; side < 4; side++) {
        memset(part, 0, g->n * sizeof *part);
        for (uint32_t k = 0; k < inputs; k++) {
            int32_t weight = g->tables->signed_weight[u][side][k];
            if (weight) add_signed(part, g->signed_norm + (size_t)k * g->stride, weight, g->n);
        }
        codec_neighbours_add_i32(g, side, part, value);
    }
    scale_signed(value, -log_ratio, g->n);
}

static int32_t clamp(int32_t x, int32_t limit) {
    return x < -limit ? -limit : x > limit ? limit : x;
}

/* All ones if x < 2^bits, else 0. The inner cast makes compilers use 16-bit lanes. */
CODEC_INLINE uint16_t below(uint16_t x, int bits) {
    return CODEC_MASK16((uint16_t)(x >> bits) == 0);
}

/* Turn sums of |x| / scale into log features, in place: clamp(codec_log16(sum) + offset). The
 * result equals codec_log16, but uses masks and 16 bits only, which compilers vectorise. With
 * branches it took 2.4 times as long. */
CODEC_CLONES static void to_log_features(uint16_t *values, int32_t offset, uint32_t n) {
    int16_t from = (int16_t)(offset < -1000 ? -1000 : offset > 1000 ? 1000 : offset);
    for (uint32_t p = 0; p < n; p++) {
        uint16_t x = values[p], zero = below(x, 0);
        uint16_t a = below(x, 8);
        x = (uint16_t)(x * (1 + (a & 255)));
        uint16_t b = below(x, 12);
        x = (uint16_t)(x * (1 + (b & 15)));
        uint16_t c = below(x, 14);
        x = (uint16_t)(x * (1 + (c & 3)));
        uint16_t d = below(x, 15);
        x = (uint16_t)(x + (x & d));
        /* codec_log_fraction[i] is i + 1, or i + 2 from 3 to 11 */
        uint16_t nibble = x >> 11 & 15;
        uint16_t more = CODEC_MASK16((uint16_t)(nibble - 3) < 9);
        uint16_t log = (uint16_t)(241 + nibble - more - (a & 128) - (b & 64) - (c & 32) - (d & 16));
        int16_t f = (int16_t)((log & ~zero) + from);
        values[p] = (uint16_t)(f < -511 ? -511 : f > 511 ? 511 : f);
    }
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

/* The logit's bin, in steps of 1/4 around 0. */
CODEC_INLINE int32_t bin_of(int32_t logit) {
    int32_t bin = (logit + CODEC_BINS / 2 * 1024 + 512) / 1024;
    return logit < -CODEC_BINS / 2 * 1024 ? 0 : bin >= CODEC_BINS ? CODEC_BINS - 1 : bin;
}

uint32_t codec_contexts_bin(const codec_code_tables *t, uint32_t class,
                            const int32_t f[CODEC_FEATURES], int32_t extra) {
    return (uint32_t)bin_of(codec_contexts_logit(t, class, f) + extra);
}

/* Logits of significance bits at all positions, from the first four features and three squares,
 * plus `more`. Like codec_contexts_logit, vectorised. */
CODEC_CLONES static void significance_logits(const int16_t *restrict weight, int32_t bias,
                                             uint16_t *const feature[4],
                                             const int32_t *restrict more, uint32_t n,
                                             int32_t *restrict logit) {
    const uint16_t *restrict f0 = feature[0], *restrict f1 = feature[1], *restrict f2 = feature[2],
                             *restrict f3 = feature[3];
    int32_t w0 = weight[0], w1 = weight[1], w2 = weight[2], w3 = weight[3], w4 = weight[4],
            w5 = weight[5], w6 = weight[6];
    for (uint32_t p = 0; p < n; p++) {
        int32_t a = (int16_t)f0[p], b = (int16_t)f1[p], c = (int16_t)f2[p], d = (int16_t)f3[p];
        logit[p] = bias * 64 + more[p] + w0 * a + w1 * b + w2 * c + w3 * d + w4 * (a * a / 64) +
                   w5 * (b * b / 64) + w6 * (c * c / 64);
    }
}

/* The contexts at all positions: the class of the level's kind, and the bin of the logit plus the
 * causal term. */
CODEC_CLONES static void bin_logits(const int16_t *restrict level, uint32_t band,
                                    const int32_t *restrict logit, const int32_t *restrict causal,
                                    uint32_t n, uint16_t *restrict context) {
    for (uint32_t p = 0; p < n; p++) {
        int32_t class = (int32_t)codec_kind_of_level(level[p]) * CODEC_BANDS + (int32_t)band;
        context[p] = (uint16_t)(class * CODEC_BINS + bin_of(logit[p] + causal[p]));
    }
}

/* Set feature[3], the fourth feature of significance bits; 0 if values are not predicted. */
static void value_features(const codec_context_model *m, const codec_group *g, int has_value) {
    uint16_t *f = m->feature[3];
    if (!has_value) {
        memset(f, 0, g->n * sizeof *f);
        return;
    }
    for (uint32_t p = 0; p < g->n; p++) {
        int32_t value = m->value[p];
        f[p] = (uint16_t)((value < 0 ? -value : value) + 1);
    }
    to_log_features(f, -64, g->n);
    if (g->tables->fractions > 1) zero_absent_neighbours(g->sides, g->n, f);
}

/* Compute logit[] from feature[] and the conditional model. Only the last fraction of a plane
 * refines. */
static void make_logits(const codec_context_model *m, const codec_group *g, uint32_t u,
                        int has_value, int last) {
    const codec_code_tables *t = g->tables;
    const int16_t *level = g->level + (size_t)u * g->stride;
    const uint8_t *plane_known = g->plane_known + (size_t)u * g->stride;
    const int32_t *more = t->conditional ? m->conditional.logit : m->zeros;
    uint32_t class = codec_class(CODEC_SIGNIFICANCE, u);
    int32_t f[CODEC_FEATURES];
    value_features(m, g, has_value);
    significance_logits(t->weight[class], t->bias[class], m->feature, more, g->n, m->logit);
    if (!last) return;
    for (uint32_t p = 0; (p = codec_next_nonzero(level, p, g->n)) < g->n; p++) {
        if (plane_known[p]) continue;
        magnitude_features(m, g, p, level[p], has_value, f);
        class = codec_class(codec_kind_of_level(level[p]), u);
        m->logit[p] = codec_contexts_logit(t, class, f) + more[p];
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
             bin = (uint32_t)bin_of(m->logit[p] + codec_causal_logit(&m->causal, g, p, kind));
    return last || bin >= t->least[pass.fraction] ? first + bin : CODEC_SKIP;
}

CODEC_CLONES static void skip_known(uint16_t *restrict context, const uint8_t *restrict plane_known,
                                    uint32_t n) {
    for (uint32_t p = 0; p < n; p++) context[p] |= plane_known[p] ? CODEC_SKIP : 0;
}

/* Skip positions whose level is not 0, and those with bins below `least`. */
CODEC_CLONES static void skip_unlikely(uint16_t *restrict context,
                                       const uint8_t *restrict plane_known,
                                       const int16_t *restrict level, uint16_t least, uint32_t n) {
    for (uint32_t p = 0; p < n; p++) { /* masks, as compilers do not vectorise branches here */
        uint16_t said = (uint16_t)(plane_known[p] | level[p]), c = context[p];
        context[p] = (uint16_t)(c | CODEC_MASK16(said != 0) | CODEC_MASK16(c < least));
    }
}

/* In a model with fractions: skip the positions that are not coded in this pass. */
static void skip_positions(const codec_context_model *m, const codec_group *g, codec_pass pass) {
    const codec_code_tables *t = g->tables;
    size_t at = (size_t)pass.unit * g->stride;
    uint32_t first = codec_class(CODEC_SIGNIFICANCE, pass.unit) * CODEC_BINS;
    if (pass.fraction + 1u == t->fractions)
        skip_known(m->context, g->plane_known + at, g->n);
    else
        skip_unlikely(m->context, g->plane_known + at, g->level + at,
                      (uint16_t)(first + t->least[pass.fraction]), g->n);
}

void codec_contexts_predict(codec_context_model *m, const codec_group *g) {
    const codec_code_tables *t = g->tables;
    codec_pass pass = t->pass[g->pass];
    uint32_t u = pass.unit;
    int32_t ratio = codec_log_ratio(t, u, pass.depth + 1u), offset = -SUM_ONE_LOG16 - ratio;
    int has_value = codec_value_is_predicted(g, u);
    sum_units(g, u, NULL, codec_near_weight, CODEC_NEAR, m->feature[0]);
    sum_units(g, u, far_distance, far_weight, FAR, m->feature[1]);
    if (g->signed_norm) sum_neighbours(g, u, m->feature[2]);
    for (int i = 0; i < 2 + (g->signed_norm != NULL); i++)
        to_log_features(m->feature[i], offset, g->n);
    if (t->fractions > 1 && g->signed_norm) zero_absent_neighbours(g->sides, g->n, m->feature[2]);
    if (t->conditional) codec_conditional_predict(&m->conditional, g, m->pool);
    if (has_value) predict_signed(m, g, u, ratio);
    make_logits(m, g, u, has_value, pass.fraction + 1u == t->fractions);
    m->causal.on = codec_causal_is_unit(&m->causal, u);
    if (m->causal.on) codec_causal_predict(&m->causal, g);
    bin_logits(g->level + (size_t)u * g->stride, codec_band(u), m->logit,
               m->causal.on ? m->causal.logit : m->zeros, g->n, m->context);
    if (t->fractions > 1) skip_positions(m, g, pass);
    for (uint32_t p = 0; m->causal.on && m->causal.wide && p < g->n; p++)
        m->context[p] = CODEC_STALE;
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
