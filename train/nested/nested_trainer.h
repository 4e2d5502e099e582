/* nested_trainer.h -- training by nested dropout as in Rippel, Gelbart & Adams (2014): truncation,
 * unit sweeping, adaptive regularisation, binarisation, invariance, corruption, dropout, and two
 * optimisers.
 *
 *     train_nested_options options = train_nested_defaults();
 *     train_nested_network net;
 *     TAPER_TRY(train_nested_create(&net, &shape, &device, mean, scale, options.seed));
 *     TAPER_TRY(train_nested(&options, &data, &net, NULL, &result, error));
 *
 * Deterministic: the same options, data, network and kind of device give the same weights bit for
 * bit, for any number of threads, interrupted and resumed or not. How often losses are downloaded
 * does not matter.
 *
 * Several ranks (train_pixels.ranks) each compute the rows that they have, with the random numbers
 * of one rank. So their sums, and no more, are rounded in another way.
 *
 * Directory train/nested/: the autoencoders of the paper, which truncate whole units.
 *   nested_trainer      a run; nested_options: its options; nested_step: its steps
 *   nested_network      the network; nested_shape: its widths; nested_activations: a block of
 *                       rows; nested_forward: the forward pass
 *   nested_gradient     loss and gradient; nested_classes: the objective from labels;
 *                       nested_errors: codes, and errors at every length
 *   nested_part         the rows of a run, those of this rank, and what ranks exchange
 *   nested_setup        before the first step and after the last: memory, thresholds, decoder
 *   refit               the best linear decoder of binary codes, for every length at once
 *   sweep               units frozen one after the other
 *   orthonormal         decoders whose rows are kept orthonormal (theorem 3)
 *   regulariser         weight decay with a coefficient for each unit */
#ifndef TRAIN_NESTED_TRAINER_H
#define TRAIN_NESTED_TRAINER_H
#include "train/nested/nested_options.h"
#include "train/sampling/dataset.h"

train_nested_options train_nested_defaults(void);

/* Trains net in place, from its present weights. Binary networks: at the end the thresholds are
 * exact quantiles over the training rows. A network of one untied layer is refitted if that lowers
 * the error on validation rows (refit.h). callbacks and result may be NULL.
 *   TAPER_ERR_ARG      options out of range; data that do not fit the network; a checkpoint of
 *                      another run; or divergence: a loss or gradient was not finite. The text
 *                      names the step and the last checkpoint; net is as before that step
 *   TAPER_ERR_NOMEM, TAPER_ERR_DEVICE         net is undefined; resume from the checkpoint
 *   TAPER_ERR_IO, TAPER_ERR_CORRUPT, ...      of the checkpoint (checkpoint.h), or of ranks */
taper_status train_nested(const train_nested_options *options, const train_pixels *data,
                          train_nested_network *net, const train_nested_callbacks *callbacks,
                          train_nested_result *result, taper_error *error);

/* The mean image of data, and the standard deviation of a pixel component around it, at least 1.
 * TAPER_ERR_NOMEM. */
taper_status train_nested_statistics(const train_pixels *data, float *mean, float *scale);
#endif
