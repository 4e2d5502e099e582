/* linear_start.c -- see linear_start.h. */
#include "train/embedding/linear_start.h"
#include "train/linear/lda.h"
#include "train/optimise/run.h"
#include "train/sampling/philox.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1024, MEASURED = 2000 };
static const double RIDGE = 1e-3;
static const float DEVIATION = 0.01f;

/* --- rows ---------------------------------------------------------------------------------- */

/* Of n rows, with these numbers or (NULL) all, those on this rank; malloc'd. */
static size_t *rows_here(const train_labelled_rows *rows, const size_t *order, size_t n,
                         size_t *here) {
    size_t *list = malloc((n + 1) * sizeof *list);
    *here = 0;
    for (size_t i = 0; list && i < n; i++) {
        const size_t row = order ? order[i] : i;
        if (train_labelled_is_here(rows, row)) list[(*here)++] = row;
    }
    return list;
}

/* The mean of the first block of these rows, of all ranks, rounded: the guess of one rank. */
static taper_status share_guess(train_covariance *cov, const train_labelled_rows *rows,
                                const size_t *order, size_t n) {
    const size_t d = rows->inputs, first = n < BLOCK ? n : BLOCK;
    double *sum = calloc(d, sizeof *sum);
    float *row = malloc(d * sizeof *row);
    taper_status status = sum && row ? TAPER_OK : TAPER_ERR_NOMEM;
    for (size_t k = 0; k < first && status == TAPER_OK; k++) {
        const size_t i = order ? order[k] : k;
        if (!train_labelled_is_here(rows, i)) continue;
        train_labelled_read(rows, &i, 0, 1, NULL, row);
        for (size_t j = 0; j < d; j++) sum[j] += row[j];
    }
    if (status == TAPER_OK) status = train_sum_doubles(rows->ranks, sum, d, NULL);
    for (size_t j = 0; j < d && status == TAPER_OK; j++)
        cov->guess[j] = (float)round(sum[j] / (double)first);
    cov->guessed = 1;
    free(sum), free(row);
    return status;
}

/* --- principal components ---------------------------------------------------------------- */

static taper_status add_block(train_covariance *cov, train_scatter *scatter,
                              const train_labelled_rows *rows, const size_t *order, size_t n,
                              const float *less, float *block) {
    uint32_t label[BLOCK];
    train_labelled_read(rows, order, 0, n, less, block);
    if (!scatter) return train_covariance_add(cov, block, n);
    for (size_t r = 0; r < n; r++) label[r] = rows->label[order[r]];
    return train_scatter_add(scatter, block, label, n);
}

/* Adds n rows, with these numbers or (NULL) all, to a scatter or (NULL) a covariance. */
static taper_status add_rows(train_covariance *cov, train_scatter *scatter,
                             const train_labelled_rows *rows, const size_t *order, size_t n,
                             const float *less) {
    size_t here, *list = rows_here(rows, order, n, &here);
    float *block = malloc(BLOCK * (size_t)rows->inputs * sizeof *block);
    taper_status status = block && list ? TAPER_OK : TAPER_ERR_NOMEM;
    if (status == TAPER_OK && rows->ranks) status = share_guess(cov, rows, order, n);
    for (size_t first = 0; first < here && status == TAPER_OK; first += BLOCK)
        status = add_block(cov, scatter, rows, list + first,
                           here - first < BLOCK ? here - first : BLOCK, less, block);
    free(block), free(list);
    return status;
}

/* Stores components of byte values. Rows are orthonormal for numbers too; the bias is scaled. */
static taper_status store_pca(const codec_network *net, double variance, double unit,
                              codec_layer *layer, taper_error *error) {
    const size_t inputs = net->inputs;
    if (!(variance > 0))
        return formats_fail(error, TAPER_ERR_ARG, "all rows are the same; give images that differ");
    memcpy(layer->weight, net->synthesis, layer->outputs * inputs * sizeof *layer->weight);
    for (uint32_t u = 0; u < layer->outputs; u++) {
        double bias = 0;
        for (size_t i = 0; i < inputs; i++)
            bias -= (double)layer->weight[u * inputs + i] * (double)net->mean[i];
        layer->bias[u] = (float)(bias * unit);
    }
    return TAPER_OK;
}

static taper_status start_pca(const train_labelled_rows *rows, const float *less,
                              train_device *device, codec_layer *layer, taper_error *error) {
    const uint32_t units = layer->outputs;
    codec_network net = {0};
    train_covariance cov;
    TAPER_TRY(train_covariance_alloc(&cov, device, rows->inputs));
    double *variance = calloc(units, sizeof *variance);
    taper_status status =
        variance ? add_rows(&cov, NULL, rows, NULL, rows->n, less) : TAPER_ERR_NOMEM;
    if (status == TAPER_OK) status = train_covariance_sum(&cov, rows->ranks, error);
    if (status == TAPER_OK)
        status = codec_network_alloc(&net, rows->inputs, units, CODEC_TIED, NULL, 0, NULL, 0);
    if (status == TAPER_OK) status = train_pca_solve(&cov, &net, variance, error);
    if (status == TAPER_OK)
        status = store_pca(&net, variance[0], train_labelled_unit(rows), layer, error);
    free(variance);
    codec_network_free(&net);
    train_covariance_free(&cov);
    return status;
}

/* --- discriminants ------------------------------------------------------------------------ */

static taper_status solve_lda(const train_linear_options *options, const train_labelled_rows *rows,
                              const train_labelled_found *found, const float *less,
                              train_device *device, codec_layer *layer, taper_error *error) {
    uint32_t useful;
    train_scatter scatter;
    TAPER_TRY(train_scatter_alloc(&scatter, device, rows->inputs, found->classes));
    taper_status status = add_rows(&scatter.all, &scatter, rows, found->order, found->n, less);
    if (status == TAPER_OK) status = train_scatter_sum(&scatter, rows->ranks, error);
    if (status == TAPER_OK)
        status = train_lda_solve(&scatter, options->ridge > 0 ? options->ridge : RIDGE, layer,
                                 &useful, error);
    train_scatter_free(&scatter);
    return status;
}

/* Discriminants of byte values; numbers are smaller, so weights become larger. */
static taper_status start_lda(const train_linear_options *options, const train_labelled_rows *rows,
                              const float *less, train_device *device, codec_layer *layer,
                              taper_error *error) {
    train_labelled_found found = {0};
    taper_status status = train_labelled_find(rows, &found, error);
    if (status == TAPER_OK) status = solve_lda(options, rows, &found, less, device, layer, error);
    const float by = (float)(1.0 / train_labelled_unit(rows));
    for (size_t k = 0; status == TAPER_OK && k < (size_t)layer->outputs * rows->inputs; k++)
        layer->weight[k] *= by;
    train_labelled_found_free(&found);
    return status;
}

/* --- starts from moments ----------------------------------------------------------------- */

/* Sums are of floats minus their mean, or of bytes as they are. */
static taper_status start_by_moments(const train_linear_options *options,
                                     const train_labelled_rows *rows, train_device *device,
                                     codec_layer *layer, taper_error *error) {
    float *less = calloc(rows->inputs, sizeof *less);
    taper_status status = less ? TAPER_OK : TAPER_ERR_NOMEM;
    if (status == TAPER_OK && rows->numbers) status = train_labelled_mean(rows, less);
    if (status == TAPER_OK)
        status = options->kind == TRAIN_START_PCA
                     ? start_pca(rows, less, device, layer, error)
                     : start_lda(options, rows, less, device, layer, error);
    for (uint32_t u = 0; status == TAPER_OK && u < layer->outputs; u++) {
        double bias = layer->bias[u];
        for (size_t i = 0; i < rows->inputs; i++)
            bias -= (double)layer->weight[u * (size_t)rows->inputs + i] * (double)less[i];
        layer->bias[u] = (float)bias;
    }
    free(less);
    return status;
}

/* --- scale -------------------------------------------------------------------------------- */

/* Adds a row's codes and their squares. */
static void add_codes(const codec_layer *layer, const float *row, double unit, double *sum,
                      double *square) {
    for (uint32_t u = 0; u < layer->outputs; u++) {
        double code = 0;
        for (uint32_t i = 0; i < layer->inputs; i++)
            code += (double)layer->weight[(size_t)u * layer->inputs + i] * row[i];
        sum[u] += unit * code;
        *square += unit * code * unit * code;
    }
}

/* The mean of |f_i - f_j|^2 over all pairs of at most MEASURED evenly spaced rows: twice the sum of
 * the units' variances. */
static taper_status measure_spread(const train_labelled_rows *rows, const codec_layer *layer,
                                   double *spread) {
    const size_t n = rows->n < MEASURED ? rows->n : MEASURED;
    double *sum = calloc(layer->outputs, sizeof *sum), square = 0;
    float *row = malloc(rows->inputs * sizeof *row);
    taper_status status = sum && row ? TAPER_OK : TAPER_ERR_NOMEM;
    for (size_t k = 0; k < n && status == TAPER_OK; k++) {
        if (!train_labelled_is_here(rows, rows->n * k / n)) continue;
        train_labelled_read(rows, NULL, rows->n * k / n, 1, NULL, row);
        add_codes(layer, row, train_labelled_unit(rows), sum, &square);
    }
    if (status == TAPER_OK) status = train_sum_doubles(rows->ranks, sum, layer->outputs, NULL);
    if (status == TAPER_OK) status = train_sum_doubles(rows->ranks, &square, 1, NULL);
    *spread = square / (double)n;
    for (uint32_t u = 0; u < layer->outputs && status == TAPER_OK; u++)
        *spread -= sum[u] / (double)n * (sum[u] / (double)n);
    *spread *= 2.0 * (double)n / (double)(n - 1);
    free(sum), free(row);
    return status;
}

static taper_status scale_to(double wanted, const train_labelled_rows *rows, codec_layer *layer,
                             taper_error *error) {
    double spread;
    TAPER_TRY(measure_spread(rows, layer, &spread));
    const double by = sqrt(wanted / spread);
    if (!(spread > 0) || !isfinite(by))
        return formats_fail(error, TAPER_ERR_ARG,
                            "all rows have the same code; give images that differ");
    for (size_t k = 0; k < (size_t)layer->outputs * layer->inputs; k++)
        layer->weight[k] = (float)(by * layer->weight[k]);
    for (uint32_t u = 0; u < layer->outputs; u++) layer->bias[u] = (float)(by * layer->bias[u]);
    return TAPER_OK;
}

/* --- all starts --------------------------------------------------------------------------- */

taper_status train_linear_layer(const train_linear_options *options,
                                const train_labelled_rows *rows, train_device *device,
                                codec_layer *layer, taper_error *error) {
    const size_t n = (size_t)layer->outputs * layer->inputs;
    if (layer->inputs != rows->inputs || !layer->outputs || layer->outputs > layer->inputs)
        return formats_fail(error, TAPER_ERR_ARG,
                            "a linear map of %u values has 1 to %u units, not %u", rows->inputs,
                            rows->inputs, layer->outputs);
    TAPER_TRY(train_labelled_check(rows, error));
    memset(layer->weight, 0, n * sizeof *layer->weight);
    memset(layer->bias, 0, layer->outputs * sizeof *layer->bias);
    if (options->kind == TRAIN_START_IDENTITY)
        for (size_t u = 0; u < layer->outputs; u++) layer->weight[u * layer->inputs + u] = 1.0f;
    if (options->kind == TRAIN_START_RANDOM)
        train_philox_weights(layer->weight, n, DEVIATION, options->seed, 0);
    if (options->kind == TRAIN_START_PCA || options->kind == TRAIN_START_LDA)
        TAPER_TRY(start_by_moments(options, rows, device, layer, error));
    return options->spread > 0 ? scale_to(options->spread, rows, layer, error) : TAPER_OK;
}

taper_status train_linear_start(const train_linear_options *options, const train_pixels *pixels,
                                train_device *device, codec_network *net, taper_error *error) {
    const train_labelled_rows rows = train_labelled_pixels(pixels);
    codec_layer *layer = &net->encoder.layer[0];
    if (!codec_network_is_direct(net) || net->encoder.depth != 1)
        return formats_fail(error, TAPER_ERR_ARG,
                            "a linear start needs an encoder of one layer without a linear path");
    taper_error why = {0}; /* filled by LAPACK's errors, but not by those of a device */
    const taper_status status = train_linear_layer(options, &rows, device, layer, &why);
    if (status != TAPER_OK && !why.text[0])
        return train_explain(status, error, "a linear map of %zu images", pixels->n);
    if (status != TAPER_OK) return formats_fail_as(error, status, &why, "%s", why.text);
    for (size_t k = 0; k < (size_t)layer->outputs * layer->inputs; k++) layer->weight[k] /= 255.0f;
    memset(net->mean, 0, net->inputs * sizeof *net->mean);
    return TAPER_OK;
}
