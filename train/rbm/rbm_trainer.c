/* rbm_trainer.c -- see rbm_trainer.h. */
#include "train/rbm/rbm_trainer.h"
#include "formats/bytes.h"
#include "train/optimise/run.h"
#include "train/rbm/contrastive.h"
#include "train/rbm/denoising.h"
#include "train/rbm/rbm_rows.h"
#include <math.h>
#include <stdlib.h>

typedef struct learning {
    const train_rbm_options *options;
    const train_pixels *data;
    const uint32_t *widths;
    uint32_t layers;
    const train_rbm_callbacks *callbacks;
    train_stream stream;
    uint32_t *order; /* all rows */
    train_own_rows own;
    double seconds, work; /* spent, and the multiply-adds done in this time */
    int stopped;
    /* of the present layer */
    uint32_t at;
    uint64_t seed;
    float rate;
    train_rbm_rows rows;
    train_order positions; /* of `own`, on the device; with several ranks */
    train_rbm_layer layer;
} learning;

/* --- progress ---------------------------------------------------------------------------- */

static double work_of(const learning *l, uint32_t i) {
    return (double)(i ? l->widths[i - 1] : l->data->inputs) * (double)l->widths[i];
}

static void report(learning *l, uint32_t epoch, double error, double seconds) {
    double left = work_of(l, l->at) * (double)(l->options->epochs - epoch);
    for (uint32_t i = l->at + 1; i < l->layers; i++) left += work_of(l, i) * l->options->epochs;
    l->seconds += seconds, l->work += work_of(l, l->at);
    const train_rbm_progress progress = {l->at + 1,
                                         l->layers,
                                         epoch,
                                         l->options->epochs,
                                         error,
                                         seconds,
                                         left * l->seconds / l->work};
    if (l->callbacks && l->callbacks->progress)
        l->stopped = l->callbacks->progress(l->callbacks->user, &progress) != 0;
}

/* --- epochs ------------------------------------------------------------------------------ */

/* Orders the rows of an epoch. */
static taper_status shuffle(learning *l, uint32_t epoch) {
    const size_t n = l->data->n;
    for (size_t i = 0; i < n; i++) l->order[i] = (uint32_t)i;
    train_shuffle(l->order, n, l->seed, TRAIN_STREAM_SHUFFLE + ((uint64_t)epoch << 8));
    train_own_rows_pick(&l->own, l->data, l->order, n, l->options->batch);
    TAPER_TRY(train_rbm_rows_update(&l->rows));
    return l->data->ranks ? train_order_update(&l->positions, &l->stream) : TAPER_OK;
}

/* Trains on the rows of batch k that are here. */
static taper_status learn_batch(learning *l, size_t k, train_rbm_batch *batch, taper_error *error) {
    const uint32_t *there = l->positions.there.at;
    const size_t first = l->own.begin[k];
    batch->rows = train_own_count(&l->own, k);
    batch->noise.position = l->data->ranks ? there + first : NULL;
    if (batch->rows) TAPER_TRY(train_rbm_rows_take(&l->rows, first, batch->rows, l->layer.below));
    return train_rbm_layer_learn(&l->layer, batch,
                                 l->options->method == TRAIN_DENOISE ? train_denoising_gradient
                                                                     : train_contrastive_gradient,
                                 error);
}

static taper_status learn_epoch(learning *l, uint32_t epoch, double *mean, taper_error *error) {
    const train_rbm_options *o = l->options;
    const size_t n = l->data->n, steps = (n + o->batch - 1) / o->batch;
    train_rbm_batch batch = {.rate = l->rate,
                             .momentum = epoch < o->first_epochs ? o->first_momentum : o->momentum,
                             .noise = {l->seed, epoch * (uint64_t)steps, 0, NULL},
                             .options = o,
                             .ranks = l->data->ranks};
    TAPER_TRY(shuffle(l, epoch));
    for (size_t k = 0; k < steps; k++, batch.noise.step++)
        TAPER_TRY(learn_batch(l, k, &batch, error));
    TAPER_TRY(train_rbm_layer_errors(&l->layer, mean));
    TAPER_TRY(train_sum_doubles(l->data->ranks, mean, 1, error));
    *mean /= (double)n;
    return TAPER_OK;
}

static taper_status diverged(const learning *l, uint32_t epoch, taper_error *error) {
    return formats_fail(error, TAPER_ERR_ARG,
                        "layer %u of the stack diverged in epoch %u: it has numbers that are not "
                        "finite; try a smaller rate than %g",
                        l->at + 1, epoch, (double)l->rate);
}

static int is_finite(const train_rbm *rbm) {
    const size_t n = train_rbm_numbers(rbm);
    size_t i = 0;
    while (i < n && isfinite(rbm->weight[i])) i++;
    return i == n;
}

static taper_status learn_epochs(learning *l, train_rbm *rbm, taper_error *error) {
    const uint32_t epochs = l->options->epochs;
    for (uint32_t epoch = 0; epoch < epochs && !l->stopped; epoch++) {
        const double began = train_seconds();
        double mean = 0.0;
        TAPER_TRY(train_explain(learn_epoch(l, epoch, &mean, error), error, "layer %u of the stack",
                                l->at + 1));
        if (!isfinite(mean)) return diverged(l, epoch + 1, error);
        report(l, epoch + 1, mean, train_seconds_since(began));
    }
    TAPER_TRY(train_explain(train_rbm_layer_fetch(&l->layer, rbm), error, "layer %u of the stack",
                            l->at + 1));
    return is_finite(rbm) ? TAPER_OK : diverged(l, epochs, error);
}

/* --- layers ------------------------------------------------------------------------------ */

static taper_status begin(learning *l, train_rbm_stack *stack) {
    const train_rbm_options *o = l->options;
    const uint32_t i = l->at;
    train_rbm *rbm = &stack->rbm[i];
    TAPER_TRY(train_rbm_alloc(rbm, i ? l->widths[i - 1] : l->data->inputs, l->widths[i],
                              i ? TRAIN_BERNOULLI : o->visible,
                              i + 1 < l->layers ? TRAIN_BERNOULLI : o->top));
    train_philox_weights(rbm->weight, (size_t)rbm->hidden * rbm->visible, o->deviation, o->seed, i);
    l->seed = o->seed + 0x9E3779B97F4A7C15u * i; /* a different seed for each layer */
    l->rate = rbm->visible_states == TRAIN_GAUSSIAN || rbm->hidden_states == TRAIN_GAUSSIAN
                  ? o->gaussian_rate
                  : o->rate;
    TAPER_TRY(train_rbm_layer_open(&l->layer, &l->stream, rbm, o->batch));
    if (l->data->ranks)
        TAPER_TRY(train_order_open(&l->positions, &l->stream, l->own.position, l->own.room));
    return train_rbm_rows_open(&l->rows, &l->stream, stack, i, l->data, &l->own, o->batch,
                               o->most_kept);
}

static taper_status learn_layer(learning *l, train_rbm_stack *stack, taper_error *error) {
    train_rbm *rbm = &stack->rbm[l->at = stack->layers];
    taper_status status =
        train_explain(begin(l, stack), error, "layer %u of the stack", stack->layers + 1);
    if (status == TAPER_OK) status = learn_epochs(l, rbm, error);
    train_rbm_rows_close(&l->rows);
    train_order_free(&l->positions);
    train_rbm_layer_close(&l->layer);
    if (status == TAPER_OK && !l->stopped)
        stack->layers++;
    else
        train_rbm_free(rbm);
    return status;
}

taper_status train_rbm_stack_learn(train_rbm_stack *stack, const train_rbm_options *options,
                                   const train_pixels *data, const uint32_t *widths,
                                   uint32_t layers, train_device *device,
                                   const train_rbm_callbacks *callbacks, taper_error *error) {
    learning l = {.options = options,
                  .data = data,
                  .widths = widths,
                  .layers = layers,
                  .callbacks = callbacks};
    TAPER_TRY(train_rbm_check(stack, options, data, widths, layers, error));
    l.order = calloc(data->n, sizeof *l.order);
    taper_status status = l.order ? TAPER_OK : TAPER_ERR_NOMEM;
    if (status == TAPER_OK)
        status = train_own_rows_open(&l.own, data, NULL, data->n, data->n / options->batch + 1);
    if (status == TAPER_OK) status = train_stream_open(&l.stream, device);
    status = train_explain(status, error, "a stack of %u layers", layers);
    while (status == TAPER_OK && stack->layers < layers && !l.stopped)
        status = learn_layer(&l, stack, error);
    train_stream_close(&l.stream);
    train_own_rows_free(&l.own);
    free(l.order);
    return status;
}
