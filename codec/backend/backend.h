/* backend.h -- choosing a backend for the processor and giving it threads.
 *
 * The room codec/backend/: arithmetic on processors, and threads.
 *   backend           the backend for this processor, and its threads
 *   operations        what a device must provide; activation: of one number; plain: the
 *                     definition of each operation; fused: the fast product
 *   pool queue        threads that share one task; threads that take one item after the other
 *   int8_dot          sums of products of bytes; int_convolution: 3x3 convolutions in integers
 *   simd x86          loops compiled for several processors; what kernels for that one share */
#ifndef CODEC_BACKEND_H
#define CODEC_BACKEND_H
#include "codec/backend/operations.h"
#ifdef __cplusplus
extern "C" {
#endif

/* The fastest this machine has on the CPU: fused, else plain. Never fails. */
void codec_backend_cpu(codec_backend *out);

/* Spread calls over `threads` threads, the caller's among them (0: one per online core; at most
 * 256). May be called again with another number. On failure (TAPER_ERR_NOMEM) the backend works on
 * as before. */
taper_status codec_backend_set_threads(codec_backend *be, unsigned threads);
/* End the threads and zero *be. Needed only after codec_backend_set_threads; harmless otherwise. */
void codec_backend_close(codec_backend *be);

#ifdef __cplusplus
}
#endif
#endif
