/* small_set.h -- the last step for a set of one group and at most CODEC_SMALL_SET_PIXELS: its data
 * end at the highest PSNR, and holds prevent longer cuts from having a lower PSNR. Data with pixel
 * layers keep their end. Drawings need no holds: their cuts do not get worse. */
#ifndef CODEC_SMALL_SET_H
#define CODEC_SMALL_SET_H
#include "codec/groups/assemble.h"
#include "codec/container/cut_quality.h"

/* All borrowed. */
typedef struct codec_small_set {
    const taper_model *model;
    const codec_originals *originals;
    const codec_chunks *chunks;
    const taper_limits *limits;
} codec_small_set;

/* Shorten the last layers, passes and bytes of a front of one group and one rate class, and set its
 * holds. psnr: [images] the PSNR of each image at the new end; unchanged if the end stays.
 * *ended: nonzero if the end changed. TAPER_ERR_NOMEM. If the set cannot be rendered, the front is
 * unchanged. */
taper_status codec_small_set_finish(const codec_small_set *set, formats_front *front, double *psnr,
                                    int *ended);

#endif
