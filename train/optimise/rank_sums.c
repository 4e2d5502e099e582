/* rank_sums.c -- see rank_sums.h. */
#include "train/optimise/rank_sums.h"
#include "formats/bytes.h"
#include "train/optimise/run.h"
#include "train/sampling/own_rows.h"
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

static taper_status by_the_host(train_stream *s, train_ranks *ranks, char *x, size_t bytes,
                                piece_fn *fn, taper_error *error) {
    static const char what[] = "the parts of the processes could not be added up";
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
    return on_all(s, ranks, x, n * sizeof *x, sum_floats, error);
}

taper_status train_sum_doubles_there(train_stream *s, train_ranks *ranks, double *x, size_t n,
                                     taper_error *error) {
    return on_all(s, ranks, x, n * sizeof *x, sum_doubles, error);
}

taper_status train_broadcast_there(train_stream *s, train_ranks *ranks, void *x, size_t bytes,
                                   taper_error *error) {
    return on_all(s, ranks, x, bytes, broadcast, error);
}

/* --- rows ------------------------------------------------------------------------------------ */

static const char not_shared[] = "the rows of the processes could not be put together";

/* *host: x on the host, with its first `rows` rows. */
static taper_status fetch(train_stream *s, float *x, size_t bytes, size_t rows, size_t n,
                          float **host, taper_error *error) {
    *host = x;
    if (s->device->in_host_memory) return TAPER_OK;
    *host = malloc(n * bytes + 1);
    const taper_status status = *host ? train_download(s, *host, x, rows * bytes) : TAPER_ERR_NOMEM;
    return train_explain(status, error, "%s", not_shared);
}

/* x[..rows] from the host. */
static taper_status put_back(train_stream *s, float *x, size_t bytes, float *host,
                             taper_error *error) {
    if (host == x) return TAPER_OK;
    return train_explain(train_upload(s, x, host, bytes), error, "%s", not_shared);
}

taper_status train_share_rows_there(train_stream *s, train_ranks *ranks, float *x, size_t width,
                                    const uint32_t *position, size_t own, size_t n,
                                    taper_error *error) {
    const size_t bytes = width * sizeof *x;
    float *host;
    if (!ranks) return TAPER_OK;
    taper_status status = fetch(s, x, bytes, own, n, &host, error);
    if (status == TAPER_OK) {
        train_spread_rows(host, bytes, position, own, n);
        status = train_sum_floats(ranks, host, n * width, error);
    }
    if (status == TAPER_OK) status = put_back(s, x, n * bytes, host, error);
    if (host != x) free(host);
    return status;
}

taper_status train_pack_rows_there(train_stream *s, const train_ranks *ranks, float *x,
                                   size_t width, const uint32_t *position, size_t own, size_t n,
                                   taper_error *error) {
    const size_t bytes = width * sizeof *x;
    float *host;
    if (!ranks) return TAPER_OK;
    taper_status status = fetch(s, x, bytes, n, n, &host, error);
    if (status == TAPER_OK) {
        train_pack_rows(host, bytes, position, own);
        status = put_back(s, x, own * bytes, host, error);
    }
    if (host != x) free(host);
    return status;
}
