/* restoration.h -- the nonlinear part of family `conv`: a small convolutional network that corrects
 * decoded pixels. It adds to the linear path and its laps, so the quality has no upper bound. It
 * runs after entropy decoding, so no symbol depends on it.
 *
 * A picture (picture.h) is divided into patches of 2x2 pixels: 4 x channels numbers each,
 * [channel][y][x]. Every layer is a convolution of 3x3 patches; values outside of the picture are
 * 0. For a value v of the picture, which is 1/16 of a level:
 *
 *     a(0)  = clamp(v, -2048 .. 2047)
 *     z(1)  = (8 sum over 3x3 of W(1) a(0) >> shift(1)) + bias(1)
 *     z(i)  = (256 sum over 3x3 of W(i) a(i - 1) >> shift(i)) + bias(i),    i = 2 .. layers
 *     h(i)  = clamp(h(i - 1) + ((z(i) + 4) >> 3), -4095 .. 4095),    h(0) = 0
 *     a(i)  = min((max(h(i), 0) + 16) >> 5, 127),    i = 1 .. layers - 1: a byte
 *     c     = clamp((gain clamp(z(layers), -32767 .. 32767) + 2^15) >> 16, 16 bits)
 *     v     = clamp(v + c, 16 bits)
 *
 * The size of the correction depends on the cut, and so do bias(1) and gain. Both are stored for
 * some passes of the order, and interpolated between these by the number of complete passes.
 *
 * The ranges keep every sum below 2^31: 8 x 9 x 12 x 127 x 2048, 256 x 9 x 48 x 63 x 127, and 2^16.
 * Readers reject a file that exceeds them. train/restoration/restoration_trainer.h trains the
 * network. */
#ifndef CODEC_RESTORATION_H
#define CODEC_RESTORATION_H
#include "codec/backend/int_convolution.h"
#include "codec/backend/pool.h"
#include "codec/entropy/int_matrix.h"
#include "codec/transform/picture.h"

enum {
    /* The first byte of the serialised form. That of networks of before, whose numbers were floats
     * and had another order, was the width, 8 or more. */
    CODEC_RESTORATION_KIND = 1,
    CODEC_RESTORATION_PATCH = 2, /* side in pixels; the sides of windows are even */
    CODEC_RESTORATION_TAPS = CODEC_CONVOLVE_TAPS,
    CODEC_RESTORATION_MOST_HIDDEN = 48,
    CODEC_RESTORATION_MOST_LAYERS = 5,
    CODEC_RESTORATION_MOST_STAGES = 64,
    CODEC_RESTORATION_MOST_WEIGHT = 127, /* of the first layer; the others: */
    CODEC_RESTORATION_MOST_BYTE_WEIGHT = CODEC_CONVOLVE_MOST_BYTE_WEIGHT,
    CODEC_RESTORATION_MOST_BIAS = 1 << 16,
    CODEC_RESTORATION_PIXEL_MAX = 2047,
    CODEC_RESTORATION_ACTIVATION_MAX = 4095,
    CODEC_RESTORATION_BYTE_SHIFT = 5, /* from h to the bytes a */
    CODEC_RESTORATION_BYTE_MAX = 127,
    CODEC_RESTORATION_Z_MAX = 32767,  /* of the last layer */
    CODEC_RESTORATION_GAIN_BITS = 20, /* gain is in units of 2^-20 */
    CODEC_RESTORATION_MOST_GAIN = 1 << 16
};

typedef struct codec_restoration {
    uint32_t channels; /* of the window: 1 or 3 */
    uint32_t hidden;   /* channels between layers: 8 .. MOST_HIDDEN, a multiple of 8 */
    uint32_t layers;   /* 2 .. MOST_LAYERS */
    uint32_t stages;   /* 1 .. MOST_STAGES */
    uint32_t *at;      /* [stages] complete passes of each stage, ascending; at[0] is 0 */
    int32_t *stage;    /* [stages][hidden] bias of the first layer */
    int32_t *gain;     /* [stages] */
    codec_convolution layer[CODEC_RESTORATION_MOST_LAYERS];
} codec_restoration;

/* Numbers of a patch. */
static inline uint32_t codec_restoration_values(uint32_t channels) {
    return CODEC_RESTORATION_PATCH * CODEC_RESTORATION_PATCH * channels;
}

/* Allocate zeroed arrays for the channels, hidden, layers and stages in *r, whose pointers are
 * NULL. TAPER_ERR_ARG: the shape is out of range. TAPER_ERR_NOMEM. On failure *r owns nothing. */
taper_status codec_restoration_alloc(codec_restoration *r);
/* Prepare the layers for vector kernels. Call after all weights are set, before
 * codec_restoration_apply. TAPER_ERR_NOMEM. */
taper_status codec_restoration_pack(codec_restoration *r);
/* Leaves it zeroed. Safe on a zeroed struct. */
void codec_restoration_free(codec_restoration *r);

/* The serialised form (SPEC.md, 6.8). read: for a model with this number of channels and passes.
 * Every field is checked before memory is allocated for it. TAPER_ERR_LIMIT: the weights as floats
 * exceed max_bytes. On failure *r owns nothing. */
taper_status codec_restoration_write(const codec_restoration *r, formats_buffer *out);
taper_status codec_restoration_read(codec_restoration *r, uint32_t channels, uint32_t passes,
                                    uint64_t max_bytes, formats_cursor *in, taper_error *error);

/* Memory of codec_restoration_apply for an image, without its picture. */
uint64_t codec_restoration_bytes(const codec_restoration *r, codec_window window, codec_grid grid,
                                 unsigned threads);

/* Correct a picture of even sides after the linear path and its laps, for `pass` complete passes.
 * pool: threads, or NULL. TAPER_ERR_NOMEM: some of it may have changed. */
taper_status codec_restoration_apply(const codec_restoration *r, uint32_t pass, codec_pool *pool,
                                     const codec_picture *picture);

#endif
