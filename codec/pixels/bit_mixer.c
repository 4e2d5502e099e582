/* bit_mixer.c -- see bit_mixer.h. */
#include "codec/pixels/bit_mixer.h"
#include "codec/entropy/fixed_log.h"

void codec_mixer_make_logits(int16_t logit[CODEC_MIXER_LOGITS]) {
    int32_t x = -768;
    for (int32_t i = 0; i < CODEC_MIXER_LOGITS; i++) {
        while (x < 767 && codec_squash(x) < i * 16) x++;
        logit[i] = (int16_t)x;
    }
}

/* The logit of an input; 0 of one that has not seen a bit. */
static int32_t logit_of(const codec_mixer *m, const codec_bit *input) {
    return input->count ? m->logit[input->p1 >> 4] : 0;
}

static void adapt_input(codec_bit *input, int bit) {
    const int32_t error = (bit ? 65535 : 0) - input->p1;
    int32_t p = input->p1 + (int32_t)(((int64_t)error * codec_bit_rate[input->count]) >> 16);
    p = p < CODEC_P_MIN ? CODEC_P_MIN : p > CODEC_P_MAX ? CODEC_P_MAX : p;
    input->p1 = (uint16_t)p;
    input->count = (uint16_t)(input->count + (input->count < CODEC_MIXER_LIMIT));
}

int codec_mixed_pixel_bit(codec_pixel_bits *b, int bit, const codec_mixer *m) {
    int32_t x[CODEC_MIXER_INPUTS];
    int64_t sum = 0;
    for (int i = 0; i < m->n; i++) {
        x[i] = logit_of(m, m->input[i]);
        sum += (int64_t)x[i] * m->weight[i];
    }
    sum >>= 16;
    const int32_t p = codec_squash(sum < -767 ? -767 : sum > 767 ? 767 : (int32_t)sum);
    bit = codec_pixel_bit(b, bit, (uint32_t)p);
    if (b->starved) return bit;
    const int32_t error = (bit << 16) - p;
    for (int i = 0; i < m->n; i++) {
        int32_t w = m->weight[i] + ((error * x[i]) >> CODEC_MIXER_RATE);
        w = w < -CODEC_MIXER_MOST ? -CODEC_MIXER_MOST : w > CODEC_MIXER_MOST ? CODEC_MIXER_MOST : w;
        m->weight[i] = w;
        adapt_input(m->input[i], bit);
    }
    return bit;
}
