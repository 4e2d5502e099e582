/* teaching.h -- trains a teacher. Each step has a labelled batch and an unlabelled batch; the
 * result is a plain network. If there are guessed labels (train_pixels.guessed) and known ones,
 * each has half of a labelled batch. Guesses are many and mostly of easy rows, and would otherwise
 * displace known labels. */
#ifndef TRAIN_TEACHING_H
#define TRAIN_TEACHING_H
#include "codec/transform/network.h"
#include "train/device/device.h"
#include "train/sampling/dataset.h"

typedef struct train_teaching_options {
    /* Passes over all rows; default 0: train_teaching_epochs. */
    uint32_t epochs;
    /* Default 2e-3: Adam's peak; a cosine decay. */
    float rate;
    /* Default 0.035: distance by which rows are moved, for pixels of 0..1, in multiples of the
     * root of the number of inputs (teacher.h). 0: labels only, in an eighth of the time. */
    float reach;
    uint64_t seed; /* default 1 */
} train_teaching_options;

train_teaching_options train_teaching_defaults(void);
/* The default number of epochs of so many rows: 15, or as many as give 1,000 steps. */
uint32_t train_teaching_epochs(size_t rows);

/* All may be NULL. */
typedef struct train_teaching_callbacks {
    void *user;
    /* As train_embedding_callbacks.step; return nonzero to stop. */
    int (*step)(void *user, uint64_t step, uint64_t steps, double loss, double seconds_left);
    void (*say)(void *user, const char *words);
} train_teaching_callbacks;

/* Trains net in place, from its initial weights (train/embedding/drawn_start.h). net is an encoder
 * with hidden layers and a unit per class. It uses the labels of rows whose label is below
 * net->units, and all rows without labels. A row's class is then the largest element of its code.
 * *stopped: by the callback; net is then unchanged. TAPER_ERR_ARG with the remedy: options out of
 * range, no labels, rows of another size, divergence; TAPER_ERR_NOMEM, TAPER_ERR_DEVICE. */
taper_status train_teaching(const train_teaching_options *options, const train_pixels *data,
                            train_device *device, codec_network *net,
                            const train_teaching_callbacks *callbacks, int *stopped,
                            taper_error *error);

#endif
