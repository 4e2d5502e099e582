/* network.h -- the network: windows of pixels to codes and back.
 *
 * All families have the same structure: a linear path (mean, analysis A, synthesis G) and, for
 * `dense`, a stack of layers on each side whose output is added to the linear path:
 *     x     = A (y - mean) + f(y - mean)          f, g: fully connected, ReLU between,
 *     y_hat = mean + G^T x + g(x)                 last layer linear
 * `pca` has no stacks, and A = G (rows orthonormal: theorem 3 of Rippel et al. 2014).
 *
 * A DIRECT network has only the stacks, as the autoencoders of section 4 there:
 *     x     = code(f(y - mean)),   y_hat = mean + g(x)
 * with the activation `hidden` between layers, and `code` on the code. The codes of a binary model
 * are its pre-activations a. The unit is 1 where a > 0 (the bias is minus the threshold, section
 * 4.3). g gets zeros and ones (minus a centre: code_tables.h).
 *
 * With FEEDBACK the units of a direct network depend on those before them, by strictly lower
 * triangular matrices T and M:
 *     u_k = a_k - sum over j < k of T_kj (u_j > 0)     decision feedback; the codes are u
 *     z_k = x_k + sum over j < k of M_kj x_j           for known units, else 0
 *     y_hat = mean + g(z)                              z tells g how many units are known
 *
 * An ENCODER is a direct network with f only; it decodes nothing. The first layers of its stack may
 * be convolutional (convolution.h).
 *
 * y is one window of the image: D = width * height * channels floats on the 8-bit scale 0..255.
 * They are in channel-planar order (all of channel 0 row by row, then channel 1, ...).
 *
 * The directory codec/transform/: pixels to codes and back.
 *   network             windows to codes and back
 *   triangle            triangular layers, for codes whose units depend on those before them
 *   windows lap         images to windows; the filter across their edges
 *   synthesis picture   the linear path in integers; the pixels of an image until they are samples
 *   small_basis         the linear path in integers at 1/2 to 1/16 of the size
 *   scaling             scales an image to another size
 *   gradients cells     gradient orientations of a window in cells, for codes for search;
 *                       gradient_votes: their arithmetic, for kernels too
 *   convolution         convolutional layers of encoders, for codes for search
 *   pseudo_inverse      the analysis of a synthesis
 *   restoration         a small convolutional network that corrects pixels; restoration_filter:
 *                       applies it to an image */
#ifndef CODEC_NETWORK_H
#define CODEC_NETWORK_H
#include "codec/backend/backend.h"
#include "codec/transform/convolution.h"

enum {
    CODEC_MAX_LAYERS = 8,       /* layers in one stack */
    CODEC_ROWS_AT_ONCE = 3 * 96 /* a good number of rows per call: whole blocks of the network */
};

/* y[n][outputs] = activation(x[n][inputs] w^T + bias), w stored [outputs][inputs]. A convolutional
 * layer has a row of w, and a bias, for each channel of its output. */
typedef struct codec_layer {
    uint32_t inputs, outputs;
    codec_map map; /* of a convolutional layer: its input; else width 0 */
    float *weight; /* [codec_layer_rows][codec_layer_columns] */
    float *bias;   /* [codec_layer_rows] */
} codec_layer;

static inline uint32_t codec_layer_rows(const codec_layer *l) {
    if (!l->map.width) return l->outputs;
    return (uint32_t)(l->outputs / codec_map_places(codec_map_pooled(l->map, 1)));
}
static inline size_t codec_layer_columns(const codec_layer *l) {
    return l->map.width ? codec_map_row(l->map) : l->inputs;
}
static inline size_t codec_layer_weights(const codec_layer *l) {
    return codec_layer_rows(l) * codec_layer_columns(l);
}

typedef struct codec_stack {
    uint32_t depth; /* 0: absent */
    codec_layer layer[CODEC_MAX_LAYERS];
} codec_stack;

/* The first layers that are convolutional. */
static inline uint32_t codec_stack_convolutions(const codec_stack *stack) {
    uint32_t n = 0;
    while (n < stack->depth && stack->layer[n].map.width) n++;
    return n;
}

typedef struct codec_network {
    uint32_t inputs;         /* D */
    uint32_t units;          /* K <= D unless direct */
    float *mean;             /* [D] */
    float *analysis;         /* A [K][D]; if tied the same pointer as synthesis; NULL: direct */
    float *synthesis;        /* G [K][D]; NULL: direct */
    codec_stack encoder;     /* f: D -> ... -> K */
    codec_stack decoder;     /* g: K -> ... -> D; depth 0 in an ENCODER */
    codec_activation hidden; /* of both stacks, between layers */
    codec_activation code;   /* of f's output; CODEC_LINEAR unless direct */
    /* > 0: g's matrices are f's transposed, see codec_network_tie; else 0. */
    float tied_gain;
    /* T and M [K][K] of a network with feedback; only elements below the diagonal are used. NULL:
     * no feedback. */
    float *feedback;
    float *mixing;
} codec_network;

/* CODEC_TIED: synthesis is the same array as analysis. CODEC_DIRECT: there is neither.
 * CODEC_ENCODER: a direct network without a decoder. */
typedef enum codec_linear_path {
    CODEC_UNTIED,
    CODEC_TIED,
    CODEC_DIRECT,
    CODEC_ENCODER
} codec_linear_path;

/* Allocate all arrays, zeroed. The activations are CODEC_RELU between layers and CODEC_LINEAR on
 * the code. Hidden widths are listed from the pixels to the code: e.g. encoder_hidden {512, 256}.
 * No hidden layers: the stack is absent; in a direct network it is one fully connected layer. At
 * most CODEC_MAX_LAYERS - 1 hidden layers. TAPER_ERR_ARG: a width is 0, there are too many layers,
 * or CODEC_ENCODER with hidden layers for a decoder. TAPER_ERR_NOMEM. On failure *net owns nothing.
 */
taper_status codec_network_alloc(codec_network *net, uint32_t inputs, uint32_t units,
                                 codec_linear_path path, const uint32_t *encoder_hidden,
                                 uint32_t n_encoder_hidden, const uint32_t *decoder_hidden,
                                 uint32_t n_decoder_hidden);
/* The same of an ENCODER whose first n layers are convolutional, with so many channels, the first
 * one on `map`. TAPER_ERR_ARG also: no convolutional layer, no place in the map, more than
 * CODEC_MAX_LAYERS in all, or a layer whose outputs exceed 32 bits. */
taper_status codec_network_alloc_convolutions(codec_network *net, codec_map map,
                                              const uint32_t *channels, uint32_t n, uint32_t units,
                                              const uint32_t *hidden, uint32_t n_hidden);
/* Add feedback to a direct network, with T and M zero: the results do not change. TAPER_ERR_ARG: it
 * is not direct, has no decoder or already has feedback. TAPER_ERR_NOMEM. On failure it is
 * unchanged. */
taper_status codec_network_add_feedback(codec_network *net);
/* Leaves it zeroed. */
void codec_network_free(codec_network *net);

/* Memory of encoding or decoding, in bytes, without the arguments. */
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
 * f. The last one is multiplied by gain (scale^2, if f divides pixels by a scale and g multiplies
 * by it). Biases do not change. A model file then stores the matrices once. Call it again after f
 * has changed. TAPER_ERR_ARG: the widths of g are not those of f reversed, or gain is not above
 * 1e-20 and below 1e20; the network is unchanged. */
taper_status codec_network_tie(codec_network *net, float gain);

/* Compute codes[n][K] from pixels[n][D]; for a binary model the pre-activations. Several threads
 * may call it at once with one network and one backend without a pool. The result of a row does not
 * depend on other rows or on the number of threads (promise P5). TAPER_ERR_NOMEM: no memory for a
 * block of rows. */
taper_status codec_network_encode(const codec_network *net, codec_backend *be, const float *pixels,
                                  size_t n, float *codes);
/* Compute pixels[n][D] from codes[n][K]. Values are not clamped. Unknown units must be 0; in a
 * network with feedback all units count as known. TAPER_ERR_ARG, from all three functions: there is
 * no decoder. TAPER_ERR_NOMEM. */
taper_status codec_network_decode(const codec_network *net, codec_backend *be, const float *codes,
                                  size_t n, float *pixels);
/* The same if units from index `units` on are unknown, and 0, in every row: their part of the
 * linear path is not computed. `units` must depend only on the cut, not on the values of rows.
 * Otherwise rounding would depend on the batch. TAPER_ERR_ARG also: units > K. */
taper_status codec_network_decode_units(const codec_network *net, codec_backend *be,
                                        const float *codes, size_t n, uint32_t units,
                                        float *pixels);
/* The same for a cut within the last of these units, which is known for the first `whole` rows
 * only. A network with feedback distinguishes the two; the result of a row depends only on its
 * units. */
taper_status codec_network_decode_cut(const codec_network *net, codec_backend *be,
                                      const float *codes, size_t n, uint32_t units, size_t whole,
                                      float *pixels);
#endif
