/* code_tables.h -- the tables of a model for coding its units: thresholds, order of passes,
 * reconstruction points, and parameters of the contexts. All are integers, except the quantiser
 * step, which relates them to the network's floats.
 *
 * Quantiser (embedded, with a dead zone): unit u of value x has the magnitude M = floor(|x| /
 * step[u]) in planes[u] bits. After d of them (depth d, most significant first) its level is
 * q = M >> (planes[u] - d), and its threshold is T = step[u] * 2^(planes[u] - d). q = 0 means
 * |x| < T. q > 0 means q T <= |x| < (q + 1) T, and the sign is known.
 *
 * A PASS encodes one plane of one unit for all windows of a group. With fractions it encodes one of
 * up to CODEC_MAX_FRACTIONS parts of that plane. The first fractions contain the positions where a
 * 1 is likely, which reduce the error more per bit. The last one contains all others (contexts.h).
 * A fraction with the rd_slope of the next one is coded together with it.
 *
 * Binary models (density is not NULL): M is one bit, 1 where x > 0. There are no signs. The
 * decoder's network gets bit - centre, or 0 for an unknown unit. Each unit is one pass, in
 * ascending order. Of the other tables only the layers are used. mixed_bit.h predicts the bits. */
#ifndef CODEC_CODE_TABLES_H
#define CODEC_CODE_TABLES_H
#include "codec/backend/simd.h"
#include "formats/bytes.h"
#include "formats/layout.h"

enum {
    CODEC_MAX_UNITS = 65535,
    CODEC_MAX_PLANES = 15,   /* magnitudes fit int16 */
    CODEC_MAX_FRACTIONS = 4, /* of a plane */
    CODEC_MAX_LAYERS_IN_MODEL = 64,
    CODEC_BANDS = 12, /* of units: band b has units 2^b - 1 .. 2^(b+1) - 2, the last all above */
    CODEC_KINDS = 4,  /* of coded bits, see codec_kind */
    CODEC_CLASSES = CODEC_KINDS * CODEC_BANDS,
    CODEC_BINS = 96,          /* of a predicted logit: -12 .. 12 in steps of 1/4 */
    CODEC_FEATURES = 8,       /* inputs of the logit, see contexts.h */
    CODEC_RATIO_BINS = 40,    /* of log2(threshold / scale), half octaves from 2^-10 */
    CODEC_RECON_LEVELS = 4,   /* reconstruction points for q = 1, 2, 3 and above */
    CODEC_SIGNED_UNITS = 24,  /* the first units: signed values are predicted from neighbours */
    CODEC_SIGNED_INPUTS = 16, /* units of each neighbour in such a prediction */
    CODEC_CAUSAL_BANDS = 5,   /* bands of the units with a causal template, the first ones */
    CODEC_CAUSAL_UNITS = 31,  /* units of these bands */
    CODEC_CAUSAL_CLASSES = CODEC_KINDS * CODEC_CAUSAL_BANDS,
    CODEC_CAUSAL_CONTEXTS = 96, /* of a bit, see causal.h */
    CODEC_AROUND = 8            /* windows around a window */
};

typedef enum codec_kind {
    CODEC_SIGNIFICANCE = 0, /* q: 0 -> 0 or 1 */
    CODEC_SIGN = 1,
    CODEC_REFINE_FIRST = 2, /* q: 1 -> 2 or 3 */
    CODEC_REFINE_LATER = 3
} codec_kind;

typedef struct codec_pass {
    uint16_t unit;
    uint8_t depth;    /* the plane, from 0: planes of the unit before this one */
    uint8_t fraction; /* of the plane, 0 .. tables->fractions - 1 */
} codec_pass;

typedef struct codec_layer_end {
    uint32_t pass;             /* one past the layer's last pass */
    uint32_t bytes_per_mpixel; /* expected bytes per million pixels up to the layer's end */
} codec_layer_end;

struct codec_conditional;

typedef struct codec_code_tables {
    uint32_t units;
    float *step;        /* [units] > 0 */
    uint8_t *planes;    /* [units] 0..CODEC_MAX_PLANES; 0: the unit is never coded */
    int16_t *log_scale; /* [units] 16 log2(root mean square of x / step), -512 .. 1023 */
    uint32_t fractions; /* of a plane: 1 .. CODEC_MAX_FRACTIONS */
    /* The lowest bin of a position of level 0 in each fraction, descending; the last fraction has
     * the others. */
    uint8_t least[CODEC_MAX_FRACTIONS - 1];
    uint32_t n_rd_slopes; /* sum of planes * fractions */
    /* [n_rd_slopes] rate-distortion slopes, by unit, then plane, then fraction: 8 log2 of the
     * distortion gain per bit, 255 the steepest. They do not increase within a unit. */
    uint8_t *rd_slope;
    /* Made from rd_slope by codec_order_make: */
    uint32_t n_passes;
    codec_pass *pass; /* [n_passes], allocated for n_rd_slopes */
    /* [n_passes + 1] how many passes before each are passes of the model, not of raised planes
     * (raised_planes.h); NULL: all. */
    uint32_t *model_pass;
    uint32_t n_layers; /* suggested layers; the last ends at n_passes */
    codec_layer_end layer[CODEC_MAX_LAYERS_IN_MODEL];

    /* Reconstruction point within the interval (1/256), by log2(T / scale) and level. */
    uint8_t recon[CODEC_RATIO_BINS][CODEC_RECON_LEVELS];
    /* Expected |x| / scale (1/64) of a unit known to be below T; last bin: of an unknown unit. */
    uint8_t zero_norm[CODEC_RATIO_BINS];
    /* Logit of a 1 = bias + sum of weight * feature (2^-12 per 1/16 octave; see contexts.h). */
    int16_t weight[CODEC_CLASSES][CODEC_FEATURES];
    int16_t bias[CODEC_CLASSES];             /* 1/64 */
    int8_t prior[CODEC_CLASSES][CODEC_BINS]; /* correction of the bin's logit, 1/32 */
    /* Expected x / scale of the first units = sum over the 4 neighbours and their first units of
     * signed_weight (1/64) * (x / scale). All zero for models with one window per image. */
    int8_t signed_weight[CODEC_SIGNED_UNITS][4][CODEC_SIGNED_INPUTS];
    /* Nonzero: passes of the first units have a causal template (causal.h). */
    uint8_t causal;
    int16_t causal_weight[CODEC_CAUSAL_UNITS][CODEC_AROUND];          /* 1/4096 */
    int8_t causal_logit[CODEC_CAUSAL_CLASSES][CODEC_CAUSAL_CONTEXTS]; /* 1/16 */
    struct codec_conditional *conditional; /* owned; NULL: none (conditional.h) */
    struct codec_conditional *head;        /* owned; NULL: none (head.h) */
    uint8_t *head_depth; /* [units] planes that the head is trained for; with head */
    /* Of a binary model, 0 .. 1: subtracted from known bits. */
    float centre;
    /* [units] share of ones of each unit of a binary model, in 1/256; NULL: not a binary model. */
    uint8_t *density;
    formats_block block; /* of tables with raised planes (raised_planes.h) */
} codec_code_tables;

/* Allocate zeroed arrays for units, with one fraction per plane. codec_code_tables_set_planes
 * allocates rd_slope. TAPER_ERR_NOMEM: *tables is zeroed. */
taper_status codec_code_tables_alloc(codec_code_tables *tables, uint32_t units);
/* Leaves it zeroed. */
void codec_code_tables_free(codec_code_tables *tables);
/* Allocate rd_slope and pass, and set n_rd_slopes. Call after planes[] and fractions are set. */
taper_status codec_code_tables_set_planes(codec_code_tables *tables);
/* Make the order of passes. Call after rd_slope is set. Passes are sorted by descending
 * rate-distortion slope, then ascending depth, fraction and unit. Stable; integers only.
 * TAPER_ERR_CORRUPT: a slope increases within a unit. */
taper_status codec_order_make(codec_code_tables *tables);
/* The same with one pass for every fraction, even with equal slopes: to measure each fraction. */
taper_status codec_order_make_apart(codec_code_tables *tables);

/* Make complete tables of a binary model: one plane per unit, the order 1 .. units, layers, and
 * centre 0. (Set the centre to the units' mean, so that an unknown unit counts as neither value.)
 * density: [units] the share of ones of each unit, 0 .. 1; NULL: all 1/2. window_pixels: width *
 * height of the window. Overwrites *tables without freeing it. TAPER_ERR_ARG: no units, too many,
 * or no pixels. TAPER_ERR_NOMEM. On failure *tables owns nothing. */
taper_status codec_code_tables_make_binary(codec_code_tables *tables, uint32_t units,
                                           uint32_t window_pixels, const float *density);

/* The serialised form in a model file. Readers check every field against the ranges above. Only
 * density and layers of a binary model are stored; codec_code_tables_read_binary reads these. */
taper_status codec_code_tables_write(const codec_code_tables *tables, formats_buffer *out);
taper_status codec_code_tables_read(codec_code_tables *tables, uint32_t units, formats_cursor *in,
                                    taper_error *error);
taper_status codec_code_tables_read_binary(codec_code_tables *tables, uint32_t units,
                                           formats_cursor *in, taper_error *error);

static inline uint32_t codec_band(uint32_t unit) {
    uint32_t band = 31 - (uint32_t)__builtin_clz(unit + 1);
    return band < CODEC_BANDS ? band : CODEC_BANDS - 1;
}
static inline uint32_t codec_class(codec_kind kind, uint32_t unit) {
    return (uint32_t)kind * CODEC_BANDS + codec_band(unit);
}

/* The kind of the next magnitude bit. A single expression, as compilers do not vectorise loops with
 * three branches. */
CODEC_INLINE codec_kind codec_kind_of_level(int32_t level) {
    return (codec_kind)(CODEC_REFINE_FIRST * (level != 0) + (level < -1 || level > 1));
}

/* The number of the model's passes among the first `pass` ones. Layers and the stages of networks
 * count these. */
static inline uint32_t codec_model_pass(const codec_code_tables *t, uint32_t pass) {
    return t->model_pass ? t->model_pass[pass] : pass;
}
/* Nonzero if the pass belongs to a raised plane. */
static inline int codec_pass_is_raised(const codec_code_tables *t, uint32_t pass) {
    return t->model_pass && t->model_pass[pass + 1] == t->model_pass[pass];
}

/* 16 log2(T / scale) of unit u at depth d. */
static inline int32_t codec_log_ratio(const codec_code_tables *t, uint32_t u, uint32_t depth) {
    return 16 * ((int32_t)t->planes[u] - (int32_t)depth) - t->log_scale[u];
}
/* The bin of a log ratio for recon and zero_norm. */
static inline uint32_t codec_ratio_bin(int32_t log_ratio) {
    enum { OCTAVE = 16, FIRST = -10 * OCTAVE, BIN = OCTAVE / 2 };
    if (log_ratio < FIRST) return 0;
    uint32_t bin = (uint32_t)(log_ratio - FIRST) / BIN;
    return bin > CODEC_RATIO_BINS - 2 ? CODEC_RATIO_BINS - 2 : bin;
}

#endif
