/* cascade_measure.c -- see cascade_measure.h. */
#include "codec/search/cascade_measure.h"
#include "codec/search/cascade_sample.h"
#include "codec/search/cascade_shares.h"
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 100, NEAREST = 10 };

const float codec_cascade_normal[CODEC_CASCADE_EFFORTS] = {
    0,         0.382925f, 0.682689f, 0.866386f, 0.954500f,
    0.987581f, 0.997300f, 0.999535f, 0.999937f, 0.999993f}; /* erf(effort / sqrt 2) */

float codec_cascade_effort_for(const float recall[CODEC_CASCADE_EFFORTS], double wanted) {
    for (size_t e = 0; e < CODEC_CASCADE_EFFORTS; e++) {
        if (recall[e] < wanted) continue;
        if (!e) return codec_cascade_effort(0);
        const double part = (wanted - recall[e - 1]) / (recall[e] - recall[e - 1]);
        return (float)(codec_cascade_effort(e - 1) +
                       fmax(0, fmin(1, part)) *
                           (codec_cascade_effort(e) - codec_cascade_effort(e - 1)));
    }
    return CODEC_CASCADE_EXACT;
}

/* The queries, and their nearest codes. */
typedef struct sample {
    size_t n, k; /* k: one more than needed, as a code finds itself */
    uint64_t *code;
    uint32_t *self;             /* [n] places */
    uint32_t *found, *distance; /* [n][k] */
    uint32_t *exact;            /* [n][k] distances */
    uint32_t *place_of;         /* [codes] the place of an image */
} sample;

static void sample_free(sample *s) {
    free(s->code);
    free(s->self);
    free(s->found);
    free(s->distance);
    free(s->exact);
    free(s->place_of);
}

static taper_status sample_take(sample *s, const codec_cascade *c) {
    const size_t n = c->index->n, words = c->index->words;
    *s = (sample){.n = n < SAMPLES ? n : SAMPLES, .k = n < NEAREST + 1 ? n : NEAREST + 1};
    s->code = malloc(s->n * words * sizeof *s->code);
    s->self = malloc(s->n * sizeof *s->self);
    s->found = malloc(s->n * s->k * sizeof *s->found);
    s->distance = malloc(s->n * s->k * sizeof *s->distance);
    s->exact = malloc(s->n * s->k * sizeof *s->exact);
    s->place_of = malloc(n * sizeof *s->place_of);
    if (!s->code || !s->self || !s->found || !s->distance || !s->exact || !s->place_of)
        return TAPER_ERR_NOMEM;
    for (size_t place = 0; place < n; place++) s->place_of[c->image[place]] = (uint32_t)place;
    for (size_t i = 0; i < s->n; i++) { /* evenly spaced in the order */
        s->self[i] = (uint32_t)((2 * i + 1) * n / (2 * s->n));
        codec_index_code(c->index, s->self[i], s->code + i * words);
    }
    return TAPER_OK;
}

static void measure_shares(const codec_cascade *c, const sample *s, float *share) {
    codec_share_sums sums = {0};
    for (size_t i = 0; i < s->n; i++)
        for (size_t j = 0; j < s->k; j++) {
            const uint32_t place = s->place_of[s->found[i * s->k + j]];
            if (place != s->self[i])
                codec_shares_count(&sums, c->index, c->weight, s->code + i * c->index->words,
                                   place);
        }
    codec_shares_of(&sums, c->index->layers, share);
}

/* The recall: the share of neighbours that are no farther than the k-th of the exact search. The
 * first neighbour, the code itself, does not count. */
static float recall_of(const sample *s) {
    size_t right = 0, all = 0;
    for (size_t i = 0; i < s->n; i++)
        for (size_t j = 1; j < s->k; j++, all++)
            right += s->distance[i * s->k + j] <= s->exact[i * s->k + s->k - 1];
    return all ? (float)((double)right / (double)all) : 1;
}

taper_status codec_cascade_measure(const codec_cascade *cascade, codec_pool *pool, float *share,
                                   float recall[CODEC_CASCADE_EFFORTS]) {
    sample s;
    codec_cascade_sample spread = {0};
    codec_cascade measured = *cascade;
    measured.share = share;
    taper_status status = sample_take(&s, cascade);
    if (!status) status = codec_cascade_sample_take(&spread, &measured);
    codec_cascade_query query = {
        .code = s.code, .queries = s.n, .k = s.k, .effort = CODEC_CASCADE_EXACT};
    if (!status) status = codec_cascade_search(cascade, &query, pool, s.found, s.exact, NULL);
    if (!status) measure_shares(cascade, &s, share);
    for (size_t e = 0; e < CODEC_CASCADE_EFFORTS && !status; e++) {
        query.effort = codec_cascade_effort(e);
        status = codec_cascade_search(&measured, &query, pool, s.found, s.distance, NULL);
        if (!status) recall[e] = recall_of(&s);
    }
    codec_cascade_sample_free(&spread);
    sample_free(&s);
    return status;
}
