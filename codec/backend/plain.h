/* plain.h -- the reference operations, for backends that override some of them. */
#ifndef CODEC_PLAIN_H
#define CODEC_PLAIN_H
#include "codec/backend/backend.h"

codec_gemm_fn codec_plain_gemm;
codec_bias_fn codec_plain_bias;
codec_bias_backward_fn codec_plain_bias_backward;
codec_sum_squares_fn codec_plain_sum_squares;
codec_adam_fn codec_plain_adam;

#endif
