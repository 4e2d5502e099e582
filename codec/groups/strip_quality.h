/* strip_quality.h -- how well a large image is kept, measured strip by strip: group_quality without
 * the whole image. */
#ifndef CODEC_STRIP_QUALITY_H
#define CODEC_STRIP_QUALITY_H
#include "codec/groups/group_quality.h"
#include "codec/groups/strip_codes.h"
#include "codec/render/row_renderer.h"

typedef struct codec_strip_quality {
    const taper_model *model;
    const codec_strip_codes *codes; /* with the pixels */
    codec_row_renderer renderer;
    codec_row_rendering how;
    void *original; /* a row of windows of pixels */
    uint32_t row;   /* that row, UINT32_MAX: none */
    double error;   /* the sum of squared errors on the 8-bit scale, over rows */
    taper_status failure;
} codec_strip_quality;

/* Strips come from the first to the last; with the first everything begins again. TAPER_ERR_NOMEM:
 * nothing is owned. */
taper_status codec_strip_quality_begin(codec_strip_quality *quality, const taper_model *model,
                                       const codec_backend *backend,
                                       const codec_strip_codes *codes);
taper_status codec_strip_quality_put(codec_strip_quality *quality, const codec_group *strip,
                                     uint32_t i);
/* After the last strip. */
void codec_strip_quality_get(const codec_strip_quality *quality, codec_least_quality *out);
void codec_strip_quality_end(codec_strip_quality *quality);
uint64_t codec_strip_quality_bytes(const taper_model *model, const taper_image *image);

#endif
