/* embedding_errors.h -- how well the nearest neighbours of held-out rows tell their labels. */
#ifndef TRAIN_EMBEDDING_ERRORS_H
#define TRAIN_EMBEDDING_ERRORS_H
#include "codec/taper_search.h"
#include "train/device/feed.h"
#include "train/embedding/embedding_rows.h"

/* Codes that held-out rows are judged by. */
typedef struct train_embedding_codes {
    const float *code; /* [rows->n][units] of rows->all, training rows first */
    size_t units;
    const train_embedding_rows *rows;
    const uint32_t *label; /* of the data, by rows->all's numbers */
    uint32_t k;            /* that vote; no more than there are training rows do */
    unsigned threads;      /* 0: one per online core */
    uint8_t *wrong;        /* [held out] becomes 1 of those that are, else 0; NULL: not wanted */
} train_embedding_codes;

/* Held-out rows whose label is not the one that their k nearest training rows vote for
 * (taper_vote). tested 0: none are held out. TAPER_ERR_ARG: a code is not finite; TAPER_ERR_NOMEM.
 */
taper_status train_embedding_vote(const train_embedding_codes *codes, taper_error_rate *rate,
                                  taper_error *error);

typedef struct train_embedding_look {
    train_embedder *embedder;
    train_feed *feed;         /* of the data's rows, the embedder's batch at most */
    const train_order *order; /* rows->all */
    const train_embedding_rows *rows;
    const uint32_t *label; /* [data->n] the host's */
    uint32_t k;            /* as above */
    unsigned threads;
} train_embedding_look;

/* The share, 0..1, of such errors with the weights as they are; NaN where no row is held out. Codes
 * are made on the device, all of them anew. TAPER_ERR_ARG: a code is not finite. TAPER_ERR_NOMEM:
 * memory for codes of all rows; TAPER_ERR_DEVICE. */
taper_status train_embedding_error(const train_embedding_look *look, double *rate,
                                   taper_error *error);

#endif
