/* elements_predictions.h -- scalar parts of predictions: bits, errors of codes and of pixels. */
#ifndef TRAIN_ELEMENTS_PREDICTIONS_H
#define TRAIN_ELEMENTS_PREDICTIONS_H
#include "train/device/operations.h"
#include "codec/backend/simd.h"
#include <math.h>

/* The bits of a binary decision with this logit, and their gradient. */
CODEC_INLINE float train_bits_of(float logit, int bit, float *gradient) {
    const float per_nat = (float)(1.0 / 0.6931471805599453); /* bits: 1 / ln 2 */
    float z = bit ? logit : -logit, e = expf(-fabsf(z));     /* odds of the less likely value */
    float wrong = (z > 0 ? e : 1.0f) / (1.0f + e);           /* probability of the other value */
    *gradient = (bit ? -wrong : wrong) * per_nat;
    return (log1pf(e) + (z > 0 ? 0.0f : -z)) * per_nat;
}

/* One bit and its sign: gradients by the three logits. sum[0] += bits; sum[1] += bits by the offset
 * alone. bias is that of the pass; kinds are `stride` apart. gradient may be logit. */
CODEC_INLINE void train_price_bit(const train_bit *b, const float *logit, const float *bias,
                                  size_t stride, float *gradient, double *sum) {
    float magnitude = 0.0f, sign = 0.0f, unused;
    const size_t k = b->kind;
    if (k != TRAIN_BIT_SIGN) {
        sum[0] += train_bits_of(b->offset[0] + logit[k] + bias[k * stride], b->bit, &magnitude);
        sum[1] += train_bits_of(b->offset[0], b->bit, &unused);
    }
    if (b->sign) {
        float z = b->offset[1] + logit[TRAIN_BIT_SIGN] + bias[TRAIN_BIT_SIGN * stride];
        sum[0] += train_bits_of(z, b->sign > 0, &sign);
        sum[1] += train_bits_of(b->offset[1], b->sign > 0, &unused);
    }
    gradient[0] = k == 0 ? magnitude : 0.0f;
    gradient[TRAIN_BIT_SIGN] = sign;
    gradient[2] = k == 2 ? magnitude : 0.0f;
}

/* train_head_fn for one number: returns worth e^2; *z becomes its gradient. */
CODEC_INLINE double train_price_code(float missing, float uncertainty, double worth, double weight,
                                     float *z) {
    float e = missing - uncertainty * *z;
    *z = (float)(-2.0 * worth * weight) * uncertainty * e;
    return worth * (double)e * (double)e;
}

/* train_restored_fn for one number. sum[0] and [1] += its squared errors with z and without, and
 * sum[2] += twice the first error times levels z. scale: the weight. Returns dz. */
CODEC_INLINE float train_price_pixel(float decoded, float target, float z, float levels, float gain,
                                     float scale, double *sum) {
    float was = decoded - target, is = was + levels * gain * z;
    sum[0] += (double)is * (double)is;
    sum[1] += (double)was * (double)was;
    sum[2] += 2.0 * (double)is * (double)(levels * z);
    return scale * (2.0f * is * levels * gain);
}

#endif
