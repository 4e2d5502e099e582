/* embedding_search.h -- which recipe of a supervised embedding suits these images: for people who
 * have labels, and know none of the methods. Recipes are tried on images that they have not learned
 * from, one change at a time, and a change that pays is kept; the time is given.
 *
 * Of few images each is held out once, in four folds, or half of them are, in two; of 16,000 on a
 * quarter is. Of so many that an epoch takes too long trials have a part. What is found depends on
 * the clock: it says how to learn the same again (train_embedding_trial.words, choice). */
#ifndef TRAIN_EMBEDDING_SEARCH_H
#define TRAIN_EMBEDDING_SEARCH_H
#include "train/supervised/embedding_stage.h"

/* Half of the minutes (above 0) are for trials; the choice's epochs are those that
 * fit into the rest. Of `base` it takes units (a beginning, at least 1), training.k, threads and
 * seed. TAPER_ERR_ARG: labels that cannot be learned from (train_embedding_rows_take), or stopped;
 * TAPER_ERR_NOMEM, TAPER_ERR_DEVICE. */
taper_status train_embedding_search(train_embedding_stage *stage, double minutes,
                                    const train_embedding_choice *base, const train_pixels *pixels,
                                    train_embedding_found *found, taper_error *error);

#endif
