/* cascade_shares.h -- which share of codes' distances lies in their first layers: the c and s of
 * cascade.h, from pairs of near codes. */
#ifndef CODEC_CASCADE_SHARES_H
#define CODEC_CASCADE_SHARES_H
#include "codec/search/ordered_index.h"

typedef struct codec_share_sums {
    double pairs, whole;                    /* pairs, and their distances D */
    double part[CODEC_INDEX_MOST_LAYERS];   /* distances d after a layer */
    double square[CODEC_INDEX_MOST_LAYERS]; /* d^2 / D */
} codec_share_sums;

/* Count the pair of `code` and the one at a place of an index whose layers have these weights.
 * Copies, which differ nowhere, are not counted:
 * they say nothing of distances. */
void codec_shares_count(codec_share_sums *sums, const codec_ordered_index *index,
                        const uint16_t *weight, const uint64_t *code, size_t place);
/* share[layers][2]: c = sum d / sum D and s, s^2 the mean of (d - c D)^2 / D. Of no pair 1 and 0,
 * by which nothing is dropped that an exact search keeps. */
void codec_shares_of(const codec_share_sums *sums, size_t layers, float *share);

#endif
