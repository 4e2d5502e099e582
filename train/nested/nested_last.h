/* nested_last.h -- what several ranks (train/parallel/ranks.h) need for thresholds: the
 * pre-activations of the last rows of a step, which thresholds follow, from all ranks on each.
 *
 * A rank has some of these rows. It copies theirs to the host while it computes their blocks. Later
 * all are added up, as each is 0 on all ranks but one. */
#ifndef TRAIN_NESTED_LAST_H
#define TRAIN_NESTED_LAST_H
#include "train/nested/nested_network.h"
#include "train/parallel/ranks.h"

typedef struct train_nested_last {
    train_ranks *ranks;
    /* Of the step's rows that are here: their positions in the batch, rising; on the host. */
    const uint32_t *position;
    size_t first, rows; /* the last rows: from this position on, at most TRAIN_LEAST_ROWS */
    uint32_t active;    /* units in use for them */
    float *here;        /* [rows][active] on the host */
    float *block;       /* [TRAIN_LEAST_ROWS][units] on the host, scratch */
    float *there;       /* [TRAIN_LEAST_ROWS][units] on the device; see train_nested_last_lay_out */
} train_nested_last;

/* For one rank (NULL) it holds nothing. TAPER_ERR_NOMEM. */
taper_status train_nested_last_open(train_nested_last *last, train_ranks *ranks, uint32_t units);
void train_nested_last_lay_out(train_nested_last *last, train_arena *arena, uint32_t units);
void train_nested_last_free(train_nested_last *last); /* leaves it zeroed; zeroed is fine */

/* Begins a step: `rows` last rows from position `first` on, of which `active` units count. position
 * is borrowed until they are shared. */
void train_nested_last_begin(train_nested_last *last, const uint32_t *position, size_t first,
                             size_t rows, uint32_t active);
/* How many of the step's rows first_row .. first_row + n - 1 that are here are last rows. They are
 * at the end. */
size_t train_nested_last_among(const train_nested_last *last, size_t first_row, size_t n);
/* Takes theirs from net->act.pre, which has these n rows. */
taper_status train_nested_last_take(train_nested_last *last, train_nested_network *net,
                                    size_t first_row, size_t n);
/* there[rows][active]: those of all ranks. */
taper_status train_nested_last_share(train_nested_last *last, train_stream *stream,
                                     taper_error *error);
#endif
