/* quantiser.c -- see quantiser.h. */
#include "codec/bitplane/quantiser.h"
#include <stdlib.h>

enum { LEVELS_IN_TABLE = 64 };

/* The values of levels 1 .. LEVELS_IN_TABLE - 1 of a unit at a depth: (q + c) T. */
typedef struct level_values {
    float value[LEVELS_IN_TABLE], threshold, last;
} level_values;

static level_values values_at(const codec_code_tables *t, uint32_t u, uint32_t depth) {
    const uint8_t *recon = t->recon[codec_ratio_bin(codec_log_ratio(t, u, depth))];
    level_values v = {.threshold = t->step[u] * (float)((uint32_t)1 << (t->planes[u] - depth)),
                      .last = (float)recon[CODEC_RECON_LEVELS - 1] / 256.0f};
    for (uint32_t q = 1; q < LEVELS_IN_TABLE; q++)
        v.value[q] =
            ((float)q +
             (float)recon[(q < CODEC_RECON_LEVELS ? q : CODEC_RECON_LEVELS) - 1] / 256.0f) *
            v.threshold;
    return v;
}

static float value_of_level(const level_values *v, int32_t level) {
    uint32_t q = (uint32_t)abs(level);
    float magnitude = q < LEVELS_IN_TABLE ? v->value[q] : ((float)q + v->last) * v->threshold;
    return level < 0 ? -magnitude : magnitude;
}

/* For a binary model: the bit minus the centre, or 0 if unknown. */
static void dequantise_bits(const codec_group *g, uint32_t first, uint32_t n, float *x) {
    const codec_code_tables *t = g->tables;
    for (uint32_t u = 0; u < t->units; u++) {
        const int16_t *level = g->level + (size_t)u * g->stride;
        for (uint32_t p = first; p < first + n; p++)
            x[(size_t)(p - first) * t->units + u] =
                codec_planes_known(g, u, p) ? (float)level[p] - t->centre : 0.0f;
    }
}

void codec_dequantise(const codec_group *g, uint32_t first, uint32_t n, float *x) {
    const codec_code_tables *t = g->tables;
    if (t->density) {
        dequantise_bits(g, first, n, x);
        return;
    }
    for (uint32_t u = 0; u < t->units; u++) {
        size_t at = (size_t)u * g->stride + first;
        int split = codec_group_is_split(g, u);
        if (!g->depth[u] && !split) {
            for (uint32_t p = 0; p < n; p++) x[(size_t)p * t->units + u] = 0;
            continue;
        }
        level_values values[2] = {values_at(t, u, g->depth[u])};
        if (split) values[1] = values_at(t, u, g->depth[u] + 1u);
        for (uint32_t p = 0; p < n; p++)
            x[(size_t)p * t->units + u] =
                value_of_level(&values[g->plane_known[at + p]], g->level[at + p]);
    }
}

static int16_t quantise(const codec_code_tables *t, uint32_t u, float x, uint32_t planes) {
    if (t->density) return x > 0; /* NaN: 0 */
    float top = (float)(((uint32_t)1 << planes) - 1);
    float magnitude = (x < 0 ? -x : x) / t->step[u];
    if (!(magnitude >= 1.0f)) return 0; /* NaN too */
    int32_t m = (int32_t)(magnitude < top ? magnitude : top);
    return (int16_t)(x < 0 ? -m : m);
}

int16_t codec_quantise(const codec_code_tables *t, uint32_t u, float x) {
    return quantise(t, u, x, t->planes[u]);
}

int16_t codec_quantise_wide(const codec_code_tables *t, uint32_t u, float x) {
    return quantise(t, u, x, CODEC_MAX_PLANES);
}
