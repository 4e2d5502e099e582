/* plain_classifier.h -- the error of a network that names classes: what would be trained if there
 * were no embedding, as a yardstick for the trials of a search.
 *
 * Pixels, two hidden layers of 500 ReLU units that are normalised batch by batch, one logit a
 * class; cross-entropy, Adam (train/labelling). The largest logit is the class. */
#ifndef TRAIN_PLAIN_CLASSIFIER_H
#define TRAIN_PLAIN_CLASSIFIER_H
#include "train/supervised/embedding_stage.h"

typedef struct train_plain_run {
    uint32_t epochs;
    int stopped;
} train_plain_run;

/* Trains on the first rows->n_training of rows->all, with their labels, and counts the errors on
 * the other rows. wrong[held out]: 1 for those in error. It takes about so many seconds: a pass
 * over some rows measures the time, then there are as many epochs as fit, at least one, at most
 * train_teaching_epochs. run->stopped: by the callbacks of the stage's hooks; then nothing is
 * counted. TAPER_ERR_LIMIT: one epoch takes several times as long, or the rows to learn from have
 * over 256 million values, of which there would be a copy; nothing is counted. TAPER_ERR_ARG: it
 * diverged, or no row is left to learn from; TAPER_ERR_NOMEM, TAPER_ERR_DEVICE. */
taper_status train_plain_classifier_judge(train_embedding_stage *stage,
                                          const train_embedding_rows *rows, uint64_t seed,
                                          double seconds, uint8_t *wrong, taper_error_rate *rate,
                                          train_plain_run *run, taper_error *error);

#endif
