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
 * Rows that are 0 at this size are left out. No others: leaving out those that hardly show in
 * photographs saved 3 % of the time at 1/8, but drawings were up to 46 levels wrong. The PSNR
 * against exact means is 57 dB and more, but for one thing: levels beyond black and white are
 * averaged here, where whole pictures clip them first. At 0.1 bpp that costs some pictures up to 7
 * dB. */
#ifndef CODEC_SMALL_BASIS_H
#define CODEC_SMALL_BASIS_H
#include "codec/transform/synthesis.h"
#include "codec/window.h"
#include "formats/layout.h"

enum { CODEC_SMALL_MOST_SCALE = 16 };

typedef struct codec_small_basis {
    uint32_t scale;      /* 0: there is no basis */
    codec_window window; /* in small pixels; without a lap */
    uint32_t reach;      /* small pixels around it that its rows have, too: R / scale */
    /* One row a unit that stays: [channels][height + 2 reach][width + 2 reach]. bits is that of all
     * units of the model; mean is a row as well. */
    codec_synthesis rows;
    uint32_t units; /* of the model */
    uint32_t *unit; /* [rows.units] their numbers in the model, ascending */
    formats_block block;
} codec_small_basis;

/* Nonzero if both sides of the window are multiples of the scale. */
int codec_small_basis_fits(codec_window window, uint32_t scale);

/* Its sizes, without any rows. */
codec_small_basis codec_small_basis_shape(codec_window window, uint32_t scale, uint32_t units);
/* Make it of a synthesis of a window that fits. kept: [units] 0: the unit is left
 * out; or NULL. scale: 2, 4, 8 or 16. TAPER_ERR_NOMEM: *out is zeroed. */
taper_status codec_small_basis_make(const codec_synthesis *synthesis, codec_window window,
                                    uint32_t scale, const uint8_t *kept, codec_small_basis *out);
/* Leaves it zeroed. Safe on a zeroed struct. */
void codec_small_basis_free(codec_small_basis *basis);

/* Memory of a basis, and the most that making one takes. */
uint64_t codec_small_basis_bytes(const codec_small_basis *basis);
uint64_t codec_small_basis_most_bytes(uint32_t units, codec_window window, uint32_t scale);

#endif
