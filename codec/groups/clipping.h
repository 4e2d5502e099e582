/* clipping.h -- choosing the planes that an encoder raises (raised_planes.h): those that an image
 * of the group needs because it exceeds the range of the model's planes. */
#ifndef CODEC_CLIPPING_H
#define CODEC_CLIPPING_H
#include "codec/bitplane/group.h"
#include "codec/bitplane/raised_planes.h"

/* One image of a group. */
typedef struct codec_clipping_image {
    uint32_t first, n; /* positions */
    uint64_t samples;  /* pixels * channels, to average the error */
} codec_clipping_image;

/* Planes are raised for an image if clipping would cost more than this squared error per sample, on
 * the 8-bit scale. Few natural images exceed it. Quantisation alone leaves twice as much. */
#define CODEC_CLIPPING_MAY_LOSE 0.25

/* Choose the units to raise. code: [units][stride] as codec_quantise_wide. *raised: [*n] units,
 * ascending; the caller frees it; NULL if *n is 0. The codes of all other images are clipped in
 * place, so that an image's codes do not depend on its group. TAPER_ERR_NOMEM. */
taper_status codec_clipping_choose(const codec_code_tables *tables, int16_t *code, size_t stride,
                                   const codec_clipping_image *image, size_t images,
                                   double may_lose, formats_raised **raised, uint32_t *n);

#endif
