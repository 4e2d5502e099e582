/* group_quality.h -- the PSNR of the images of an encoded group. */
#ifndef CODEC_GROUP_QUALITY_H
#define CODEC_GROUP_QUALITY_H
#include "codec/bitplane/strips.h"
#include "codec/model/model.h"

/* The PSNR of some images. */
typedef struct codec_least_quality {
    double psnr_db; /* above TAPER_PSNR_CEILING_DB: there was no image */
    size_t image;   /* the image with it, from 0 */
    size_t poor;    /* number of images below TAPER_POOR_PSNR_DB */
    size_t images;  /* number of those that were measured */
    double sum_db;  /* of these */
} codec_least_quality;

/* Render the images of the group at full length by the linear path, and measure them. The head and
 * the restoration network are omitted: they only improve the images and take most of the time.
 * image: [n] the originals. TAPER_ERR_NOMEM. */
taper_status codec_group_quality(const taper_model *model, const codec_backend *backend,
                                 const codec_strips *group, const taper_image *image, size_t n,
                                 codec_least_quality *out);

#endif
