/* rbm_trainer.h -- trains a stack of layers without labels, from the bottom.
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
 * processor the bits are the same for any number of threads. The order of each epoch, the initial
 * weights and all states are random numbers of (seed, layer, epoch or step). */
#ifndef TRAIN_RBM_TRAINER_H
#define TRAIN_RBM_TRAINER_H
#include "train/device/device.h"
#include "train/rbm/rbm_options.h"

typedef struct train_rbm_progress {
    uint32_t layer, layers; /* from 1; number of layers requested */
    /* epochs done, from 1; number of epochs */
    uint32_t epoch, epochs;
    /* Squared reconstruction error per row, mean over the epoch. */
    double error;
    double epoch_seconds; /* of this epoch */
    /* For all layers, estimated from their matrix products. */
    double seconds_left;
} train_rbm_progress;

typedef struct train_rbm_callbacks {
    /* Called after every epoch. Return nonzero to stop; the layer in training is lost. */
    int (*progress)(void *user, const train_rbm_progress *at);
    void *user;
} train_rbm_callbacks;

/* Trains those of the `layers` layers of widths[layers] hidden units that the stack does not have
 * yet. callbacks may be NULL. TAPER_OK: stack->layers is `layers`, or fewer if progress stopped
 * training. TAPER_ERR_ARG: as train_rbm_check, or a layer diverged (an error or a parameter is not
 * finite); TAPER_ERR_NOMEM, TAPER_ERR_DEVICE. After a failure the stack has the layers that were
 * completed. */
taper_status train_rbm_stack_learn(train_rbm_stack *stack, const train_rbm_options *options,
                                   const train_pixels *data, const uint32_t *widths,
                                   uint32_t layers, train_device *device,
                                   const train_rbm_callbacks *callbacks, taper_error *error);

#endif
