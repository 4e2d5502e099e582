/* cascade_shares.h -- the share of a distance in the first layers: c and s of cascade.h, measured
 * on pairs of near codes. */
#ifndef CODEC_CASCADE_SHARES_H
#define CODEC_CASCADE_SHARES_H
#include "codec/search/ordered_index.h"

typedef struct codec_share_sums {
    double pairs, whole;                    /* number of pairs, sum of their distances D */
    double part[CODEC_INDEX_MOST_LAYERS];   /* sum of the distances d after each layer */
    double square[CODEC_INDEX_MOST_LAYERS]; /* sum of d^2 / D */
} codec_share_sums;

/* Add the pair of `code` and the code at a place of the index. weight: [layers]. Pairs of equal
 * codes are ignored: they have no shares. */
void codec_shares_count(codec_share_sums *sums, const codec_ordered_index *index,
                        const uint16_t *weight, const uint64_t *code, size_t place);
/* Compute share[layers][2]: c = sum d / sum D, and s, where s^2 is the mean of (d - c D)^2 / D.
 * Without pairs c = 1 and s = 0: the search is exact. */
void codec_shares_of(const codec_share_sums *sums, size_t layers, float *share);

#endif
