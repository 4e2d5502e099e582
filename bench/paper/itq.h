/* itq.h -- iterative quantisation: the rotation after which the signs of projections say most of
 * them (Gong & Lazebnik, Iterative quantization: a Procrustean approach to learning binary codes,
 * CVPR 2011).
 *
 * For projections v on the first principal components, as they are (zero mean, not whitened), R
 * minimises |sign(v R) - v R|^2 by turns: B = sign(v R); then the orthogonal R nearest to v^T B,
 * U V^T of its singular value decomposition U S V^T. The start is a random rotation. */
#ifndef BENCH_PAPER_ITQ_H
#define BENCH_PAPER_ITQ_H
#include "codec/backend/operations.h"

/* rotation[bits][bits] for v[n][bits]; codes are the signs of v rotation. TAPER_ERR_NOMEM and what
 * train/linear/lapack.h says of LAPACK. */
taper_status paper_itq(codec_backend *be, const float *v, size_t n, uint32_t bits,
                       uint32_t iterations, uint64_t seed, float *rotation, taper_error *error);
#endif
