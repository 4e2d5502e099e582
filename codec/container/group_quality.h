/* group_quality.h -- how well the images of a group are kept by what was coded of it. */
#ifndef CODEC_GROUP_QUALITY_H
#define CODEC_GROUP_QUALITY_H
#include "codec/bitplane/quantiser.h"
#include "codec/model/model.h"

/* The least of some images. */
typedef struct codec_least_quality {
    double psnr_db; /* above CODEC_PSNR_CEILING_DB: of no image */
    size_t image;   /* whose it is, from 0 */
    size_t poor;    /* images below TAPER_POOR_PSNR_DB */
} codec_least_quality;

/* Render the images by the linear path from all that the group knows, and measure. The head and the
 * restoration network, which only add to it and cost most of the time, are left out. image: [n] the
 * originals. TAPER_ERR_NOMEM. */
taper_status codec_group_quality(const taper_model *model, const codec_backend *backend,
                                 const codec_group *group, const taper_image *image, size_t n,
                                 codec_least_quality *out);

#endif
