/* unit_order.h -- which unit comes after which.
 *
 * Units go by falling variance. A unit's contexts see its neighbours in this order (contexts.h,
 * `near`), so units not far apart are exchanged where that brings together those which are large in
 * the same windows. The first units, which predict those of other windows, stay in place. */
#ifndef TRAIN_UNIT_ORDER_H
#define TRAIN_UNIT_ORDER_H
#include "codec/backend/backend.h"

/* order[units] from codes[n][units]: the unit that comes at each place. codes are used up.
 * TAPER_ERR_NOMEM. Deterministic. */
taper_status train_unit_order(codec_backend *be, float *codes, size_t n, uint32_t units,
                              uint32_t *order);

/* Improve order[units] for correlation[units][units], which is permuted with it: the sum over
 * places of correlation times the weight of their distance rises with every exchange. No unit
 * before place `first` is moved. */
taper_status train_order_by_kinship(float *correlation, uint32_t units, uint32_t first,
                                    uint32_t *order);

#endif
