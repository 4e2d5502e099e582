/* code_set.c -- see code_set.h. */
#include "bench/retrieval/code_set.h"
#include "bench/bench.h"
#include "formats/bytes.h"
#include "formats/file.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- files ------------------------------------------------------------------------------ */

static void *read_file(const char *folder, const char *name, size_t *size) {
    taper_error error = {0};
    uint8_t *bytes;
    char *path = figures_path(folder, "%s", name);
    figures_check(formats_file_read(path, FORMATS_MOST_BYTES, &bytes, size, &error), path, &error);
    free(path);
    return bytes;
}

/* NULL: the file is not there, or is of other queries. */
static uint32_t *read_truth(const retrieval *r, const char *name, size_t queries) {
    size_t size;
    char *path = figures_path(r->truth ? r->truth : r->out, "%s", name);
    const int is_there = access(path, R_OK) == 0;
    free(path);
    if (!is_there) return NULL;
    uint32_t *truth = read_file(r->truth ? r->truth : r->out, name, &size);
    if (size >= queries * RETRIEVAL_NEIGHBOURS * sizeof *truth) return truth;
    free(truth);
    return NULL;
}

void retrieval_set_read(const retrieval *r, retrieval_set *set) {
    size_t labels, codes, queries;
    free(read_file(r->out, "labels.i32", &labels));
    retrieval_set all = {.kind = "real", .n = labels / sizeof(int32_t)};
    all.codes = read_file(r->out, "codes.bits", &codes);
    all.query = read_file(r->out, "queries.bits", &queries);
    all.words = codes / sizeof *all.codes / all.n;
    all.bits = 64 * all.words;
    all.queries = formats_smaller(r->queries, queries / sizeof *all.query / all.words);
    const size_t n = formats_smaller(r->images, all.n);
    if (n == all.n) {
        all.real = read_truth(r, "truth-real.u32", all.queries);
        all.pixels = read_truth(r, "truth-pixels.u32", all.queries);
    }
    retrieval_set_front(&all, n, r->bits ? formats_smaller(r->bits, all.bits) : all.bits, set);
    retrieval_set_free(&all);
}

/* --- sets of sets ----------------------------------------------------------------------- */

static uint64_t *front_of(const uint64_t *rows, size_t n, size_t words, size_t bits) {
    const size_t fewer = codec_bits_words(bits);
    uint64_t *front = figures_memory(n, fewer * sizeof *front);
    for (size_t i = 0; i < n; i++) {
        memcpy(front + i * fewer, rows + i * words, fewer * sizeof *front);
        codec_bits_keep(front + i * fewer, fewer, bits);
    }
    return front;
}

static uint32_t *copy_truth(const uint32_t *truth, size_t queries) {
    if (!truth) return NULL;
    uint32_t *copy = figures_memory(queries, RETRIEVAL_NEIGHBOURS * sizeof *copy);
    memcpy(copy, truth, queries * RETRIEVAL_NEIGHBOURS * sizeof *copy);
    return copy;
}

void retrieval_set_front(const retrieval_set *of, size_t n, size_t bits, retrieval_set *set) {
    *set = (retrieval_set){.kind = of->kind,
                           .n = n,
                           .bits = bits,
                           .words = codec_bits_words(bits),
                           .queries = of->queries,
                           .codes = front_of(of->codes, n, of->words, bits),
                           .query = front_of(of->query, of->queries, of->words, bits)};
    if (n < of->n) return;
    set->real = copy_truth(of->real, of->queries);
    set->pixels = copy_truth(of->pixels, of->queries);
}

/* The next of a row of random words: splitmix64, Steele, Lea & Flood 2014. */
static uint64_t next_word(uint64_t *state) {
    uint64_t x = *state += 0x9E3779B97F4A7C15u;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
    x = (x ^ x >> 27) * 0x94D049BB133111EBu;
    return x ^ x >> 31;
}

/* 64 bits, each 1 with probability `chance` / 2^16: from the lowest digit of the chance up, half
 * of what is so far, and where the digit is 1 a half more. */
static uint64_t draw_bits(uint64_t *state, uint32_t chance) {
    uint64_t bits = 0;
    for (uint32_t digit = 0; digit < 16; digit++) {
        const uint64_t coin = next_word(state);
        bits = chance >> digit & 1 ? bits | coin : bits & coin;
    }
    return bits;
}

static uint64_t *draw_rows(uint64_t *state, size_t n, size_t bits) {
    const size_t words = codec_bits_words(bits);
    uint64_t *rows = figures_memory(n, words * sizeof *rows);
    for (size_t i = 0; i < n * words; i++) rows[i] = draw_bits(state, 13107); /* 0.2 */
    for (size_t i = 0; i < n; i++) codec_bits_keep(rows + i * words, words, bits);
    return rows;
}

void retrieval_set_draw(uint64_t seed, size_t n, size_t bits, size_t queries, retrieval_set *set) {
    uint64_t state = seed;
    *set = (retrieval_set){.kind = "independent",
                           .n = n,
                           .bits = bits,
                           .words = codec_bits_words(bits),
                           .queries = queries};
    set->query = draw_rows(&state, queries, bits);
    set->codes = draw_rows(&state, n, bits);
}

void retrieval_set_multiply(const retrieval_set *of, size_t times, uint64_t seed,
                            retrieval_set *set) {
    uint64_t state = seed;
    *set = *of;
    set->kind = "real, and with 1/16 of bits turned";
    set->n = times * of->n;
    set->real = set->pixels = NULL;
    set->query = front_of(of->query, of->queries, of->words, of->bits);
    set->codes = figures_memory(set->n, set->words * sizeof *set->codes);
    for (size_t i = 0; i < set->n; i++) {
        uint64_t *code = set->codes + i * set->words;
        memcpy(code, of->codes + i % of->n * set->words, set->words * sizeof *code);
        for (size_t w = 0; w < set->words && i >= of->n; w++) code[w] ^= draw_bits(&state, 4096);
        codec_bits_keep(code, set->words, set->bits);
    }
}

void retrieval_set_free(retrieval_set *set) {
    free(set->codes), free(set->query), free(set->real), free(set->pixels);
    *set = (retrieval_set){.n = 0};
}

/* --- an index --------------------------------------------------------------------------- */

static taper_status append(void *context, const void *bytes, size_t n) {
    retrieval_index *to = context;
    memcpy((uint8_t *)to->bytes + to->size, bytes, n);
    to->size += n;
    return TAPER_OK;
}

void retrieval_index_make(const retrieval_set *set, int falling, unsigned threads,
                          retrieval_index *out) {
    taper_error error = {0};
    uint16_t weight[CODEC_INDEX_MOST_LAYERS];
    const uint32_t layers = taper_index_layers((uint32_t)set->bits);
    for (uint32_t l = 0; l < layers; l++)
        weight[l] = falling ? (uint16_t)(1u << (layers - 1 - l)) : 1;
    const taper_index_set codes = {.size = sizeof(taper_index_set),
                                   .codes = set->codes,
                                   .n = set->n,
                                   .bits = (uint32_t)set->bits,
                                   .weights = weight};
    *out = (retrieval_index){.index = NULL};
    /* codes, 4 bytes a code for its image, and at most 8 for the table; checksums and the rest */
    out->bytes = figures_memory(set->n * (8 * set->words + 16) + (1 << 20), 1);
    const taper_sink sink = {out, append};
    const double start = bench_now();
    figures_check(taper_index_build(&codes, threads, &sink, &error), "index", &error);
    out->seconds = bench_now() - start;
    const taper_limits limits = {
        .size = sizeof(taper_limits), .max_images = UINT32_MAX, .max_memory = UINT64_MAX};
    figures_check(taper_index_open(&out->index, out->bytes, out->size, &limits, &error), "index",
                  &error);
}

void retrieval_index_free(retrieval_index *index) {
    taper_index_close(index->index);
    free(index->bytes);
    *index = (retrieval_index){.index = NULL};
}
