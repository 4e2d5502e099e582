/* exact_weights.c -- see exact_weights.h. */
#include "codec/exact/exact_weights.h"
#include <stdlib.h>
#include <string.h>

enum { HALF = 32768, LENGTHS = CODEC_EXACT_WEIGHT_LENGTHS };

void codec_exact_weight_bits_begin(codec_exact_weight_bits *model) {
    for (int k = 0; k < 2; k++) {
        model->zero[k] = (codec_bit){HALF, 0};
        for (int i = 0; i < LENGTHS; i++) model->length[k][i] = (codec_bit){HALF, 0};
    }
}

/* A signed number: whether it is 0, its sign, how many binary digits follow the first, these. */
static int32_t code_number(codec_exact_weight_bits *model, codec_pixel_bits *bits, int kind,
                           int32_t value) {
    if (codec_pixel_bit_adaptive(bits, value == 0, &model->zero[kind])) return 0;
    const int negative = codec_pixel_bit(bits, value < 0, HALF);
    const uint32_t size = (uint32_t)abs(value);
    int digits = 0;
    while (digits < LENGTHS - 1 &&
           codec_pixel_bit_adaptive(bits, size >> digits >= 2, &model->length[kind][digits]))
        digits++;
    uint32_t known = 1;
    for (int d = digits; d-- > 0;)
        known = 2 * known + (uint32_t)codec_pixel_bit(bits, (int)(size >> d & 1), HALF);
    return negative ? -(int32_t)known : (int32_t)known;
}

void codec_exact_code_weights(codec_exact_weight_bits *model, codec_pixel_bits *bits,
                              codec_exact_weights *weights) {
    const int some = codec_pixel_bit(bits, weights->classes > 0, HALF);
    const int several = some && codec_pixel_bit(bits, weights->classes > 1, HALF);
    weights->classes = several ? CODEC_EXACT_CLASSES : (uint32_t)some;
    for (uint32_t k = 0; k < weights->classes; k++) {
        for (uint32_t c = 0; c < weights->channels; c++) {
            const int n = codec_exact_input_count(weights->channels, c);
            int16_t *to = weights->of[k][c];
            for (int i = 0; i < n; i++) {
                const int32_t from = k ? weights->of[0][c][i] : 0;
                const int32_t value = from + code_number(model, bits, k > 0, to[i] - from);
                to[i] = (int16_t)(value < -CODEC_EXACT_WEIGHT_MOST  ? -CODEC_EXACT_WEIGHT_MOST
                                  : value > CODEC_EXACT_WEIGHT_MOST ? CODEC_EXACT_WEIGHT_MOST
                                                                    : value);
            }
        }
    }
}
