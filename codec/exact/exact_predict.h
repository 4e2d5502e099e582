/* exact_predict.h -- what a sample of the exact layer is expected to be. Integers only.
 *
 * Nine predictors: a weighted sum of up to 40 differences, whose weights the string carries, and
 * eight simple ones. Their mean counts each by the inverse fourth power of how far it missed the
 * neighbours of the sample. */
#ifndef CODEC_EXACT_PREDICT_H
#define CODEC_EXACT_PREDICT_H
#include "codec/exact/exact_rows.h"

enum {
    CODEC_EXACT_CLASSES = 7,     /* kinds of places, which have weights of their own */
    CODEC_EXACT_WEIGHT_BITS = 7, /* 1.0 in a weight is 2^this */
    CODEC_EXACT_WEIGHT_MOST = 32767,
    CODEC_EXACT_ADAPTED_BITS = 20,
    CODEC_EXACT_ONE = 16 /* a level in a prediction */
};

/* The weights of a band, as the string carries them. */
typedef struct codec_exact_weights {
    uint32_t classes; /* 0: there are none; 1; CODEC_EXACT_CLASSES */
    uint32_t channels;
    int16_t of[CODEC_EXACT_CLASSES][CODEC_EXACT_CHANNELS][CODEC_EXACT_INPUTS];
} codec_exact_weights;

/* The same, which follow the samples. 1.0 is 2^CODEC_EXACT_ADAPTED_BITS. */
typedef struct codec_exact_adapted {
    uint32_t classes, channels;
    int32_t of[CODEC_EXACT_CLASSES][CODEC_EXACT_CHANNELS][CODEC_EXACT_INPUTS];
} codec_exact_adapted;

void codec_exact_adapt_from(codec_exact_adapted *adapted, const codec_exact_weights *weights);

typedef struct codec_exact_prediction {
    int n;                              /* predictors; the first is the weighted one */
    int32_t of[CODEC_EXACT_PREDICTORS]; /* in 1/16 */
    int32_t mean;                       /* in 1/16, 0 .. 16 * the largest sample */
    uint32_t class;
    int inputs; /* 0: there are no weights */
    int32_t input[CODEC_EXACT_INPUTS];
} codec_exact_prediction;

/* The kind of place of a sample, 0 .. CODEC_EXACT_CLASSES - 1: smooth, or the main direction of its
 * differences and whether they are large. */
uint32_t codec_exact_class(const codec_exact_rows *rows, uint32_t c, uint32_t x);
void codec_exact_predict(const codec_exact_rows *rows, const codec_exact_adapted *adapted,
                         uint32_t c, uint32_t x, codec_exact_prediction *out);
/* The sample is known: note how far each predictor missed it, and the residual; correct the
 * weights. */
void codec_exact_learn(codec_exact_rows *rows, codec_exact_adapted *adapted, uint32_t c, uint32_t x,
                       int32_t sample, const codec_exact_prediction *prediction);

#endif
