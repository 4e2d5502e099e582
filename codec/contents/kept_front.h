/* kept_front.h -- the front matter of a container without some of its images.
 *
 * The directory codec/contents/: changes of what a container holds, without the network.
 *   remove       taper_remove
 *   kept_front   the front matter that stays
 *   regroup      the chunks of a group that loses some of its images; regroup_exact: of its exact
 *                layer; regrouping: what both are given
 *   taken        further names that take the places of removed images
 *   rename       taper_rename */
#ifndef CODEC_KEPT_FRONT_H
#define CODEC_KEPT_FRONT_H
#include "formats/container.h"

/* Where the groups and layers of the result come from. */
typedef struct codec_kept {
    const uint8_t *keep; /* [images of the source, then its further names] 1: it stays */
    const formats_also *const *taken_by; /* see formats_carried */
    uint32_t *group;                     /* [groups of the result] the group of the source */
    uint32_t *layer;                     /* [layers of the result] the layer of the source */
} codec_kept;

/* Fill all of *result but the chunks: chunk_at has room, and is 0. Images keep their order, class
 * names and layers stay, rate classes without images are dropped. *result begins with its account
 * alone; kept->keep is given, and at least one image stays. Models are moved out of *front. The
 * caller frees the result and the arrays of *kept, also after a failure. TAPER_ERR_LIMIT,
 * TAPER_ERR_NOMEM. */
taper_status codec_keep_front(formats_front *front, codec_kept *kept, formats_front *result,
                              taper_error *error);

/* How many images of group g stay. */
uint32_t codec_kept_in_group(const formats_front *front, const uint8_t *keep, uint32_t g);

#endif
