/* nested_trainer.h -- training by nested dropout as in Rippel, Gelbart & Adams (2014): truncation,
 * unit sweeping, adaptive regularisation, binarisation, invariance, corruption, dropout, and either
 * of two optimisers.
 *
 *     train_nested_options options = train_nested_defaults();
 *     train_nested_network net;
 *     TAPER_TRY(train_nested_create(&net, &shape, &device, mean, scale, options.seed));
 *     TAPER_TRY(train_nested(&options, &data, &net, NULL, &result, error));
 *
 * Deterministic: the same options, data, network and kind of device give the same weights bit for
 * bit, for any number of threads, interrupted and resumed or not, however seldom losses are looked
 * at.
 *
 * The room train/nested/: the autoencoders of the paper, over whole units.
 *   nested_trainer      a run; nested_options: what may be asked of it; nested_step: its steps
 *   nested_network      the network; nested_shape: its widths; nested_activations: a block of rows
 *                       on its way, nested_forward: the way forward
 *   nested_gradient     loss and gradient; nested_classes: what labels say to the first units;
 *                       nested_errors: codes, and errors at every length
 *   settle              thresholds and decoder at the beginning and the end of a run
 *   refit               the best linear decoder of their codes, for every length at once
 *   sweep               units frozen one after the other
 *   orthonormal         decoders whose rows stay orthonormal (theorem 3)
 *   regulariser         weight decay with a coefficient for each unit */
#ifndef TRAIN_NESTED_TRAINER_H
#define TRAIN_NESTED_TRAINER_H
#include "train/nested/nested_options.h"
#include "train/sampling/dataset.h"

train_nested_options train_nested_defaults(void);

/* Train net in place (from what it holds). Binary networks: at the end the thresholds are exact
 * quantiles over the training rows; networks of one untied layer are refitted where that lowers the
 * error on validation rows (refit.h). TAPER_ERR_ARG: options out of range, data
 * that do not fit the network, a checkpoint of another run, or training has diverged: a loss or
 * gradient was not finite; the text names the step and the last good checkpoint, net is as it was
 * before that step. TAPER_ERR_NOMEM, TAPER_ERR_DEVICE: net is undefined, a run goes on from its
 * checkpoint; TAPER_ERR_IO, TAPER_ERR_CORRUPT, ...: the checkpoint (checkpoint.h). callbacks and
 * result may be NULL. */
taper_status train_nested(const train_nested_options *options, const train_pixels *data,
                          train_nested_network *net, const train_nested_callbacks *callbacks,
                          train_nested_result *result, taper_error *error);

/* Mean image of data, and the standard deviation of a pixel component around it (at least 1). */
void train_nested_statistics(const train_pixels *data, float *mean, float *scale);
#endif
