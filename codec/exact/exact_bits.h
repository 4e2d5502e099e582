/* exact_bits.h -- the bits of a residual of the exact layer: whether the sample is what was
 * predicted, which side of it, how far away. Probabilities of seven contexts are mixed. Integers
 * only. */
#ifndef CODEC_EXACT_BITS_H
#define CODEC_EXACT_BITS_H
#include "codec/pixels/bit_mixer.h"
#include "codec/exact/exact_predict.h"

enum {
    CODEC_EXACT_MIXED = 7,   /* contexts */
    CODEC_EXACT_BINS = 24,   /* kinds of bits of a residual */
    CODEC_EXACT_BUCKETS = 40 /* ranges of distances, at most */
};

/* Adaptive state. It goes on from image to image of a string. */
typedef struct codec_exact_model {
    int16_t *logit;                    /* [CODEC_MIXER_LOGITS] */
    codec_bit *bit[CODEC_EXACT_MIXED]; /* by context and bin */
    int32_t *weight[2];                /* of the contexts, by two selections */
} codec_exact_model;

void codec_exact_model_lay_out(codec_exact_model *model, formats_layout *at);
/* Set the state before the first image. */
void codec_exact_model_begin(codec_exact_model *model);

/* Code the sample of channel c at column x, whose prediction is known. Encoding: `sample`;
 * decoding: ignored. Returns the sample, 0 .. the largest; undefined once bits->starved. */
int32_t codec_exact_code_sample(codec_exact_model *model, codec_pixel_bits *bits,
                                const codec_exact_rows *rows,
                                const codec_exact_prediction *prediction, uint32_t c, uint32_t x,
                                int32_t sample);

#endif
