/* plain.h -- the reference implementation of the operations, also for backends that replace some.
 */
#ifndef CODEC_PLAIN_H
#define CODEC_PLAIN_H
#include "codec/backend/operations.h"

codec_gemm_fn codec_plain_gemm;
codec_bias_fn codec_plain_bias;

/* A backend of these functions. Never fails. */
taper_status codec_backend_plain(codec_backend *out);

#endif
