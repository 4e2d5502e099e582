/* measure.c -- see measure.h. */
#include "bench/retrieval/measure.h"
#include "bench/bench.h"
#include "bench/retrieval/scan.h"
#include <stdlib.h>
#include <string.h>

enum { K = RETRIEVAL_K };

retrieval_found retrieval_found_take(size_t queries) {
    retrieval_found found = {queries, figures_memory(queries, K * sizeof *found.number),
                             figures_memory(queries, K * sizeof *found.distance)};
    memset(found.number, 0xFF, queries * K * sizeof *found.number);
    memset(found.distance, 0xFF, queries * K * sizeof *found.distance);
    return found;
}

void retrieval_found_free(retrieval_found *found) {
    free(found->number), free(found->distance);
    *found = (retrieval_found){.queries = 0};
}

retrieval_found retrieval_exact(const retrieval_set *set, unsigned threads) {
    const retrieval_scan scan = retrieval_scan_of_set(set);
    retrieval_found found = retrieval_found_take(set->queries);
    retrieval_scan_many(&scan, set->query, set->queries, K, threads, found.number, found.distance);
    return found;
}

codec_nearest_list retrieval_list(const retrieval_found *found, size_t i, double *far) {
    return (codec_nearest_list){far, found->number + i * K, K, 0};
}

void retrieval_rank(const taper_index *index, const uint64_t *query, size_t first, size_t n,
                    codec_nearest_list *list) {
    uint64_t code[FORMATS_INDEX_MOST_BITS / 64];
    for (size_t at = first; at < first + n; at++) {
        const uint32_t number = taper_index_code(index, at, code);
        codec_nearest_push(list, codec_bits_distance(query, code, index->order.words), number);
    }
}

void retrieval_put(retrieval_found *found, size_t i, codec_nearest_list *list) {
    codec_nearest_sort(list);
    for (size_t j = 0; j < K; j++)
        found->distance[i * K + j] = j < list->held ? (uint32_t)list->distance[j] : UINT32_MAX;
    for (size_t j = list->held; j < K; j++) found->number[i * K + j] = UINT32_MAX;
}

static double share_of_truth(const uint32_t *truth, const retrieval_found *found) {
    size_t right = 0;
    if (!truth) return -1;
    for (size_t i = 0; i < found->queries; i++)
        for (size_t j = 0; j < K; j++)
            for (size_t t = 0; t < K; t++)
                right += found->number[i * K + j] == truth[i * RETRIEVAL_NEIGHBOURS + t];
    return (double)right / (double)(K * found->queries);
}

void retrieval_rank_by_all(const retrieval_set *set, size_t i, const uint32_t *number, size_t n,
                           retrieval_found *found) {
    const size_t words = set->words;
    double far[K];
    codec_nearest_list list = retrieval_list(found, i, far);
    for (size_t j = 0; j < n && number[j] != UINT32_MAX; j++)
        codec_nearest_push(
            &list,
            codec_bits_distance(set->query + i * words, set->codes + number[j] * words, words),
            number[j]);
    retrieval_put(found, i, &list);
}

retrieval_recall retrieval_recall_of(const retrieval_set *set, const retrieval_found *exact,
                                     const retrieval_found *found) {
    size_t right = 0;
    for (size_t i = 0; i < found->queries; i++)
        for (size_t j = 0; j < K; j++)
            right += found->number[i * K + j] != UINT32_MAX &&
                     found->distance[i * K + j] <= exact->distance[i * K + K - 1];
    return (retrieval_recall){(double)right / (double)(K * found->queries),
                              share_of_truth(set->real, found), share_of_truth(set->pixels, found)};
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

double retrieval_median(double *values, size_t n) {
    qsort(values, n, sizeof *values, compare);
    return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

void retrieval_print(const retrieval_lines *lines, const char *metric, double value,
                     const char *unit) {
    char config[512], truth[96] = "";
    const retrieval_recall *recall = &lines->recall;
    if (recall->real >= 0)
        snprintf(truth, sizeof truth, ",\"recall_real\":%.4f,\"recall_pixels\":%.4f", recall->real,
                 recall->pixels);
    snprintf(config, sizeof config,
             "{\"method\":\"%s\",\"codes\":\"%s\",\"n\":%zu,\"bits\":%zu,%s\"recall\":%.4f%s}",
             lines->method, lines->set->kind, lines->set->n, lines->set->bits, lines->more,
             recall->bits, truth);
    bench_print(lines->bench, metric, value, unit, config);
}
