/* knn.h -- the k nearest references of each query: taper_nearest, whose interface is
 * codec/taper_search.h.
 *
 * How products exclude references. Codes are centred and scaled (centring.h) to q and r, so the
 * squared distance is D = |q|^2 + |r|^2 - 2 q r. Let u = 2^-24, and let codes have n numbers.
 *  - A product summed in float32 in any order has an error of at most 1.07 n u |q||r| for
 *    n <= 2^20.
 *  - Rounding q and r to float32 changes D by at most 2.1 u (|q| + |r|)^2.
 *  - Sums and norms in float32 change it by another 2.1 u (|q| + |r|)^2.
 * As (|q| + |r|)^2 <= 2 (|q|^2 + |r|^2), the error of D is at most slack (|q|^2 + |r|^2), with
 * slack = 1.1 (n + 16) u. Numbers that are too small for float32 add at most 2^-100. So a reference
 * with
 *     |r|^2 (1 - slack) - 2 q r > limit,    limit = T - |q|^2 (1 - slack) + 2^-100, rounded up,
 * is farther than T, the k-th distance so far. The distances of all other references, the
 * candidates, are computed by the definition. So the result does not depend on rounded products.
 *
 * The directory codec/search/: nearest neighbours, and votes. For codes of numbers:
 *   knn               the search: blocks of queries against tiles of references
 *   centring          codes minus their mean, in float32; detects numbers that are not finite
 *   nearest_list      the k nearest so far of one query
 *   votes             labels by vote; error rates
 * and for codes of bits (taper_index.h):
 *   bit_codes         rows of words, shared leading bits, Hamming distances
 *   ordered_index     sorted codes, nested neighbourhoods
 *   cascade           the k nearest, layer by layer; cascade_shares: the share of a distance in the
 *                     first layers; cascade_sample measures it for each query, cascade_measure for
 *                     the index
 *   margins           ranks results by the margins of a query's bits
 *   index             an open index; index_build: made of codes; index_merge: made of indexes;
 *                     index_join: several as one, without a copy; index_search: search in both */
#ifndef CODEC_KNN_H
#define CODEC_KNN_H
#include "codec/backend/operations.h"
#include "codec/taper_search.h"

/* The reference implementation of taper_nearest. `search` must be legal; its threads are ignored.
 */
void codec_nearest_plain(const taper_search *search, uint32_t *neighbours, double *distances);

/* How the work is divided. */
typedef struct codec_search_plan {
    const codec_backend *backend; /* without a pool: one thread computes each product */
    size_t rows;                  /* queries in a block, 1.. */
    size_t columns;               /* references in a tile, 1.. */
    unsigned threads;             /* 1..256 */
} codec_search_plan;

/* The plan of taper_nearest for this search. It keeps codec_search_bytes below 64 MiB, if the
 * smallest blocks, 32 by 64, allow it. The caller sets the backend. */
codec_search_plan codec_search_plan_of(const taper_search *search);
/* Upper bound of the memory of a plan, without the threads' stacks. */
uint64_t codec_search_bytes(const codec_search_plan *plan, size_t width);

/* taper_nearest with a given plan. The result does not depend on the plan. */
taper_status codec_nearest(const taper_search *search, const codec_search_plan *plan,
                           uint32_t *neighbours, double *distances, taper_error *error);

#endif
