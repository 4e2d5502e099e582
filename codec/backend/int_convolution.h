/* int_convolution.h -- a row of a convolution of a restoration network (restoration.h): where its
 * decoder's time goes. */
#ifndef CODEC_INT_CONVOLUTION_H
#define CODEC_INT_CONVOLUTION_H
#include "formats/status.h"

enum {
    CODEC_CONVOLVE_TAPS = 9, /* 3 (dy + 1) + dx + 1 */
    CODEC_CONVOLVE_LANES = 16
};

typedef struct codec_convolution {
    uint32_t inputs, outputs; /* inputs: even */
    int16_t *weight;          /* [outputs][tap][input] */
    uint8_t *shift;           /* [outputs] 0 .. CODEC_INT_MATRIX_MOST_SHIFT */
    int32_t *bias;            /* [outputs]; of a network's first layer NULL: it is the stage's */
    /* for processors with vectors, by codec_convolution_pack: outputs rounded up to LANES */
    int16_t *packed; /* [pairs of inputs][outputs][2]; or NULL */
    int32_t *shifts; /* [outputs] */
} codec_convolution;

/* Once weights and shifts stand, before the first row. TAPER_ERR_NOMEM. */
taper_status codec_convolution_pack(codec_convolution *c);

/* z[columns][outputs] = (8 sum of W a >> shift) + bias of a row of patches. in: the rows above, at
 * and below it, [1 + columns + 1][inputs] each. The sums fit 32 bits. */
typedef void codec_convolve_row_fn(const codec_convolution *c, const int16_t *const in[3],
                                   uint32_t columns, const int32_t *bias, int32_t *z);
codec_convolve_row_fn codec_convolve_row;       /* by the first kernel that runs here */
codec_convolve_row_fn codec_convolve_row_plain; /* the definition */

typedef struct codec_convolve_kernel {
    const char *name;
    int (*runs)(void); /* on this processor? */
    codec_convolve_row_fn *row;
} codec_convolve_kernel;
/* All of them, the fastest first, plain last. */
const codec_convolve_kernel *codec_convolve_kernels(size_t *n);

#endif
