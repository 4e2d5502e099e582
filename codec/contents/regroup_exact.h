/* regroup_exact.h -- the exact layer of groups without some of their images.
 *
 * It codes the difference from what the layers before it show. In groups that are coded again that
 * may be another picture than before (regroup.h). So the container is made without the exact layer
 * of these groups, and its pictures are what their exact layer is coded for. */
#ifndef CODEC_REGROUP_EXACT_H
#define CODEC_REGROUP_EXACT_H
#include "codec/contents/regrouping.h"
#include "codec/taper.h"

typedef struct codec_exact_regrouping {
    const codec_regrouping *of;
    const formats_front *result; /* of the container that was made */
    taper_container *before, *after;
    taper_decoder *exact, *lossy; /* of these */
} codec_exact_regrouping;

/* made: the container without the exact layer of groups that lose images. Both must outlive *out.
 * On failure *out needs no close. The errors of taper_container_open. */
taper_status codec_exact_regrouping_open(codec_exact_regrouping *out, const codec_regrouping *of,
                                         const formats_front *result, const taper_source *made,
                                         taper_error *error);
void codec_exact_regrouping_close(codec_exact_regrouping *regrouping);

/* Append the chunk of the exact layer of the images of group g that stay, which are group `group`
 * of the result. TAPER_ERR_CORRUPT, TAPER_ERR_LIMIT, TAPER_ERR_NOMEM. */
taper_status codec_regroup_exact(const codec_exact_regrouping *regrouping, uint32_t g,
                                 uint32_t group, formats_buffer *out, taper_error *error);

#endif
