/* group.h -- the known part of a group's codes: levels, planes, neighbours. Encoder and decoder
 * have the same state. Arrays are [unit][position]; a position is a window, image after image.
 *
 * The directory codec/bitplane/: quantised codes, bit plane by bit plane.
 *   code_tables         thresholds, the order of passes, reconstruction points
 *   group               the known part of the codes; quantiser: real numbers to codes and back
 *   neighbours          sums over the four neighbouring windows, vectorised
 *   context_model       probabilities and the predictors' state; contexts: the prediction
 *   significance        the contexts of most bits, with a kernel for AVX2
 *   causal              the causal template: what a pass has decoded so far, for the first units
 *   conditional         a small network that predicts every bit; conditional_state: its evaluation
 *   unit_sets           the units in sets, by their first passes: what a stage of a model holds
 *   conditional_inputs  what changes of its inputs add to the sums of its first layer
 *   head                a similar network of the decoder, which predicts unknown parts of units
 *   chunk_coder         the passes of a chunk, with contexts and the range coder
 *   strips              a large image as strips of rows, each coded like a group of its own
 *   raised_planes       planes of a group above the model's */
#ifndef CODEC_GROUP_H
#define CODEC_GROUP_H
#include "codec/bitplane/code_tables.h"
#include "codec/window.h"
#include "formats/layout.h"
#include <string.h>

enum {
    CODEC_NORM_ONE = 64,
    CODEC_NORM_MAX = 1023,
    CODEC_SIGNED_ONE = 1024,
    CODEC_SIGNED_MAX = 32767
};

/* Consecutive images of one width: positions first .. end - 1, and windows per row. */
typedef struct codec_run {
    uint32_t first, end, columns;
} codec_run;

/* What determines the memory of a group. Begins zeroed. */
typedef struct codec_group_shape {
    uint64_t images, windows; /* windows saturates */
    uint32_t columns, widest; /* of windows: in the last image and the widest */
    uint32_t runs;
    int several; /* an image has several windows */
} codec_group_shape;

/* Add an image, whose grid is at least 1 x 1. */
void codec_group_shape_add(codec_group_shape *shape, codec_grid grid);
codec_group_shape codec_group_shape_of(const codec_grid *grid, size_t n_images);

/* Its memory: what stays; levels; and what only coding needs, zeroed or not. All but the first can
 * be freed and made again (parking/parked_strips.h). */
typedef struct codec_group_layout {
    formats_layout core, levels, coding, unset;
} codec_group_layout;
typedef struct codec_group_blocks {
    formats_block core, levels, coding, unset;
} codec_group_blocks;

/* The counted bytes; saturates. */
uint64_t codec_group_layout_bytes(const codec_group_layout *at);
/* Take the blocks of a layout with groups of this shape in all. The messages say how many windows
 * these are. TAPER_ERR_NOMEM, TAPER_ERR_LIMIT: *blocks is zeroed. */
taper_status codec_group_take(codec_group_blocks *blocks, codec_group_layout *at,
                              const codec_group_shape *shape, formats_account *account,
                              taper_error *error);
/* Free what only coding needs; or all of them. */
void codec_group_end_coding(codec_group_blocks *blocks);
void codec_group_release(codec_group_blocks *blocks);

/* Probabilities of a unit depend on norms of units at most so far away. */
enum { CODEC_FARTHEST = 38 };

typedef struct codec_group {
    const codec_code_tables *tables; /* borrowed */
    uint32_t n;                      /* positions */
    /* Of the arrays below, >= n + 16: slot n is an absent neighbour, and vectors of 16 positions
     * may begin anywhere. */
    uint32_t stride;
    int16_t *level;       /* [units][stride] signed q at codec_planes_known */
    uint8_t *plane_known; /* [units][stride] 1: the bit of the next plane is known */
    uint8_t *depth;       /* [units] planes known at every position */
    uint8_t *fraction;    /* [units] known fractions of the next plane */
    /* [units][stride] known |x| / scale, 1/CODEC_NORM_ONE; slot n is 0. NULL: a binary model. A row
     * of windows before the first unit and after the last is memory, too. */
    uint16_t *norm;
    uint32_t norms; /* units from 0 whose norms are set: all that the next pass looks at */
    /* NULL for binary models, and if every image has one window: */
    int16_t *signed_norm;   /* [CODEC_SIGNED_UNITS][stride] known x / scale, 1/CODEC_SIGNED_ONE */
    uint32_t *neighbour[4]; /* [n + 1] position of the neighbouring window, or n */
    uint8_t *sides;         /* [n] which of the four exist: bit CODEC_LEFT, .. CODEC_DOWN */
    codec_run *run;         /* [runs] */
    uint32_t runs;
    uint32_t widest;        /* columns of the widest image */
    int linked;             /* there are neighbours */
    codec_group_blocks own; /* of codec_group_alloc */
    /* The progress of coding: */
    uint32_t pass;     /* complete passes; the next pass is tables->pass[pass] */
    uint32_t position; /* decoded positions of the next pass */
} codec_group;

/* The stride of the arrays of a group with this number of positions. */
uint64_t codec_group_stride(uint64_t positions);

/* Lay out the state. Sets the sizes in *group, which begins zeroed; laid out again, its progress
 * and runs stay. More than 2^31 windows take more memory than there is. */
void codec_group_lay_out(codec_group *group, const codec_code_tables *tables,
                         const codec_group_shape *shape, codec_group_layout *at);
/* Set the state before the first pass, once it is laid out in memory. */
void codec_group_begin(codec_group *group, const codec_grid *grid, size_t n_images);

/* All of these, in blocks of its own, for n_images with these grids (all >= 1 x 1).
 * TAPER_ERR_NOMEM, TAPER_ERR_LIMIT: *group is zeroed. */
taper_status codec_group_alloc(codec_group *group, const codec_code_tables *tables,
                               const codec_grid *grid, size_t n_images, taper_error *error);
/* Leaves it zeroed. NULL is allowed. */
void codec_group_free(codec_group *group);
/* Return to the state before the first pass. */
void codec_group_reset(codec_group *group);

/* Set the norms that were set before to what the other arrays say between two passes. */
void codec_group_make_norms(codec_group *group);
/* Set the norms of units below `end`, as far as no call did before. Passes do it for the units
 * that they look at: the memory of later ones is not touched, as most files end long before the
 * last unit. */
void codec_group_set_norms(codec_group *group, uint32_t end);

/* Finish a pass whose level[] and plane_known[] are set at every position of the pass: update the
 * depth and the norms of the unit, and go to the next pass. */
void codec_group_finish_pass(codec_group *group);

/* Set the state to that after coding the passes below `pass` that complete a plane, with their
 * earlier fractions. code: as in chunk_coder.h. Adaptive probabilities do not change. For training,
 * which needs states in any order. */
void codec_group_know(codec_group *group, const int16_t *code, uint32_t pass);

/* The first position from p on with a level other than 0, or n. As most levels are 0, 16 and then
 * four are tested at a time, and the first of four is found without branches. */
static inline uint32_t codec_next_nonzero(const int16_t *level, uint32_t p, uint32_t n) {
    uint64_t four[4];
    for (; p + 16 <= n; p += 16) {
        memcpy(four, level + p, sizeof four);
        if (four[0] | four[1] | four[2] | four[3]) break;
    }
    for (; p + 4 <= n; p += 4) {
        memcpy(four, level + p, sizeof *four);
        if (!four[0]) continue;
#if defined __BYTE_ORDER__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        return p + (uint32_t)__builtin_ctzll(four[0]) / 16;
#else
        uint32_t one = !level[p], two = one & !level[p + 1], three = two & !level[p + 2];
        return p + one + two + three;
#endif
    }
    while (p < n && !level[p]) p++;
    return p;
}

/* Nonzero if plane_known may be 1 at some position of the unit. */
static inline int codec_group_is_split(const codec_group *g, uint32_t u) {
    return g->fraction[u] ||
           (g->position && g->pass < g->tables->n_passes && g->tables->pass[g->pass].unit == u);
}
/* Nonzero if a head (head.h) corrects the group: there is one, and it has learned more passes. */
int codec_group_has_head(const codec_group *group);
/* The number of known planes at one position. */
static inline uint32_t codec_planes_known(const codec_group *g, uint32_t u, uint32_t p) {
    return (uint32_t)g->depth[u] + g->plane_known[(size_t)u * g->stride + p];
}

/* One past the last unit of which something is known; the others are 0. */
uint32_t codec_group_units_known(const codec_group *group);
/* Of a binary model: the number of positions, from the first on, where the last of these units is
 * known. All positions, unless the cut is within a pass. */
uint32_t codec_group_last_known(const codec_group *group);

#endif
