/* backend.h -- selecting a backend for the processor, and its threads.
 *
 * The directory codec/backend/: arithmetic on processors, and threads.
 *   backend           selects the backend of this processor, and its threads
 *   operations        the functions of a backend; activation: of one number; plain: the reference
 *                     implementation; fused: the fast matrix product
 *   pool queue        threads that share one task; threads that take one item after the other
 *   int8_dot          sums of products of bytes; int_convolution: 3x3 convolutions in integers
 *   row_products      these convolutions in half the products, for WebAssembly
 *   sparse_sum        sums of some rows of a matrix of 16-bit numbers
 *   simd x86 wasm     loops for several processors; helpers of x86 and of WebAssembly kernels */
#ifndef CODEC_BACKEND_H
#define CODEC_BACKEND_H
#include "codec/backend/operations.h"
#ifdef __cplusplus
extern "C" {
#endif

/* The fastest CPU backend of this machine: fused, or else plain. Never fails. */
void codec_backend_cpu(codec_backend *out);

/* Use `threads` threads for each call, including the calling one. 0: one per online core; at most
 * 256. May be called again with another number. TAPER_ERR_NOMEM: the backend is unchanged. */
taper_status codec_backend_set_threads(codec_backend *be, unsigned threads);
/* End the threads and zero *be. Needed only after codec_backend_set_threads; always safe. */
void codec_backend_close(codec_backend *be);

#ifdef __cplusplus
}
#endif
#endif
