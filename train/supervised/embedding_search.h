/* embedding_search.h -- searches the options of a supervised embedding for given images, within a
 * given time. It changes one option at a time, trains, and keeps a change that lowers the error on
 * images that were not trained on. For users who have labels but do not know the methods.
 *
 * Few images are held out once each, in four folds, or in two; from 16,000 images on a quarter is
 * held out. If an epoch of all images takes too long, trials use a part of them. The result depends
 * on timing; train_embedding_trial.words and choice allow to repeat the training. */
#ifndef TRAIN_EMBEDDING_SEARCH_H
#define TRAIN_EMBEDDING_SEARCH_H
#include "train/supervised/embedding_stage.h"

/* Searches on stage->pixels. Half of `minutes` (above 0) is for trials; the epochs of the result
 * fit into the other half. Of `base` it uses units (as the first value, at least 1), training.k,
 * threads and seed. TAPER_ERR_ARG: labels that cannot be learned from (train_embedding_rows_take),
 * or stopped; TAPER_ERR_NOMEM, TAPER_ERR_DEVICE. */
taper_status train_embedding_search(train_embedding_stage *stage, double minutes,
                                    const train_embedding_choice *base,
                                    train_embedding_found *found, taper_error *error);

#endif
