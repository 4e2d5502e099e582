/* cells.h -- the cells of a window, and the values of one (gradients.h). */
#ifndef CODEC_CELLS_H
#define CODEC_CELLS_H
#include <stdint.h>

enum {
    CODEC_GRADIENT_SIGNED = 18,
    CODEC_GRADIENT_PLANES = CODEC_GRADIENT_SIGNED + CODEC_GRADIENT_SIGNED / 2 + 4
};
enum { CODEC_GRADIENT_MOST_CELLS = 64 }; /* in one direction */

/* Cells of a window. across 0: there are none, as in all families but `gradients`. */
typedef struct codec_cells {
    uint32_t across, down; /* 1..CODEC_GRADIENT_MOST_CELLS, and at most half of the window's side */
} codec_cells;

#endif
