/* synthesis.c -- see synthesis.h. Floats are only scaled by powers of two and rounded, so every
 * machine makes the same integers. */
#include "codec/transform/synthesis.h"
#include "codec/backend/simd.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SUM_BITS = CODEC_SYNTHESIS_SUM_BITS, WEIGHT_BITS = 12, COEFFICIENT_BITS = 15 };

/* The smallest e with |x| < 2^e; -126 for 0. */
static int exponent_of(float x) {
    int e = -126;
    if (x != 0) (void)frexpf(x, &e);
    return e;
}

static float largest(const float *x, size_t n) {
    float most = 0;
    for (size_t i = 0; i < n; i++) most = fabsf(x[i]) > most ? fabsf(x[i]) : most;
    return most;
}

/* The bits of a unit: weights get WEIGHT_BITS, unless coefficients exceed theirs; weights never
 * exceed 15. */
static int8_t bits_of(float weight, float top) {
    int exponent = exponent_of(weight), bits = SUM_BITS + exponent - WEIGHT_BITS,
        most = COEFFICIENT_BITS - exponent_of(top), least = SUM_BITS + exponent - 15;
    if (bits > most) bits = most;
    if (bits < least) bits = least;
    return (int8_t)(bits < -SUM_BITS ? -SUM_BITS : bits > SUM_BITS ? SUM_BITS : bits);
}

/* row[i] 2^scale, rounded, in one row of a pair. */
static void fill_row(const float *row, uint32_t inputs, int scale, int16_t *weight) {
    const double one = ldexp(1, scale), most = 32767;
    for (uint32_t i = 0; i < inputs; i++) {
        double w = (double)row[i] * one;
        w = w > -most ? w : -most; /* also for NaN */
        w = w < most ? w : most;
        weight[2 * (size_t)i] = (int16_t)((int32_t)(w + 32768.5) - 32768); /* floor(w + 1/2) */
    }
}

static void fill(const codec_network *net, const float *top, const uint8_t *is_missing,
                 codec_synthesis *s) {
    for (uint32_t u = 0; u < net->units; u++) {
        const float *row = net->synthesis + (size_t)u * net->inputs;
        if (is_missing && is_missing[u]) {
            s->bits[u] = bits_of(0, top[u]);
            continue;
        }
        s->known = u + 1;
        s->bits[u] = bits_of(largest(row, net->inputs), top[u]);
        fill_row(row, net->inputs, SUM_BITS - s->bits[u],
                 s->weight + codec_sparse_at(s->lanes, u, 0));
    }
    for (uint32_t i = 0; i < net->inputs; i++)
        s->mean[i] = (int32_t)floor(ldexp((double)net->mean[i] - 128, SUM_BITS) + 0.5);
}

taper_status codec_synthesis_make(const codec_network *net, const float *top,
                                  const uint8_t *is_missing, codec_synthesis *out) {
    codec_synthesis s = {
        .units = net->units, .inputs = net->inputs, .lanes = codec_sparse_lanes(net->inputs)};
    *out = (codec_synthesis){0};
    if (!net->synthesis || net->decoder.depth) return TAPER_ERR_ARG;
    s.weight = calloc((size_t)(s.units + 1) / 2 * s.lanes * 2, sizeof *s.weight);
    s.mean = calloc(s.lanes, sizeof *s.mean);
    s.bits = calloc(s.units, sizeof *s.bits);
    if (!s.weight || !s.mean || !s.bits) {
        codec_synthesis_free(&s);
        return TAPER_ERR_NOMEM;
    }
    fill(net, top, is_missing, &s);
    *out = s;
    return TAPER_OK;
}

void codec_synthesis_free(codec_synthesis *s) {
    free(s->weight), free(s->mean), free(s->bits);
    *s = (codec_synthesis){0};
}

CODEC_CLONES static void to_values(const int32_t *restrict sum, uint32_t count,
                                   int16_t *restrict value) {
    enum { SHIFT = SUM_BITS - CODEC_SYNTHESIS_VALUE_BITS, HALF = 1 << (SHIFT - 1) };
    for (uint32_t i = 0; i < count; i++) {
        int32_t v = (sum[i] >> SHIFT) + (sum[i] >> (SHIFT - 1) & 1);
        value[i] = (int16_t)(v < -32768 ? -32768 : v > 32767 ? 32767 : v);
    }
}

void codec_synthesis_values(const int32_t *sum, uint32_t count, int16_t *value) {
    to_values(sum, count, value);
}
