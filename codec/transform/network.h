/* network.h -- pixels to codes and back.
 *
 * One shape for every family: a linear path (mean, analysis, synthesis) and, for `dense`, a stack
 * of layers on each side whose output is added to the linear path:
 *     x     = A (y - mean) + f(y - mean)          f, g: fully connected, ReLU between,
 *     y_hat = mean + G^T x + g(x)                 last layer linear
 * `pca` is the case without stacks and with A = G (rows orthonormal: theorem 3 of Rippel et al.
 * 2014). A DIRECT network has the stacks alone, as the autoencoders of section 4 there:
 *     x     = code(f(y - mean)),   y_hat = mean + g(x)
 * with the activation `hidden` between layers, and `code` on the code. The codes of a binary model
 * are its pre-activations a. The unit is 1 where a > 0 (the bias is minus the threshold, section
 * 4.3), and g is given zeros and ones (less a centre: code_tables.h). With FEEDBACK the units of
 * such a network know those before them, by strictly lower triangular matrices T and M:
 *     u_k = a_k - sum over j < k of T_kj (u_j > 0)     decision feedback; the codes are u
 *     z_k = x_k + sum over j < k of M_kj x_j           for units that were sent, else 0
 *     y_hat = mean + g(z)                              z tells g how many were sent
 * An ENCODER is the half of a direct network that makes codes: it has f alone, and decodes nothing.
 * y is one window (tile) of the image as D = width * height * channels floats on the 8-bit scale
 * 0..255, in channel-planar order (all of channel 0 row by row, then channel 1, ...).
 *
 * The room codec/transform/: pixels to codes and back.
 *   network             windows to codes and back
 *   triangle            triangular layers on a code whose units know those before them
 *   windows lap         images to windows and back; the filter across their edges
 *   scaling             an image to another size
 *   pseudo_inverse      the analysis that belongs to a synthesis
 *   restoration         a small convolutional network that corrects pixels; restoration_filter: at
 *                       work on an image */
#ifndef CODEC_NETWORK_H
#define CODEC_NETWORK_H
#include "codec/backend/backend.h"

enum {
    CODEC_MAX_LAYERS = 8,       /* fully connected layers in one stack */
    CODEC_ROWS_AT_ONCE = 3 * 96 /* for callers with many rows: a multiple of the network's blocks */
};

/* y[n][outputs] = activation(x[n][inputs] w^T + bias), w stored [outputs][inputs]. */
typedef struct codec_layer {
    uint32_t inputs, outputs;
    float *weight; /* [outputs][inputs] */
    float *bias;   /* [outputs] */
} codec_layer;

typedef struct codec_stack {
    uint32_t depth; /* 0: absent */
    codec_layer layer[CODEC_MAX_LAYERS];
} codec_stack;

typedef struct codec_network {
    uint32_t inputs;         /* D */
    uint32_t units;          /* K <= D unless direct */
    float *mean;             /* [D] */
    float *analysis;         /* A [K][D]; the same pointer as synthesis when tied; NULL: direct */
    float *synthesis;        /* G [K][D]; NULL: direct */
    codec_stack encoder;     /* f: D -> ... -> K */
    codec_stack decoder;     /* g: K -> ... -> D; depth 0 in an encoder alone */
    codec_activation hidden; /* of both stacks, between layers */
    codec_activation code;   /* of f's output; CODEC_LINEAR unless direct */
    float tied_gain; /* > 0: g's matrices are f's transposed, see codec_network_tie; else 0 */
    float *feedback; /* T [K][K] of a network with feedback, read below the diagonal; else NULL */
    float *mixing;   /* M, likewise */
} codec_network;

/* Tied: synthesis is the same array as analysis. Direct: there is neither. Encoder: a direct
 * network without its decoder. */
typedef enum codec_linear_path {
    CODEC_UNTIED,
    CODEC_TIED,
    CODEC_DIRECT,
    CODEC_ENCODER
} codec_linear_path;

/* Allocate all arrays, zeroed; the activations are CODEC_RELU between layers and CODEC_LINEAR on
 * the code. Hidden layer widths go from outside in: e.g. encoder_hidden {512, 256}. 0 layers: that
 * stack is absent, or in a direct network one fully connected layer. At most CODEC_MAX_LAYERS - 1.
 * TAPER_ERR_ARG on a width of 0 or too many layers, or on hidden layers for the decoder that
 * CODEC_ENCODER lacks; TAPER_ERR_NOMEM; on failure nothing is held. */
taper_status codec_network_alloc(codec_network *net, uint32_t inputs, uint32_t units,
                                 codec_linear_path path, const uint32_t *encoder_hidden,
                                 uint32_t n_encoder_hidden, const uint32_t *decoder_hidden,
                                 uint32_t n_decoder_hidden);
/* Give a direct network feedback, T and M zero: it encodes and decodes as before. TAPER_ERR_ARG,
 * and nothing is done, when it is not direct, has no decoder or has feedback already;
 * TAPER_ERR_NOMEM likewise. */
taper_status codec_network_add_feedback(codec_network *net);
void codec_network_free(codec_network *net); /* leaves *net zeroed */

/* Bytes that encoding or decoding takes besides its arguments. */
uint64_t codec_network_scratch_bytes(const codec_network *net);

static inline int codec_network_is_direct(const codec_network *net) { return !net->synthesis; }
static inline int codec_network_has_decoder(const codec_network *net) {
    return net->synthesis || net->decoder.depth;
}
static inline int codec_network_has_feedback(const codec_network *net) {
    return net->mixing != NULL;
}

/* to[columns][rows] = gain * from[rows][columns]. */
void codec_transpose(const float *from, size_t rows, size_t columns, float gain, float *to);

/* Tie the stacks of a direct network: layer i of g becomes the transpose of layer depth - 1 - i of
 * f, the last one times gain (scale^2 where f divides pixels by a scale and g multiplies them).
 * Biases stay. A model file then holds the matrices once. Call it again when f has changed.
 * TAPER_ERR_ARG, and nothing is done, when the widths of g are not those of f mirrored or gain is
 * not above 1e-20 and below 1e20. */
taper_status codec_network_tie(codec_network *net, float gain);

/* codes[n][K] from pixels[n][D]; of a binary model the pre-activations. Many threads may call it at
 * once on one network and one backend without a pool. A row's result does not depend on the rows
 * around it nor on the number of threads (promise P5). TAPER_ERR_NOMEM: no room for a block of
 * rows. */
taper_status codec_network_encode(const codec_network *net, codec_backend *be, const float *pixels,
                                  size_t n, float *codes);
/* pixels[n][D] from codes[n][K]; the values are not clamped. Units not sent are 0; of a
 * network with feedback all are sent. TAPER_ERR_ARG, from this and the next two, when it has no
 * decoder. */
taper_status codec_network_decode(const codec_network *net, codec_backend *be, const float *codes,
                                  size_t n, float *pixels);
/* The same when all units from index `units` on are 0 in every row, not sent: their share of the
 * linear path is not computed. `units` must follow from the cut, not from the rows' values, or
 * rounding depends on the batch. TAPER_ERR_ARG when units > K. */
taper_status codec_network_decode_units(const codec_network *net, codec_backend *be,
                                        const float *codes, size_t n, uint32_t units,
                                        float *pixels);
/* The same of a cut within the last of these units, which was sent of the first `whole` rows alone.
 * That matters to a network with feedback; what a row becomes depends on its own units. */
taper_status codec_network_decode_cut(const codec_network *net, codec_backend *be,
                                      const float *codes, size_t n, uint32_t units, size_t whole,
                                      float *pixels);
#endif
