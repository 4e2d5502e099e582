/* cascade.c -- see cascade.h.
 *
 * A thread takes some queries through all codes, a block after the other, so that a block is read
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
    BLOCK = 2048,        /* codes that are looked at in one go */
    TOGETHER = 16,       /* queries that a thread takes through the codes at once */
    BESIDE = 64,         /* codes beside a query that give the first distances */
    AHEAD = 16,          /* survivors that memory is asked for before they are looked at */
    SAMPLE_NEAREST = 32, /* codes of a sample whose shares are measured */
    SAMPLE_BLOCK = 256   /* of its codes in one go: the first have no limit */
};

/* Shares are trusted of distances from this part of the sample's on: nearer ones count as that. */
static const double USUAL_SHARE = 0.75;

/* --- the definition --------------------------------------------------------------------- */

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

/* Ones for the bits of query i that are known. */
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

/* What a list holds, into the results of its query. */
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

typedef struct pursuit {
    const uint64_t *code;
    uint64_t *mask; /* [words] */
    float effort;
    float share[2 * CODEC_INDEX_MOST_LAYERS];
    codec_nearest_list list;
    double usual;                            /* shares hold of distances that are no smaller */
    double list_limit;                       /* that the limits are made for */
    uint32_t limit[CODEC_INDEX_MOST_LAYERS]; /* a code beyond it after a layer is dropped */
    size_t beside, end; /* places that have been looked at before: beside .. end - 1 */
    uint64_t looked_at;
} pursuit;

/* Codes of a block that are near enough so far. One more than a block has: what comes last is
 * written before it is known whether it counts. */
typedef struct survivors {
    size_t left;
    uint32_t place[BLOCK + 1], distance[BLOCK + 1];
    uint8_t differing[BLOCK]; /* bits of first words */
} survivors;

/* A layer of the block's codes, and what they are compared with. */
typedef struct layer_view {
    const uint64_t *code; /* [n][width] */
    size_t width;
    const uint64_t *query, *mask; /* [width] */
    uint32_t weight, limit;
} layer_view;

static void set_limits(pursuit *p, const codec_cascade *c, const codec_cascade_query *q) {
    const double far = fmin(codec_nearest_limit(&p->list), most_distance(q));
    if (far == p->list_limit) return;
    p->list_limit = far;
    const double whole = fmax(far, p->usual);
    for (size_t l = 0; l < c->index->layers; l++) {
        double limit = far; /* UINT32_MAX while there is room */
        if (p->effort < CODEC_CASCADE_EXACT && l + 1 < c->index->layers)
            limit =
                fmin(far, p->share[2 * l] * whole + p->effort * p->share[2 * l + 1] * sqrt(whole));
        p->limit[l] = (uint32_t)limit;
    }
}

static layer_view view_of(const pursuit *p, const codec_cascade *c, size_t l, size_t place) {
    const size_t first = codec_index_layer_first(l);
    const size_t width = codec_index_layer_words(c->index->words, l);
    return (layer_view){c->index->layer[l] + place * width,
                        width,
                        p->code + first,
                        p->mask + first,
                        c->weight[l],
                        p->limit[l]};
}

/* In how many bits of its first word each of n codes differs. */
CODEC_COUNTING_CLONES
static void count_first(const uint64_t *code, size_t n, uint64_t query, uint64_t mask,
                        uint8_t *differing) {
    for (size_t i = 0; i < n; i++)
        differing[i] = (uint8_t)codec_bits_ones((code[i] ^ query) & mask);
}

/* Is one of eight bytes below 128 at most `most`, 0..126? */
CODEC_INLINE int any_of_eight(const uint8_t *byte, uint64_t most) {
    const uint64_t ones = 0x0101010101010101u;
    uint64_t eight;
    memcpy(&eight, byte, sizeof eight);
    return ((eight - ones * (most + 1)) & ~eight & ones * 128) != 0;
}

/* Of n codes those that are near enough by their first word: few, mostly. */
static void first_survivors(const layer_view *v, size_t n, survivors *s) {
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

/* Of the survivors those that are near enough after this layer, too. */
CODEC_INLINE void keep_near(const layer_view *v, size_t width, survivors *s) {
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

/* Of the widths that codes of up to 1,024 bits have, a loop each. */
CODEC_COUNTING_CLONES
static void next_survivors(const layer_view *v, survivors *s) {
    switch (v->width) {
    case 1: keep_near(v, 1, s); break;
    case 2: keep_near(v, 2, s); break;
    case 4: keep_near(v, 4, s); break;
    case 8: keep_near(v, 8, s); break;
    default: keep_near(v, v->width, s);
    }
}

static void drop_unwanted(const codec_cascade *c, const codec_cascade_query *q, size_t first,
                          survivors *s) {
    size_t left = 0;
    for (size_t i = 0; i < s->left; i++) {
        s->place[left] = s->place[i];
        s->distance[left] = s->distance[i];
        left += (size_t)is_wanted(c, q, first + s->place[i]);
    }
    s->left = left;
}

/* Those of places first .. end - 1, at most BLOCK, that are near. */
static void find_near(pursuit *p, const codec_cascade *c, const codec_cascade_query *q,
                      size_t first, size_t end, survivors *s) {
    set_limits(p, c, q);
    layer_view view = view_of(p, c, 0, first);
    first_survivors(&view, end - first, s);
    p->looked_at += end - first;
    if (q->wanted) drop_unwanted(c, q, first, s);
    for (size_t l = 1; l < c->index->layers && s->left; l++) {
        view = view_of(p, c, l, first);
        p->looked_at += s->left * view.width;
        next_survivors(&view, s);
    }
}

static void pursue(pursuit *p, const codec_cascade *c, const codec_cascade_query *q, size_t first,
                   size_t end, survivors *s) {
    if (first >= end) return;
    find_near(p, c, q, first, end, s);
    for (size_t i = 0; i < s->left; i++)
        codec_nearest_push(&p->list, s->distance[i], c->image[first + s->place[i]]);
}

/* --- the query's own shares ------------------------------------------------------------- */

/* In the sample the query's nearest are found exactly. Where there are too few that are wanted all
 * codes are searched exactly, too. */
static void take_shares(pursuit *p, const codec_cascade *c, const codec_cascade_query *q,
                        survivors *s) {
    double far[SAMPLE_NEAREST];
    uint32_t place[SAMPLE_NEAREST];
    const size_t n = c->sample->index->n;
    codec_cascade_query any = *q;
    pursuit sample = {.code = p->code, .mask = p->mask, .effort = CODEC_CASCADE_EXACT};
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

/* --- its beginning ---------------------------------------------------------------------- */

/* The codes around the query's place in the order: the first that are near. */
static void begin_pursuit(pursuit *p, const codec_cascade *c, const codec_cascade_query *q,
                          survivors *s) {
    const size_t n = c->index->n, least = BESIDE < q->k ? q->k : BESIDE;
    const size_t want = least < n ? least : n;
    size_t looked_at = 0;
    const size_t place = codec_index_place(c->index, p->code, &looked_at);
    p->beside = place > want / 2 ? place - want / 2 : 0;
    if (p->beside > n - want) p->beside = n - want;
    p->end = p->beside + want;
    p->looked_at += looked_at;
    for (size_t at = p->beside; at < p->end; at += BLOCK)
        pursue(p, c, q, at, p->end - at < BLOCK ? p->end : at + BLOCK, s);
}

/* --- many queries ----------------------------------------------------------------------- */

typedef struct cascade_task {
    const codec_cascade *cascade;
    const codec_cascade_query *query;
    uint32_t *image, *distance;
    uint64_t *looked_at;
    atomic_int status;
} cascade_task;

static void run_together(const cascade_task *task, pursuit *p, size_t n, survivors *s) {
    const codec_cascade *c = task->cascade;
    for (size_t i = 0; i < n; i++) begin_pursuit(p + i, c, task->query, s);
    for (size_t at = 0; at < c->index->n; at += BLOCK) {
        const size_t end = c->index->n - at < BLOCK ? c->index->n : at + BLOCK;
        for (size_t i = 0; i < n; i++) { /* before and behind what was beside it */
            pursue(p + i, c, task->query, at, end < p[i].beside ? end : p[i].beside, s);
            pursue(p + i, c, task->query, at > p[i].end ? at : p[i].end, end, s);
        }
    }
}

static void run_block(void *context, size_t block) {
    cascade_task *task = context;
    const codec_cascade_query *q = task->query;
    const size_t words = task->cascade->index->words, first = block * TOGETHER;
    const size_t n = q->queries - first < TOGETHER ? q->queries - first : TOGETHER;
    pursuit p[TOGETHER];
    survivors *s = malloc(sizeof *s);
    uint64_t *masks = malloc(n * words * sizeof *masks);
    double *far = malloc(n * q->k * sizeof *far);
    for (size_t i = 0; s && masks && far && i < n; i++) {
        p[i] = (pursuit){.code = q->code + (first + i) * words, .mask = masks + i * words};
        p[i].list = (codec_nearest_list){far + i * q->k, task->image + (first + i) * q->k, q->k, 0};
        make_mask(task->cascade, q, first + i, p[i].mask);
        const bool is_whole = !q->known_bits || q->known_bits[first + i] >= q->whole_bits;
        p[i].effort = is_whole && task->cascade->sample ? q->effort : CODEC_CASCADE_EXACT;
        if (p[i].effort < CODEC_CASCADE_EXACT) take_shares(&p[i], task->cascade, q, s);
    }
    if (s && masks && far) {
        run_together(task, p, n, s);
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
    codec_pool_run(pool, run_block, &task, (query->queries + TOGETHER - 1) / TOGETHER);
    return (taper_status)atomic_load(&task.status);
}
