/* drawn_cascade.h -- random codes prepared for a cascade search, and searches in them. Include
 * after cmocka.h. */
#ifndef TESTS_DRAWN_CASCADE_H
#define TESTS_DRAWN_CASCADE_H
#include "codec/search/cascade_measure.h"
#include "codec/search/cascade_sample.h"
#include "random_bits.h"

enum { MOST_WORDS = 32, LAYERS = CODEC_INDEX_MOST_LAYERS };

typedef struct fixture {
    bits_order order;
    uint64_t *codes;
    size_t bits;
    uint16_t weight[LAYERS];
    float share[2 * LAYERS];
    codec_cascade cascade;
    codec_cascade_sample sample; /* codes of a set that is not small */
} fixture;

/* Weights: equal, decreasing, increasing, and the largest possible. */
enum { EVEN, FALLING, RISING, GREATEST, WEIGHTS };

static inline uint16_t weight_of(int kind, size_t l) {
    return kind == FALLING    ? (uint16_t)(600 >> l)
           : kind == RISING   ? (uint16_t)(1 + 3 * l)
           : kind == GREATEST ? UINT16_MAX
                              : 1;
}

static inline void lay(fixture *f, size_t n) {
    bits_order_make(&f->order, f->codes, n, f->bits, codec_index_table_bits(n));
    f->cascade = (codec_cascade){&f->order.index, f->order.image, f->weight, f->share, NULL};
    assert_int_equal(codec_cascade_sample_take(&f->sample, &f->cascade), TAPER_OK);
}

static inline void make(fixture *f, int kind, size_t n, size_t bits, int weights) {
    f->bits = bits;
    f->codes = bits_draw(kind, n, bits);
    for (size_t l = 0; l < LAYERS; l++) f->weight[l] = weight_of(weights, l);
    lay(f, n);
}

/* Update the cascade after the codes have changed. */
static inline void lay_again(fixture *f, size_t n) {
    bits_order_free(&f->order);
    codec_cascade_sample_free(&f->sample);
    lay(f, n);
}

static inline void drop(fixture *f) {
    bits_order_free(&f->order);
    codec_cascade_sample_free(&f->sample);
    free(f->codes);
}

typedef struct found {
    uint32_t *image, *distance;
    uint64_t *looked_at;
    size_t n;
} found;

static inline found room_for(const codec_cascade_query *q) {
    const size_t n = q->queries * q->k;
    found r = {malloc((n + 1) * sizeof *r.image), malloc((n + 1) * sizeof *r.distance),
               calloc(q->queries, sizeof *r.looked_at), n};
    assert_true(r.image && r.distance && r.looked_at);
    for (size_t i = 0; i <= n; i++) r.image[i] = r.distance[i] = 0xdeadbeef;
    return r;
}

static inline void release(found r) {
    assert_true(r.image[r.n] == 0xdeadbeef && r.distance[r.n] == 0xdeadbeef);
    free(r.image), free(r.distance), free(r.looked_at);
}

static inline found search(const fixture *f, const codec_cascade_query *q, unsigned threads) {
    codec_pool *pool = NULL;
    found r = room_for(q);
    if (threads) assert_int_equal(codec_pool_create(&pool, threads), TAPER_OK);
    assert_int_equal(codec_cascade_search(&f->cascade, q, pool, r.image, r.distance, r.looked_at),
                     TAPER_OK);
    codec_pool_destroy(pool);
    return r;
}

static inline void check_same(const fixture *f, const codec_cascade_query *q, const found *got,
                              const found *want) {
    for (size_t i = 0; i < want->n; i++)
        if (got->image[i] != want->image[i] || got->distance[i] != want->distance[i])
            fail_msg("%zu codes of %zu bits, weights %u %u, %zu queries, k %zu: place %zu of query "
                     "%zu is %u at %u, not %u at %u (seed %llu)",
                     f->order.index.n, f->bits, f->weight[0], f->weight[1], q->queries, q->k,
                     i % q->k, i / q->k, got->image[i], got->distance[i], want->image[i],
                     want->distance[i], (unsigned long long)bits_seed);
}

static inline found plain(const fixture *f, const codec_cascade_query *q) {
    found r = room_for(q);
    assert_int_equal(codec_cascade_plain(&f->cascade, q, r.image, r.distance), TAPER_OK);
    return r;
}

/* Distance by single bits, of the first known bits. */
static inline uint32_t distance_of(const fixture *f, const uint64_t *query, uint32_t image,
                                   size_t known) {
    uint32_t sum = 0;
    for (size_t j = 0; j < known; j++) {
        const size_t word = j / 64;
        size_t l = 0;
        while (word >= codec_index_layer_first(l) + codec_index_layer_words(MOST_WORDS, l)) l++;
        sum += f->weight[l] * (uint32_t)(bits_get(query, j) !=
                                         bits_get(f->codes + image * f->order.index.words, j));
    }
    return sum;
}

#endif
