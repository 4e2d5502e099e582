/* code_tables.h -- all that a model says about coding its units: thresholds, order, reconstruction
 * points, and what the contexts need. All are integers, except the step, which ties them to the
 * network's floats.
 *
 * Quantiser (embedded, with a dead zone): unit u of value x has the magnitude M = floor(|x| /
 * step[u]) in planes[u] bits. After d of them (depth d, most significant first) its level is q = M
 * >> (planes[u] - d) and its threshold T = step[u] * 2^(planes[u] - d): q = 0 says |x| < T, q > 0
 * says q T <= |x| < (q + 1) T with the sign known.
 *
 * A PASS sends one plane of one unit, for all windows of all images of a group, or one of up to
 * CODEC_MAX_FRACTIONS fractional bit-planes of it. The first fractions hold the positions where a 1
 * is likely, which gain more for their bits; the last holds all that are left (contexts.h). A
 * fraction whose rd_slope is that of the next goes together with it.
 *
 * Binary models (density is not NULL): M is the bit that is 1 where x > 0. There are no signs, and
 * the decoder's network is given bit - centre, 0 for a unit that is not sent. Each unit is one
 * pass, in rising order; of the other tables only the layers are used. mixed_bit.h prices bits. */
#ifndef CODEC_CODE_TABLES_H
#define CODEC_CODE_TABLES_H
#include "codec/backend/simd.h"
#include "formats/bytes.h"

enum {
    CODEC_MAX_UNITS = 65535,
    CODEC_MAX_PLANES = 15,   /* magnitudes fit int16 */
    CODEC_MAX_FRACTIONS = 4, /* of a plane */
    CODEC_MAX_LAYERS_IN_MODEL = 64,
    CODEC_BANDS = 12, /* of unit indices: band b holds 2^b - 1 .. 2^(b+1) - 2, the last all above */
    CODEC_KINDS = 4,  /* of coded bits, see codec_kind */
    CODEC_CLASSES = CODEC_KINDS * CODEC_BANDS,
    CODEC_BINS = 96,          /* of a predicted logit: -12 .. 12 in steps of 1/4 */
    CODEC_FEATURES = 8,       /* inputs of the logit, see contexts.h */
    CODEC_RATIO_BINS = 40,    /* of log2(threshold / scale), half octaves from 2^-10 */
    CODEC_RECON_LEVELS = 4,   /* reconstruction points for q = 1, 2, 3 and above */
    CODEC_SIGNED_UNITS = 24,  /* first units, predicted with their sign from neighbours */
    CODEC_SIGNED_INPUTS = 16, /* units of each neighbour in such a prediction */
    CODEC_CAUSAL_BANDS = 5,   /* bands of the first units, which have a causal template */
    CODEC_CAUSAL_UNITS = 31,  /* of these bands */
    CODEC_CAUSAL_CLASSES = CODEC_KINDS * CODEC_CAUSAL_BANDS,
    CODEC_CAUSAL_CONTEXTS = 96, /* of a bit, see causal.h */
    CODEC_AROUND = 8            /* windows around one */
};

typedef enum codec_kind {
    CODEC_SIGNIFICANCE = 0, /* q: 0 -> 0 or 1 */
    CODEC_SIGN = 1,
    CODEC_REFINE_FIRST = 2, /* q: 1 -> 2 or 3 */
    CODEC_REFINE_LATER = 3
} codec_kind;

typedef struct codec_pass {
    uint16_t unit;
    uint8_t depth;    /* planes of the unit before this one: 0 for its first */
    uint8_t fraction; /* of the plane; the last is tables->fractions - 1 */
} codec_pass;

typedef struct codec_layer_end {
    uint32_t pass;             /* one past the layer's last pass */
    uint32_t bytes_per_mpixel; /* expected bytes per million pixels of the layers up to here */
} codec_layer_end;

struct codec_conditional;

typedef struct codec_code_tables {
    uint32_t units;
    float *step;        /* [units] > 0 */
    uint8_t *planes;    /* [units] 0..CODEC_MAX_PLANES; 0: the unit is never sent */
    int16_t *log_scale; /* [units] 16 log2(root mean square of x / step), -512 .. 1023 */
    uint32_t fractions; /* of a plane: 1 .. CODEC_MAX_FRACTIONS */
    /* bins from which level 0 goes in these fractions, falling; the last takes the rest */
    uint8_t least[CODEC_MAX_FRACTIONS - 1];
    uint32_t n_rd_slopes; /* sum of planes * fractions */
    /* [n_rd_slopes] rate-distortion slopes, unit after unit, plane after plane, fraction after
     * fraction: 8 log2 of distortion gain per bit, 255 the steepest; do not rise within a unit */
    uint8_t *rd_slope;
    /* from rd_slope, by codec_order_make: */
    uint32_t n_passes;
    codec_pass *pass;     /* [n_passes]; there is room for n_rd_slopes */
    uint32_t *model_pass; /* [n_passes + 1] how many of the passes before each are the model's, not
                             raised (raised_planes.h); NULL: all */
    uint32_t n_layers;    /* suggested layers, the last ends at n_passes */
    codec_layer_end layer[CODEC_MAX_LAYERS_IN_MODEL];

    /* position within the interval (1/256), by log2(T / scale) and level */
    uint8_t recon[CODEC_RATIO_BINS][CODEC_RECON_LEVELS];
    /* expected |x| / scale (1/64) of a unit known to be below T; the last bin: nothing known yet */
    uint8_t zero_norm[CODEC_RATIO_BINS];
    /* logit of a 1 = bias + sum of weight * feature (2^-12 per 1/16 octave; see contexts.h) */
    int16_t weight[CODEC_CLASSES][CODEC_FEATURES];
    int16_t bias[CODEC_CLASSES];             /* 1/64 */
    int8_t prior[CODEC_CLASSES][CODEC_BINS]; /* correction of the bin's logit, 1/32 */
    /* expected x / scale of the first units = sum over the 4 neighbours and their first units of
     * signed_weight (1/64) * (x / scale); all zero where there is one window an image */
    int8_t signed_weight[CODEC_SIGNED_UNITS][4][CODEC_SIGNED_INPUTS];
    uint8_t causal; /* do passes of the first units have a causal template (causal.h)? */
    int16_t causal_weight[CODEC_CAUSAL_UNITS][CODEC_AROUND];          /* 1/4096 */
    int8_t causal_logit[CODEC_CAUSAL_CLASSES][CODEC_CAUSAL_CONTEXTS]; /* 1/16 */
    struct codec_conditional *conditional; /* owned; NULL: none (conditional.h) */
    struct codec_conditional *head;        /* owned; NULL: none (head.h) */
    uint8_t *head_depth;                   /* [units] planes that the head knows of; with head */
    float centre;     /* of a binary model, 0 .. 1: taken off the bits that are sent */
    uint8_t *density; /* [units] share of ones of a binary model's unit, 1/256; NULL: not binary */
} codec_code_tables;

/* Zeroed arrays for units, planes in one fraction; on failure nothing is held. rd_slope is
 * allocated by codec_code_tables_set_planes. */
taper_status codec_code_tables_alloc(codec_code_tables *tables, uint32_t units);
void codec_code_tables_free(codec_code_tables *tables); /* leaves it zeroed */
/* After planes[] and fractions are filled: allocate rd_slope and pass, and set n_rd_slopes. */
taper_status codec_code_tables_set_planes(codec_code_tables *tables);
/* After rd_slope is filled: the order, by falling rate-distortion slope, then rising depth and
 * fraction, then rising unit. Stable and integer. Within a unit the slope must not rise
 * (TAPER_ERR_CORRUPT). */
taper_status codec_order_make(codec_code_tables *tables);
/* The same with a pass for every fraction, also where a file would join several: to measure what
 * each is worth. */
taper_status codec_order_make_apart(codec_code_tables *tables);

/* Complete tables of a binary model: one plane a unit, the order 1 .. units, layers, centre 0 (set
 * it to the units' mean to have one that is not sent count as neither). density: [units], each
 * unit's share of ones, 0 .. 1; NULL: all 1/2. window_pixels: width * height of the window. What
 * *tables held is overwritten. TAPER_ERR_ARG for no units, too many or no pixels; TAPER_ERR_NOMEM;
 * nothing is held then. */
taper_status codec_code_tables_make_binary(codec_code_tables *tables, uint32_t units,
                                           uint32_t window_pixels, const float *density);

/* Serialised form in a model file; readers check every field against the ranges above. Of a binary
 * model density and layers alone are stored: codec_code_tables_read_binary reads those. */
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

/* The kind of the magnitude's next bit. One expression: loops that choose between three stay
 * scalar. */
CODEC_INLINE codec_kind codec_kind_of_level(int32_t level) {
    return (codec_kind)(CODEC_REFINE_FIRST * (level != 0) + (level < -1 || level > 1));
}

/* How many of the first `pass` passes are the model's: layers and networks' stages count these. */
static inline uint32_t codec_model_pass(const codec_code_tables *t, uint32_t pass) {
    return t->model_pass ? t->model_pass[pass] : pass;
}
/* Is this pass of a raised plane? */
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
