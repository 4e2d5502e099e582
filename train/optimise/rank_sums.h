/* rank_sums.h -- sums over ranks of arrays on the device (train/parallel/ranks.h).
 *
 * Arrays of a device in host memory are added in place. Others pass through the host in pieces of 4
 * MiB. One rank (NULL): nothing happens. Errors: those of ranks.h, TAPER_ERR_DEVICE. */
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

/* x[n][width], on the device, of which the first `own` rows are those of this rank: all rows of all
 * ranks become known, at their positions in a batch (train/sampling/own_rows.h). position: on the
 * host. */
taper_status train_share_rows_there(train_stream *stream, train_ranks *ranks, float *x,
                                    size_t width, const uint32_t *position, size_t own, size_t n,
                                    taper_error *error);
/* The reverse, without the other ranks: the rows of this rank become the first ones. */
taper_status train_pack_rows_there(train_stream *stream, const train_ranks *ranks, float *x,
                                   size_t width, const uint32_t *position, size_t own, size_t n,
                                   taper_error *error);

#endif
