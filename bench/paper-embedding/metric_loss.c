/* metric_loss.c -- see metric_loss.h. */
#include "bench/paper-embedding/metric_loss.h"
#include "train/objectives/neighbours.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- rows ------------------------------------------------------------------------------- */

static void lay_out(embedding_metric_loss *l) {
    train_arena *a = &l->arena;
    const size_t n = l->rows, d = l->inputs;
    l->x = train_arena_floats(a, n, d);
    l->factor = train_arena_floats(a, d, d);
    l->code = train_arena_floats(a, n, d);
    l->across = train_arena_floats(a, d, n);
    l->share = train_arena_floats(a, TRAIN_SHARES, n);
    l->pull = train_arena_floats(a, l->tile, n);
    l->pulled = train_arena_floats(a, l->tile, d);
    l->product = train_arena_floats(a, d, d);
    l->label = train_arena_take(a, n, 1, sizeof *l->label);
    l->sums = train_arena_take(a, n, TRAIN_NEIGHBOUR_SUMS, sizeof *l->sums);
    l->own = train_arena_take(a, n, 1, sizeof *l->own);
    l->total = train_arena_take(a, 1, 1, sizeof *l->total);
}

/* Uploads labelled rows, as numbers minus their mean. l->mean is the mean of values on entry. */
static taper_status upload_rows(embedding_metric_loss *l, const train_labelled_rows *data,
                                const train_labelled_found *found) {
    const size_t d = l->inputs;
    const float unit = (float)train_labelled_unit(data);
    float *row = malloc(d * sizeof *row);
    uint32_t *label = malloc(l->rows * sizeof *label);
    taper_status status = row && label ? TAPER_OK : TAPER_ERR_NOMEM;
    for (size_t r = 0; r < l->rows && status == TAPER_OK; r++) {
        label[r] = data->label[found->order[r]];
        train_labelled_read(data, found->order + r, 0, 1, l->mean, row);
        for (size_t i = 0; i < d; i++) row[i] *= unit;
        status = train_upload(&l->stream, l->x + r * d, row, d * sizeof *row);
    }
    if (status == TAPER_OK)
        status = train_upload(&l->stream, l->label, label, l->rows * sizeof *label);
    for (size_t i = 0; i < d; i++) l->mean[i] *= unit;
    free(row), free(label);
    return status;
}

static taper_status fill(embedding_metric_loss *l, const train_labelled_rows *data,
                         const train_labelled_found *found, train_device *device,
                         taper_error *error) {
    l->mean = malloc(l->inputs * sizeof *l->mean);
    if (!l->mean) return TAPER_ERR_NOMEM;
    TAPER_TRY(train_labelled_mean(data, l->mean));
    TAPER_TRY(train_lapack_open(&l->lapack, l->inputs, error));
    TAPER_TRY(train_stream_open(&l->stream, device));
    lay_out(l);
    TAPER_TRY(train_arena_alloc(&l->arena, device));
    lay_out(l);
    return upload_rows(l, data, found);
}

taper_status embedding_metric_loss_open(embedding_metric_loss *l, const train_labelled_rows *data,
                                        size_t tile_rows, train_device *device,
                                        taper_error *error) {
    train_labelled_found found = {0};
    *l = (embedding_metric_loss){.inputs = data->inputs};
    taper_status status = train_labelled_find(data, &found, error);
    l->rows = found.n;
    l->tile = tile_rows ? tile_rows : TRAIN_NEIGHBOUR_TILE;
    if (l->tile > l->rows) l->tile = l->rows;
    if (status == TAPER_OK) status = fill(l, data, &found, device, error);
    if (status != TAPER_OK) embedding_metric_loss_close(l);
    train_labelled_found_free(&found);
    return status;
}

void embedding_metric_loss_close(embedding_metric_loss *l) {
    free(l->mean);
    train_arena_free(&l->arena);
    train_stream_close(&l->stream);
    train_lapack_close(&l->lapack);
    memset(l, 0, sizeof *l);
}

/* --- the metric ------------------------------------------------------------------------- */

/* metric = sum of value u u^T over positive eigenvalues; A has the rows root value u. Tiny
 * eigenvalues, which are rounding errors, are omitted. */
static taper_status project(embedding_metric_loss *l, double *metric, taper_error *error) {
    const size_t d = l->inputs;
    const double *value = l->lapack.value, *u = l->lapack.u;
    float *factor = calloc(d * d, sizeof *factor);
    if (!factor) return TAPER_ERR_NOMEM;
    memcpy(l->lapack.matrix, metric, d * d * sizeof *metric);
    taper_status status = train_lapack_eigenvectors(&l->lapack, l->inputs, error);
    memset(metric, 0, d * d * sizeof *metric);
    l->rank = 0;
    for (size_t k = d; status == TAPER_OK && k-- && value[k] > 1e-12 * value[d - 1];) {
        const double *v = u + k * d, root = sqrt(value[k]);
        for (size_t i = 0; i < d; i++) {
            for (size_t j = 0; j < d; j++) metric[i * d + j] += value[k] * v[i] * v[j];
            factor[l->rank * d + i] = (float)(root * v[i]);
        }
        l->rank++;
    }
    if (status == TAPER_OK)
        status = train_upload(&l->stream, l->factor, factor, d * d * sizeof *factor);
    free(factor);
    return status;
}

/* For the codes of the metric; with rank 0 they have one element, 0. */
static train_neighbours neighbours_of(const embedding_metric_loss *l) {
    return (train_neighbours){.rows = l->rows,
                              .units = l->rank ? l->rank : 1,
                              .code = l->code,
                              .across = l->across,
                              .label = l->label,
                              .loss = TRAIN_MCML,
                              .sums = l->sums,
                              .share = l->share};
}

taper_status embedding_metric_loss_at(embedding_metric_loss *l, double *metric, double *loss,
                                      taper_error *error) {
    train_stream *s = &l->stream;
    TAPER_TRY(project(l, metric, error));
    const train_neighbours n = neighbours_of(l);
    TAPER_TRY(s->ops->gemm(s, 0, 1, n.rows, n.units, l->inputs, l->x, l->factor, 0.0f, l->code));
    TAPER_TRY(s->ops->transpose(s, 1, n.rows, n.units, l->code, l->across));
    TAPER_TRY(train_zero(s, l->own, n.rows * sizeof *l->own));
    TAPER_TRY(s->ops->neighbour_sums(s, &n));
    TAPER_TRY(s->ops->neighbour_losses(s, &n, l->own));
    TAPER_TRY(s->ops->sum_doubles(s, n.rows, l->own, l->total));
    TAPER_TRY(train_download(s, loss, l->total, sizeof *loss));
    *loss /= (double)n.rows;
    return TAPER_OK;
}

taper_status embedding_metric_gradient(embedding_metric_loss *l, double *gradient) {
    train_stream *s = &l->stream;
    const train_neighbours n = neighbours_of(l);
    const size_t d = l->inputs;
    float *product = malloc(d * d * sizeof *product);
    taper_status status = product ? TAPER_OK : TAPER_ERR_NOMEM;
    for (size_t first = 0; first < n.rows && status == TAPER_OK; first += l->tile) {
        const size_t rows = n.rows - first < l->tile ? n.rows - first : l->tile;
        status = s->ops->neighbour_pulls(s, &n, first, rows, l->pull);
        if (status == TAPER_OK)
            status = s->ops->gemm(s, 0, 0, rows, d, n.rows, l->pull, l->x, 0.0f, l->pulled);
        if (status == TAPER_OK)
            status = s->ops->gemm(s, 1, 0, d, d, rows, l->x + first * d, l->pulled,
                                  first ? 1.0f : 0.0f, l->product);
    }
    if (status == TAPER_OK)
        status = train_download(s, product, l->product, d * d * sizeof *product);
    for (size_t i = 0; status == TAPER_OK && i < d; i++)
        for (size_t j = 0; j < d; j++)
            gradient[i * d + j] = 0.25 * ((double)product[i * d + j] + product[j * d + i]);
    free(product);
    return status;
}
