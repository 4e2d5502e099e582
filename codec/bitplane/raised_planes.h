/* raised_planes.h -- planes above the model's own, for images whose coefficients are larger than
 * those of the training images. Without them a checkerboard of pixels would lose nine tenths of its
 * contrast.
 *
 * A group that needs them has its own code tables: the model's, with more planes in some units. A
 * raised plane is one pass, with all fractions. Its slope, which determines its place in the order,
 * is that of the unit's first plane plus 16 for each plane above it: the distortion that a plane
 * removes is four times that of the plane below. Layers and the stages of networks count only the
 * model's passes. A raised pass belongs to the model's pass that follows it. The conditional model
 * does not predict it. See SPEC.md, 10.11. */
#ifndef CODEC_RAISED_PLANES_H
#define CODEC_RAISED_PLANES_H
#include "codec/bitplane/code_tables.h"
#include "formats/container.h"

/* Make the tables of a group. They borrow from the model's tables. raised: n > 0 units, ascending.
 * Their memory is charged to the account, which may be NULL. TAPER_ERR_CORRUPT: there is no such
 * unit, there would be more than CODEC_MAX_PLANES planes, or the model is binary. TAPER_ERR_NOMEM,
 * TAPER_ERR_LIMIT. On failure *out owns nothing. */
taper_status codec_raised_planes_make(codec_code_tables *out, const codec_code_tables *model,
                                      const formats_raised *raised, uint32_t n,
                                      formats_account *account, taper_error *error);
/* Free what is not borrowed from the model, and zero the struct. Safe on a zeroed struct. */
void codec_raised_planes_free(codec_code_tables *tables);
/* What codec_raised_planes_make charges for this number of planes; 0 for none. */
uint64_t codec_raised_planes_bytes(const codec_code_tables *model, uint64_t planes);
/* The number of planes in a list of n units. */
uint32_t codec_raised_planes_count(const formats_raised *raised, uint32_t n);
/* Nonzero if these raised planes are legal for the model. Used to check a directory. */
int codec_raised_planes_fit(const codec_code_tables *model, const formats_raised *raised,
                            uint32_t n);

/* The number of passes, with raised ones, before the model's pass `end`: the end of a layer. */
uint32_t codec_raised_planes_end(const codec_code_tables *tables, uint32_t end);

#endif
