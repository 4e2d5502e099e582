/* rbm_options.h -- the options of training a stack of layers. */
#ifndef TRAIN_RBM_OPTIONS_H
#define TRAIN_RBM_OPTIONS_H
#include "train/rbm/rbm.h"
#include "train/sampling/dataset.h"

typedef enum train_pretraining {
    TRAIN_CONTRASTIVE = 0, /* as restricted Boltzmann machines (contrastive.h) */
    TRAIN_DENOISE = 1      /* as denoising autoencoders with tied weights (denoising.h) */
} train_pretraining;

/* Defaults are those of Min et al. 2010, section 3.1. Salakhutdinov & Hinton 2007 use a momentum of
 * 0.9 throughout (first_epochs 0). */
typedef struct train_rbm_options {
    train_pretraining method;
    train_states visible; /* of pixels; default Bernoulli */
    /* Of the last layer of the given widths; default Bernoulli. Use Gaussian for codes. */
    train_states top;
    uint32_t epochs; /* for each layer; default 50 */
    /* Default 100; a smaller last batch is scaled to its number of rows. */
    uint32_t batch;
    /* If all units of a layer are Bernoulli; default 0.1. */
    float rate;
    float gaussian_rate; /* for other layers; default 0.001 */
    /* Times rate and weight; default 2e-4. Biases have none. */
    float decay;
    /* The first first_epochs (default 5) epochs use first_momentum (default 0.5), the others
     * momentum (default 0.9). */
    uint32_t first_epochs;
    float first_momentum, momentum;
    /* Standard deviation of the initial weights, which are normal; default 0.1. */
    float deviation;
    /* TRAIN_DENOISE: probability that an input is set to 0; default 0.25. */
    float corruption;
    /* TRAIN_DENOISE: 1: half the squared error, 0 (default): cross-entropy. Gaussian visible units
     * always use the squared error. */
    int squared_error;
    uint64_t seed; /* default 1 */
    /* Bytes, default 1 GiB. A layer's data are the means of the layer below. They are kept on the
     * device if they fit into this and leave an eighth of the device's free memory; otherwise they
     * are recomputed for each batch. On a processor the results are the same bits. */
    size_t most_kept;
} train_rbm_options;

train_rbm_options train_rbm_defaults(void);

/* Checks that layers of these widths can be trained on top of the stack's. TAPER_ERR_ARG, with the
 * remedy: options out of range, no images, or widths or units that differ from the stack's. */
taper_status train_rbm_check(const train_rbm_stack *stack, const train_rbm_options *options,
                             const train_pixels *data, const uint32_t *widths, uint32_t layers,
                             taper_error *error);

#endif
