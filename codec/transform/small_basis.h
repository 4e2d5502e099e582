/* small_basis.h -- the rows of a synthesis at 1/2, 1/4, 1/8 or 1/16 of the size, for small versions
 * of pictures. Integers: every machine makes the same rows.
 *
 * A small pixel is the mean of scale x scale pixels. The lap is part of the rows, so a window adds
 * to small pixels around it, too: as far as the lap's reach, rounded up to R, a multiple of the
 * scale. On each axis, for the pixel i of a window and the small pixel o, counted from -R / scale:
 *     A(i, o) = round(2^13 / scale * sum over the pixels p of o of L(p, i)),
 * where L(p, i) is what pixel i gives to pixel p after the lap at both edges (lap.h). Of a row W of
 * the synthesis, modulo 2^32 and clamped to 16 bits at the end:
 *     T(o, x)      = (sum over y of A(y, o) W(y, x) + 2^11) >> 12
 *     small(o, o') = (sum over x of A(x, o') T(o, x) + 2^13) >> 14
 *
 * At an edge of the image no lap is applied. That is the same as a lap with a mirrored window: all
 * differences are 0. So what rows give to small pixels beyond the edge is added to those within,
 * mirrored (small_picture.h), and rows for windows at edges are not needed.
 *
 * Rows that hardly show at this size are left out. A unit stays if at its usual size it changes a
 * value of the window by more than sqrt(CODEC_SMALL_LEAST / 1000) levels, root mean square. Of the
 * 768 units of the model `photo` these are 423 at 1/2, then 214, 105 and 42 at 1/16. Measured on 59
 * photographs at 0.1, 0.25, 1 and 8 bpp, the PSNR against exact means is 54.9, 54.3, 54.7 and 55.5
 * dB on average, rounding included. It is 47.7 dB at least, but for one thing: levels beyond black
 * and white are averaged here, where whole pictures clip them first. At 0.1 bpp that costs some
 * pictures up to 7 dB. */
#ifndef CODEC_SMALL_BASIS_H
#define CODEC_SMALL_BASIS_H
#include "codec/transform/synthesis.h"
#include "codec/window.h"

enum { CODEC_SMALL_LEAST = 2, CODEC_SMALL_MOST_SCALE = 16 };

typedef struct codec_small_basis {
    uint32_t scale;      /* 0: there is no basis */
    codec_window window; /* in small pixels; without a lap */
    uint32_t reach;      /* small pixels around it that its rows have, too: R / scale */
    /* One row a unit that stays: [channels][height + 2 reach][width + 2 reach]. bits is that of all
     * units of the model; mean is a row as well. */
    codec_synthesis rows;
    uint32_t units; /* of the model */
    uint32_t *unit; /* [rows.units] their numbers in the model, ascending */
} codec_small_basis;

/* Nonzero if both sides of the window are multiples of the scale. */
int codec_small_basis_fits(codec_window window, uint32_t scale);

/* Make it of a synthesis of a window that fits. spread: [units] the usual size of each unit. scale:
 * 2, 4, 8 or 16. TAPER_ERR_NOMEM: *out is zeroed. */
taper_status codec_small_basis_make(const codec_synthesis *synthesis, codec_window window,
                                    uint32_t scale, const double *spread, codec_small_basis *out);
/* Leaves it zeroed. Safe on a zeroed struct. */
void codec_small_basis_free(codec_small_basis *basis);

/* Memory of a basis, and the most that making one takes. */
uint64_t codec_small_basis_bytes(const codec_small_basis *basis);
uint64_t codec_small_basis_most_bytes(uint32_t units, codec_window window, uint32_t scale);

#endif
