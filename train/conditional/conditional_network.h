/* conditional_network.h -- the conditional model (codec/bitplane/conditional.h) in floating point,
 * forward and backward, and its conversion to the integers of the codec.
 *
 * Floats represent the integers of the codec: an input a is a / 32, an activation h is h / 16, a
 * logit is itself. Values are clipped as there, but not rounded. A row x of X has [a |a|] of all
 * inputs and a 1 for each side that exists.
 *     h0 = clip(x first + stage(s));  h(i) = min(h(i-1) + clip(middle(i) h(i-1) + bias(i)), top)
 *     logit(unit, kind) = out(unit, kind) . h2,   clip(z) = min(max(z, 0), top),   top = 127 / 16
 */
#ifndef TRAIN_CONDITIONAL_NETWORK_H
#define TRAIN_CONDITIONAL_NETWORK_H
#include "codec/bitplane/conditional.h"
#include "train/device/operations.h"
#include "train/optimise/weights.h"

enum { TRAIN_CONDITIONAL_LAYERS = 1 + CODEC_CONDITIONAL_MIDDLES };

typedef struct train_conditional_weights {    /* views into a vector of parameters */
    float *first;                             /* [columns][hidden]; the last 9 rows are for sides */
    float *stage;                             /* [stages][hidden] */
    float *middle[CODEC_CONDITIONAL_MIDDLES]; /* [hidden][hidden] */
    float *bias[CODEC_CONDITIONAL_MIDDLES];   /* [hidden] */
    float *out;                               /* [units][kinds][hidden] */
    float *pass_bias;                         /* [kinds][end] */
} train_conditional_weights;

/* All arrays are on the device. */
typedef struct train_conditional_network {
    codec_conditional shape; /* its sizes only, no arrays */
    size_t columns;          /* of x: 2 x inputs + 9 */
    train_stream stream;
    train_arena arena; /* of all that follows */
    train_weights weights;
    train_conditional_weights w, w_gradient; /* views */
    /* of the present rows */
    size_t capacity, asked, rows;
    float *x;                                /* [capacity][columns], filled by the caller */
    float *h[TRAIN_CONDITIONAL_LAYERS];      /* [capacity][hidden] */
    float *added[CODEC_CONDITIONAL_MIDDLES]; /* [capacity][hidden] what a middle layer added */
    float *dh[2];                            /* [capacity][hidden] */
    float *column_sums;                      /* scratch: [blocks of rows][hidden] */
    float *out;                              /* [asked][kinds][hidden] of the requested units */
} train_conditional_network;

/* Creates a network on a device, which is borrowed, for at most `capacity` rows and outputs of at
 * most `asked` units at once. Initial weights are random (by seed), those of out zero, so all
 * logits are 0. TAPER_ERR_ARG: an illegal shape; TAPER_ERR_NOMEM, TAPER_ERR_DEVICE; nothing is held
 * then. */
taper_status train_conditional_create(train_conditional_network *net,
                                      const codec_conditional *shape, train_device *device,
                                      size_t capacity, size_t asked, uint64_t seed);
void train_conditional_free(train_conditional_network *net);

/* Computes h of x[rows] at a stage. */
taper_status train_conditional_forward(train_conditional_network *net, uint32_t stage, size_t rows);
/* After forward: logit[rows][n_units][kinds], without the biases of passes. unit[n_units] and logit
 * are on the device. */
taper_status train_conditional_logits(train_conditional_network *net, const uint32_t *unit,
                                      size_t n_units, float *logit);
/* From d loss / d logit of the units of the last train_conditional_logits; adds to the gradient. */
taper_status train_conditional_backward(train_conditional_network *net, uint32_t stage,
                                        const uint32_t *unit, size_t n_units, const float *dlogit);

/* Rounds the network to integers in *to, whose arrays are allocated here. The caller fills in
 * `begin`. TAPER_ERR_NOMEM, TAPER_ERR_DEVICE. */
taper_status train_conditional_export(train_conditional_network *net, codec_conditional *to);

/* The reverse: sets the network from from's integers. The shapes must be equal. TAPER_ERR_NOMEM,
 * TAPER_ERR_DEVICE. */
taper_status train_conditional_import(train_conditional_network *net,
                                      const codec_conditional *from);

#endif
