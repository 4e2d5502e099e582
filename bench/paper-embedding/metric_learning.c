/* metric_learning.c -- see metric_learning.h. */
#include "bench/paper-embedding/metric_learning.h"
#include "bench/paper-embedding/metric_loss.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_HALVED = 20, PATIENCE = 10 };
static const double ENOUGH = 1e-4; /* least fraction of the decrease predicted by the gradient */

embedding_metric_options embedding_metric_defaults(void) {
    return (embedding_metric_options){.steps = 200, .tolerance = 1e-4};
}

void embedding_metric_free(embedding_metric *metric) {
    free(metric->matrix), free(metric->mean);
    *metric = (embedding_metric){0};
}

typedef struct descent {
    embedding_metric_loss at;
    size_t n;                      /* inputs^2 */
    double *m, *gradient;          /* [n] at the present metric */
    double *trial, *next_gradient; /* [n] at the next one */
    double loss, length;
    double kept[PATIENCE]; /* losses of the last steps, a ring buffer */
} descent;

static double dot(const double *a, const double *b, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static void exchange(double **a, double **b) {
    double *kept = *a;
    *a = *b, *b = kept;
}

/* --- the start -------------------------------------------------------------------------- */

/* The mean squared distance of rows: twice the sum of the inputs' variances. */
static taper_status mean_distance(const train_labelled_rows *rows, const float *mean,
                                  double *distance) {
    const double unit = train_labelled_unit(rows);
    float *row = malloc(rows->inputs * sizeof *row);
    if (!row) return TAPER_ERR_NOMEM;
    *distance = 0;
    for (size_t r = 0; r < rows->n; r++) {
        train_labelled_read(rows, NULL, r, 1, NULL, row);
        for (size_t i = 0; i < rows->inputs; i++) {
            const double x = unit * row[i] - mean[i];
            *distance += 2.0 * x * x / (double)(rows->n - 1);
        }
    }
    free(row);
    return TAPER_OK;
}

static taper_status begin(descent *d, const train_labelled_rows *rows, taper_error *error) {
    double distance;
    TAPER_TRY(mean_distance(rows, d->at.mean, &distance));
    if (!(distance > 0))
        return formats_fail(error, TAPER_ERR_ARG, "all rows are the same; give images that differ");
    for (size_t i = 0; i < rows->inputs; i++) d->m[i * (rows->inputs + 1u)] = 1.0 / distance;
    TAPER_TRY(embedding_metric_loss_at(&d->at, d->m, &d->loss, error));
    TAPER_TRY(embedding_metric_gradient(&d->at, d->gradient));
    const double steepness = dot(d->gradient, d->gradient, d->n);
    if (!isfinite(d->loss) || !isfinite(steepness))
        return formats_fail(error, TAPER_ERR_ARG,
                            "distances of rows overflow; give numbers of similar magnitude");
    d->length = steepness > 0 ? sqrt(dot(d->m, d->m, d->n) / steepness) : 1.0;
    return TAPER_OK;
}

/* --- a step ----------------------------------------------------------------------------- */

/* Searches along the arc until the loss falls. *halved: how many times the length was halved;
 * MOST_HALVED: the search failed. */
static taper_status search(descent *d, uint32_t *halved, taper_error *error) {
    for (*halved = 0; *halved < MOST_HALVED; ++*halved, d->length /= 2) {
        double loss, promised = 0;
        for (size_t i = 0; i < d->n; i++) d->trial[i] = d->m[i] - d->length * d->gradient[i];
        TAPER_TRY(embedding_metric_loss_at(&d->at, d->trial, &loss, error));
        for (size_t i = 0; i < d->n; i++) promised += d->gradient[i] * (d->m[i] - d->trial[i]);
        if (promised > 0 && loss < d->loss && loss <= d->loss - ENOUGH * promised) {
            d->loss = loss;
            return TAPER_OK;
        }
    }
    return TAPER_OK;
}

/* Takes the step, and computes the next one's first length. */
static taper_status arrive(descent *d) {
    double square = 0, turned = 0;
    TAPER_TRY(embedding_metric_gradient(&d->at, d->next_gradient));
    for (size_t i = 0; i < d->n; i++) {
        const double s = d->trial[i] - d->m[i];
        square += s * s, turned += s * (d->next_gradient[i] - d->gradient[i]);
    }
    d->length = turned > 0 ? square / turned : 10.0 * d->length;
    exchange(&d->m, &d->trial);
    exchange(&d->gradient, &d->next_gradient);
    return TAPER_OK;
}

static int report(const embedding_metric_options *o, const descent *d, uint32_t step,
                  uint32_t halved, double length) {
    const embedding_metric_step at = {step, d->at.rank, halved, d->loss, length};
    return o->step && o->step(o->user, &at);
}

static taper_status descend(const embedding_metric_options *o, descent *d, embedding_metric *metric,
                            taper_error *error) {
    int ends = report(o, d, 0, 0, 0);
    while (!ends && metric->steps < o->steps && !metric->converged) {
        double *before = &d->kept[metric->steps % PATIENCE];
        const double then = metric->steps < PATIENCE ? INFINITY : *before;
        uint32_t halved;
        *before = d->loss;
        TAPER_TRY(search(d, &halved, error));
        metric->converged = halved == MOST_HALVED;
        if (metric->converged) break;
        const double length = d->length;
        TAPER_TRY(arrive(d));
        ends = report(o, d, ++metric->steps, halved, length);
        metric->converged = then - d->loss <= o->tolerance * d->loss;
    }
    return TAPER_OK;
}

/* --- the loop --------------------------------------------------------------------------- */

static taper_status learn(const embedding_metric_options *o, const train_labelled_rows *rows,
                          descent *d, embedding_metric *metric, taper_error *error) {
    d->n = (size_t)rows->inputs * rows->inputs;
    d->m = calloc(d->n, sizeof *d->m);
    d->gradient = calloc(d->n, sizeof *d->m);
    d->trial = calloc(d->n, sizeof *d->m);
    d->next_gradient = calloc(d->n, sizeof *d->m);
    if (!d->m || !d->gradient || !d->trial || !d->next_gradient) return TAPER_ERR_NOMEM;
    TAPER_TRY(begin(d, rows, error));
    TAPER_TRY(descend(o, d, metric, error));
    metric->loss = d->loss;
    metric->matrix = d->m, d->m = NULL;
    metric->mean = d->at.mean, d->at.mean = NULL;
    return TAPER_OK;
}

taper_status embedding_metric_learn(const embedding_metric_options *options,
                                    const train_labelled_rows *rows, train_device *device,
                                    embedding_metric *metric, taper_error *error) {
    descent d = {0};
    *metric = (embedding_metric){.inputs = rows->inputs};
    if (!(options->tolerance >= 0))
        return formats_fail(error, TAPER_ERR_ARG, "the tolerance is at least 0");
    taper_status status =
        embedding_metric_loss_open(&d.at, rows, options->tile_rows, device, error);
    if (status == TAPER_OK) {
        status = learn(options, rows, &d, metric, error);
        embedding_metric_loss_close(&d.at);
    }
    free(d.m), free(d.gradient), free(d.trial), free(d.next_gradient);
    if (status != TAPER_OK) embedding_metric_free(metric);
    return status;
}

/* The sign that makes v's component of largest magnitude positive. */
static double sign_of(const double *v, size_t n) {
    size_t top = 0;
    for (size_t i = 1; i < n; i++)
        if (fabs(v[i]) > fabs(v[top])) top = i;
    return v[top] < 0 ? -1.0 : 1.0;
}

taper_status embedding_metric_map(const embedding_metric *metric, codec_layer *layer,
                                  taper_error *error) {
    const size_t inputs = metric->inputs, units = layer->outputs;
    train_lapack lapack;
    if (layer->inputs != inputs || !units || units > inputs)
        return formats_fail(error, TAPER_ERR_ARG,
                            "a metric of %zu values makes a map of 1 to %zu units, not %zu", inputs,
                            inputs, units);
    taper_status status = train_lapack_open(&lapack, metric->inputs, error);
    if (status == TAPER_OK) {
        memcpy(lapack.matrix, metric->matrix, inputs * inputs * sizeof(double));
        status = train_lapack_eigenvectors(&lapack, layer->outputs, error);
    }
    for (size_t u = 0; status == TAPER_OK && u < units; u++) { /* LAPACK's order is ascending */
        const double *v = lapack.u + (units - 1 - u) * inputs;
        const double root = sqrt(fmax(lapack.value[units - 1 - u], 0)) * sign_of(v, inputs);
        double bias = 0;
        for (size_t i = 0; i < inputs; i++) {
            layer->weight[u * inputs + i] = (float)(root * v[i]);
            bias -= root * v[i] * (double)metric->mean[i];
        }
        layer->bias[u] = (float)bias;
    }
    train_lapack_close(&lapack);
    return status;
}
