/* class_tally.h -- errors counted by class, and their mean over classes. */
#ifndef TRAIN_CLASS_TALLY_H
#define TRAIN_CLASS_TALLY_H
#include "codec/taper_search.h"

typedef struct train_class_tally {
    uint64_t *wrong, *tested; /* [classes] */
    uint32_t classes;
} train_class_tally;

/* All zero, for labels 0 .. classes - 1, classes 1... TAPER_ERR_NOMEM. */
taper_status train_class_tally_open(train_class_tally *tally, uint32_t classes, taper_error *error);
void train_class_tally_free(train_class_tally *tally); /* leaves it zeroed; zeroed is fine */

static inline void train_class_tally_add(train_class_tally *t, uint32_t label, int is_wrong) {
    t->tested[label]++, t->wrong[label] += is_wrong != 0;
}

/* The mean over the classes that were tested, 0..1; NaN: none was. */
double train_class_tally_mean(const train_class_tally *tally);

#endif
