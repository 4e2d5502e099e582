/* fused.h -- a backend with a matrix product by fused multiply-adds; its other operations are
 * plain. */
#ifndef CODEC_FUSED_H
#define CODEC_FUSED_H
#include "codec/backend/operations.h"

/* Make the backend, with vector registers of at most `bits` bits: 256 or 512. Results are
 * bit-identical for both. TAPER_ERR_UNSUPPORTED: the build or the processor does not have them;
 * *out is unchanged. */
taper_status codec_backend_fused(codec_backend *out, unsigned bits);

#endif
