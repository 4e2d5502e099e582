/* margins.c -- taper_index_rank: sorts results by the margins of a query's bits; see taper_index.h.
 */
#include "codec/search/bit_codes.h"
#include "codec/search/index.h"
#include "formats/sized.h"
#include <math.h>
#include <stdlib.h>

/* One result. */
typedef struct ranked {
    double sum;
    uint32_t image, distance;
} ranked;

static int nearer(const void *a, const void *b) {
    const ranked *x = a, *y = b;
    if (x->sum != y->sum) return x->sum < y->sum ? -1 : 1;
    return x->image < y->image ? -1 : x->image > y->image;
}

/* Set weight[bits] of the differing bits of a query. TAPER_ERR_ARG: a margin is not finite. */
static taper_status weigh(const taper_index *index, const float *margins, double *weight,
                          taper_error *error) {
    const size_t bits = index->file.header.bits;
    for (size_t b = 0, layer = 0; b < bits; b++) {
        if (layer + 1 < index->order.layers && b / 64 >= codec_index_layer_first(layer + 1))
            layer++;
        if (!isfinite(margins[b]))
            return formats_fail(error, TAPER_ERR_ARG, "the margin of bit %zu is not finite", b);
        weight[b] = index->cascade.weight[layer] * sqrt(fabs((double)margins[b]));
    }
    return TAPER_OK;
}

static double sum_of(const uint64_t *query, const uint64_t *code, size_t words,
                     const double *weight) {
    double sum = 0;
    for (size_t w = 0; w < words; w++)
        for (uint64_t differing = query[w] ^ code[w]; differing;) {
            const unsigned leading = (unsigned)__builtin_clzll(differing);
            sum += weight[64 * w + leading];
            differing &= ~((uint64_t)1 << (63 - leading));
        }
    return sum;
}

/* The state of one call. */
typedef struct ranking {
    const taper_index *index;
    uint32_t *place; /* [images] the place of each image's code */
    double *weight;  /* [64 words] 0 after the last bit */
    uint64_t *code;  /* [words] */
    ranked *row;     /* [found] */
} ranking;

static taper_status rank_one(const ranking *r, const uint64_t *query, const float *margins,
                             size_t found, uint32_t *images, uint32_t *distances,
                             taper_error *error) {
    const codec_ordered_index *order = &r->index->order;
    size_t held = 0;
    TAPER_TRY(weigh(r->index, margins, r->weight, error));
    for (; held < found && images[held] != UINT32_MAX; held++) {
        if (images[held] >= order->n)
            return formats_fail(error, TAPER_ERR_ARG, "no image %u: the index has %zu",
                                images[held], order->n);
        codec_index_at(r->index, r->place[images[held]], r->code);
        r->row[held] = (ranked){sum_of(query, r->code, order->words, r->weight), images[held],
                                distances[held]};
    }
    qsort(r->row, held, sizeof *r->row, nearer);
    for (size_t i = 0; i < held; i++)
        images[i] = r->row[i].image, distances[i] = r->row[i].distance;
    return TAPER_OK;
}

static taper_status check_arrays(const taper_index_ranking *of, size_t words, size_t bits,
                                 const uint32_t *images, const uint32_t *distances,
                                 taper_error *error) {
    const size_t n = of->n_queries, found = of->found;
    TAPER_TRY(formats_need_array(of->queries, n, words * sizeof *of->queries, "queries", error));
    TAPER_TRY(formats_need_array(of->margins, n, bits * sizeof *of->margins, "margins", error));
    TAPER_TRY(formats_need_array(&found, found, sizeof(ranked), "images of a query", error));
    if (!found) return TAPER_OK;
    TAPER_TRY(formats_need_array(images, n, found * sizeof *images, "images", error));
    return formats_need_array(distances, n, found * sizeof *distances, "distances", error);
}

taper_status taper_index_rank(const taper_index *index, const taper_index_ranking *given,
                              uint32_t *images, uint32_t *distances, taper_error *error) {
    taper_index_ranking own, *of = &own;
    TAPER_TRY(formats_need(index, "the index", error));
    TAPER_TRY(formats_need(given, "the ranking", error));
    TAPER_TRY(formats_sized_take(&own, sizeof own, given, "taper_index_ranking", error));
    const size_t n = index->order.n, words = index->order.words, bits = index->file.header.bits;
    TAPER_TRY(check_arrays(of, words, bits, images, distances, error));
    ranking r = {index, calloc(n, sizeof *r.place), calloc(64 * words, sizeof *r.weight),
                 malloc(words * sizeof *r.code), malloc((of->found + 1) * sizeof *r.row)};
    taper_status status = TAPER_OK;
    if (!r.place || !r.weight || !r.code || !r.row)
        status = formats_fail(error, TAPER_ERR_NOMEM, "no memory to rank %zu images", of->found);
    for (size_t p = 0; p < n && !status;
         p++) /* image numbers are checked when the index is opened */
        r.place[codec_index_image_at(index, p)] = (uint32_t)p;
    for (size_t i = 0; i < of->n_queries && !status; i++)
        status = rank_one(&r, of->queries + i * words, of->margins + i * bits, of->found,
                          images + i * of->found, distances + i * of->found, error);
    free(r.place), free(r.weight), free(r.code), free(r.row);
    return status;
}
