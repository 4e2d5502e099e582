/* multi_index.c -- a rival: exact nearest neighbours by Hamming's distance, by multi-index hashing
 * (Norouzi, Punjani & Fleet 2012, Fast search in Hamming space with multi-index hashing); see
 * retrieval.h.
 *
 * A code is cut into `parts` strings of some 20 bits, for as many tables of all codes. Codes that
 * differ from a query in at most parts * s + t bits differ in at most s bits in one of the strings
 * 0 .. t, or in at most s - 1 in another. So strings are looked up that differ in ever more bits,
 * until the k-th nearest that was found is no farther than what is certain to have been seen. */
#include "bench/bench.h"
#include "bench/retrieval/measure.h"
#include "codec/search/bit_codes.h"
#include <stdlib.h>
#include <string.h>

enum { STRING_BITS = 20, MOST_PARTS = 128, STOP_EVERY = 1 << 16 };
static const double most_seconds = 1, enough_seconds = 5; /* of a query; of all of a length */

typedef struct multi_index {
    const retrieval_set *set;
    size_t parts;
    size_t first[MOST_PARTS + 1]; /* bit that a string begins with */
    uint32_t *start[MOST_PARTS];  /* [2^bits + 1] codes before those with a string */
    uint32_t *number[MOST_PARTS]; /* [n] of codes, by their string */
} multi_index;

static uint32_t string_of(const multi_index *m, const uint64_t *code, size_t part) {
    uint32_t string = 0;
    for (size_t b = m->first[part]; b < m->first[part + 1]; b++)
        string = string << 1 | (uint32_t)(code[b / 64] >> (63 - b % 64) & 1);
    return string;
}

/* A table: codes sorted by counting their strings. */
static void make_table(multi_index *m, size_t part) {
    const size_t strings = (size_t)1 << (m->first[part + 1] - m->first[part]);
    uint32_t *start = m->start[part] = figures_memory(strings + 2, sizeof *start);
    m->number[part] = figures_memory(m->set->n, sizeof *m->number[part]);
    for (size_t i = 0; i < m->set->n; i++)
        start[string_of(m, m->set->codes + i * m->set->words, part) + 2]++;
    for (size_t s = 2; s <= strings; s++) start[s] += start[s - 1];
    for (size_t i = 0; i < m->set->n; i++) {
        const uint32_t string = string_of(m, m->set->codes + i * m->set->words, part);
        m->number[part][start[string + 1]++] = (uint32_t)i;
    }
}

static void make(multi_index *m, const retrieval_set *set) {
    *m = (multi_index){.set = set, .parts = (set->bits + STRING_BITS / 2) / STRING_BITS};
    if (m->parts > MOST_PARTS)
        figures_die("multi-index: codes of %zu bits are too long", set->bits);
    for (size_t p = 0; p <= m->parts; p++) m->first[p] = p * set->bits / m->parts;
    for (size_t p = 0; p < m->parts; p++) make_table(m, p);
}

static void release(multi_index *m) {
    for (size_t p = 0; p < m->parts; p++) free(m->start[p]), free(m->number[p]);
}

/* --- one query -------------------------------------------------------------------------- */

typedef struct multi_search {
    const multi_index *index;
    const uint64_t *query;
    codec_nearest_list list;
    uint8_t *seen; /* [n] */
    size_t part, looked_up;
    double stop_at;
    int is_stopped; /* it takes too long */
} multi_search;

static void look_up(multi_search *s, uint32_t string) {
    const multi_index *m = s->index;
    const retrieval_set *set = m->set;
    const uint32_t *start = m->start[s->part];
    for (uint32_t i = start[string]; i < start[string + 1]; i++) {
        const uint32_t number = m->number[s->part][i];
        if (s->seen[number]) continue;
        s->seen[number] = 1;
        codec_nearest_push(
            &s->list, codec_bits_distance(s->query, set->codes + number * set->words, set->words),
            number);
    }
    if (++s->looked_up % STOP_EVERY == 0) s->is_stopped = bench_now() > s->stop_at;
}

/* Strings that differ in `turns` bits from bit `bit` of the string on. */
static void look_around(multi_search *s, uint32_t string, size_t bit, size_t turns) {
    const size_t bits = s->index->first[s->part + 1] - s->index->first[s->part];
    if (!turns) {
        look_up(s, string);
        return;
    }
    for (; bit + turns <= bits && !s->is_stopped; bit++)
        look_around(s, string ^ (uint32_t)1 << bit, bit + 1, turns - 1);
}

/* 0: it takes too long. */
static int search(const multi_index *m, const uint64_t *query, uint8_t *seen,
                  codec_nearest_list list, codec_nearest_list *found, size_t *looked_up) {
    multi_search s = {.index = m, .query = query, .list = list, .seen = seen};
    memset(seen, 0, m->set->n);
    s.stop_at = bench_now() + most_seconds;
    for (size_t turns = 0; turns <= 2 * STRING_BITS && !s.is_stopped; turns++)
        for (s.part = 0; s.part < m->parts && !s.is_stopped; s.part++) {
            look_around(&s, string_of(m, query, s.part), 0, turns);
            if (codec_nearest_limit(&s.list) <= (double)(m->parts * turns + s.part)) {
                *found = s.list;
                *looked_up = s.looked_up;
                return 1;
            }
        }
    *found = s.list;
    *looked_up = s.looked_up;
    return !s.is_stopped;
}

/* --- a length --------------------------------------------------------------------------- */

static void print_skip(const retrieval_set *set, const char *why) {
    char config[256];
    snprintf(config, sizeof config,
             "{\"method\":\"multi-index\",\"codes\":\"%s\",\"n\":%zu,\"bits\":%zu,"
             "\"skipped\":\"%s\"}",
             set->kind, set->n, set->bits, why);
    bench_print("retrieval/multi-index", "skipped", 0, "", config);
}

/* 0: a query takes too long, and so will those of longer codes. */
static int measure(const retrieval *r, const retrieval_set *set) {
    retrieval_lines lines = {.bench = "retrieval/multi-index", .method = "multi-index", .set = set};
    multi_index index;
    size_t n = 0, looked_up = 0, sum = 0;
    int goes = 1;
    figures_say("multi-index: %zu %s codes of %zu bits", set->n, set->kind, set->bits);
    make(&index, set);
    retrieval_found exact = retrieval_exact(set, r->threads);
    retrieval_found found = retrieval_found_take(set->queries);
    double *us = figures_memory(set->queries, sizeof *us), far[RETRIEVAL_K];
    uint8_t *seen = figures_memory(set->n, 1);
    for (double seconds = 0; goes && n < set->queries && seconds < enough_seconds; n++) {
        codec_nearest_list list = retrieval_list(&found, n, far);
        const double start = bench_now();
        goes = search(&index, set->query + n * set->words, seen, list, &list, &looked_up);
        us[n] = 1e6 * (bench_now() - start);
        seconds += 1e-6 * us[n];
        sum += looked_up;
        retrieval_put(&found, n, &list);
    }
    found.queries = n;
    if (goes) {
        lines.recall = retrieval_recall_of(set, &exact, &found);
        snprintf(lines.more, sizeof lines.more, "\"tables\":%zu,\"threads\":1,\"queries\":%zu,",
                 index.parts, n);
        retrieval_print(&lines, "query_median", retrieval_median(us, n), "us");
        retrieval_print(&lines, "looked_up_mean", (double)sum / (double)n, "strings");
    } else {
        print_skip(set, "a query takes more than a second");
    }
    free(us), free(seen);
    retrieval_found_free(&exact), retrieval_found_free(&found);
    release(&index);
    return goes;
}

static void measure_lengths(const retrieval *r, const retrieval_set *all) {
    int goes = 1;
    for (size_t bits = 16; bits <= all->bits; bits *= 2) {
        retrieval_set set;
        retrieval_set_front(all, all->n, bits, &set);
        if (goes)
            goes = measure(r, &set);
        else
            print_skip(&set, "of half as many bits a query takes more than a second");
        retrieval_set_free(&set);
    }
}

void retrieval_part_multi_index(const retrieval *r) {
    retrieval_set real, drawn;
    retrieval_set_read(r, &real);
    retrieval_set_draw(r->seed, real.n, real.bits, real.queries, &drawn);
    measure_lengths(r, &real);
    measure_lengths(r, &drawn);
    retrieval_set_free(&real), retrieval_set_free(&drawn);
}
