/* rank_sums.h -- sums over ranks of arrays on the device (train/parallel/ranks.h).
 *
 * Arrays of a device in host memory are added in place. Devices that have joined (device/group.h)
 * add up among themselves, after the call has returned. Others' arrays pass through the host in
 * pieces of 4 MiB. The bits are the same. One rank (NULL): nothing happens. Errors: those of
 * ranks.h, TAPER_ERR_DEVICE. */
#ifndef TRAIN_RANK_SUMS_H
#define TRAIN_RANK_SUMS_H
#include "train/device/device.h"
#include "train/parallel/ranks.h"

/* x[n], on the device, becomes the sum over all ranks. */
taper_status train_sum_floats_there(train_stream *stream, train_ranks *ranks, float *x, size_t n,
                                    taper_error *error);
taper_status train_sum_doubles_there(train_stream *stream, train_ranks *ranks, double *x, size_t n,
                                     taper_error *error);
/* x, on the device, becomes that of the first rank. */
taper_status train_broadcast_there(train_stream *stream, train_ranks *ranks, void *x, size_t bytes,
                                   taper_error *error);

#endif
