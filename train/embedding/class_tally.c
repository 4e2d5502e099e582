/* class_tally.c -- see class_tally.h. */
#include "train/embedding/class_tally.h"
#include "train/optimise/run.h"
#include <math.h>
#include <stdlib.h>

taper_status train_class_tally_open(train_class_tally *t, uint32_t classes, taper_error *error) {
    *t = (train_class_tally){.wrong = calloc(classes, sizeof *t->wrong),
                             .tested = calloc(classes, sizeof *t->tested),
                             .classes = classes};
    return train_explain(t->wrong && t->tested ? TAPER_OK : TAPER_ERR_NOMEM, error,
                         "errors of %u classes", (unsigned)classes);
}

void train_class_tally_free(train_class_tally *t) {
    free(t->wrong), free(t->tested);
    *t = (train_class_tally){0};
}

double train_class_tally_mean(const train_class_tally *t) {
    double sum = 0.0, n = 0.0;
    for (uint32_t c = 0; c < t->classes; c++)
        if (t->tested[c]) sum += (double)t->wrong[c] / (double)t->tested[c], n++;
    return n > 0.0 ? sum / n : NAN;
}
