/* int_convolution.h -- one row of a convolution of a restoration network (restoration.h): the main
 * part of its time. The first layer reads numbers of 16 bits, the others read bytes. */
#ifndef CODEC_INT_CONVOLUTION_H
#define CODEC_INT_CONVOLUTION_H
#include "formats/status.h"

enum {
    CODEC_CONVOLVE_TAPS = 9, /* 3 (dy + 1) + dx + 1 */
    CODEC_CONVOLVE_LANES = 16,
    /* The largest magnitude of a weight of a layer that reads bytes. With inputs up to 127, a sum
     * of four products fits 16 bits. */
    CODEC_CONVOLVE_MOST_BYTE_WEIGHT = 63
};

typedef struct codec_convolution {
    uint32_t inputs, outputs; /* inputs: even; with bytes a multiple of 8 */
    int bytes;                /* nonzero: the inputs are bytes, 0 .. 127 */
    int16_t *weight;          /* [outputs][tap][input] */
    uint8_t *shift;           /* [outputs] 0 .. CODEC_INT_MATRIX_MOST_SHIFT */
    int32_t *bias; /* [outputs]; NULL in the first layer of a network: the stage has the bias */
    /* For vector kernels, by codec_convolution_pack; outputs are rounded up to LANES: */
    int16_t *packed; /* [inputs / 2][outputs][2], or that of row_products.h; or NULL */
    int8_t *quads;   /* of bytes: [inputs / 4][outputs][4]; or NULL */
    int32_t *shifts; /* [outputs] */
    /* Bytes of 24 inputs, at most 24 outputs: the sum over one tap's inputs 0, 1, 4, 5, .. or
     * 2, 3, 6, 7, .. fits 16 bits, for every output and whatever the inputs. */
    int narrow;
} codec_convolution;

/* Fill packed or quads, and shifts. Call after weights and shift are set, before the first row.
 * TAPER_ERR_NOMEM. */
taper_status codec_convolution_pack(codec_convolution *c);

/* A row of patches: z[columns][outputs] = (8 sum of W a >> shift) + bias; with bytes, which are 32
 * times as coarse, (256 sum of W a >> shift) + bias. in: the rows above, at and below it, each
 * [1 + columns + 1][inputs] of int16_t or uint8_t. The sums must fit 32 bits. Kernels may read 16
 * bytes behind a row. Those of WebAssembly need numbers of at most CODEC_ROW_MOST_INPUT and weights
 * of CODEC_ROW_MOST_WEIGHT (row_products.h). */
typedef void codec_convolve_row_fn(const codec_convolution *c, const void *const in[3],
                                   uint32_t columns, const int32_t *bias, int32_t *z);
/* The first kernel that runs on this processor; the reference implementation. */
codec_convolve_row_fn codec_convolve_row;
codec_convolve_row_fn codec_convolve_row_plain;

typedef struct codec_convolve_kernel {
    const char *name;
    int (*runs)(void); /* nonzero: this processor supports it */
    codec_convolve_row_fn *row;
} codec_convolve_kernel;
/* All kernels, the fastest first, the reference implementation last. */
const codec_convolve_kernel *codec_convolve_kernels(size_t *n);

#endif
