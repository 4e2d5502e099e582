/* elements.h -- scalar parts of operations. The processor's loops and the kernels share them, so
 * that both do the same arithmetic in the same order. C11 and CUDA. */
#ifndef TRAIN_ELEMENTS_H
#define TRAIN_ELEMENTS_H
#include "codec/backend/activation.h"
#include "train/device/operations.h"
#include "train/sampling/numbers.h"
#include <math.h>

/* --- activations ----------------------------------------------------------------------- */

/* The gradient before an activation, given its output y and the gradient dy of that output. */
CODEC_INLINE float train_slope(codec_activation activation, float y, float dy) {
    if (activation == CODEC_RELU) return y <= 0.0f ? 0.0f : dy;
    return activation == CODEC_LOGISTIC ? dy * (y * (1.0f - y)) : dy;
}

/* --- factors of products ----------------------------------------------------------------- */

/* bfloat16 of x, rounded to nearest, ties to even; NaN stays NaN. The way back is exact. */
CODEC_INLINE uint16_t train_to_bfloat16(float x) {
    union {
        float number;
        uint32_t bits;
    } u = {x};
    if ((u.bits & 0x7fffffffu) > 0x7f800000u) return (uint16_t)(u.bits >> 16 | 0x40);
    return (uint16_t)((u.bits + 0x7fff + (u.bits >> 16 & 1)) >> 16);
}
CODEC_INLINE float train_from_bfloat16(uint16_t rounded) {
    union {
        uint32_t bits;
        float number;
    } u = {(uint32_t)rounded << 16};
    return u.number;
}

/* train_add_gram_fn: a float32 sum as it is added. */
CODEC_INLINE double train_gram_part(float sum, float step) {
    return (double)(step > 0.0f ? rintf(sum / step) * step : sum);
}

/* --- rows ------------------------------------------------------------------------------ */

/* train_centre_rows_fn. */
CODEC_INLINE float train_centred(uint8_t pixel, float mean, float inverse_scale) {
    return ((float)pixel - mean) * inverse_scale;
}

/* train_step_rows_fn: the factor of a row's g, given |g|^2; it may exceed a float's range if g is
 * tiny. Then the step of one number. */
CODEC_INLINE double train_step_of(double squares, float length) {
    return squares > 0.0 && isfinite(squares) ? (double)length / sqrt(squares) : 0.0;
}
CODEC_INLINE float train_step(double step, float x, float g) {
    return step != 0.0 ? x + (float)(step * (double)g) : x;
}

/* train_conditional_inputs_fn: each unit gives two inputs, a and |a|. */
CODEC_INLINE float train_input(int8_t seen, int magnitude) {
    float a = (float)seen * (1.0f / 32.0f);
    return magnitude && a < 0 ? -a : a;
}

/* --- layers that are clipped ------------------------------------------------------------ */

/* clip(z) of train_clip_fn, and its gradient, given its output y. */
CODEC_INLINE float train_clip(float z, float top) { return z > top ? top : z > 0.0f ? z : 0.0f; }
CODEC_INLINE float train_clip_back(float y, float top, float dy) {
    return y > 0.0f && y < top ? dy : 0.0f;
}

/* train_clip_added_fn: the clipped sum, and its gradient. */
CODEC_INLINE float train_up_to(float sum, float top) { return sum < top ? sum : top; }
CODEC_INLINE float train_up_to_back(float to, float top, float dto) {
    return to < top ? dto : 0.0f;
}

/* train_relu_added_fn, given the sum h + bias + before. */
CODEC_INLINE void train_relu_added(float sum, float top, float *h, float *a) {
    *h = sum > top ? top : sum < -top ? -top : sum;
    *a = sum > 0 ? *h : 0.0f;
}
CODEC_INLINE float train_relu_added_back(float h, float top, float da, float dh) {
    float gradient = dh + (h > 0 ? da : 0.0f);
    return h < top && h > -top ? gradient : 0.0f;
}

/* --- layers that are normalised ---------------------------------------------------------- */

/* train_normalise_fn: the factor of a column, given the sum of squared distances from its mean. */
CODEC_INLINE float train_inverse_deviation(float squares, size_t rows) {
    return 1.0f / sqrtf(squares / (float)rows + TRAIN_NORMALISE_LEAST);
}
CODEC_INLINE float train_positive(float x) { return x < 0.0f ? 0.0f : x; } /* NaN stays */

/* train_normalise_backward_fn for one number; the means are those of d and of d unit. */
CODEC_INLINE float train_normalise_back(float d, float unit, float inverse, float mean,
                                        float mean_product) {
    return inverse * (d - mean - unit * mean_product);
}

/* --- the optimiser --------------------------------------------------------------------- */

/* The moments of a weight whose gradient stays 0 (constant inputs, dead units) decay towards 0.
 * They are set to 0 before they become subnormal, because processors are many times slower on
 * subnormal numbers: these took four fifths of the time of a long run. */
CODEC_INLINE float train_or_zero(float x, float least) { return fabsf(x) < least ? 0.0f : x; }

/* train_adam_fn for one weight; the gradient is already scaled. */
CODEC_INLINE void train_adam_element(const train_adam_step *s, float gradient, float *w, float *m,
                                     float *v) {
    gradient = train_or_zero(gradient, TRAIN_ADAM_LEAST_GRADIENT);
    *m = train_or_zero(s->beta1 * *m + (1.0f - s->beta1) * gradient, TRAIN_ADAM_LEAST_M);
    *v = train_or_zero(s->beta2 * *v + (1.0f - s->beta2) * gradient * gradient, TRAIN_ADAM_LEAST_V);
    *w -= s->rate * *m / (sqrtf(*v) + s->epsilon);
}

/* train_judge_fn. */
CODEC_INLINE void train_judge(uint64_t step, double loss, double most_loss, double squares,
                              float max_norm, train_verdict *verdict) {
    double norm = sqrt(squares);
    int sound = fabs(loss) < most_loss && isfinite(norm); /* 0 for NaN */
    if (!sound && !verdict->diverged) verdict->diverged = step;
    verdict->scale =
        max_norm > 0.0f && norm > (double)max_norm ? (float)((double)max_norm / norm) : 1.0f;
}

#endif
