/* scale_passes.h -- how many passes show at a small size.
 *
 * What is unknown of unit u after some passes is an error at a scale, in levels squared of a small
 * pixel, in the mean over photographs:
 *     e(u) D(T),    D(T) = s^2 T^2 / (T^2 + 12 s^2),
 * where e(u) is the energy of the unit's row in the small basis for each small pixel, s the usual
 * size of the unit, and T its threshold: D is s^2 where nothing is known, and T^2 / 12, that of an
 * even distribution, where much is. Of a plane of which some fractions are known, D is between
 * those of both planes. The first pass is looked for after which the sum over all units is below a
 * limit. It depends on the model and the scale alone. The arithmetic is sums, products and
 * quotients of doubles in one order: the same number on every machine. */
#ifndef CODEC_SCALE_PASSES_H
#define CODEC_SCALE_PASSES_H
#include "codec/model/model.h"

/* Set *passes to the number of the model's passes that show at the scale of this basis of it, at
 * least 1. TAPER_ERR_NOMEM. */
taper_status codec_scale_passes(const taper_model *model, const codec_small_basis *basis,
                                uint32_t *passes);

#endif
