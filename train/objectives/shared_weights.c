/* shared_weights.c -- see shared_weights.h. */
#include "train/objectives/shared_weights.h"
#include "train/device/elements_losses.h"
#include <stdlib.h>

/* The rows on the host. */
typedef struct host_rows {
    train_cut *cut;
    double *error, *weight, *loss;
} host_rows;

static taper_status fetch(host_rows *h, train_stream *s, const train_shared_rows *r) {
    const size_t bytes = r->rows * sizeof(double);
    h->cut = malloc(r->rows * sizeof *h->cut + 1);
    h->error = malloc(bytes + 1);
    h->weight = malloc(bytes + 1);
    h->loss = malloc(bytes + 1);
    if (!h->cut || !h->error || !h->weight || !h->loss) return TAPER_ERR_NOMEM;
    TAPER_TRY(train_download(s, h->cut, r->cut, r->rows * sizeof *h->cut));
    TAPER_TRY(train_download(s, h->error, r->error, bytes));
    return train_download(s, h->loss, r->loss, bytes);
}

static void free_rows(host_rows *h) {
    free(h->cut), free(h->error), free(h->weight), free(h->loss);
}

/* The range of thresholds of all ranks. */
static taper_status share_range(const host_rows *h, size_t rows, train_ranks *ranks,
                                train_error_bins *bins) {
    double mine[2] = {INFINITY, 0.0}, high = 0.0, *all = malloc(ranks->size * sizeof mine);
    if (!all) return TAPER_ERR_NOMEM;
    for (size_t i = 0; i < rows; i++) {
        mine[0] = fmin(mine[0], (double)h->cut[i].threshold);
        mine[1] = fmax(mine[1], (double)h->cut[i].threshold);
    }
    const taper_status status = train_gather(ranks, mine, all, sizeof mine, NULL);
    bins->low = INFINITY;
    for (uint32_t i = 0; i < ranks->size && status == TAPER_OK; i++) {
        bins->low = fmin(bins->low, all[2 * i]);
        high = fmax(high, all[2 * i + 1]);
    }
    bins->per_bin = train_bins_of_range(bins->low, high);
    free(all);
    return status;
}

/* The mean error of each bin over all ranks. */
static taper_status share_means(const host_rows *h, size_t rows, train_ranks *ranks,
                                train_error_bins *bins) {
    double sum[2 * TRAIN_ERROR_BINS] = {0}, *count = sum + TRAIN_ERROR_BINS;
    for (size_t i = 0; i < rows; i++) {
        const int bin = train_error_bin(bins->low, bins->per_bin, (double)h->cut[i].threshold);
        sum[bin] += h->error[i];
        count[bin] += 1.0;
    }
    TAPER_TRY(train_sum_doubles(ranks, sum, 2 * TRAIN_ERROR_BINS, NULL));
    for (int i = 0; i < TRAIN_ERROR_BINS; i++)
        bins->mean[i] = count[i] > 0.0 ? sum[i] / count[i] : 0.0;
    return TAPER_OK;
}

static taper_status weigh(host_rows *h, train_stream *s, train_ranks *ranks,
                          const train_shared_rows *r) {
    const size_t bytes = r->rows * sizeof(double);
    train_error_bins bins;
    TAPER_TRY(share_range(h, r->rows, ranks, &bins));
    TAPER_TRY(share_means(h, r->rows, ranks, &bins));
    for (size_t i = 0; i < r->rows; i++) {
        h->weight[i] = train_error_weight(&bins, h->cut[i], r->scale, r->balance, h->error[i]);
        h->loss[i] += h->error[i] * h->weight[i];
    }
    TAPER_TRY(train_upload(s, r->weight, h->weight, bytes));
    return train_upload(s, r->loss, h->loss, bytes);
}

taper_status train_weigh_shared(train_stream *s, train_ranks *ranks, const train_shared_rows *r) {
    host_rows h = {0};
    taper_status status = fetch(&h, s, r);
    if (status == TAPER_OK) status = weigh(&h, s, ranks, r);
    free_rows(&h);
    return status;
}
