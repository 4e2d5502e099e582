/* exact_coder.c -- see exact_coder.h. */
#include "codec/exact/exact_coder.h"
#include <string.h>

enum { HALF = 32768, CHANNELS = CODEC_EXACT_CHANNELS };

void codec_exact_begin(codec_exact *exact, int is_plain) {
    codec_exact_model_begin(&exact->model);
    codec_exact_weight_bits_begin(&exact->weight_bits);
    memset(&exact->weights, 0, sizeof exact->weights);
    memset(&exact->adapted, 0, sizeof exact->adapted);
    for (int c = 0; c < CHANNELS; c++) exact->same[c] = (codec_bit){HALF, 0};
    exact->renewed = (codec_bit){HALF, 0};
    exact->is_plain = codec_pixel_bit(&exact->bits, is_plain, HALF);
}

/* A sample in plain bits. */
static int32_t code_plain(codec_exact *exact, int32_t sample) {
    int32_t known = 0;
    for (uint32_t d = exact->rows.depth; d-- > 0;)
        known = 2 * known + codec_pixel_bit(&exact->bits, sample >> d & 1, HALF);
    return known;
}

/* The sample of channel c at column x; undefined if the bytes end. */
static int32_t code_sample(codec_exact *exact, uint32_t c, uint32_t x, int32_t sample) {
    codec_exact_prediction prediction;
    if (exact->is_plain) return code_plain(exact, sample);
    codec_exact_predict(&exact->rows, &exact->adapted, c, x, &prediction);
    sample = codec_exact_code_sample(&exact->model, &exact->bits, &exact->rows, &prediction, c, x,
                                     sample);
    codec_exact_learn(&exact->rows, &exact->adapted, c, x, sample, &prediction);
    return sample;
}

int codec_exact_code_row(codec_exact *exact, const uint8_t same[CHANNELS],
                         const taper_image *original, taper_image *image) {
    codec_exact_rows *rows = &exact->rows;
    size_t at = (size_t)rows->y * rows->width * rows->channels;
    for (uint32_t x = 0; x < rows->width; x++, at += rows->channels) {
        int32_t sample[CHANNELS] = {0};
        for (uint32_t c = 0; c < rows->channels; c++) {
            if (same[c]) continue;
            if (original) sample[c] = codec_exact_sample(original, at + rows->place[c]);
            sample[c] = code_sample(exact, c, x, sample[c]);
            if (exact->bits.starved) return 0;
        }
        if (original) continue;
        for (uint32_t c = 0; c < rows->channels; c++)
            if (!same[c]) codec_exact_set_sample(image, at + rows->place[c], sample[c]);
    }
    return 1;
}

void codec_exact_code_renewal(codec_exact *exact, int renewed) {
    renewed = codec_pixel_bit_adaptive(&exact->bits, renewed, &exact->renewed);
    if (!renewed || exact->bits.starved) return;
    exact->weights.channels = exact->rows.channels;
    codec_exact_code_weights(&exact->weight_bits, &exact->bits, &exact->weights);
    codec_exact_adapt_from(&exact->adapted, &exact->weights);
}

int codec_exact_code_same(codec_exact *exact, uint8_t same[CHANNELS]) {
    int all = 1;
    for (uint32_t c = 0; c < exact->rows.channels; c++) {
        same[c] = (uint8_t)codec_pixel_bit_adaptive(&exact->bits, same[c], &exact->same[c]);
        all &= same[c];
    }
    return all;
}
