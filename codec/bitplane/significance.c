/* significance.c -- see significance.h. Integers only (promise P4); kernels with vectors
 * convert integers below 2^24 to floats, which is exact. */
#include "codec/bitplane/significance.h"
#include "codec/backend/simd.h"
#include "codec/backend/wasm.h"
#include "codec/backend/x86.h"
#include "codec/bitplane/neighbours.h"
#include "codec/entropy/fixed_log.h"

enum {
    NEAR = CODEC_NEAR,
    FAR = CODEC_FAR,
    WEIGHT_SUM = 64,
    SUM_ONE_LOG16 = 16 * 12, /* codec_log16 of a sum that stands for 1 x scale */
    /* Used if there is no near unit: 0.8 x scale. */
    SUM_UNKNOWN = 51 * WEIGHT_SUM,
    MOST_FEATURE = 511,
    SKIP = 0xFFFF
};
/* The sum of the weights of one side is half of WEIGHT_SUM. */
const uint8_t codec_near_weight[NEAR] = {7, 6, 5, 4, 3, 3, 2, 2};
static const uint8_t near_distance[NEAR] = {1, 2, 3, 4, 5, 6, 7, 8};
static const uint8_t far_distance[FAR] = {10, 13, 17, 22, 29, CODEC_FARTHEST};
static const uint8_t far_weight[FAR] = {7, 6, 6, 5, 4, 4};

/* --- what all positions of the pass share ------------------------------------------------ */

/* A weighted mean over units: rows of norms on both sides, and what makes a mean of their sum:
 * (sum * scale >> 8) + base. The norms of absent units are zeros. */
typedef struct stencil {
    const uint16_t *below[NEAR], *above[NEAR];
    const uint8_t *weight; /* of each row */
    int rows;
    uint32_t scale, base;
} stencil;

/* Inlined, so that distances are constants: with few positions this takes much of a pass. */
CODEC_INLINE void set_stencil(stencil *st, const codec_significance *s, uint32_t u,
                              const uint8_t *distance, const uint8_t *weight, int rows) {
    const codec_group *g = s->group;
    const uint32_t units = g->tables->units, farthest = distance[rows - 1];
    const uint16_t *norm = g->norm + (size_t)u * g->stride;
    st->rows = rows, st->weight = weight;
    st->scale = 256, st->base = 0;
    if (u >= farthest && u + farthest < units) { /* all units exist */
        for (int i = 0; i < rows; i++) {
            const size_t away = distance[i] * (size_t)g->stride;
            st->below[i] = norm - away, st->above[i] = norm + away;
        }
        return;
    }
    uint32_t total = 0;
    for (int i = 0; i < rows; i++) {
        const uint32_t away = distance[i];
        const int below = u >= away, above = u + away < units;
        st->below[i] = below ? norm - away * (size_t)g->stride : s->zeros;
        st->above[i] = above ? norm + away * (size_t)g->stride : s->zeros;
        total += (uint32_t)(below + above) * weight[i];
    }
    st->scale = total ? WEIGHT_SUM * 256 / total : 0;
    st->base = total ? 0 : SUM_UNKNOWN;
}

typedef struct shared {
    const int16_t *level;
    const uint8_t *plane_known;
    const uint16_t *norm;
    stencil near, far;
    int16_t from; /* added to logarithms */
    const int16_t *weight;
    int32_t bias;
    uint16_t first;      /* the context of bin 0 */
    uint16_t least;      /* lower bins are in later fractions */
    uint16_t level_mask; /* 0: positions with a level other than 0 are in the pass */
    int zero_lonely;     /* feature 2 of windows without neighbours is 0 */
} shared;

static void share(const codec_significance *s, shared *out) {
    const codec_group *g = s->group;
    const codec_code_tables *t = g->tables;
    codec_pass pass = t->pass[g->pass];
    uint32_t u = pass.unit, class = codec_class(CODEC_SIGNIFICANCE, u);
    int last = pass.fraction + 1u == t->fractions;
    size_t at = (size_t)u * g->stride;
    int32_t offset = -SUM_ONE_LOG16 - codec_log_ratio(t, u, pass.depth + 1u);
    out->level = g->level + at;
    out->plane_known = g->plane_known + at;
    out->norm = g->norm + at;
    set_stencil(&out->near, s, u, near_distance, codec_near_weight, NEAR);
    set_stencil(&out->far, s, u, far_distance, far_weight, FAR);
    out->from = (int16_t)(offset < -1000 ? -1000 : offset > 1000 ? 1000 : offset);
    out->weight = t->weight[class];
    out->bias = t->bias[class] * 64;
    out->first = (uint16_t)(class * CODEC_BINS);
    out->least = last ? 0 : t->least[pass.fraction];
    out->level_mask = last ? 0 : 0xFFFF;
    /* The fraction of a position must not depend on other images of its group. So if an image is
     * one window, its features are those of a group without neighbours. */
    out->zero_lonely = t->fractions > 1;
}

/* --- the definition: loops over rows, which compilers vectorise -------------------------- */

static void add_weighted(uint16_t *restrict sum, const uint16_t *restrict x,
                         const uint16_t *restrict y, uint16_t weight, uint32_t n) {
    for (uint32_t p = 0; p < n; p++) sum[p] = (uint16_t)(sum[p] + weight * (x[p] + y[p]));
}

/* sum[p] = mean of |x| / scale over a stencil of units, times CODEC_NORM_ONE * WEIGHT_SUM. */
static void sum_units(const stencil *s, uint32_t n, uint16_t *sum) {
    memset(sum, 0, n * sizeof *sum);
    for (int i = 0; i < s->rows; i++) add_weighted(sum, s->below[i], s->above[i], s->weight[i], n);
    for (uint32_t p = 0; p < n; p++) sum[p] = (uint16_t)((sum[p] * s->scale >> 8) + s->base);
}

/* The mean of |x| / scale over the neighbouring windows, with the same factor. */
static void sum_neighbours(const codec_group *g, const uint16_t *norm, uint16_t *sum) {
    memset(sum, 0, g->n * sizeof *sum);
    for (int side = 0; side < 4; side++) codec_neighbours_add_u16(g, side, norm, sum);
    for (uint32_t p = 0; p < g->n; p++) {
        uint32_t count = codec_neighbours_count(g->sides[p]);
        uint16_t factor = count == 1 ? 64 : count == 2 ? 32 : count == 3 ? 21 : 16;
        sum[p] = count ? (uint16_t)(sum[p] * factor) : SUM_UNKNOWN;
    }
}

/* All ones if x < 2^bits, else 0. The inner cast makes compilers use 16-bit lanes. */
CODEC_INLINE uint16_t below(uint16_t x, int bits) {
    return CODEC_MASK16((uint16_t)(x >> bits) == 0);
}

/* The result equals codec_log16, but uses masks and 16 bits only, which compilers vectorise. With
 * branches it took 2.4 times as long. */
CODEC_CLONES static void log_features(uint16_t *values, int16_t from, uint32_t n) {
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
        values[p] = (uint16_t)(f < -MOST_FEATURE  ? -MOST_FEATURE
                               : f > MOST_FEATURE ? MOST_FEATURE
                                                  : f);
    }
}

void codec_log_features(uint16_t *values, int16_t from, uint32_t n) {
    log_features(values, from, n);
}

/* Logits from the first four features and three squares. Like codec_contexts_logit, vectorised. */
static void make_logits(const codec_significance *s, const shared *c, uint32_t n) {
    const uint16_t *restrict f0 = s->feature[0], *restrict f1 = s->feature[1],
                             *restrict f2 = s->feature[2], *restrict f3 = s->value;
    const int32_t *restrict more = s->more;
    int32_t *restrict logit = s->logit;
    int32_t w0 = c->weight[0], w1 = c->weight[1], w2 = c->weight[2], w3 = c->weight[3],
            w4 = c->weight[4], w5 = c->weight[5], w6 = c->weight[6];
    for (uint32_t p = 0; p < n; p++) {
        int32_t x = (int16_t)f0[p], y = (int16_t)f1[p], z = (int16_t)f2[p], v = (int16_t)f3[p];
        logit[p] = c->bias + more[p] + w0 * x + w1 * y + w2 * z + w3 * v + w4 * (x * x / 64) +
                   w5 * (y * y / 64) + w6 * (z * z / 64);
    }
}

/* The logits' bins, and which positions the pass skips. Masks, as compilers do not vectorise
 * branches here. */
static void make_contexts(const codec_significance *s, const shared *c, uint32_t n) {
    const int32_t *restrict logit = s->logit, *restrict causal = s->causal;
    const int16_t *restrict level = c->level;
    const uint8_t *restrict plane_known = c->plane_known;
    uint16_t *restrict context = s->context;
    for (uint32_t p = 0; p < n; p++) {
        uint16_t bin = (uint16_t)codec_bin_of_logit(logit[p] + causal[p]);
        uint16_t said = (uint16_t)(plane_known[p] | (level[p] & c->level_mask));
        context[p] =
            (uint16_t)((c->first + bin) | CODEC_MASK16(said != 0) | CODEC_MASK16(bin < c->least));
    }
}

static void plain_contexts(const codec_significance *s) {
    const codec_group *g = s->group;
    shared c;
    share(s, &c);
    sum_units(&c.near, g->n, s->feature[0]);
    sum_units(&c.far, g->n, s->feature[1]);
    if (g->sides) sum_neighbours(g, c.norm, s->feature[2]);
    for (int i = 0; i < 2 + (g->sides != NULL); i++)
        codec_log_features(s->feature[i], c.from, g->n);
    for (uint32_t p = 0; g->sides && c.zero_lonely && p < g->n; p++)
        if (!g->sides[p]) s->feature[2][p] = 0;
    make_logits(s, &c, g->n);
    make_contexts(s, &c, g->n);
}

/* --- AVX2: 16 positions at a time, from sums to contexts in registers -------------------- */

#ifdef CODEC_X86_KERNELS

enum { LANES = 16, MOST_VECTORS = 4 /* of positions whose sums are made together */ };

CODEC_FOR_256 CODEC_INLINE __m256i load_256(const void *from) {
    return _mm256_loadu_si256((const __m256i *)from);
}

CODEC_FOR_256 CODEC_INLINE void store_256(void *to, __m256i x) {
    _mm256_storeu_si256((__m256i *)to, x);
}

/* 16 bytes as 16-bit lanes. */
CODEC_FOR_256 CODEC_INLINE __m256i load_bytes_256(const uint8_t *from) {
    return _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)(const void *)from));
}

/* The sums of a stencil at positions p .. p + LANES * vectors - 1, as means. */
CODEC_FOR_256 CODEC_INLINE void sums_256(const stencil *s, const uint8_t *weights, int rows,
                                         size_t p, int vectors, __m256i sum[MOST_VECTORS]) {
    for (int v = 0; v < vectors; v++) sum[v] = _mm256_setzero_si256();
    for (int i = 0; i < rows; i++) {
        const uint16_t *x = s->below[i] + p, *y = s->above[i] + p;
        __m256i weight = _mm256_set1_epi16(weights[i]);
        for (int v = 0; v < vectors; v++) {
            __m256i both = _mm256_add_epi16(load_256(x + LANES * v), load_256(y + LANES * v));
            sum[v] = _mm256_add_epi16(sum[v], _mm256_mullo_epi16(both, weight));
        }
    }
    if (s->scale == 256) return;
    __m256i scale = _mm256_set1_epi16((int16_t)s->scale),
            base = _mm256_set1_epi16((int16_t)s->base);
    for (int v = 0; v < vectors; v++) {
        __m256i low = _mm256_srli_epi16(_mm256_mullo_epi16(sum[v], scale), 8),
                high = _mm256_slli_epi16(_mm256_mulhi_epu16(sum[v], scale), 8);
        sum[v] = _mm256_add_epi16(_mm256_or_si256(low, high), base);
    }
}

/* x where this bit of sides is set, else 0. */
CODEC_FOR_256 CODEC_INLINE __m256i where_256(__m256i sides, int bit, const uint16_t *x) {
    __m256i mask = _mm256_srai_epi16(_mm256_slli_epi16(sides, 15 - bit), 15);
    return _mm256_and_si256(mask, load_256(x));
}

/* The mean over the neighbouring windows. sides: of the positions, as 16-bit lanes. */
CODEC_FOR_256 CODEC_INLINE __m256i neighbours_256(const uint16_t *x, ptrdiff_t columns,
                                                  __m256i sides) {
    /* by the bits of sides: WEIGHT_SUM / their number */
    const __m256i factors =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 64, 64, 32, 64, 32, 32, 21, /* */
                                                  64, 32, 32, 21, 32, 21, 21, 16));
    __m256i across = _mm256_add_epi16(where_256(sides, CODEC_LEFT, x - 1),
                                      where_256(sides, CODEC_RIGHT, x + 1)),
            along = _mm256_add_epi16(where_256(sides, CODEC_UP, x - columns),
                                     where_256(sides, CODEC_DOWN, x + columns));
    __m256i mean =
        _mm256_mullo_epi16(_mm256_add_epi16(across, along), _mm256_shuffle_epi8(factors, sides));
    __m256i lonely = _mm256_cmpeq_epi16(sides, _mm256_setzero_si256());
    return _mm256_or_si256(mean, _mm256_and_si256(lonely, _mm256_set1_epi16(SUM_UNKNOWN)));
}

typedef struct constants_256 {
    __m256i
        fraction; /* by the first four bits after the highest: what log16 exceeds them, less 1 */
    __m256i from;
    __m256i weight01, weight23, weight45, weight6, bias;
} constants_256;

/* The exponent and the first four bits of the mantissa of a float, as an integer, are 16 log2 of
 * it, apart from codec_log_fraction. UNIT: those of 1. */
enum { MANTISSA_BITS_CUT = 19, UNIT = 127 * 16 };

CODEC_FOR_256 CODEC_INLINE __m256i log_features_256(__m256i x, const constants_256 *c) {
    const __m256i zero = _mm256_setzero_si256(), most = _mm256_set1_epi16(MOST_FEATURE),
                  least = _mm256_set1_epi16(-MOST_FEATURE);
    __m256i low = _mm256_castps_si256(_mm256_cvtepi32_ps(_mm256_unpacklo_epi16(x, zero))),
            high = _mm256_castps_si256(_mm256_cvtepi32_ps(_mm256_unpackhi_epi16(x, zero)));
    __m256i log = _mm256_packus_epi32(_mm256_srli_epi32(low, MANTISSA_BITS_CUT),
                                      _mm256_srli_epi32(high, MANTISSA_BITS_CUT));
    log = _mm256_max_epi16(log, _mm256_set1_epi16(UNIT - 1)); /* the logarithm of 0 is 0 */
    __m256i more = _mm256_shuffle_epi8(c->fraction, _mm256_and_si256(log, _mm256_set1_epi16(15)));
    log = _mm256_add_epi16(_mm256_add_epi16(log, more), c->from);
    return _mm256_min_epi16(most, _mm256_max_epi16(least, log));
}

/* x x / 64 for -511 .. 511 */
CODEC_FOR_256 CODEC_INLINE __m256i squares_256(__m256i x) {
    x = _mm256_slli_epi16(x, 5);
    return _mm256_mulhi_epi16(x, x);
}

/* Add w0 x + w1 y to both halves of 16 sums. */
CODEC_FOR_256 CODEC_INLINE void add_products_256(__m256i x, __m256i y, __m256i weights,
                                                 __m256i sum[2]) {
    sum[0] = _mm256_add_epi32(sum[0], _mm256_madd_epi16(_mm256_unpacklo_epi16(x, y), weights));
    sum[1] = _mm256_add_epi32(sum[1], _mm256_madd_epi16(_mm256_unpackhi_epi16(x, y), weights));
}

/* Set 16 logits; returns their bins. */
CODEC_FOR_256 CODEC_INLINE __m256i bins_256(const codec_significance *s, const constants_256 *c,
                                            size_t p, __m256i f0, __m256i f1, __m256i f2) {
    enum { FIRST = CODEC_BINS / 2 * 1024 + 512 };
    __m256i sum[2] = {c->bias, c->bias};
    add_products_256(f0, f1, c->weight01, sum);
    add_products_256(f2, load_256(s->value + p), c->weight23, sum);
    add_products_256(squares_256(f0), squares_256(f1), c->weight45, sum);
    add_products_256(squares_256(f2), _mm256_setzero_si256(), c->weight6, sum);
    __m256i low = _mm256_add_epi32(_mm256_permute2x128_si256(sum[0], sum[1], 0x20),
                                   load_256(s->more + p)),
            high = _mm256_add_epi32(_mm256_permute2x128_si256(sum[0], sum[1], 0x31),
                                    load_256(s->more + p + 8));
    store_256(s->logit + p, low);
    store_256(s->logit + p + 8, high);
    const __m256i first = _mm256_set1_epi32(FIRST);
    low = _mm256_add_epi32(_mm256_add_epi32(low, load_256(s->causal + p)), first);
    high = _mm256_add_epi32(_mm256_add_epi32(high, load_256(s->causal + p + 8)), first);
    __m256i bin = _mm256_packs_epi32(_mm256_srai_epi32(low, 10), _mm256_srai_epi32(high, 10));
    bin = _mm256_permute4x64_epi64(bin, 0xD8);
    return _mm256_min_epi16(_mm256_max_epi16(bin, _mm256_setzero_si256()),
                            _mm256_set1_epi16(CODEC_BINS - 1));
}

CODEC_FOR_256 CODEC_INLINE __m256i contexts_of_bins_256(const shared *c, size_t p, __m256i bin) {
    __m256i level =
        _mm256_and_si256(load_256(c->level + p), _mm256_set1_epi16((int16_t)c->level_mask));
    __m256i said = _mm256_or_si256(load_bytes_256(c->plane_known + p), level);
    __m256i unlikely = _mm256_cmpgt_epi16(_mm256_set1_epi16((int16_t)c->least), bin),
            open = _mm256_cmpeq_epi16(said, _mm256_setzero_si256());
    __m256i context = _mm256_add_epi16(bin, _mm256_set1_epi16((int16_t)c->first));
    const __m256i skip = _mm256_set1_epi16((int16_t)SKIP);
    return _mm256_or_si256(_mm256_or_si256(context, unlikely), _mm256_xor_si256(open, skip));
}

/* Positions p .. p + 15, whose means are near and far. */
CODEC_FOR_256 CODEC_INLINE void lanes_256(const codec_significance *s, const shared *c,
                                          const constants_256 *k, ptrdiff_t columns, size_t p,
                                          __m256i near, __m256i far) {
    __m256i f0 = log_features_256(near, k), f1 = log_features_256(far, k),
            f2 = _mm256_setzero_si256();
    if (s->group->sides) {
        __m256i sides = load_bytes_256(s->group->sides + p);
        f2 = log_features_256(neighbours_256(c->norm + p, columns, sides), k);
        if (c->zero_lonely)
            f2 = _mm256_andnot_si256(_mm256_cmpeq_epi16(sides, _mm256_setzero_si256()), f2);
    }
    store_256(s->feature[0] + p, f0);
    store_256(s->feature[1] + p, f1);
    store_256(s->feature[2] + p, f2);
    __m256i bin = bins_256(s, k, p, f0, f1, f2);
    store_256(s->context + p, contexts_of_bins_256(c, p, bin));
}

CODEC_FOR_256 static constants_256 make_constants_256(const shared *c) {
    int8_t more[16];
    for (int i = 0; i < 16; i++) more[i] = (int8_t)(codec_log_fraction[i] - i - 1);
    __m128i fraction = _mm_loadu_si128((const __m128i *)(const void *)more);
    const int16_t *w = c->weight;
    return (constants_256){
        .fraction = _mm256_broadcastsi128_si256(fraction),
        .from = _mm256_set1_epi16((int16_t)(c->from - UNIT + 1)),
        .weight01 = _mm256_set1_epi32(codec_four_bytes(w)),
        .weight23 = _mm256_set1_epi32(codec_four_bytes(w + 2)),
        .weight45 = _mm256_set1_epi32(codec_four_bytes(w + 4)),
        .weight6 = _mm256_set1_epi32((uint16_t)w[6]),
        .bias = _mm256_set1_epi32(c->bias),
    };
}

/* Positions first .. end - 1. Up to 15 more positions are read, and set to anything. */
CODEC_FOR_256 static void run_256(const codec_significance *s, const shared *c,
                                  const constants_256 *k, codec_run run) {
    __m256i near[MOST_VECTORS], far[MOST_VECTORS];
    size_t p = run.first;
    for (; p + LANES * MOST_VECTORS <= run.end; p += LANES * MOST_VECTORS) {
        sums_256(&c->near, codec_near_weight, NEAR, p, MOST_VECTORS, near);
        sums_256(&c->far, far_weight, FAR, p, MOST_VECTORS, far);
        for (int v = 0; v < MOST_VECTORS; v++)
            lanes_256(s, c, k, run.columns, p + (size_t)(LANES * v), near[v], far[v]);
    }
    for (; p < run.end; p += LANES) {
        sums_256(&c->near, codec_near_weight, NEAR, p, 1, near);
        sums_256(&c->far, far_weight, FAR, p, 1, far);
        lanes_256(s, c, k, run.columns, p, near[0], far[0]);
    }
}

CODEC_FOR_256 static void contexts_256(const codec_significance *s) {
    const codec_group *g = s->group;
    shared c;
    share(s, &c);
    constants_256 k = make_constants_256(&c);
    for (uint32_t i = 0; i < g->runs; i++) run_256(s, &c, &k, g->run[i]);
    if (!g->runs) run_256(s, &c, &k, (codec_run){0, g->n, 1});
}

#endif

/* --- 128 bits: 8 positions at a time, from sums to contexts in registers ----------------- */

#ifdef CODEC_WASM_KERNELS

enum { LANES = 8, MOST_VECTORS = 4 /* of positions whose sums are made together */ };

/* The sums of a stencil at positions p .. p + LANES * vectors - 1, as means. */
CODEC_INLINE void sums_128(const stencil *s, const uint8_t *weights, int rows, size_t p,
                           int vectors, v128_t sum[MOST_VECTORS]) {
    for (int v = 0; v < vectors; v++) sum[v] = wasm_i16x8_splat(0);
    for (int i = 0; i < rows; i++) {
        const uint16_t *x = s->below[i] + p, *y = s->above[i] + p;
        v128_t weight = wasm_i16x8_splat(weights[i]);
        for (int v = 0; v < vectors; v++) {
            v128_t both =
                wasm_i16x8_add(wasm_v128_load(x + LANES * v), wasm_v128_load(y + LANES * v));
            sum[v] = wasm_i16x8_add(sum[v], wasm_i16x8_mul(both, weight));
        }
    }
    if (s->scale == 256) return;
    v128_t scale = wasm_i16x8_splat((int16_t)s->scale), base = wasm_i16x8_splat((int16_t)s->base);
    for (int v = 0; v < vectors; v++) {
        /* bits 8 to 23 of the products */
        v128_t mean = wasm_i8x16_shuffle(wasm_u32x4_extmul_low_u16x8(sum[v], scale),
                                         wasm_u32x4_extmul_high_u16x8(sum[v], scale), 1, 2, 5, 6, 9,
                                         10, 13, 14, 17, 18, 21, 22, 25, 26, 29, 30);
        sum[v] = wasm_i16x8_add(mean, base);
    }
}

/* x where this bit of sides is set, else 0. */
CODEC_INLINE v128_t where_128(v128_t sides, int bit, const uint16_t *x) {
    v128_t mask = wasm_i16x8_shr(wasm_i16x8_shl(sides, 15 - bit), 15);
    return wasm_v128_and(mask, wasm_v128_load(x));
}

/* The mean over the neighbouring windows. sides: of the positions, as 16-bit lanes. */
CODEC_INLINE v128_t neighbours_128(const uint16_t *x, ptrdiff_t columns, v128_t sides) {
    /* by the bits of sides: WEIGHT_SUM / their number */
    const v128_t factors = wasm_i8x16_const(0, 64, 64, 32, 64, 32, 32, 21, /* */
                                            64, 32, 32, 21, 32, 21, 21, 16);
    v128_t across = wasm_i16x8_add(where_128(sides, CODEC_LEFT, x - 1),
                                   where_128(sides, CODEC_RIGHT, x + 1)),
           along = wasm_i16x8_add(where_128(sides, CODEC_UP, x - columns),
                                  where_128(sides, CODEC_DOWN, x + columns));
    v128_t mean = wasm_i16x8_mul(wasm_i16x8_add(across, along), wasm_i8x16_swizzle(factors, sides));
    v128_t lonely = wasm_i16x8_eq(sides, wasm_i16x8_splat(0));
    return wasm_v128_or(mean, wasm_v128_and(lonely, wasm_i16x8_splat(SUM_UNKNOWN)));
}

typedef struct constants_128 {
    v128_t fraction; /* by the first four bits after the highest: what log16 exceeds them, less 1 */
    v128_t from;
    v128_t weight01, weight23, weight45, weight6, bias;
} constants_128;

/* The exponent and the first four bits of the mantissa of a float, as an integer, are 16 log2 of
 * it, apart from codec_log_fraction. UNIT: those of 1. */
enum { MANTISSA_BITS_CUT = 19, UNIT = 127 * 16 };

/* Numbers become floats as the lower halves of 2^23, which is subtracted: compilers convert one at
 * a time. */
CODEC_INLINE v128_t log_features_128(v128_t x, const constants_128 *c) {
    const v128_t upper = wasm_i16x8_splat(0x4B00), base = wasm_f32x4_splat(1 << 23);
    v128_t low = wasm_f32x4_sub(wasm_i16x8_shuffle(x, upper, 0, 8, 1, 9, 2, 10, 3, 11), base),
           high = wasm_f32x4_sub(wasm_i16x8_shuffle(x, upper, 4, 12, 5, 13, 6, 14, 7, 15), base);
    v128_t log = wasm_u16x8_narrow_i32x4(wasm_u32x4_shr(low, MANTISSA_BITS_CUT),
                                         wasm_u32x4_shr(high, MANTISSA_BITS_CUT));
    log = wasm_i16x8_max(log, wasm_i16x8_splat(UNIT - 1)); /* the logarithm of 0 is 0 */
    v128_t more = wasm_i8x16_swizzle(c->fraction, wasm_v128_and(log, wasm_i16x8_splat(15)));
    log = wasm_i16x8_add(wasm_i16x8_add(log, more), c->from);
    return wasm_i16x8_min(wasm_i16x8_splat(MOST_FEATURE),
                          wasm_i16x8_max(wasm_i16x8_splat(-MOST_FEATURE), log));
}

/* x x / 64 for -511 .. 511 */
CODEC_INLINE v128_t squares_128(v128_t x) {
    return wasm_i16x8_narrow_i32x4(wasm_i32x4_shr(wasm_i32x4_extmul_low_i16x8(x, x), 6),
                                   wasm_i32x4_shr(wasm_i32x4_extmul_high_i16x8(x, x), 6));
}

/* Add w0 x + w1 y to both halves of 8 sums. */
CODEC_INLINE void add_products_128(v128_t x, v128_t y, v128_t weights, v128_t sum[2]) {
    sum[0] =
        codec_add_pairs_128(sum[0], wasm_i16x8_shuffle(x, y, 0, 8, 1, 9, 2, 10, 3, 11), weights);
    sum[1] =
        codec_add_pairs_128(sum[1], wasm_i16x8_shuffle(x, y, 4, 12, 5, 13, 6, 14, 7, 15), weights);
}

/* Set 8 logits; returns their bins. */
CODEC_INLINE v128_t bins_128(const codec_significance *s, const constants_128 *c, size_t p,
                             v128_t f0, v128_t f1, v128_t f2) {
    const v128_t first = wasm_i32x4_splat(CODEC_BINS / 2 * 1024 + 512);
    v128_t sum[2] = {c->bias, c->bias}, bin[2];
    add_products_128(f0, f1, c->weight01, sum);
    add_products_128(f2, wasm_v128_load(s->value + p), c->weight23, sum);
    add_products_128(squares_128(f0), squares_128(f1), c->weight45, sum);
    add_products_128(squares_128(f2), wasm_i16x8_splat(0), c->weight6, sum);
    for (size_t i = 0, at = p; i < 2; i++, at += 4) {
        v128_t logit = wasm_i32x4_add(sum[i], wasm_v128_load(s->more + at));
        wasm_v128_store(s->logit + at, logit);
        v128_t all = wasm_i32x4_add(wasm_i32x4_add(logit, wasm_v128_load(s->causal + at)), first);
        bin[i] = wasm_i32x4_shr(all, 10);
    }
    return wasm_i16x8_min(
        wasm_i16x8_max(wasm_i16x8_narrow_i32x4(bin[0], bin[1]), wasm_i16x8_splat(0)),
        wasm_i16x8_splat(CODEC_BINS - 1));
}

CODEC_INLINE v128_t contexts_of_bins_128(const shared *c, size_t p, v128_t bin) {
    v128_t level =
        wasm_v128_and(wasm_v128_load(c->level + p), wasm_i16x8_splat((int16_t)c->level_mask));
    v128_t said = wasm_v128_or(wasm_u16x8_load8x8(c->plane_known + p), level);
    v128_t unlikely = wasm_i16x8_gt(wasm_i16x8_splat((int16_t)c->least), bin),
           known = wasm_i16x8_ne(said, wasm_i16x8_splat(0));
    v128_t context = wasm_i16x8_add(bin, wasm_i16x8_splat((int16_t)c->first));
    return wasm_v128_or(wasm_v128_or(context, unlikely), known);
}

/* Positions p .. p + 7, whose means are near and far. */
CODEC_INLINE void lanes_128(const codec_significance *s, const shared *c, const constants_128 *k,
                            ptrdiff_t columns, size_t p, v128_t near, v128_t far) {
    v128_t f0 = log_features_128(near, k), f1 = log_features_128(far, k), f2 = wasm_i16x8_splat(0);
    if (s->group->sides) {
        v128_t sides = wasm_u16x8_load8x8(s->group->sides + p);
        f2 = log_features_128(neighbours_128(c->norm + p, columns, sides), k);
        if (c->zero_lonely) f2 = wasm_v128_and(f2, wasm_i16x8_ne(sides, wasm_i16x8_splat(0)));
    }
    wasm_v128_store(s->feature[0] + p, f0);
    wasm_v128_store(s->feature[1] + p, f1);
    wasm_v128_store(s->feature[2] + p, f2);
    v128_t bin = bins_128(s, k, p, f0, f1, f2);
    wasm_v128_store(s->context + p, contexts_of_bins_128(c, p, bin));
}

static constants_128 make_constants_128(const shared *c) {
    int8_t more[16];
    for (int i = 0; i < 16; i++) more[i] = (int8_t)(codec_log_fraction[i] - i - 1);
    const int16_t *w = c->weight;
    return (constants_128){
        .fraction = wasm_v128_load(more),
        .from = wasm_i16x8_splat((int16_t)(c->from - UNIT + 1)),
        .weight01 = wasm_v128_load32_splat(w),
        .weight23 = wasm_v128_load32_splat(w + 2),
        .weight45 = wasm_v128_load32_splat(w + 4),
        .weight6 = wasm_i32x4_splat((uint16_t)w[6]),
        .bias = wasm_i32x4_splat(c->bias),
    };
}

/* Positions first .. end - 1. Up to 7 more positions are read, and set to anything. */
static void run_128(const codec_significance *s, const shared *c, const constants_128 *k,
                    codec_run run) {
    v128_t near[MOST_VECTORS], far[MOST_VECTORS];
    for (size_t p = run.first, end; p < run.end; p = end) {
        const int many = p + LANES * MOST_VECTORS <= run.end;
        end = p + LANES * (many ? MOST_VECTORS : 1);
        if (many) {
            sums_128(&c->near, codec_near_weight, NEAR, p, MOST_VECTORS, near);
            sums_128(&c->far, far_weight, FAR, p, MOST_VECTORS, far);
        } else {
            sums_128(&c->near, codec_near_weight, NEAR, p, 1, near);
            sums_128(&c->far, far_weight, FAR, p, 1, far);
        }
        /* a loop that is not unrolled: the code is large */
#pragma clang loop unroll(disable)
        for (size_t v = 0; p < end; p += LANES, v++)
            lanes_128(s, c, k, run.columns, p, near[v], far[v]);
    }
}

static void contexts_128(const codec_significance *s) {
    const codec_group *g = s->group;
    shared c;
    share(s, &c);
    constants_128 k = make_constants_128(&c);
    for (uint32_t i = 0; i < g->runs; i++) run_128(s, &c, &k, g->run[i]);
    if (!g->runs) run_128(s, &c, &k, (codec_run){0, g->n, 1});
}

#endif

static const codec_significance_kernel kernels[] = {
#ifdef CODEC_WASM_KERNELS
    {"WebAssembly SIMD", codec_runs_always, contexts_128},
#endif
#ifdef CODEC_X86_KERNELS
    {"AVX2", codec_has_256, contexts_256},
#endif
    {"plain", codec_runs_always, plain_contexts}};

const codec_significance_kernel *codec_significance_kernels(size_t *n) {
    *n = sizeof kernels / sizeof *kernels;
    return kernels;
}

void codec_significance_contexts(const codec_significance *s) {
    size_t i = 0;
    while (i + 1 < sizeof kernels / sizeof *kernels && !kernels[i].runs()) i++;
    kernels[i].contexts(s);
}
