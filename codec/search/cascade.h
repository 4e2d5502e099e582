/* cascade.h -- the k nearest codes of a query, exactly or nearly: codes are compared layer by
 * layer, and one that is too far by its first layers is not looked at further.
 *
 * The distance of two codes is the sum over layers of the layer's weight times the bits that differ
 * in it: Hamming's where all weights are 1.
 *
 * Let D be the distance of the k-th nearest so far; the codes beside the query in the order make
 * the first k. After layer l a code has the distance d. Exactly, it is dropped where d > D; that
 * comes early where weights fall. Nearly, its whole distance is guessed: d is some share c of it.
 * Of pairs of near codes c and s are measured, d = c D + s sqrt(D) x with x of mean square 1, as of
 * bits that differ by chance; a code is dropped where d > c D + effort s sqrt(D). So the effort
 * says how seldom a neighbour is lost. As D only falls, what has been dropped stays dropped.
 *
 * Shares are taken twice, and the larger count. Those of the index's own codes, measured when it
 * was built, know of neighbours that are nearer than a sample shows. Those of the query, of its
 * nearest in a sample of the codes (cascade_sample.h), hold for queries that are unlike all that is
 * in the index. They are not trusted of distances far below those in the sample: D counts as three
 * quarters of these at least, so that of several near copies one does not hide the others. Without
 * a sample, and of a query of which not all bits are known, the search is exact. */
#ifndef CODEC_CASCADE_H
#define CODEC_CASCADE_H
#include "codec/backend/pool.h"
#include "codec/search/ordered_index.h"
#include <math.h>

#define CODEC_CASCADE_EXACT HUGE_VALF /* an effort */

typedef struct codec_cascade {
    const codec_ordered_index *index;
    const uint32_t *image;  /* [n] what the code at a place is called */
    const uint16_t *weight; /* [layers] 1.. */
    const float *share;     /* [layers][2] c and s of the index's codes; of an exact search not
                               looked at */
    const struct codec_cascade *sample; /* of its codes; NULL: searches are exact */
} codec_cascade;

typedef struct codec_cascade_query {
    const uint64_t *code;       /* [queries][words] */
    size_t queries, k;          /* 1.. */
    float effort;               /* 0.. */
    const uint32_t *known_bits; /* [queries] bits that are known of each, the first: those behind
                                   count nothing; NULL: all */
    uint32_t whole_bits;        /* of a code; where known_bits are given */
    const uint32_t *within;     /* distance beyond which none is found; NULL: any is */
    const uint8_t *wanted;      /* [n] by image: 1 may be found; NULL: all */
} codec_cascade_query;

/* image[queries][k], distance[queries][k]: the nearest first, of the same distance the lower
 * number. Where fewer than k are wanted or near enough the rest is
 * UINT32_MAX. looked_at[queries], or NULL: words
 * of codes that were compared. pool: threads share out queries; NULL: none. TAPER_ERR_NOMEM. */
taper_status codec_cascade_search(const codec_cascade *cascade, const codec_cascade_query *query,
                                  codec_pool *pool, uint32_t *image, uint32_t *distance,
                                  uint64_t *looked_at);

/* The definition of an exact search: a code after the other. TAPER_ERR_NOMEM. */
taper_status codec_cascade_plain(const codec_cascade *cascade, const codec_cascade_query *query,
                                 uint32_t *image, uint32_t *distance);

#endif
