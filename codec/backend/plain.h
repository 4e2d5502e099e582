/* plain.h -- the reference operations, also for backends that override some of them. */
#ifndef CODEC_PLAIN_H
#define CODEC_PLAIN_H
#include "codec/backend/operations.h"

codec_gemm_fn codec_plain_gemm;
codec_bias_fn codec_plain_bias;

taper_status codec_backend_plain(codec_backend *out); /* of these alone */

#endif
