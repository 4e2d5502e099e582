/* fused.h -- the matrix product with fused multiply-adds, all else plain. */
#ifndef CODEC_FUSED_H
#define CODEC_FUSED_H
#include "codec/backend/operations.h"

/* Products by fused multiply-adds in registers of at most so many bits: 256 or 512. The bits of the
 * results are the same for both. TAPER_ERR_UNSUPPORTED where the build or the processor has none;
 * *out is then untouched. */
taper_status codec_backend_fused(codec_backend *out, unsigned bits);

#endif
