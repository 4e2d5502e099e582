/* unit_order.h -- the order of units.
 *
 * Units are ordered by falling variance. The contexts of a unit see its neighbours in this order
 * (contexts.h, `near`). So units that are close are exchanged if that makes neighbours of units
 * which are large in the same windows. The first units, which predict those of other windows, are
 * not moved. */
#ifndef TRAIN_UNIT_ORDER_H
#define TRAIN_UNIT_ORDER_H
#include "codec/backend/backend.h"

/* order[units] from codes[n][units]: the unit at each place. codes are overwritten.
 * TAPER_ERR_NOMEM. Deterministic. */
taper_status train_unit_order(codec_backend *be, float *codes, size_t n, uint32_t units,
                              uint32_t *order);

/* Improves order[units] for correlation[units][units], which is permuted with it. Every exchange
 * increases the sum over pairs of places of correlation times the weight of their distance. Units
 * before place `first` are not moved. */
taper_status train_order_by_correlation(float *correlation, uint32_t units, uint32_t first,
                                        uint32_t *order);

#endif
