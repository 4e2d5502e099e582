/* dense_options.c -- see dense_options.h. */
#include "train/dense/dense_options.h"
#include "train/optimise/run.h"
#include <string.h>

train_dense_options train_dense_defaults(void) {
    return (train_dense_options){.epochs = 40,
                                 .batch = 256,
                                 .rate = 1e-3f,
                                 .max_norm = 50.0f,
                                 .lambda = 0.2f,
                                 .gradient_floor = 1.0f,
                                 .balance = 0.7f,
                                 .rho = 0.95f,
                                 .validation_fraction = 0.05f,
                                 .max_validation = 4096,
                                 .seed = 1,
                                 .checkpoint_seconds = 60.0};
}

taper_status train_dense_check(const train_dense_options *o, const train_pixels *data,
                               const codec_network *net, taper_error *error) {
    if (!o->epochs || o->epochs > TRAIN_CHECKPOINT_MAX_HISTORY || !o->batch || o->batch > 1u << 20)
        return formats_fail(error, TAPER_ERR_ARG,
                            "epochs and batch must lie between 1 and 1,048,576");
    if (!(o->rate > 0.0f) || !(o->rate <= 1.0f) || !(o->max_norm >= 0.0f) || !(o->lambda >= 0.0f) ||
        !(o->gradient_floor >= 0.0f) || !(o->balance >= 0.0f && o->balance <= 1.0f))
        return formats_fail(error, TAPER_ERR_ARG,
                            "rate must lie in (0, 1], balance in [0, 1]; "
                            "max norm, lambda and gradient floor from 0 up");
    if (!(o->rho >= 0.0f && o->rho <= 1.0f) ||
        !(o->truncated_fraction >= 0.0f && o->truncated_fraction <= 1.0f) ||
        !(o->validation_fraction >= 0.0f && o->validation_fraction <= 0.5f))
        return formats_fail(error, TAPER_ERR_ARG,
                            "rho and truncated fraction must lie in [0, 1], "
                            "validation fraction in [0, 0.5]");
    if (!(o->psnr_low >= 0.0 && o->psnr_low < 100.0) ||
        !(o->psnr_high >= 0.0 && o->psnr_high < 100.0) ||
        (o->psnr_high > 0.0 && o->psnr_high < o->psnr_low))
        return formats_fail(error, TAPER_ERR_ARG,
                            "the quality range must rise and lie in 0 to 100 dB");
    if (!(o->jitter >= 0.0f && o->jitter <= 1.0f) ||
        (o->jitter > 0.0f &&
         (!o->width || !o->height || data->inputs % ((uint64_t)o->width * o->height) != 0)))
        return formats_fail(error, TAPER_ERR_ARG,
                            "jitter must lie in [0, 1], and windows of %u values cannot be %u x %u "
                            "pixels",
                            (unsigned)data->inputs, (unsigned)o->width, (unsigned)o->height);
    if (data->ranks && o->n_also)
        return formats_fail(error, TAPER_ERR_ARG,
                            "further objectives need all rows in one process; start one");
    if (data->inputs != net->inputs || data->n < 2 || data->n > UINT32_MAX)
        return formats_fail(error, TAPER_ERR_ARG,
                            "training needs two or more windows of %u values, there are %zu of %u",
                            (unsigned)net->inputs, data->n, (unsigned)data->inputs);
    return TAPER_OK;
}

/* --- fingerprints ----------------------------------------------------------------------------- */

static uint64_t hash_stack(uint64_t hash, const codec_stack *stack) {
    for (uint32_t i = 0; i < stack->depth; i++) {
        const codec_layer *y = &stack->layer[i];
        hash = train_fingerprint(hash, y->weight, (size_t)y->inputs * y->outputs * sizeof(float));
        hash = train_fingerprint(hash, y->bias, y->outputs * sizeof(float));
    }
    return hash;
}

/* The start: linear path, shapes, initial weights. */
static uint64_t hash_network(uint64_t hash, const codec_network *net) {
    size_t linear = (size_t)net->units * net->inputs * sizeof(float);
    hash = train_fingerprint(hash, net->mean, net->inputs * sizeof(float));
    hash = train_fingerprint(hash, net->analysis, linear);
    hash = train_fingerprint(hash, net->synthesis, linear);
    return hash_stack(hash_stack(hash, &net->encoder), &net->decoder);
}

/* The names of further objectives, and the labels, which only these use. */
static uint64_t hash_objectives(uint64_t hash, const train_dense_options *o,
                                const train_pixels *data) {
    for (int i = 0; i < o->n_also; i++)
        hash =
            train_fingerprint(hash, o->also[i].objective->name, strlen(o->also[i].objective->name));
    if (!data->label || !o->n_also) return hash;
    return train_fingerprint(hash, data->label, data->n * sizeof *data->label);
}

uint64_t train_dense_fingerprint(const train_dense_options *o, const train_pixels *data,
                                 const codec_network *net, const train_truncation *lengths) {
    const double numbers[] = {o->epochs,
                              o->batch,
                              (double)o->rate,
                              (double)o->max_norm,
                              (double)o->lambda,
                              (double)o->gradient_floor,
                              (double)o->balance,
                              o->psnr_low,
                              o->psnr_high,
                              (double)o->rho,
                              (double)o->truncated_fraction,
                              (double)o->validation_fraction,
                              o->max_validation,
                              o->patience,
                              (double)o->jitter,
                              o->width,
                              o->height};
    const uint64_t counts[] = {
        o->seed, data->n, data->inputs, net->units, net->encoder.depth, net->decoder.depth};
    uint64_t hash = train_fingerprint(1, numbers, sizeof numbers);
    hash = train_fingerprint(hash, counts, sizeof counts);
    if (lengths) hash = train_fingerprint(hash, lengths->mass, lengths->units * sizeof(double));
    return hash_network(hash_objectives(hash, o, data), net);
}
