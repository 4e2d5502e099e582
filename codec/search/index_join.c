/* index_join.c -- see index_join.h. */
#include "codec/search/index_join.h"
#include "formats/merge_names.h"
#include "formats/sized.h"
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* --- joining ---------------------------------------------------------------------------- */

static codec_index_join *new_join(const taper_index *const *part, size_t parts) {
    codec_index_join *join = calloc(1, sizeof *join);
    if (!join) return NULL;
    pthread_mutex_init(&join->lock, NULL);
    join->parts = parts;
    join->part = malloc(parts * sizeof *join->part);
    join->first = malloc((parts + 1) * sizeof *join->first);
    if (!join->part || !join->first) {
        codec_index_join_free(join);
        return NULL;
    }
    join->first[0] = 0;
    for (size_t e = 0; e < FORMATS_INDEX_EFFORTS; e++) join->recall[e] = 1;
    for (size_t p = 0; p < parts; p++) {
        join->part[p] = part[p];
        join->first[p + 1] = join->first[p] + part[p]->order.n;
        for (size_t e = 0; e < FORMATS_INDEX_EFFORTS; e++)
            if (part[p]->recall[e] < join->recall[e]) join->recall[e] = part[p]->recall[e];
    }
    return join;
}

/* The classes of all parts by name, and the labels of all images, as in a merged index. */
static taper_status join_labels(taper_index *index, taper_error *error) {
    const codec_index_join *join = index->join;
    formats_front *shard = malloc(join->parts * sizeof *shard);
    if (!shard) return TAPER_ERR_NOMEM;
    for (size_t p = 0; p < join->parts; p++) shard[p] = join->part[p]->file.set; /* borrowed */
    const taper_status status = formats_merge_labels(shard, join->parts, &index->file.set, error);
    free(shard);
    return status;
}

/* The header, weights and order have what all parts share; there are no codes. */
static void set_views(taper_index *index) {
    const codec_index_join *join = index->join;
    const taper_index *first = join->part[0];
    index->file.header = first->file.header;
    index->file.header.codes = join->first[join->parts];
    index->file.header.table_bits = codec_index_table_bits((size_t)join->first[join->parts]);
    index->file.header.names_size = 0;
    for (size_t p = 0; p < join->parts; p++)
        index->file.header.names_size += join->part[p]->file.header.names_size;
    index->file.set.images = (uint32_t)join->first[join->parts];
    index->order = (codec_ordered_index){.n = (size_t)join->first[join->parts],
                                         .words = first->order.words,
                                         .layers = first->order.layers};
    index->cascade.weight = first->cascade.weight;
    index->recall = join->recall;
}

taper_status taper_index_join(taper_index **out, const taper_index *const *parts, size_t n,
                              const taper_limits *limits, taper_error *error) {
    taper_limits checked;
    uint64_t codes = 0;
    TAPER_TRY(formats_need(out, "the index's place", error));
    *out = NULL;
    TAPER_TRY(formats_need(parts, "the indexes", error));
    TAPER_TRY(formats_limits_take(&checked, limits, error));
    TAPER_TRY(codec_index_match(parts, n, &codes, error));
    if (codes > checked.max_images)
        return formats_fail_fact(error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_IMAGES, codes,
                                 "the indexes have %llu codes, more than the limit of %llu",
                                 (unsigned long long)codes, (unsigned long long)checked.max_images);
    taper_index *index = calloc(1, sizeof *index);
    if (index) index->join = new_join(parts, n);
    if (!index || !index->join) {
        free(index);
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to join %zu indexes", n);
    }
    set_views(index);
    index->file.set.account = formats_account_within(&checked);
    const taper_status status = join_labels(index, error);
    if (status == TAPER_OK) {
        *out = index;
        return TAPER_OK;
    }
    formats_front_free(&index->file.set);
    codec_index_join_free(index->join);
    free(index);
    return status == TAPER_ERR_NOMEM ? formats_fail(error, status, "no memory for labels") : status;
}

/* --- the sorted order ------------------------------------------------------------------- */

/* Parts with remaining codes, as a heap: no next code comes before its parent's. */
typedef struct part_heap {
    const codec_index_join *join;
    size_t *part, n; /* [n] */
    size_t *at;      /* [parts] the next place in each part */
    uint64_t *code;  /* two codes, to compare */
} part_heap;

/* True if the next code of part a comes before that of b. Of equal codes, that of the lower part
 * does. */
static bool comes_first(const part_heap *h, size_t a, size_t b) {
    const codec_ordered_index *left = &h->join->part[a]->order, *right = &h->join->part[b]->order;
    const uint64_t x = left->layer[0][h->at[a]], y = right->layer[0][h->at[b]];
    if (x != y) return x < y;
    codec_index_code(left, h->at[a], h->code);
    codec_index_code(right, h->at[b], h->code + left->words);
    const int order = codec_bits_compare(h->code, h->code + left->words, left->words);
    return order ? order < 0 : a < b;
}

static void sink_down(part_heap *h, size_t at) {
    const size_t moved = h->part[at];
    for (size_t child; (child = 2 * at + 1) < h->n; at = child) {
        if (child + 1 < h->n && comes_first(h, h->part[child + 1], h->part[child])) child++;
        if (!comes_first(h, h->part[child], moved)) break;
        h->part[at] = h->part[child];
    }
    h->part[at] = moved;
}

static void sort_places(part_heap *h, uint32_t *order) {
    const codec_index_join *join = h->join;
    for (size_t p = 0; p < join->parts; p++) h->part[p] = p; /* each has at least one code */
    for (size_t p = join->parts; p--;) sink_down(h, p);
    for (uint64_t i = 0; i < join->first[join->parts]; i++) {
        const size_t p = h->part[0];
        order[i] = (uint32_t)(join->first[p] + h->at[p]);
        if (++h->at[p] == join->part[p]->order.n) h->part[0] = h->part[--h->n];
        if (h->n) sink_down(h, 0);
    }
}

static taper_status make_order(const taper_index *index, taper_error *error) {
    codec_index_join *join = index->join;
    const uint64_t bytes = 4 * join->first[join->parts];
    if (bytes > formats_account_left(&index->file.set.account))
        return formats_fail(error, TAPER_ERR_LIMIT,
                            "the order of %zu codes takes %llu bytes, more than the limit of "
                            "memory leaves",
                            index->order.n, (unsigned long long)bytes);
    part_heap h = {join, malloc(join->parts * sizeof *h.part), join->parts,
                   calloc(join->parts, sizeof *h.at),
                   malloc(2 * index->order.words * sizeof *h.code)};
    uint32_t *order = malloc((size_t)bytes);
    if (h.part && h.at && h.code && order) {
        sort_places(&h, order);
        join->order = order;
    } else {
        free(order);
    }
    free(h.part), free(h.at), free(h.code);
    return join->order ? TAPER_OK
                       : formats_fail(error, TAPER_ERR_NOMEM, "no memory to sort %zu codes",
                                      index->order.n);
}

taper_status codec_index_join_order(const taper_index *joined, const uint32_t **order,
                                    taper_error *error) {
    codec_index_join *join = joined->join;
    pthread_mutex_lock(&join->lock);
    const taper_status status = join->order ? TAPER_OK : make_order(joined, error);
    *order = join->order;
    pthread_mutex_unlock(&join->lock);
    return status;
}

/* --- neighbourhoods --------------------------------------------------------------------- */

typedef struct order_view {
    const taper_index *index;
    const uint32_t *order;
    const uint64_t *query;
    uint64_t *code;
    size_t looked_at;
} order_view;

/* Less than 0, 0 or more: the first `depth` bits of the code at a sorted place are below, equal to
 * or above those of the query. */
static int compare_at(order_view *v, size_t place, size_t depth) {
    const size_t words = v->index->order.words;
    codec_index_at(v->index, v->order[place], v->code);
    v->looked_at++;
    const size_t shared = codec_bits_shared(v->code, v->query, words);
    if (shared >= depth) return 0;
    return v->code[shared / 64] >> (63 - shared % 64) & 1 ? 1 : -1;
}

/* The first sorted place from `low` whose code is at least `least` by compare_at. */
static size_t first_at_least(order_view *v, size_t low, size_t depth, int least) {
    size_t high = v->index->order.n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (compare_at(v, middle, depth) < least)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static codec_neighbourhood sharing(order_view *v, size_t depth) {
    const size_t first = first_at_least(v, 0, depth, 0);
    return (codec_neighbourhood){first, first_at_least(v, first, depth, 1) - first, depth, 0};
}

codec_neighbourhood codec_index_join_neighbourhood(const taper_index *joined, const uint32_t *order,
                                                   const uint64_t *query, size_t least,
                                                   size_t deepest, uint64_t *code) {
    order_view view = {joined, order, query, code, 0};
    size_t low = 0, high = deepest + 1; /* `low` bits have enough members, `high` have not */
    codec_neighbourhood found = {.first = 0, .size = joined->order.n};
    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;
        const codec_neighbourhood here = sharing(&view, middle);
        if (here.size >= least)
            low = middle, found = here;
        else
            high = middle;
    }
    found.looked_at = view.looked_at;
    return found;
}
