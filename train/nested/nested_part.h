/* nested_part.h -- the rows of a nested-dropout run, those of them that are here
 * (train/sampling/own_rows.h), and what several ranks (train/parallel/ranks.h) tell each other of
 * them. */
#ifndef TRAIN_NESTED_PART_H
#define TRAIN_NESTED_PART_H
#include "train/nested/nested_errors.h"
#include "train/sampling/own_rows.h"

/* --- last rows ------------------------------------------------------------------------- */

/* Thresholds follow the pre-activations of the last rows of a step. A rank has some of these rows.
 * It copies theirs to the host while it computes their blocks. Later all are added up, as each is 0
 * on all ranks but one. */
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

/* --- the part -------------------------------------------------------------------------- */

typedef struct train_nested_part {
    const train_pixels *data;
    size_t n_training, n_validation, batch; /* rows of all ranks */
    uint32_t *split;                        /* all rows: [training | validation] */
    uint32_t *shuffled;                     /* this epoch's training rows */
    /* Those that are here: of the training rows and of the validation rows, each as one batch in
     * the order of the split; and of this epoch's batches. */
    train_own_rows training, held_out, own;
    /* on the device */
    train_feed feed; /* the rows that are here */
    train_order training_order, held_out_order, order, positions;
    train_nested_last last; /* with several ranks */
} train_nested_part;

/* Splits and orders the rows; at most max_validation are held out. TAPER_ERR_NOMEM. Free it after a
 * failure too. */
taper_status train_nested_part_open(train_nested_part *part, const train_pixels *data,
                                    uint64_t seed, size_t batch, size_t max_validation,
                                    uint32_t units);
void train_nested_part_free(train_nested_part *part);

/* Gives the orders to a device; then, after all other allocations, the rows, of which a take has at
 * most `most`. TAPER_ERR_NOMEM, TAPER_ERR_DEVICE. */
taper_status train_nested_part_give_orders(train_nested_part *part, train_stream *stream);
taper_status train_nested_part_give_rows(train_nested_part *part, train_stream *stream,
                                         size_t most);

/* Shuffles the training rows for an epoch, from 0. */
taper_status train_nested_part_shuffle(train_nested_part *part, uint64_t seed, uint64_t epoch,
                                       train_stream *stream);

/* The validation rows; the first n training rows of the split. */
train_nested_data train_nested_part_held_out(train_nested_part *part);
train_nested_data train_nested_part_training(train_nested_part *part, size_t n);

/* Pre-activations a[n][units] of the first n training rows, as of train_nested_codes, from all
 * ranks. */
taper_status train_nested_part_codes(train_nested_part *part, train_nested_network *net, size_t n,
                                     float *a);
#endif
