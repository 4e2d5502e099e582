/* cascade.h -- the k nearest codes of a query, exact or approximate. Codes are compared layer by
 * layer; a code that is too far after its first layers is dropped.
 *
 * The distance of two codes is the sum over layers of the layer's weight times the number of bits
 * that differ in it. With all weights 1 it is the Hamming distance.
 *
 * Let D be the distance of the k-th nearest code so far. The first k are the codes next to the
 * query in the sorted order. Let d be the distance of a code after layer l.
 *   exact         The code is dropped if d > D. This happens early if weights decrease.
 *   approximate   The complete distance is estimated from d. For near codes, d = c D + s sqrt(D) x,
 *                 where x has mean square 1, as for bits that differ at random. c and s are
 *                 measured. The code is dropped if d > c D + effort s sqrt(D). A larger effort
 *                 loses fewer neighbours.
 * D only decreases, so a dropped code stays dropped.
 *
 * Each share (c, s) is measured twice; the larger value is used. The shares of the index's own
 * codes, measured when the index is built, know neighbours that are nearer than those of a sample.
 * The shares of the query are measured on its nearest codes in a sample (cascade_sample.h). They
 * hold for queries that are unlike the codes of the index. They are not used far below the sample's
 * distances: D counts as at least three quarters of these. Otherwise one of several near copies
 * could hide the others. The search is exact without a sample, and for queries with unknown bits.
 */
#ifndef CODEC_CASCADE_H
#define CODEC_CASCADE_H
#include "codec/backend/pool.h"
#include "codec/search/ordered_index.h"
#include <math.h>

/* The effort of an exact search. */
#define CODEC_CASCADE_EXACT HUGE_VALF

typedef struct codec_cascade {
    const codec_ordered_index *index;
    const uint32_t *image;  /* [n] the image number of the code at each place */
    const uint16_t *weight; /* [layers] 1.. */
    /* [layers][2] c and s of the index's codes; not used by exact searches. */
    const float *share;
    /* A sample of its codes; NULL: searches are exact. */
    const struct codec_cascade *sample;
} codec_cascade;

typedef struct codec_cascade_query {
    const uint64_t *code; /* [queries][words] */
    size_t queries, k;    /* 1.. */
    float effort;         /* 0.. */
    /* [queries] the number of known bits, the first ones; the others do not count. NULL: all. */
    const uint32_t *known_bits;
    /* Bits of a code; used with known_bits. */
    uint32_t whole_bits;
    /* The largest distance of a neighbour; NULL: no maximum. */
    const uint32_t *within;
    /* [n] by image number: 1: may be found; NULL: all. */
    const uint8_t *wanted;
} codec_cascade_query;

/* Set image[queries][k] and distance[queries][k], nearest first. At equal distance the lower image
 * number comes first. If fewer than k are found, the rest is UINT32_MAX. looked_at: [queries] words
 * of codes that were compared, or NULL. pool: threads share the queries; NULL: none.
 * TAPER_ERR_NOMEM. */
taper_status codec_cascade_search(const codec_cascade *cascade, const codec_cascade_query *query,
                                  codec_pool *pool, uint32_t *image, uint32_t *distance,
                                  uint64_t *looked_at);

/* The reference implementation of an exact search. TAPER_ERR_NOMEM. */
taper_status codec_cascade_plain(const codec_cascade *cascade, const codec_cascade_query *query,
                                 uint32_t *image, uint32_t *distance);

#endif
