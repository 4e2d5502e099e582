/* index_search.c -- search in an open index, or in the parts of a joined one; see taper_index.h. */
#include "codec/search/cascade_measure.h"
#include "codec/search/index_join.h"
#include "formats/sized.h"
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

uint32_t taper_index_code(const taper_index *index, uint64_t place, uint64_t *code) {
    if (!index || !code || place >= index->order.n) return UINT32_MAX;
    const uint32_t *order;
    if (!index->join) return codec_index_at(index, (size_t)place, code);
    if (codec_index_join_order(index, &order, NULL)) return UINT32_MAX;
    return codec_index_at(index, order[place], code);
}

static taper_status find_neighbourhood(const taper_index *index, const uint64_t *query,
                                       size_t least, size_t deepest, codec_neighbourhood *found,
                                       taper_error *error) {
    const uint32_t *order;
    if (!index->join) {
        *found = codec_index_neighbourhood(&index->order, query, least, deepest);
        return TAPER_OK;
    }
    TAPER_TRY(codec_index_join_order(index, &order, error));
    uint64_t *code = malloc(index->order.words * sizeof *code);
    if (!code) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for a code");
    *found = codec_index_join_neighbourhood(index, order, query, least, deepest, code);
    free(code);
    return TAPER_OK;
}

taper_status taper_index_neighbourhood(const taper_index *index, const uint64_t *query,
                                       uint32_t known_bits, uint64_t least,
                                       taper_index_range *range, taper_error *error) {
    TAPER_TRY(formats_need(index, "the index", error));
    TAPER_TRY(formats_need(query, "the query", error));
    TAPER_TRY(formats_need(range, "the range's place", error));
    if (known_bits > index->file.header.bits || least < 1 || least > index->order.n)
        return formats_fail(error, TAPER_ERR_ARG,
                            "a neighbourhood of %llu images by %u bits: legal are 1 to %zu images "
                            "and at most %u bits",
                            (unsigned long long)least, known_bits, index->order.n,
                            index->file.header.bits);
    codec_neighbourhood found;
    TAPER_TRY(find_neighbourhood(index, query, (size_t)least, known_bits, &found, error));
    if (found.size < least)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "the index's codes are not in order; make it again");
    const taper_index_range got = {.first = found.first,
                                   .count = found.size,
                                   .depth = (uint32_t)found.depth,
                                   .looked_at = found.looked_at};
    return formats_sized_give(range, &got, sizeof got, "taper_index_range", error);
}

/* The effort for this recall: the larger of that measured on the index's own images and that of a
 * normal distribution. The latter is for queries unlike these images, which have their own shares.
 */
static float effort_of(const taper_index *index, double recall) {
    if (recall >= 1) return CODEC_CASCADE_EXACT;
    return fmaxf(codec_cascade_effort_for(index->recall, recall),
                 codec_cascade_effort_for(codec_cascade_normal, recall));
}

static taper_status check_search(const taper_index *index, const taper_index_search *search,
                                 const uint32_t *images, const uint32_t *distances,
                                 taper_error *error) {
    if (search->k < 1 || search->k > index->order.n)
        return formats_fail(error, TAPER_ERR_ARG, "%zu neighbours: 1 to %zu are legal", search->k,
                            index->order.n);
    if (search->threads > 256)
        return formats_fail(error, TAPER_ERR_ARG, "%u threads: at most 256", search->threads);
    if (!(search->recall >= 0 && search->recall <= 1))
        return formats_fail(error, TAPER_ERR_ARG, "a recall of %g: it is 0 to 1", search->recall);
    TAPER_TRY(formats_need_array(search->queries, search->n_queries, 8 * index->order.words,
                                 "queries", error));
    TAPER_TRY(
        formats_need_array(images, search->n_queries, search->k * sizeof *images, "images", error));
    TAPER_TRY(
        formats_need_array(distances, search->n_queries, sizeof *distances, "distances", error));
    for (size_t i = 0; search->known_bits && i < search->n_queries; i++)
        if (search->known_bits[i] < 1 || search->known_bits[i] > index->file.header.bits)
            return formats_fail(error, TAPER_ERR_ARG,
                                "%u bits of query %zu are known: it is 1 to %u",
                                search->known_bits[i], i, index->file.header.bits);
    return TAPER_OK;
}

/* The neighbours of some queries in one part of a joined index. */
typedef struct part_search {
    codec_cascade_query query;
    uint32_t *image, *distance; /* [queries][query.k] */
    uint64_t *looked_at;        /* [queries] */
    uint32_t *row;              /* [2 k] */
} part_search;

/* Merge a list of a later part into a row of k neighbours. At equal distance the row's stay first:
 * their numbers are lower. */
static void merge_row(const part_search *s, size_t query, uint64_t first, size_t k, uint32_t *image,
                      uint32_t *distance) {
    const size_t n = s->query.k;
    const uint32_t *other = s->image + query * n, *far = s->distance + query * n;
    for (size_t j = 0, a = 0, b = 0; j < k; j++) {
        const bool is_other = b < n && other[b] != UINT32_MAX && far[b] < distance[a];
        s->row[2 * j] = is_other ? (uint32_t)first + other[b] : image[a];
        s->row[2 * j + 1] = is_other ? far[b] : distance[a];
        if (is_other)
            b++;
        else
            a++;
    }
    for (size_t j = 0; j < k; j++) image[j] = s->row[2 * j], distance[j] = s->row[2 * j + 1];
}

/* The largest distance of a further neighbour: that of the farthest so far, of all queries. */
static uint32_t farthest(const taper_index_search *search, const uint32_t *distances) {
    const uint32_t most = search->within ? *search->within : UINT32_MAX;
    uint32_t far = 0;
    for (size_t i = 0; i < search->n_queries; i++) {
        const uint32_t last = distances[(i + 1) * search->k - 1];
        if (last > far) far = last;
    }
    return far < most ? far : most;
}

static taper_status search_parts(const taper_index *index, const taper_index_search *search,
                                 part_search *s, codec_pool *pool, uint32_t *images,
                                 uint32_t *distances, uint64_t *looked_at) {
    const codec_index_join *join = index->join;
    const double recall = search->recall > 0 ? search->recall : 0.95;
    const size_t n = search->n_queries, k = search->k;
    for (size_t p = 0; p < join->parts; p++) {
        const taper_index *part = join->part[p];
        const uint64_t first = join->first[p];
        const uint32_t within = farthest(search, distances);
        s->query.k = k < part->order.n ? k : part->order.n;
        s->query.effort = effort_of(part, recall);
        s->query.within = &within;
        s->query.wanted = search->wanted ? search->wanted + first : NULL;
        TAPER_TRY(codec_cascade_search(&part->cascade, &s->query, pool, s->image, s->distance,
                                       s->looked_at));
        for (size_t i = 0; i < n; i++) {
            merge_row(s, i, first, k, images + i * k, distances + i * k);
            if (looked_at) looked_at[i] += s->looked_at[i];
        }
    }
    return TAPER_OK;
}

/* Part after part; the rows of neighbours are complete for the parts that were searched. */
static taper_status search_joined(const taper_index *index, const taper_index_search *search,
                                  const codec_cascade_query *query, codec_pool *pool,
                                  uint32_t *images, uint32_t *distances, uint64_t *looked_at) {
    const size_t n = search->n_queries, k = search->k;
    part_search s = {*query, malloc((n * k + 1) * sizeof *s.image),
                     malloc((n * k + 1) * sizeof *s.distance),
                     malloc((n + 1) * sizeof *s.looked_at), malloc(2 * k * sizeof *s.row)};
    taper_status status = TAPER_ERR_NOMEM;
    if (s.image && s.distance && s.looked_at && s.row) {
        for (size_t i = 0; i < n * k; i++) images[i] = distances[i] = UINT32_MAX;
        for (size_t i = 0; looked_at && i < n; i++) looked_at[i] = 0;
        status = search_parts(index, search, &s, pool, images, distances, looked_at);
    }
    free(s.image), free(s.distance), free(s.looked_at), free(s.row);
    return status;
}

taper_status taper_index_nearest(const taper_index *index, const taper_index_search *given,
                                 uint32_t *images, uint32_t *distances, uint64_t *looked_at,
                                 taper_error *error) {
    taper_index_search own, *search = &own;
    TAPER_TRY(formats_need(index, "the index", error));
    TAPER_TRY(formats_need(given, "the search", error));
    TAPER_TRY(formats_sized_take(&own, sizeof own, given, "taper_index_search", error));
    TAPER_TRY(check_search(index, search, images, distances, error));
    const double recall = search->recall > 0 ? search->recall : 0.95;
    const codec_cascade_query query = {
        .code = search->queries,
        .queries = search->n_queries,
        .k = search->k,
        .effort = index->join ? 0 : effort_of(index, recall), /* else by part */
        .known_bits = search->known_bits,
        .whole_bits = index->file.header.bits,
        .within = search->within,
        .wanted = search->wanted,
    };
    codec_pool *pool = NULL;
    if (search->threads != 1 && search->n_queries > 1)
        TAPER_TRY(codec_index_pool(&pool, search->threads, error));
    const taper_status status =
        index->join
            ? search_joined(index, search, &query, pool, images, distances, looked_at)
            : codec_cascade_search(&index->cascade, &query, pool, images, distances, looked_at);
    codec_pool_destroy(pool);
    return status
               ? formats_fail(error, status, "no memory to search %zu queries", search->n_queries)
               : TAPER_OK;
}
