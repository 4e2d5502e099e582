/* rbm_trainer.h -- learning a stack of layers without labels, from below.
 *
 *     train_rbm_stack stack = {0};
 *     train_rbm_options options = train_rbm_defaults();
 *     const uint32_t widths[] = {500, 500, 2000, 30};
 *     train_rbm_stack_learn(&stack, &options, &pixels, widths, 3, &device, NULL, error);
 *     options.top = TRAIN_GAUSSIAN;                                the codes
 *     train_rbm_stack_learn(&stack, &options, &pixels, widths, 4, &device, NULL, error);
 *     train_rbm_unroll(&stack, &net, error);
 *
 * Deterministic: a layer depends on the layers below, its number, the options and the images. On a
 * processor it is the same bits for any number of threads. Each epoch's order, each layer's first
 * weights and all states are draws of (seed, layer, epoch or step). */
#ifndef TRAIN_RBM_TRAINER_H
#define TRAIN_RBM_TRAINER_H
#include "train/device/device.h"
#include "train/rbm/rbm_options.h"

typedef struct train_rbm_progress {
    uint32_t layer, layers; /* from 1; of those asked for */
    uint32_t epoch, epochs; /* from 1, done */
    double error;           /* squared error of the reconstruction, a row, mean over the epoch */
    double epoch_seconds;   /* of this one */
    double seconds_left;    /* of all layers, as their products count */
} train_rbm_progress;

typedef struct train_rbm_callbacks {
    /* After every epoch. Nonzero: stop; the layer at hand is lost. */
    int (*progress)(void *user, const train_rbm_progress *at);
    void *user;
} train_rbm_callbacks;

/* Learn those of the `layers` layers of widths[layers] hidden units that the stack does not have
 * yet. callbacks may be NULL. TAPER_OK: stack->layers is `layers`, or fewer where progress stopped
 * it. TAPER_ERR_ARG: as train_rbm_check, or a layer diverged: the reconstruction or a number is not
 * finite; TAPER_ERR_NOMEM, TAPER_ERR_DEVICE. The stack then has the layers that were done. */
taper_status train_rbm_stack_learn(train_rbm_stack *stack, const train_rbm_options *options,
                                   const train_pixels *data, const uint32_t *widths,
                                   uint32_t layers, train_device *device,
                                   const train_rbm_callbacks *callbacks, taper_error *error);

#endif
