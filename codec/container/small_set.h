/* small_set.h -- the last step of encoding a set of at most CODEC_SMALL_SET_PIXELS in one group:
 * its data end where its images show best, and holds keep its cuts from falling. */
#ifndef CODEC_SMALL_SET_H
#define CODEC_SMALL_SET_H
#include "codec/container/assemble.h"
#include "codec/container/cut_quality.h"

/* All borrowed. */
typedef struct codec_small_set {
    const taper_model *model;
    const codec_originals *originals;
    const codec_chunks *chunks;
    const taper_limits *limits;
} codec_small_set;

/* Change the front of one group and one rate class: its last layers, passes and bytes, and its
 * holds. psnr: [images] gets the PSNR of each image at the new end; untouched where the end stays.
 * *ended: it did not. TAPER_ERR_NOMEM. Where the set cannot be drawn, the front stays as it was. */
taper_status codec_small_set_finish(const codec_small_set *set, formats_front *front, double *psnr,
                                    int *ended);

#endif
