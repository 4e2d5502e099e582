/* regroup_exact.h -- the exact layer of a group without some of its images. */
#ifndef CODEC_REGROUP_EXACT_H
#define CODEC_REGROUP_EXACT_H
#include "codec/contents/regrouping.h"

/* Append the chunk of the exact layer of the images of group g that stay: they are decoded with and
 * without it. TAPER_ERR_UNSUPPORTED: the layer was cut there. Errors of codec_regroup. */
taper_status codec_regroup_exact(const codec_regrouping *of, uint32_t g, formats_buffer *out,
                                 taper_error *error);

#endif
