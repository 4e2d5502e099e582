/* conditional_loss.h -- the loss and gradient of a conditional model or a head at one stage of a
 * batch. */
#ifndef TRAIN_CONDITIONAL_LOSS_H
#define TRAIN_CONDITIONAL_LOSS_H
#include "train/conditional/conditional_batch.h"
#include "train/conditional/conditional_network.h"

/* An array of a batch that the host computes and the device reads. */
typedef struct train_conditional_array {
    void *host;
    train_mirror mirror;
} train_conditional_array;

typedef struct train_conditional_loss {
    train_conditional_network *net; /* borrowed, as are the next three */
    const codec_code_tables *tables;
    /* [stages + 1] first pass of each stage, and one past the last */
    const uint32_t *begin;
    codec_pool *pool;                  /* of the host */
    train_ranks *ranks;                /* that have parts of the batch; default NULL */
    uint32_t longest;                  /* passes of the longest stage */
    double *sum;                       /* [blocks of rows] on the host */
    train_conditional_array seen;      /* int8_t [capacity][own] */
    train_conditional_array neighbour; /* uint32_t [TRAIN_SIDES][rows] */
    /* uint32_t units whose outputs are computed */
    train_conditional_array unit;
    /* train_bit [capacity][longest]; the others are a head's */
    train_conditional_array bit;
    /* float [capacity][units] error of the decoded code */
    train_conditional_array missing;
    /* uint8_t [capacity][units] 1: the next plane is known, too */
    train_conditional_array more;
    /* float [units][2] in this state, by `more` */
    train_conditional_array uncertainty;
    train_conditional_array worth; /* double [units] */
    train_arena arena;             /* on the device, of what follows */
    float *output;      /* [capacity][asked][kinds] of the network; then their gradients */
    float *column_sums; /* scratch: [blocks][kinds][longest] */
    double *sums;       /* scratch: [blocks][2] */
} train_conditional_loss;

/* Units whose outputs are computed at once, at most: the `asked` of train_conditional_create. */
size_t train_conditional_asked(const codec_conditional *shape, const codec_code_tables *tables,
                               const uint32_t *begin);

/* For batches of at most net->capacity windows. pool: of the host, or NULL. TAPER_ERR_NOMEM,
 * TAPER_ERR_DEVICE: nothing is held. */
taper_status train_conditional_loss_create(train_conditional_loss *loss,
                                           train_conditional_network *net,
                                           const codec_code_tables *tables, const uint32_t *begin,
                                           codec_pool *pool);
/* Call it before its network is freed. Leaves it zeroed; zeroed is fine. */
void train_conditional_loss_free(train_conditional_loss *loss);

/* Call it before the stages of another batch. */
taper_status train_conditional_loss_begin(train_conditional_loss *loss,
                                          const train_conditional_batch *batch);

/* Conditional model: adds weight x bits of the stage's passes, with the network to losses[0] and
 * without it to losses[1], on the device, and adds to the network's gradient. */
taper_status train_conditional_add_bits(train_conditional_loss *loss,
                                        train_conditional_batch *batch, uint32_t stage,
                                        double weight, double *losses);

/* The squared error of all ranks, given this one's, to which a head's loss is relative. A rank that
 * has no part of the batch calls it with 0 in place of train_conditional_add_errors. */
taper_status train_conditional_energy(const train_conditional_loss *loss, double own,
                                      double *energy, taper_error *error);

/* Head: adds to losses[0] weight x the squared error of the codes as decoded after `pass` passes,
 * within the stage, relative to that without a head. Units are weighted by the effect of their
 * errors on pixels. */
taper_status train_conditional_add_errors(train_conditional_loss *loss,
                                          train_conditional_batch *batch, uint32_t stage,
                                          uint32_t pass, double weight, double *losses);

#endif
