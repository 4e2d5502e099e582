/* row_products.h -- 3x3 convolutions in half the products: the kernel of WebAssembly for
 * int_convolution.h. Without vectors of WebAssembly there is nothing in this module.
 *
 * Along a row it is the convolution F(4, 3) of Winograd: six products make four patches, in place
 * of twelve. Numbers are mixed before they are multiplied, and sums after it. Weights times 24 keep
 * all of it in integers. Sums are then 24 times as large, modulo 2^32. In int_convolution.h 8 times
 * the true sum fits 32 bits: it is exactly this sum times the inverse of 3. */
#ifndef CODEC_ROW_PRODUCTS_H
#define CODEC_ROW_PRODUCTS_H
#include "codec/backend/wasm.h"
#ifdef CODEC_WASM_KERNELS

enum {
    CODEC_ROW_LEAST = 4,         /* patches of a row */
    CODEC_ROW_MOST_INPUTS = 48,  /* numbers of a patch */
    CODEC_ROW_MOST_INPUT = 3276, /* magnitude: ten of them fit 16 bits */
    CODEC_ROW_MOST_WEIGHT = 1365 /* the same of 24 */
};

typedef struct codec_row_products {
    uint32_t inputs, outputs; /* as in codec_convolution, like what follows */
    int bytes;
    const int16_t *packed;
    const uint8_t *shift;
    const int32_t *shifts;
} codec_row_products;

/* Mix the weights, [outputs][9 taps][inputs]. The caller frees them. NULL: no memory. */
int16_t *codec_row_products_pack(const int16_t *weight, uint32_t inputs, uint32_t outputs);

/* codec_convolve_row_fn for LEAST columns or more, and at most MOST_INPUTS inputs. The rows are
 * followed by 16 bytes that may be read. */
void codec_row_products_run(const codec_row_products *r, const void *const in[3], uint32_t columns,
                            const int32_t *bias, int32_t *z);

#endif
#endif
