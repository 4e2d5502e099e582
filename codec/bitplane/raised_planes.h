/* raised_planes.h -- planes above the model's own, for images whose coefficients are larger than
 * any that the model's training saw: without them a checkerboard of pixels would be clipped to a
 * tenth of its contrast.
 *
 * A group that needs them has code tables of its own: the model's, with more planes in some units.
 * A raised plane is one pass, all fractions together, and has its place in the order by its slope:
 * that of the unit's first plane, and 16 more for every plane above it, as the distortion that a
 * plane removes grows by four with each. Layers and the stages of networks go on counting the
 * model's passes; a raised pass belongs with the model's pass that follows it. The conditional
 * model says nothing of it. SPEC.md, 10.11. */
#ifndef CODEC_RAISED_PLANES_H
#define CODEC_RAISED_PLANES_H
#include "codec/bitplane/code_tables.h"
#include "formats/container.h"

/* Tables for a group of a model with these tables, which they borrow from; n > 0 units, rising.
 * TAPER_ERR_CORRUPT: a unit that the model lacks, more than CODEC_MAX_PLANES planes, or a binary
 * model. On failure nothing is held. */
taper_status codec_raised_planes_make(codec_code_tables *out, const codec_code_tables *model,
                                      const formats_raised *raised, uint32_t n, taper_error *error);
/* Frees what is not the model's; leaves it zeroed. A zeroed one is fine. */
void codec_raised_planes_free(codec_code_tables *tables);
/* Bytes that they take. */
uint64_t codec_raised_planes_bytes(const codec_code_tables *model, const formats_raised *raised,
                                   uint32_t n);
/* Are they legal for this model? For reading a directory. */
int codec_raised_planes_fit(const codec_code_tables *model, const formats_raised *raised,
                            uint32_t n);

/* How many passes come before the model's pass `end`, raised ones included: those of the layers
 * that end there. */
uint32_t codec_raised_planes_end(const codec_code_tables *tables, uint32_t end);

#endif
