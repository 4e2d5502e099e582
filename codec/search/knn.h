/* knn.h -- the k nearest references of each query; codec/taper_search.h is the manual of
 * taper_nearest, which knn.c defines.
 *
 * How a product says what cannot be near. Codes are centred and scaled (centring.h) to q and r, so
 * that the distance is D = |q|^2 + |r|^2 - 2 q r. With u = 2^-24 and codes of n numbers, a product
 * summed in float32 in any order is off by at most 1.07 n u |q||r| for n <= 2^20; rounding q and r
 * to float32 moves D by at most 2.1 u (|q| + |r|)^2, and sums and norms in float32 by another 2.1 u
 * (|q| + |r|)^2. As (|q| + |r|)^2 <= 2 (|q|^2 + |r|^2), D as computed is within
 * slack (|q|^2 + |r|^2) of what it is, slack = 1.1 (n + 16) u; and within 2^-100, where numbers are
 * too small for float32. So a reference with
 *     |r|^2 (1 - slack) - 2 q r > limit,    limit = T - |q|^2 (1 - slack) + 2^-100, rounded up,
 * is farther than T, the k-th distance of those seen so far. All others are survivors, whose
 * distances are computed by the definition. Nothing that is kept depends on a rounded product.
 *
 * The room codec/search/: nearest neighbours, and votes. Of codes of numbers:
 *   knn               the search: blocks of queries against tiles of references
 *   centring          codes less their mean, in float32; codes that are not finite
 *   nearest_list      the k nearest so far of one query
 *   votes             labels by votes; errors counted
 * and of codes of bits, which taper_index.h has the manual of:
 *   bit_codes         rows of words, bits that they share, bits in which they differ
 *   ordered_index     codes in their order, nested neighbourhoods
 *   cascade           the k nearest, layer by layer; cascade_shares: how much of a distance first
 *                     layers have, by cascade_sample for each query, by cascade_measure for all
 *   margins           what was found, ranked by how sure a query's bits are
 *   index             an open index; index_build: made of codes, index_merge: of others */
#ifndef CODEC_KNN_H
#define CODEC_KNN_H
#include "codec/backend/operations.h"
#include "codec/taper_search.h"

/* The definition, a distance after the other: what taper_nearest must give. The search is one that
 * taper_nearest takes; threads are ignored. */
void codec_nearest_plain(const taper_search *search, uint32_t *neighbours, double *distances);

/* How the work is cut. */
typedef struct codec_search_plan {
    const codec_backend *backend; /* without a pool; its products are made by one thread each */
    size_t rows;                  /* queries in a block, 1.. */
    size_t columns;               /* references in a tile, 1.. */
    unsigned threads;             /* 1..256 */
} codec_search_plan;

/* What taper_nearest takes for this search: blocks that keep codec_search_bytes below 64 MiB where
 * the least blocks, of 32 by 64, allow it. The backend is for the caller to choose. */
codec_search_plan codec_search_plan_of(const taper_search *search);
/* The most memory that it takes, without the threads' stacks. */
uint64_t codec_search_bytes(const codec_search_plan *plan, size_t width);

/* taper_nearest with another plan: the same result. */
taper_status codec_nearest(const taper_search *search, const codec_search_plan *plan,
                           uint32_t *neighbours, double *distances, taper_error *error);

#endif
