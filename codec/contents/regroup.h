/* regroup.h -- the chunks of a group without some of its images.
 *
 * Images of a group share the strings of its chunks. So the group is decoded to its codes, and
 * those that stay are coded again, with the same passes in the same layers. Contexts never see
 * another image of the group; hence all complete passes decode to the same codes as before. */
#ifndef CODEC_REGROUP_H
#define CODEC_REGROUP_H
#include "codec/contents/regrouping.h"

/* Append the chunks of group g, layer after layer, to out. chunk_at[layers + 1] is set to where
 * each begins in out, and where the last ends. At least one image of the group stays.
 *
 * If the last chunk was cut, it is cut again behind what was known; the few bits that its last byte
 * has beyond that are 0. If one large image stays, it is divided into strips; of a container
 * that ends within a plane, windows at their edges may then have a bit 0 of that plane more.
 * The exact layer has no bytes then: regroup_exact.h makes it. TAPER_ERR_UNSUPPORTED: it was cut.
 * TAPER_ERR_LIMIT, TAPER_ERR_NOMEM; TAPER_ERR_CORRUPT: a chunk cannot be right. */
taper_status codec_regroup(const codec_regrouping *of, uint32_t g, formats_buffer *out,
                           uint64_t *chunk_at, taper_error *error);

#endif
