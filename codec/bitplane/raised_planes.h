/* raised_planes.h -- planes above the model's own, for images whose coefficients are larger than
 * any in the model's training. Without them a checkerboard of pixels would keep a tenth of its
 * contrast.
 *
 * A group that needs them has its own code tables: the model's, with more planes in some units. A
 * raised plane is one pass, all fractions together. Its slope, which gives its place in the order,
 * is that of the unit's first plane plus 16 for every plane above it: the distortion that a plane
 * removes grows by four with each. Layers and the stages of networks count the model's passes
 * alone; a raised pass belongs with the model's pass that follows it. The conditional model
 * predicts nothing for it. SPEC.md, 10.11. */
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
uint64_t codec_raised_planes_bytes(const codec_code_tables *model, const formats_raised *raised,
                                   uint32_t n);
/* Are they legal for this model? For reading a directory. */
int codec_raised_planes_fit(const codec_code_tables *model, const formats_raised *raised,
                            uint32_t n);

/* How many passes come before the model's pass `end`, raised ones included: where a layer ends. */
uint32_t codec_raised_planes_end(const codec_code_tables *tables, uint32_t end);

#endif
