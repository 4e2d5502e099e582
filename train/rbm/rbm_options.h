/* rbm_options.h -- how a stack of layers is learned. */
#ifndef TRAIN_RBM_OPTIONS_H
#define TRAIN_RBM_OPTIONS_H
#include "train/rbm/rbm.h"
#include "train/sampling/dataset.h"

typedef enum train_pretraining {
    TRAIN_CONTRASTIVE = 0, /* as restricted Boltzmann machines (contrastive.h) */
    TRAIN_DENOISE = 1      /* as denoising autoencoders with tied weights (denoising.h) */
} train_pretraining;

/* Defaults are those of Min et al. 2010, section 3.1; Salakhutdinov & Hinton 2007 have a momentum
 * of 0.9 throughout (first_epochs 0). */
typedef struct train_rbm_options {
    train_pretraining method;
    train_states visible; /* of pixels; default Bernoulli */
    train_states top; /* of the last of the widths asked for; default Bernoulli. Codes: Gaussian */
    uint32_t epochs;  /* of each layer; default 50 */
    uint32_t batch;   /* default 100. A smaller last one counts by its rows */
    float rate;       /* default 0.1: of layers whose units are all Bernoulli ... */
    float gaussian_rate;            /* default 0.001: ... and of the others */
    float decay;                    /* default 2e-4: times rate and weight. Biases have none */
    uint32_t first_epochs;          /* default 5: so many have ... */
    float first_momentum, momentum; /* default 0.5, and the others 0.9 */
    float deviation;                /* of first weights, which are normal; default 0.1 */
    float corruption;  /* default 0.25: probability that an input is set to 0. TRAIN_DENOISE */
    int squared_error; /* 1: half the squared error, 0: cross-entropy, the default. TRAIN_DENOISE;
                          Gaussian visible units have the squared error */
    uint64_t seed;     /* default 1 */
    size_t most_kept; /* default 1 GiB: if a layer's data, the means of the layer below, fit so many
                         bytes and an eighth less than the device's free memory, they are kept
                         there, else made anew for every batch. On a processor the same bits */
} train_rbm_options;

train_rbm_options train_rbm_defaults(void);

/* May layers of these widths be learned on top of the stack's? TAPER_ERR_ARG, with the remedy:
 * options out of range, no images, or widths and units that are not those of the stack. */
taper_status train_rbm_check(const train_rbm_stack *stack, const train_rbm_options *options,
                             const train_pixels *data, const uint32_t *widths, uint32_t layers,
                             taper_error *error);

#endif
