/* cascade.c -- see cascade.h.
 *
 * A thread processes several queries together, block by block of codes, so that a block is read
 * from memory once for all of them. */
#include "codec/search/cascade.h"
#include "codec/backend/simd.h"
#include "codec/search/cascade_shares.h"
#include "codec/search/nearest_list.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum {
    BLOCK = 2048,         /* codes that are compared at once */
    QUERIES_AT_ONCE = 16, /* queries that a thread processes together */
    FIRST_CODES = 64,     /* codes next to a query that give the first distances */
    AHEAD = 16,           /* candidates to prefetch */
    SAMPLE_NEAREST = 32,  /* codes of the sample that give the shares */
    SAMPLE_BLOCK = 256    /* codes of the sample at once: the first block has no limit */
};

/* Distances below this part of the sample's distances count as this part. */
static const double USUAL_SHARE = 0.75;

/* --- the reference implementation
 * --------------------------------------------------------------------- */

static uint32_t distance_of(const codec_cascade *c, const uint64_t *query, const uint64_t *mask,
                            size_t place) {
    uint32_t sum = 0;
    for (size_t l = 0; l < c->index->layers; l++) {
        const size_t first = codec_index_layer_first(l);
        const size_t width = codec_index_layer_words(c->index->words, l);
        const uint64_t *code = c->index->layer[l] + place * width;
        for (size_t w = 0; w < width; w++)
            sum += c->weight[l] * codec_bits_ones((query[first + w] ^ code[w]) & mask[first + w]);
    }
    return sum;
}

/* Set the mask of the known bits of query i. */
static void make_mask(const codec_cascade *c, const codec_cascade_query *q, size_t i,
                      uint64_t *mask) {
    memset(mask, 0xFF, c->index->words * sizeof *mask);
    if (q->known_bits) codec_bits_keep(mask, c->index->words, q->known_bits[i]);
}

static uint32_t most_distance(const codec_cascade_query *q) {
    return q->within ? *q->within : UINT32_MAX;
}

static int is_wanted(const codec_cascade *c, const codec_cascade_query *q, size_t place) {
    return !q->wanted || q->wanted[c->image[place]];
}

/* Write a list to the results of its query. */
static void put_out(codec_nearest_list *list, size_t k, uint32_t *image, uint32_t *distance) {
    codec_nearest_sort(list);
    for (size_t j = 0; j < k; j++) {
        image[j] = j < list->held ? list->index[j] : UINT32_MAX;
        distance[j] = j < list->held ? (uint32_t)list->distance[j] : UINT32_MAX;
    }
}

taper_status codec_cascade_plain(const codec_cascade *c, const codec_cascade_query *q,
                                 uint32_t *image, uint32_t *distance) {
    double *far = malloc(q->k * sizeof *far);
    uint64_t *mask = malloc(c->index->words * sizeof *mask);
    for (size_t i = 0; far && mask && i < q->queries; i++) {
        codec_nearest_list list = {far, image + i * q->k, q->k, 0};
        const uint64_t *code = q->code + i * c->index->words;
        make_mask(c, q, i, mask);
        for (size_t at = 0; at < c->index->n; at++)
            if (is_wanted(c, q, at) && distance_of(c, code, mask, at) <= most_distance(q))
                codec_nearest_push(&list, distance_of(c, code, mask, at), c->image[at]);
        put_out(&list, q->k, image + i * q->k, distance + i * q->k);
    }
    const taper_status status = far && mask ? TAPER_OK : TAPER_ERR_NOMEM;
    free(far);
    free(mask);
    return status;
}

/* --- one query -------------------------------------------------------------------------- */

typedef struct query_search {
    const uint64_t *code;
    uint64_t *mask; /* [words] */
    float effort;
    float share[2 * CODEC_INDEX_MOST_LAYERS];
    codec_nearest_list list;
    double usual;                            /* shares hold for distances from here on */
    double list_limit;                       /* the list's limit when `limit` was computed */
    uint32_t limit[CODEC_INDEX_MOST_LAYERS]; /* codes above it after a layer are dropped */
    size_t begin, end;                       /* places compared before: begin .. end - 1 */
    uint64_t looked_at;
} query_search;

/* The codes of a block that are not dropped so far (candidates). The arrays have one extra element:
 * a candidate is written before it is known whether it counts. */
typedef struct candidates {
    size_t left;
    uint32_t place[BLOCK + 1], distance[BLOCK + 1];
    uint8_t differing[BLOCK]; /* differing bits of first words */
} candidates;

/* A layer of the block's codes, and the query's words of that layer. */
typedef struct layer_view {
    const uint64_t *code; /* [n][width] */
    size_t width;
    const uint64_t *query, *mask; /* [width] */
    uint32_t weight, limit;
} layer_view;

static void set_limits(query_search *p, const codec_cascade *c, const codec_cascade_query *q) {
    const double far = fmin(codec_nearest_limit(&p->list), most_distance(q));
    if (far == p->list_limit) return;
    p->list_limit = far;
    const double whole = fmax(far, p->usual);
    for (size_t l = 0; l < c->index->layers; l++) {
        double limit = far; /* UINT32_MAX until the list is full */
        if (p->effort < CODEC_CASCADE_EXACT && l + 1 < c->index->layers)
            limit =
                fmin(far, p->share[2 * l] * whole + p->effort * p->share[2 * l + 1] * sqrt(whole));
        p->limit[l] = (uint32_t)limit;
    }
}

static layer_view view_of(const query_search *p, const codec_cascade *c, size_t l, size_t place) {
    const size_t first = codec_index_layer_first(l);
    const size_t width = codec_index_layer_words(c->index->words, l);
    return (layer_view){c->index->layer[l] + place * width,
                        width,
                        p->code + first,
                        p->mask + first,
                        c->weight[l],
                        p->limit[l]};
}

/* The differing bits of the first words of n codes. */
CODEC_COUNTING_CLONES
static void count_first(const uint64_t *code, size_t n, uint64_t query, uint64_t mask,
                        uint8_t *differing) {
    for (size_t i = 0; i < n; i++)
        differing[i] = (uint8_t)codec_bits_ones((code[i] ^ query) & mask);
}

/* Nonzero if one of eight bytes is at most `most`. All are below 128; most is 0..126. */
CODEC_INLINE int any_of_eight(const uint8_t *byte, uint64_t most) {
    const uint64_t ones = 0x0101010101010101u;
    uint64_t eight;
    memcpy(&eight, byte, sizeof eight);
    return ((eight - ones * (most + 1)) & ~eight & ones * 128) != 0;
}

/* The candidates of n codes after their first word; usually few. */
static void first_candidates(const layer_view *v, size_t n, candidates *s) {
    const uint32_t most = v->limit / v->weight < 64 ? v->limit / v->weight : 64;
    size_t left = 0;
    count_first(v->code, n, v->query[0], v->mask[0], s->differing);
    for (size_t i = n; i % 8; i++) s->differing[i] = 127;
    for (size_t i = 0; i < n; i += 8) {
        if (!any_of_eight(s->differing + i, most)) continue;
        for (size_t j = i; j < i + 8; j++) {
            s->place[left] = (uint32_t)j;
            s->distance[left] = v->weight * s->differing[j];
            left += s->differing[j] <= most;
        }
    }
    s->left = left;
}

/* Drop the candidates that are too far after this layer. */
CODEC_INLINE void keep_near(const layer_view *v, size_t width, candidates *s) {
    size_t left = 0;
    for (size_t i = 0; i < s->left; i++) {
        const uint64_t *code = v->code + s->place[i] * width;
        uint32_t differing = 0;
        CODEC_PREFETCH(v->code + s->place[i + AHEAD < s->left ? i + AHEAD : i] * width);
        for (size_t w = 0; w < width; w++)
            differing += codec_bits_ones((v->query[w] ^ code[w]) & v->mask[w]);
        const uint32_t distance = s->distance[i] + v->weight * differing;
        s->place[left] = s->place[i];
        s->distance[left] = distance;
        left += distance <= v->limit;
    }
    s->left = left;
}

/* A separate loop for each width of a layer of codes of up to 1,024 bits. */
CODEC_COUNTING_CLONES
static void next_candidates(const layer_view *v, candidates *s) {
    switch (v->width) {
    case 1: keep_near(v, 1, s); break;
    case 2: keep_near(v, 2, s); break;
    case 4: keep_near(v, 4, s); break;
    case 8: keep_near(v, 8, s); break;
    default: keep_near(v, v->width, s);
    }
}

static void drop_unwanted(const codec_cascade *c, const codec_cascade_query *q, size_t first,
                          candidates *s) {
    size_t left = 0;
    for (size_t i = 0; i < s->left; i++) {
        s->place[left] = s->place[i];
        s->distance[left] = s->distance[i];
        left += (size_t)is_wanted(c, q, first + s->place[i]);
    }
    s->left = left;
}

/* Search places first .. end - 1, at most BLOCK. */
static void find_near(query_search *p, const codec_cascade *c, const codec_cascade_query *q,
                      size_t first, size_t end, candidates *s) {
    set_limits(p, c, q);
    layer_view view = view_of(p, c, 0, first);
    first_candidates(&view, end - first, s);
    p->looked_at += end - first;
    if (q->wanted) drop_unwanted(c, q, first, s);
    for (size_t l = 1; l < c->index->layers && s->left; l++) {
        view = view_of(p, c, l, first);
        p->looked_at += s->left * view.width;
        next_candidates(&view, s);
    }
}

static void search_places(query_search *p, const codec_cascade *c, const codec_cascade_query *q,
                          size_t first, size_t end, candidates *s) {
    if (first >= end) return;
    find_near(p, c, q, first, end, s);
    for (size_t i = 0; i < s->left; i++)
        codec_nearest_push(&p->list, s->distance[i], c->image[first + s->place[i]]);
}

/* --- the query's own shares ------------------------------------------------------------- */

/* Measure the shares on the query's nearest codes of the sample, found by an exact search. If too
 * few of them are wanted images, the whole search is exact. */
static void take_shares(query_search *p, const codec_cascade *c, const codec_cascade_query *q,
                        candidates *s) {
    double far[SAMPLE_NEAREST];
    uint32_t place[SAMPLE_NEAREST];
    const size_t n = c->sample->index->n;
    codec_cascade_query any = *q;
    query_search sample = {.code = p->code, .mask = p->mask, .effort = CODEC_CASCADE_EXACT};
    codec_share_sums sums = {0};
    any.within = NULL;
    sample.list = (codec_nearest_list){far, place, SAMPLE_NEAREST, 0};
    for (size_t at = 0; at < n; at += SAMPLE_BLOCK) {
        find_near(&sample, c->sample, &any, at, n - at < SAMPLE_BLOCK ? n : at + SAMPLE_BLOCK, s);
        for (size_t i = 0; i < s->left; i++)
            codec_nearest_push(&sample.list, s->distance[i], (uint32_t)at + s->place[i]);
    }
    p->looked_at += sample.looked_at;
    p->usual = USUAL_SHARE * codec_nearest_limit(&sample.list);
    for (size_t i = 0; i < sample.list.held; i++)
        codec_shares_count(&sums, c->sample->index, c->weight, p->code, place[i]);
    codec_shares_of(&sums, c->index->layers, p->share);
    for (size_t l = 0; l < 2 * c->index->layers; l++) p->share[l] = fmaxf(p->share[l], c->share[l]);
    if (sample.list.held < SAMPLE_NEAREST) p->effort = CODEC_CASCADE_EXACT;
}

/* --- first codes ------------------------------------------------------------------------ */

/* Compare the codes around the query's place in the order, which give the first distances. */
static void begin_query(query_search *p, const codec_cascade *c, const codec_cascade_query *q,
                        candidates *s) {
    const size_t n = c->index->n, least = FIRST_CODES < q->k ? q->k : FIRST_CODES;
    const size_t want = least < n ? least : n;
    size_t looked_at = 0;
    const size_t place = codec_index_place(c->index, p->code, &looked_at);
    p->begin = place > want / 2 ? place - want / 2 : 0;
    if (p->begin > n - want) p->begin = n - want;
    p->end = p->begin + want;
    p->looked_at += looked_at;
    for (size_t at = p->begin; at < p->end; at += BLOCK)
        search_places(p, c, q, at, p->end - at < BLOCK ? p->end : at + BLOCK, s);
}

/* --- many queries ----------------------------------------------------------------------- */

typedef struct cascade_task {
    const codec_cascade *cascade;
    const codec_cascade_query *query;
    uint32_t *image, *distance;
    uint64_t *looked_at;
    atomic_int status;
} cascade_task;

static void run_queries(const cascade_task *task, query_search *p, size_t n, candidates *s) {
    const codec_cascade *c = task->cascade;
    for (size_t i = 0; i < n; i++) begin_query(p + i, c, task->query, s);
    for (size_t at = 0; at < c->index->n; at += BLOCK) {
        const size_t end = c->index->n - at < BLOCK ? c->index->n : at + BLOCK;
        for (size_t i = 0; i < n; i++) { /* before and after the first codes */
            search_places(p + i, c, task->query, at, end < p[i].begin ? end : p[i].begin, s);
            search_places(p + i, c, task->query, at > p[i].end ? at : p[i].end, end, s);
        }
    }
}

static void run_block(void *context, size_t block) {
    cascade_task *task = context;
    const codec_cascade_query *q = task->query;
    const size_t words = task->cascade->index->words, first = block * QUERIES_AT_ONCE;
    const size_t n = q->queries - first < QUERIES_AT_ONCE ? q->queries - first : QUERIES_AT_ONCE;
    query_search p[QUERIES_AT_ONCE];
    candidates *s = malloc(sizeof *s);
    uint64_t *masks = malloc(n * words * sizeof *masks);
    double *far = malloc(n * q->k * sizeof *far);
    for (size_t i = 0; s && masks && far && i < n; i++) {
        p[i] = (query_search){.code = q->code + (first + i) * words, .mask = masks + i * words};
        p[i].list = (codec_nearest_list){far + i * q->k, task->image + (first + i) * q->k, q->k, 0};
        make_mask(task->cascade, q, first + i, p[i].mask);
        const bool is_whole = !q->known_bits || q->known_bits[first + i] >= q->whole_bits;
        p[i].effort = is_whole && task->cascade->sample ? q->effort : CODEC_CASCADE_EXACT;
        if (p[i].effort < CODEC_CASCADE_EXACT) take_shares(&p[i], task->cascade, q, s);
    }
    if (s && masks && far) {
        run_queries(task, p, n, s);
        for (size_t i = 0; i < n; i++) {
            put_out(&p[i].list, q->k, p[i].list.index, task->distance + (first + i) * q->k);
            if (task->looked_at) task->looked_at[first + i] = p[i].looked_at;
        }
    } else {
        atomic_store(&task->status, TAPER_ERR_NOMEM);
    }
    free(far);
    free(masks);
    free(s);
}

taper_status codec_cascade_search(const codec_cascade *cascade, const codec_cascade_query *query,
                                  codec_pool *pool, uint32_t *image, uint32_t *distance,
                                  uint64_t *looked_at) {
    cascade_task task = {cascade, query, image, distance, looked_at, TAPER_OK};
    codec_pool_run(pool, run_block, &task,
                   (query->queries + QUERIES_AT_ONCE - 1) / QUERIES_AT_ONCE);
    return (taper_status)atomic_load(&task.status);
}
