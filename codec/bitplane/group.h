/* group.h -- what is known of a group's codes while its passes are coded: one state, kept alike by
 * encoder and decoder. Arrays run [unit][position], position = window after window, image after
 * image.
 *
 * Everything that a context can see lives here, in integers.
 *
 * The room codec/bitplane/: quantised codes, bit plane by bit plane.
 *   group               what both sides know of a group's codes while passes are coded; the
 *                       quantiser
 *   code_tables         thresholds, the order of passes, reconstruction points
 *   chunk_coder         the passes of one chunk through contexts and range coder
 *   contexts            with what probability; neighbours: the four windows around, many at a time
 *   causal              what a pass says of itself, for the first units; causal_state: what is
 *                       kept for it
 *   conditional         a small network in integers that says what to expect of every bit;
 *                       conditional_state: at work
 *   head                its sibling at the decoder's end, which says what units are beyond what
 *                       is known
 *   raised_planes       planes of a group above its model's; clipping: which of them its images
 *                       need */
#ifndef CODEC_GROUP_H
#define CODEC_GROUP_H
#include "codec/bitplane/causal_state.h"
#include "codec/bitplane/code_tables.h"
#include "codec/bitplane/conditional_state.h"
#include "codec/entropy/mixed_bit.h"
#include "codec/window.h"
#include <string.h>

struct codec_pool;

enum {
    CODEC_NORM_ONE = 64,
    CODEC_NORM_MAX = 1023,
    CODEC_SIGNED_ONE = 1024,
    CODEC_SIGNED_MAX = 32767,
    CODEC_SKIP = 0xFFFF /* in place of a context: the position does not go in this pass */
};
enum { CODEC_LEFT, CODEC_RIGHT, CODEC_UP, CODEC_DOWN };

/* Images of one width, one after the other: their positions, and windows in a row. */
typedef struct codec_run {
    uint32_t first, end, columns;
} codec_run;

typedef struct codec_group {
    const codec_code_tables *tables; /* borrowed */
    struct codec_pool *pool; /* borrowed, for large groups; NULL: the caller's thread alone */
    uint32_t n;              /* positions */
    uint32_t stride;         /* of the arrays below, > n: slot n is the absent neighbour */
    int16_t *level;          /* [units][stride] signed q at codec_planes_known */
    uint8_t *
        plane_known; /* [units][stride] 1: of the plane after depth\[unit], too, its bit is known */
    uint16_t *norm;  /* [units][stride] known |x| / scale, 1/CODEC_NORM_ONE; slot n is 0. This and
                        the rest up to context: NULL in groups of a binary model */
    int16_t *
        signed_norm; /* [CODEC_SIGNED_UNITS][stride] known x / scale, 1/CODEC_SIGNED_ONE; or NULL */
    uint32_t *neighbour[4]; /* [n + 1] position of the neighbouring window, or n; NULL: no image has
                               two windows */
    uint8_t *sides;         /* [n] which of the four exist: bit CODEC_LEFT, .. CODEC_DOWN */
    codec_run *run;         /* [runs] */
    uint32_t runs;
    uint8_t *depth;    /* [units] planes known of every position */
    uint8_t *fraction; /* [units] fractions of the next plane that are known */
    codec_bit model[CODEC_CLASSES][CODEC_BINS];
    /* of the pass in work, by codec_contexts_predict */
    uint16_t *context;         /* [n] index into model: class * CODEC_BINS + bin; or CODEC_SKIP. It
                                  holds but where causal.stale says so */
    codec_causal_state causal; /* causal.h; at work if the pass looks at itself */
    uint16_t *work[4];         /* [stride] features, many at a time */
    int32_t *work_signed, *work_part;    /* [stride] */
    int32_t *work_logit;                 /* [stride] of magnitude bits, but for causal.logit */
    int32_t *zeros;                      /* [stride] in place of what does not add to logits */
    codec_mixed_bit mixed;               /* of a binary model's pass: all its bits */
    codec_conditional_state conditional; /* at work where tables->conditional is not NULL */
    /* where the decoder stands */
    uint32_t pass;     /* passes complete; the next pass is tables->pass[pass] */
    uint32_t position; /* positions of the next pass that are decoded */
    int predicted;     /* context[], or mixed, holds the next pass's */
    int awaits_sign;   /* the position's significance is decoded, its sign not yet */
} codec_group;

/* The stride of the arrays of a group of so many positions. */
uint64_t codec_group_stride(uint64_t positions);
/* Bytes that a group of this size takes; saturates. For checking against limits beforehand. */
uint64_t codec_group_bytes(const codec_code_tables *tables, uint64_t positions);

/* State before the first pass, for n_images with these grids (all >= 1 x 1). On failure nothing is
 * held. */
taper_status codec_group_alloc(codec_group *group, const codec_code_tables *tables,
                               const codec_grid *grid, size_t n_images, taper_error *error);
void codec_group_free(codec_group *group); /* leaves it zeroed; NULL is fine */
/* Back to the state before the first pass. */
void codec_group_forget(codec_group *group);

/* Close a pass whose level[] and plane_known[] are filled for every position that goes in it:
 * deepen the unit, refresh norms, step to the next. */
void codec_group_finish_pass(codec_group *group);

/* As if of passes 0 .. pass - 1 those had been coded that complete a plane, and the parts before
 * them: code as in chunk_coder.h. For training, which goes anywhere; the adaptive probabilities
 * stay as they are. */
void codec_group_know(codec_group *group, const int16_t *code, uint32_t pass);

/* The first position from p on whose level is not 0, or n. Most are 0: four of them at a time, and
 * among four without branches. */
static inline uint32_t codec_next_nonzero(const int16_t *level, uint32_t p, uint32_t n) {
    for (; p + 4 <= n; p += 4) {
        uint64_t four;
        memcpy(&four, level + p, sizeof four);
        if (!four) continue;
        uint32_t one = !level[p], two = one & !level[p + 1], three = two & !level[p + 2];
        return p + one + two + three;
    }
    while (p < n && !level[p]) p++;
    return p;
}

/* Could plane_known be 1 at some position of the unit? */
static inline int codec_group_is_split(const codec_group *g, uint32_t u) {
    return g->fraction[u] ||
           (g->position && g->pass < g->tables->n_passes && g->tables->pass[g->pass].unit == u);
}
/* Planes known of one position. */
static inline uint32_t codec_planes_known(const codec_group *g, uint32_t u, uint32_t p) {
    return (uint32_t)g->depth[u] + g->plane_known[(size_t)u * g->stride + p];
}

/* Reconstruct the codes of n positions from `first`, x[n][units], from all that is known, partial
 * pass included. */
void codec_group_dequantise(const codec_group *group, uint32_t first, uint32_t n, float *x);
/* Units that may differ from 0: one past the last unit of which something is known. */
uint32_t codec_group_units_known(const codec_group *group);

/* Quantise: signed magnitude of x at the finest step of unit u, clamped to its planes; of a binary
 * model the bit x > 0. */
int16_t codec_quantise(const codec_code_tables *tables, uint32_t u, float x);
/* The same, clamped to CODEC_MAX_PLANES planes: for groups that may raise some. */
int16_t codec_quantise_wide(const codec_code_tables *tables, uint32_t u, float x);

#endif
