/* conditional_loss.h -- the loss of a conditional model or a head at one stage of a batch, with its
 * gradient. */
#ifndef TRAIN_CONDITIONAL_LOSS_H
#define TRAIN_CONDITIONAL_LOSS_H
#include "train/conditional/conditional_batch.h"
#include "train/conditional/conditional_network.h"

/* What the host makes of a batch, and the device reads. */
typedef struct train_conditional_array {
    void *host;
    train_lent lent;
} train_conditional_array;

typedef struct train_conditional_loss {
    train_conditional_network *net; /* borrowed, and so are the next three */
    const codec_code_tables *tables;
    const uint32_t *begin;        /* [stages + 1] first pass of each stage, and one past the last */
    codec_pool *pool;             /* of the host */
    uint32_t longest;             /* passes of a stage, at most */
    double *sum;                  /* [blocks of rows] on the host */
    train_conditional_array seen; /* int8_t [room][own] */
    train_conditional_array neighbour;   /* uint32_t [TRAIN_SIDES][rows] */
    train_conditional_array unit;        /* uint32_t that outputs are asked of */
    train_conditional_array bit;         /* train_bit [room][longest]; the others are a head's */
    train_conditional_array missing;     /* float [room][units] of a code as it is decoded */
    train_conditional_array more;        /* uint8_t [room][units] 1: the next plane is known, too */
    train_conditional_array uncertainty; /* float [units][2] in this state, by `more` */
    train_conditional_array worth;       /* double [units] */
    train_arena arena;                   /* on the device, of what follows */
    float *output;      /* of the network, [room][asked][kinds], then their gradients */
    float *column_sums; /* scratch: [blocks][kinds][longest] */
    double *sums;       /* scratch: [blocks][2] */
} train_conditional_loss;

/* Units of which outputs are asked at a time, at most: what the network has to have room for. */
size_t train_conditional_asked(const codec_conditional *shape, const codec_code_tables *tables,
                               const uint32_t *begin);

/* For batches of at most net->room windows. pool: of the host, or NULL. TAPER_ERR_NOMEM,
 * TAPER_ERR_DEVICE; nothing is held then. */
taper_status train_conditional_loss_create(train_conditional_loss *loss,
                                           train_conditional_network *net,
                                           const codec_code_tables *tables, const uint32_t *begin,
                                           codec_pool *pool);
/* Before its network is freed. Leaves it zeroed; zeroed is fine. */
void train_conditional_loss_free(train_conditional_loss *loss);

/* Before stages of another batch. */
taper_status train_conditional_loss_begin(train_conditional_loss *loss,
                                          const train_conditional_batch *batch);

/* Conditional model: bits of the stage's passes, times weight, with the network into losses[0] and
 * without into losses[1], on the device, which are added to as is the network's gradient. */
taper_status train_conditional_add_bits(train_conditional_loss *loss,
                                        train_conditional_batch *batch, uint32_t stage,
                                        double weight, double *losses);

/* Head: squared error of the codes as a decoder has them after `pass` passes, within the stage,
 * relative to that without a head, times weight, into losses[0]. Units weigh as their errors do in
 * pixels. */
taper_status train_conditional_add_errors(train_conditional_loss *loss,
                                          train_conditional_batch *batch, uint32_t stage,
                                          uint32_t pass, double weight, double *losses);

#endif
