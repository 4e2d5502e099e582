/* nested_part.h -- the rows of a nested-dropout run, and those of them that are here
 * (train/sampling/own_rows.h). */
#ifndef TRAIN_NESTED_PART_H
#define TRAIN_NESTED_PART_H
#include "train/nested/nested_errors.h"
#include "train/nested/nested_last.h"
#include "train/sampling/own_rows.h"

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
