/* embedding_errors.h -- the error of nearest-neighbour classification of held-out rows. */
#ifndef TRAIN_EMBEDDING_ERRORS_H
#define TRAIN_EMBEDDING_ERRORS_H
#include "codec/taper_search.h"
#include "train/device/feed.h"
#include "train/embedding/class_tally.h"
#include "train/embedding/embedding_rows.h"
#include "train/sampling/own_rows.h"

/* Codes of rows, for classifying the held-out ones. */
typedef struct train_embedding_codes {
    const float *code; /* [rows->n][units] of rows->all, training rows first */
    size_t units;
    const train_embedding_rows *rows;
    /* Of the data, by the numbers in rows->all. */
    const uint32_t *label;
    /* Voting neighbours; limited to the number of training rows. */
    uint32_t k;
    unsigned threads; /* 0: one per online core */
    /* [held out] becomes 1 for rows in error, else 0; or NULL */
    uint8_t *wrong;
    int balanced; /* votes count 1 / (training rows of their class) */
} train_embedding_codes;

/* Counts held-out rows whose label differs from the vote of their k nearest training rows
 * (taper_vote). tested 0: no rows are held out. TAPER_ERR_ARG: a code is not finite;
 * TAPER_ERR_NOMEM. */
taper_status train_embedding_vote(const train_embedding_codes *codes, taper_error_rate *rate,
                                  taper_error *error);

/* Adds wrong[held out] of the held-out rows to the errors of their classes. */
void train_embedding_tally(const train_embedding_rows *rows, const uint32_t *label,
                           const uint8_t *wrong, train_class_tally *tally);

typedef struct train_embedding_look {
    train_embedder *embedder;
    /* Of the data's rows that are here, takes of at most the embedder's batch. */
    train_feed *feed;
    /* Those of rows->all, as one batch; and their order. */
    const train_own_rows *own;
    const train_order *order;
    const train_embedding_rows *rows;
    const uint32_t *label; /* [data->n] on the host */
    uint32_t k;            /* as above */
    unsigned threads;
    int balanced; /* likewise, and the rate is the mean over classes */
} train_embedding_look;

/* The error rate, 0..1, with the present weights; NaN if no row is held out. Computes codes on the
 * device, each rank those of its rows; every rank searches their neighbours. TAPER_ERR_ARG: a code
 * is not finite. TAPER_ERR_NOMEM: no memory for codes of all rows; TAPER_ERR_DEVICE. */
taper_status train_embedding_error(const train_embedding_look *look, double *rate,
                                   taper_error *error);

#endif
