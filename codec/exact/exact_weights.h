/* exact_weights.h -- the weights of the exact layer in its string. */
#ifndef CODEC_EXACT_WEIGHTS_H
#define CODEC_EXACT_WEIGHTS_H
#include "codec/pixels/bit_mixer.h"
#include "codec/exact/exact_predict.h"

enum { CODEC_EXACT_WEIGHT_LENGTHS = 16 };

/* Adaptive probabilities; index 0 for weights of the first class, 1 for differences from it. */
typedef struct codec_exact_weight_bits {
    codec_bit zero[2], length[2][CODEC_EXACT_WEIGHT_LENGTHS];
} codec_exact_weight_bits;

void codec_exact_weight_bits_begin(codec_exact_weight_bits *model);
/* Code the weights: encoding, those that are there; decoding, they are set. weights->channels is
 * the image's. */
void codec_exact_code_weights(codec_exact_weight_bits *model, codec_pixel_bits *bits,
                              codec_exact_weights *weights);

#endif
