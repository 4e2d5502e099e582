/* trial_folds.h -- which labelled rows a trial of the search holds out: of each class as many as
 * its share, so that no trial learns from few rows of a rare class by chance. */
#ifndef TRAIN_TRIAL_FOLDS_H
#define TRAIN_TRIAL_FOLDS_H
#include "train/embedding/embedding_rows.h"

enum {
    TRAIN_TRIAL_PARTS = 4,           /* of which one is held out */
    TRAIN_TRIAL_MOST_HELD_OUT = 5000 /* enough for comparing trials */
};

/* part[i] = 0 .. TRAIN_TRIAL_PARTS - 1 of row order[i]: rows of one class have the parts in turn,
 * and the next class begins with the next part. label[order[i]] < classes. The parts of the first
 * rows do not depend on the others. TAPER_ERR_NOMEM. */
taper_status train_trial_parts(const uint32_t *order, size_t n, const uint32_t *label,
                               size_t classes, uint8_t *part);

/* Sets all, n and n_training of `rows`, whose `all` has room for n: of order[n] with their part[n],
 * those of part `fold` are held out, at most TRAIN_TRIAL_MOST_HELD_OUT. */
void train_trial_fold(const uint32_t *order, const uint8_t *part, size_t n, uint32_t fold,
                      train_embedding_rows *rows);

#endif
