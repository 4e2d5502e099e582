/* rank_sums.c -- see rank_sums.h. */
#include "train/optimise/rank_sums.h"
#include "formats/bytes.h"
#include "train/device/group.h"
#include "train/optimise/run.h"
#include <stdlib.h>

enum { PIECE = 1 << 22 };

/* Does something to `bytes` bytes in host memory. */
typedef taper_status piece_fn(train_ranks *ranks, void *x, size_t bytes, taper_error *error);

static taper_status sum_floats(train_ranks *ranks, void *x, size_t bytes, taper_error *error) {
    return train_sum_floats(ranks, x, bytes / sizeof(float), error);
}

static taper_status sum_doubles(train_ranks *ranks, void *x, size_t bytes, taper_error *error) {
    return train_sum_doubles(ranks, x, bytes / sizeof(double), error);
}

static taper_status broadcast(train_ranks *ranks, void *x, size_t bytes, taper_error *error) {
    return train_broadcast(ranks, x, bytes, 0, error);
}

static const char what[] = "the parts of the processes could not be added up";

static taper_status by_the_host(train_stream *s, train_ranks *ranks, char *x, size_t bytes,
                                piece_fn *fn, taper_error *error) {
    void *host = malloc(formats_smaller(bytes, PIECE));
    taper_status status = host ? TAPER_OK : train_explain(TAPER_ERR_NOMEM, error, "%s", what);
    for (size_t i = 0; i < bytes && status == TAPER_OK; i += PIECE) {
        const size_t n = formats_smaller(bytes - i, PIECE);
        status = train_explain(train_download(s, host, x + i, n), error, "%s", what);
        if (status == TAPER_OK) status = fn(ranks, host, n, error);
        if (status == TAPER_OK)
            status = train_explain(train_upload(s, x + i, host, n), error, "%s", what);
    }
    free(host);
    return status;
}

static taper_status on_all(train_stream *s, train_ranks *ranks, void *x, size_t bytes, piece_fn *fn,
                           taper_error *error) {
    if (!ranks || !bytes) return TAPER_OK;
    if (s->device->in_host_memory) return fn(ranks, x, bytes, error);
    return by_the_host(s, ranks, x, bytes, fn, error);
}

taper_status train_sum_floats_there(train_stream *s, train_ranks *ranks, float *x, size_t n,
                                    taper_error *error) {
    if (ranks && n && s->device->joined)
        return train_explain(s->device->group->sum_floats(s, x, n), error, "%s", what);
    return on_all(s, ranks, x, n * sizeof *x, sum_floats, error);
}

taper_status train_sum_doubles_there(train_stream *s, train_ranks *ranks, double *x, size_t n,
                                     taper_error *error) {
    if (ranks && n && s->device->joined)
        return train_explain(s->device->group->sum_doubles(s, x, n), error, "%s", what);
    return on_all(s, ranks, x, n * sizeof *x, sum_doubles, error);
}

taper_status train_broadcast_there(train_stream *s, train_ranks *ranks, void *x, size_t bytes,
                                   taper_error *error) {
    return on_all(s, ranks, x, bytes, broadcast, error);
}
