/* scan.c -- see scan.h. */
#include "bench/retrieval/scan.h"
#include "codec/search/nearest_list.h"
#include "formats/bytes.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1024, TOGETHER = 16 };

retrieval_scan retrieval_scan_of_set(const retrieval_set *set) {
    retrieval_scan scan = {.n = set->n, .words = set->words, .parts = 1};
    scan.rows[0] = set->codes;
    scan.width[0] = set->words;
    scan.weight[0] = 1;
    return scan;
}

retrieval_scan retrieval_scan_of_index(const taper_index *index) {
    const codec_ordered_index *order = &index->order;
    retrieval_scan scan = {.n = order->n,
                           .words = order->words,
                           .parts = order->layers,
                           .image = index->cascade.image};
    for (size_t l = 0; l < order->layers; l++) {
        scan.rows[l] = order->layer[l];
        scan.width[l] = codec_index_layer_words(order->words, l);
        scan.weight[l] = index->cascade.weight[l];
    }
    return scan;
}

/* distance[n] of the codes from `first` on. */
static void block_distances(const retrieval_scan *scan, const uint64_t *query, size_t first,
                            size_t n, uint32_t *distance) {
    uint32_t differing[BLOCK];
    memset(distance, 0, n * sizeof *distance);
    for (size_t p = 0; p < scan->parts; query += scan->width[p++]) {
        const uint64_t *rows = scan->rows[p] + first * scan->width[p];
        if (scan->weight[p] == 1) {
            codec_bits_add_distances(query, rows, n, scan->width[p], distance);
            continue;
        }
        memset(differing, 0, n * sizeof *differing);
        codec_bits_add_distances(query, rows, n, scan->width[p], differing);
        for (size_t i = 0; i < n; i++) distance[i] += scan->weight[p] * differing[i];
    }
}

static void look_in_block(const retrieval_scan *scan, const uint64_t *query, size_t first,
                          codec_nearest_list *list) {
    uint32_t distance[BLOCK];
    const size_t n = formats_smaller(BLOCK, scan->n - first);
    block_distances(scan, query, first, n, distance);
    double limit = codec_nearest_limit(list);
    uint32_t most = limit < UINT32_MAX ? (uint32_t)limit : UINT32_MAX;
    for (size_t i = 0; i < n; i++) {
        if (distance[i] > most) continue;
        codec_nearest_push(list, distance[i],
                           scan->image ? scan->image[first + i] : (uint32_t)(first + i));
        limit = codec_nearest_limit(list);
        most = limit < UINT32_MAX ? (uint32_t)limit : UINT32_MAX;
    }
}

static void put_out(codec_nearest_list *list, uint32_t *distance) {
    codec_nearest_sort(list);
    for (size_t j = 0; j < list->capacity; j++) distance[j] = (uint32_t)list->distance[j];
}

typedef struct scan_task {
    const retrieval_scan *scan;
    const uint64_t *query;
    size_t n, k;
    uint32_t *number, *distance;
} scan_task;

/* Some queries, a block of codes after the other. */
static void scan_together(void *context, size_t task) {
    const scan_task *t = context;
    const size_t first = task * TOGETHER, n = formats_smaller(TOGETHER, t->n - first);
    codec_nearest_list list[TOGETHER];
    double *far = figures_memory(n, t->k * sizeof *far);
    for (size_t i = 0; i < n; i++)
        list[i] = (codec_nearest_list){far + i * t->k, t->number + (first + i) * t->k, t->k, 0};
    for (size_t at = 0; at < t->scan->n; at += BLOCK)
        for (size_t i = 0; i < n; i++)
            look_in_block(t->scan, t->query + (first + i) * t->scan->words, at, &list[i]);
    for (size_t i = 0; i < n; i++) put_out(&list[i], t->distance + (first + i) * t->k);
    free(far);
}

void retrieval_scan_one(const retrieval_scan *scan, const uint64_t *query, size_t k,
                        uint32_t *number, uint32_t *distance) {
    scan_task task = {scan, query, 1, k, number, distance};
    scan_together(&task, 0);
}

void retrieval_scan_many(const retrieval_scan *scan, const uint64_t *query, size_t n, size_t k,
                         unsigned threads, uint32_t *number, uint32_t *distance) {
    scan_task task = {scan, query, n, k, number, distance};
    codec_pool *pool;
    figures_check(codec_pool_create(&pool, threads ? threads : codec_pool_cores()), "threads",
                  NULL);
    codec_pool_run(pool, scan_together, &task, (n + TOGETHER - 1) / TOGETHER);
    codec_pool_destroy(pool);
}
