/* exact_predict.c -- see exact_predict.h. */
#include "codec/exact/exact_predict.h"
#include "codec/entropy/fixed_log.h"
#include <stdlib.h>

enum {
    ONE = CODEC_EXACT_ONE,
    LEAST_MISS = 32,  /* added to the sum of misses, in 1/16 of a level */
    FIRST_BONUS = 40, /* the weighted prediction counts 4 times: 16 log2 of it */
    MOST_WEIGHTED = 1 << 22,
    MOST_ADAPTED = 1 << 26,
    FINER = CODEC_EXACT_ADAPTED_BITS - CODEC_EXACT_WEIGHT_BITS,
    LEAST_ENERGY = 40,
    PART_OF_ERROR = 48,
    SMOOTH = 8,
    ROUGH = 40 /* differences of classes */
};

uint32_t codec_exact_class(const codec_exact_rows *rows, uint32_t c, uint32_t x) {
    const codec_exact_channel *channel = &rows->channel[c];
    const int32_t *l = channel->lossy[2] + x, m = l[0];
    int32_t across = abs(l[-1] - m) + abs(l[1] - m) + abs(channel->residual[0][(int64_t)x - 1]);
    int32_t down = abs(channel->lossy[1][x] - m) + abs(channel->lossy[3][x] - m) +
                   abs(channel->residual[1][x]);
    if (rows->depth == 16) across >>= 8, down >>= 8;
    if (across + down < SMOOTH) return 0;
    const uint32_t direction = across > 2 * down ? 1 : down > 2 * across ? 2 : 3;
    return across + down > ROUGH ? direction + 3 : direction;
}

void codec_exact_adapt_from(codec_exact_adapted *adapted, const codec_exact_weights *weights) {
    adapted->classes = weights->classes;
    adapted->channels = weights->channels;
    for (uint32_t k = 0; k < weights->classes; k++)
        for (uint32_t c = 0; c < weights->channels; c++)
            for (int i = 0; i < CODEC_EXACT_INPUTS; i++)
                adapted->of[k][c][i] = weights->of[k][c][i] * (1 << FINER);
}

/* The lossy sample and the weighted inputs, in 1/16. Sets the inputs. */
static int32_t weighted(const codec_exact_rows *rows, const codec_exact_adapted *adapted,
                        uint32_t c, uint32_t x, codec_exact_prediction *p) {
    p->inputs = codec_exact_inputs(rows, c, x, p->input);
    p->class = adapted->classes > 1 ? codec_exact_class(rows, c, x) : 0;
    const int32_t *w = adapted->of[p->class][c];
    int64_t sum = 0;
    for (int i = 0; i < p->inputs; i++) sum += (int64_t)w[i] * p->input[i];
    sum >>= CODEC_EXACT_ADAPTED_BITS - 4;
    sum = sum < -MOST_WEIGHTED ? -MOST_WEIGHTED : sum > MOST_WEIGHTED ? MOST_WEIGHTED : sum;
    return rows->channel[c].lossy[2][x] * ONE + (int32_t)sum;
}

/* The simple predictors, in 1/16. */
static int simple(const codec_exact_rows *rows, uint32_t c, uint32_t x, int32_t *to) {
    const codec_exact_channel *channel = &rows->channel[c];
    const int32_t *l = channel->lossy[2] + x, *a = channel->lossy[1] + x;
    const int32_t *e = channel->residual[0] + x, *g = channel->residual[1] + x;
    const int32_t w = l[-1] + e[-1], n = a[0] + g[0], nw = a[-1] + g[-1], ne = a[1] + g[1];
    int k = 0;
    to[k++] = (l[0] + e[-1] + g[0] - g[-1]) * ONE;
    to[k++] = (w + n - nw) * ONE;
    to[k++] = (w + ne - n) * ONE;
    to[k++] = n * ONE;
    to[k++] = w * ONE;
    if (rows->channels < 3 || c > 2) return k;
    /* Another channel's sample, plus the mean difference from it to the left and above. */
    for (uint32_t o = 0; o < c; o++) {
        const codec_exact_channel *other = &rows->channel[o];
        const int32_t z = other->lossy[2][x] + other->residual[0][x];
        const int32_t zw = other->lossy[2][(int64_t)x - 1] + other->residual[0][(int64_t)x - 1];
        const int32_t zn = other->lossy[1][x] + other->residual[1][x];
        to[k++] = z * ONE + (w - zw + n - zn) * (ONE / 2);
    }
    return k;
}

/* 16 log2 of how far predictor p missed the neighbours. */
static int32_t miss(const codec_exact_channel *channel, int p, uint32_t x) {
    const int32_t *a = channel->missed[p][0] + x, *b = channel->missed[p][1] + x;
    const int32_t sum = 2 * (a[-1] + b[0] + b[-1] + b[1]) + a[-2] + channel->missed[p][2][x];
    return codec_log16((uint32_t)sum + LEAST_MISS);
}

static int32_t limited(int64_t value, int32_t most) {
    return value < 0 ? 0 : value > most ? most : (int32_t)value;
}

void codec_exact_predict(const codec_exact_rows *rows, const codec_exact_adapted *adapted,
                         uint32_t c, uint32_t x, codec_exact_prediction *out) {
    const codec_exact_channel *channel = &rows->channel[c];
    out->inputs = 0;
    out->of[0] = adapted->classes && adapted->channels == rows->channels
                     ? weighted(rows, adapted, c, x, out)
                     : channel->lossy[2][x] * ONE;
    out->n = 1 + simple(rows, c, x, out->of + 1);
    int32_t missed[CODEC_EXACT_PREDICTORS], least = INT32_MAX;
    for (int p = 0; p < out->n; p++) {
        missed[p] = miss(channel, p, x);
        if (p == 0) missed[p] -= FIRST_BONUS / 4;
        if (missed[p] < least) least = missed[p];
    }
    int64_t sum = 0, total = 0;
    for (int p = 0; p < out->n; p++) {
        const int64_t share = (int64_t)codec_scale_exp2(1 << 16, -4 * (missed[p] - least));
        total += share;
        sum += share * out->of[p];
    }
    const int32_t most = (rows->depth == 8 ? 255 : 65535) * ONE;
    out->mean = limited(sum / total, most);
}

/* Normalised least mean squares: a step of 1/48 of what would meet the sample. The error is the
 * mean of the weighted prediction's own and that of all. */
static void correct(int32_t *weight, const codec_exact_prediction *p, int32_t sample) {
    int64_t energy = LEAST_ENERGY;
    for (int i = 0; i < p->inputs; i++) energy += (int64_t)p->input[i] * p->input[i];
    const int64_t error = (int64_t)sample * ONE - ((p->of[0] + p->mean) >> 1);
    const int64_t step = error * (1 << 24) / (PART_OF_ERROR * energy);
    for (int i = 0; i < p->inputs; i++) {
        const int64_t w = weight[i] + ((step * p->input[i]) >> 8);
        weight[i] = w < -MOST_ADAPTED  ? -MOST_ADAPTED
                    : w > MOST_ADAPTED ? MOST_ADAPTED
                                       : (int32_t)w;
    }
}

void codec_exact_learn(codec_exact_rows *rows, codec_exact_adapted *adapted, uint32_t c, uint32_t x,
                       int32_t sample, const codec_exact_prediction *prediction) {
    if (prediction->inputs) correct(adapted->of[prediction->class][c], prediction, sample);
    codec_exact_channel *channel = &rows->channel[c];
    for (int p = 0; p < prediction->n; p++) {
        const int64_t away = (int64_t)sample * ONE - prediction->of[p];
        channel->missed[p][0][x] = limited(away < 0 ? -away : away, 1 << 24);
    }
    channel->error[0][x] = sample * ONE - prediction->mean;
    channel->residual[0][x] = sample - channel->lossy[2][x];
}
