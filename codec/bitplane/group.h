/* group.h -- what is known of a group's codes: levels, planes, neighbours. Encoder and decoder keep
 * it alike. Arrays run [unit][position], position = window after window, image after image.
 *
 * The room codec/bitplane/: quantised codes, bit plane by bit plane.
 *   code_tables         thresholds, the order of passes, reconstruction points
 *   group               what is known; quantiser: real numbers to codes and back
 *   neighbours          the four windows around, many positions at a time
 *   context_model       the probabilities, and the predictors' state; contexts: predicting
 *   causal              the causal template: what a pass has decoded so far, for the first units
 *   conditional         a small network that predicts every bit; conditional_state: at work
 *   head                its sibling in the decoder, which predicts what is not known of units
 *   chunk_coder         the passes of one chunk through contexts and range coder
 *   raised_planes       planes of a group above its model's; clipping: which its images need */
#ifndef CODEC_GROUP_H
#define CODEC_GROUP_H
#include "codec/bitplane/code_tables.h"
#include "codec/window.h"
#include <string.h>

enum {
    CODEC_NORM_ONE = 64,
    CODEC_NORM_MAX = 1023,
    CODEC_SIGNED_ONE = 1024,
    CODEC_SIGNED_MAX = 32767
};
enum { CODEC_LEFT, CODEC_RIGHT, CODEC_UP, CODEC_DOWN };

/* Images of one width, one after the other: their positions, and windows in a row. */
typedef struct codec_run {
    uint32_t first, end, columns;
} codec_run;

typedef struct codec_group {
    const codec_code_tables *tables; /* borrowed */
    uint32_t n;                      /* positions */
    uint32_t stride;                 /* of the arrays below, > n: slot n is the absent neighbour */
    int16_t *level;                  /* [units][stride] signed q at codec_planes_known */
    uint8_t *plane_known; /* [units][stride] 1: its bit of the next plane is known, too */
    uint8_t *depth;       /* [units] planes known of every position */
    uint8_t *fraction;    /* [units] fractions of the next plane that are known */
    uint16_t *norm; /* [units][stride] known |x| / scale, 1/CODEC_NORM_ONE; slot n is 0. NULL in
                       groups of a binary model */
    /* of groups where an image has several windows, not of a binary model; else NULL */
    int16_t *signed_norm;   /* [CODEC_SIGNED_UNITS][stride] known x / scale, 1/CODEC_SIGNED_ONE */
    uint32_t *neighbour[4]; /* [n + 1] position of the neighbouring window, or n */
    uint8_t *sides;         /* [n] which of the four exist: bit CODEC_LEFT, .. CODEC_DOWN */
    codec_run *run;         /* [runs] */
    uint32_t runs;
    /* where coding stands */
    uint32_t pass;     /* passes complete; the next pass is tables->pass[pass] */
    uint32_t position; /* positions of the next pass that are decoded */
} codec_group;

/* The stride of the arrays of a group of so many positions. */
uint64_t codec_group_stride(uint64_t positions);
/* For so many positions; saturates. */
uint64_t codec_group_bytes(const codec_code_tables *tables, uint64_t positions);

/* State before the first pass, for n_images with these grids (all >= 1 x 1). On failure nothing is
 * held. */
taper_status codec_group_alloc(codec_group *group, const codec_code_tables *tables,
                               const codec_grid *grid, size_t n_images, taper_error *error);
void codec_group_free(codec_group *group); /* leaves it zeroed; NULL is fine */
/* Back to the state before the first pass. */
void codec_group_reset(codec_group *group);

/* Close a pass whose level[] and plane_known[] are filled for every position that goes in it:
 * deepen the unit, refresh norms, step to the next. */
void codec_group_finish_pass(codec_group *group);

/* The state as if the passes below `pass` that complete a plane had been coded, with the fractions
 * before them: code as in chunk_coder.h. For training, which goes anywhere; adaptive probabilities
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

/* Units that may differ from 0: one past the last unit of which something is known. */
uint32_t codec_group_units_known(const codec_group *group);
/* Of a binary model: the positions at which the last of these is known, which come first. All, but
 * for a cut within a pass. */
uint32_t codec_group_last_known(const codec_group *group);

#endif
