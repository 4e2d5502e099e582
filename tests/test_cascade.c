/* test_cascade.c -- exact searches against the definition, number for number; what searches of less
 * effort promise: true distances in order, whatever the threads and the queries beside. */
#include "codec/search/cascade_measure.h"
#include "cmocka_all.h"
#include "drawn_cascade.h"

enum { BLOCK = 2048 };

/* --- queries ---------------------------------------------------------------------------- */

typedef struct drawn_query {
    codec_cascade_query q;
    uint64_t *code;
    uint32_t *known_bits, within;
    uint8_t *wanted;
} drawn_query;

/* None, few, half, or all are wanted. */
static uint8_t *draw_wanted(size_t n, size_t share) {
    uint8_t *wanted = calloc(n, 1);
    assert_non_null(wanted);
    for (size_t i = 0; share && i < n; i++)
        wanted[i] = share == 3 || !bits_below(share == 1 ? 40 : 2);
    return wanted;
}

/* Every member of a query now and then. */
static void draw_query(const fixture *f, size_t queries, size_t k, drawn_query *d) {
    const size_t words = f->order.index.words, n = f->order.index.n;
    *d = (drawn_query){.code = malloc(queries * words * sizeof *d->code)};
    assert_non_null(d->code);
    for (size_t i = 0; i < queries; i++) bits_draw_query(f->codes, n, f->bits, d->code + i * words);
    d->q = (codec_cascade_query){.code = d->code,
                                 .queries = queries,
                                 .k = k,
                                 .effort = CODEC_CASCADE_EXACT,
                                 .whole_bits = (uint32_t)f->bits};
    if (!bits_below(3)) {
        d->q.known_bits = d->known_bits = malloc(queries * sizeof *d->known_bits);
        assert_non_null(d->known_bits);
        for (size_t i = 0; i < queries; i++) d->known_bits[i] = 1 + (uint32_t)bits_below(f->bits);
    }
    if (!bits_below(3)) d->q.wanted = d->wanted = draw_wanted(n, bits_below(4));
    if (!bits_below(3)) {
        d->within = (uint32_t)bits_below(2 + f->weight[0] * f->bits / (1 + bits_below(9)));
        d->q.within = &d->within;
    }
}

static void drop_query(drawn_query *d) { free(d->code), free(d->known_bits), free(d->wanted); }

/* --- exact ------------------------------------------------------------------------------ */

static void check_exact(const fixture *f, size_t queries, size_t k) {
    drawn_query d;
    draw_query(f, queries, k, &d);
    found want = plain(f, &d.q);
    for (unsigned threads = 0; threads <= 3; threads++) {
        if (threads == 2) continue;
        found got = search(f, &d.q, threads);
        check_same(f, &d.q, &got, &want);
        release(got);
    }
    release(want);
    drop_query(&d);
}

/* Codes of all kinds and lengths, few of them. */
static void exact_searches_are_as_defined(void **state) {
    (void)state;
    static const size_t lengths[] = {1, 63, 64, 65, 128, 200, 320, 1000, 2048};
    for (size_t i = 0; i < 9; i++)
        for (int kind = 0; kind < BITS_KINDS; kind++)
            for (int weights = 0; weights < WEIGHTS; weights++) {
                fixture f;
                const size_t n = 1 + bits_below(i > 6 ? 60 : 300);
                make(&f, kind, n, lengths[i], weights);
                check_exact(&f, 1 + bits_below(40), 1 + bits_below(n));
                check_exact(&f, 1, n);
                drop(&f);
            }
}

/* Around the number that is looked at in one go. */
static void blocks_have_ends(void **state) {
    (void)state;
    static const size_t sizes[] = {BLOCK - 1, BLOCK, BLOCK + 1, 5000};
    for (size_t i = 0; i < 4; i++)
        for (int kind = 0; kind < BITS_KINDS; kind++) {
            fixture f;
            make(&f, kind, sizes[i], 130, (int)bits_below(WEIGHTS));
            check_exact(&f, 17, 1 + bits_below(20));
            check_exact(&f, 2, sizes[i] - bits_below(2));
            check_exact(&f, 3, BLOCK - 2);
            drop(&f);
        }
}

static void every_number_of_queries(void **state) {
    (void)state;
    fixture f;
    make(&f, BITS_NEAR, 500, 100, FALLING);
    for (size_t queries = 1; queries <= 40; queries++) check_exact(&f, queries, 7);
    drop(&f);
}

/* Two codes that differ in every bit, as long and as heavy as may be: the greatest distance. */
static void every_bit_may_differ(void **state) {
    (void)state;
    static const size_t lengths[] = {64, 128, 65536};
    for (size_t i = 0; i < 6; i++) {
        const size_t bits = lengths[i % 3], words = bits / 64;
        fixture f;
        make(&f, BITS_EQUAL, 20, bits, i < 3 ? EVEN : GREATEST);
        uint64_t *other = malloc(words * sizeof *other);
        assert_non_null(other);
        for (size_t w = 0; w < words; w++) other[w] = ~f.codes[w];
        const codec_cascade_query q = {
            .code = other, .queries = 1, .k = 20, .effort = CODEC_CASCADE_EXACT};
        found got = search(&f, &q, 0);
        for (uint32_t j = 0; j < 20; j++)
            assert_true(got.image[j] == j && got.distance[j] == f.weight[0] * (uint32_t)bits);
        release(got);
        free(other);
        drop(&f);
    }
}

/* The definition itself, by hand. */
static void neighbours_by_hand(void **state) {
    (void)state;
    uint64_t codes[] = {0x0F00000000000000u, 1, 0xFF00000000000000u, 1, 0x0F00000000000000u, 0};
    uint32_t image[3], distance[3], known = 64, within = 9;
    uint8_t wanted[] = {1, 0, 1};
    const uint64_t query[] = {0x0F00000000000000u, 0};
    uint16_t weight[] = {2, 5};
    bits_order o;
    bits_order_make(&o, codes, 3, 128, 0);
    const codec_cascade c = {&o.index, o.image, weight, NULL, NULL};
    codec_cascade_query q = {
        .code = query, .queries = 1, .k = 3, .effort = CODEC_CASCADE_EXACT, .whole_bits = 128};
    for (int how = 0; how < 4; how++) {
        static const uint32_t images[][3] = {
            {2, 0, 1}, {0, 2, 1}, {2, 0, UINT32_MAX}, {2, 0, UINT32_MAX}};
        static const uint32_t distances[][3] = {
            {0, 5, 13}, {0, 0, 8}, {0, 5, UINT32_MAX}, {0, 5, UINT32_MAX}};
        q.known_bits = how == 1 ? &known : NULL;
        q.wanted = how == 2 ? wanted : NULL;
        q.within = how == 3 ? &within : NULL;
        assert_int_equal(codec_cascade_plain(&c, &q, image, distance), TAPER_OK);
        assert_memory_equal(image, images[how], sizeof image);
        assert_memory_equal(distance, distances[how], sizeof distance);
    }
    bits_order_free(&o);
}

/* --- with less effort ------------------------------------------------------------------- */

/* Sorted, true, wanted, near enough, and no image twice. */
static void check_honest(const fixture *f, const codec_cascade_query *q, const found *r) {
    for (size_t i = 0; i < r->n; i++) {
        const size_t query = i / q->k;
        const uint32_t image = r->image[i], distance = r->distance[i];
        if (i % q->k) {
            const uint32_t image_before = r->image[i - 1], before = r->distance[i - 1];
            assert_true(before < distance || (before == distance && image_before < image) ||
                        (image == UINT32_MAX && distance == UINT32_MAX));
        }
        if (image == UINT32_MAX) continue;
        assert_true(image < f->order.index.n);
        assert_int_equal(distance, distance_of(f, q->code + query * f->order.index.words, image,
                                               q->known_bits ? q->known_bits[query] : f->bits));
        assert_true(!q->wanted || q->wanted[image]);
        assert_true(!q->within || distance <= *q->within);
    }
}

/* The same alone, in parts of five, and with three threads. */
static void check_alike(const fixture *f, const codec_cascade_query *q, const found *want) {
    for (size_t part = 1; part <= 5; part += 4)
        for (size_t first = 0; first < q->queries; first += part) {
            codec_cascade_query some = *q;
            some.code += first * f->order.index.words;
            some.queries = q->queries - first < part ? q->queries - first : part;
            if (q->known_bits) some.known_bits += first;
            found got = search(f, &some, 0);
            found of = {want->image + first * q->k, want->distance + first * q->k, NULL, got.n};
            check_same(f, &some, &got, &of);
            assert_memory_equal(got.looked_at, want->looked_at + first,
                                some.queries * sizeof *got.looked_at);
            release(got);
        }
    found got = search(f, q, 3);
    check_same(f, q, &got, want);
    release(got);
}

static void faster_searches_are_honest(void **state) {
    (void)state;
    for (int kind = 0; kind < BITS_KINDS; kind++)
        for (int weights = 0; weights < WEIGHTS; weights++) {
            fixture f;
            float recall[CODEC_CASCADE_EFFORTS];
            make(&f, kind, CODEC_CASCADE_SMALL + 300, weights % 2 ? 70 : 200, weights);
            assert_int_equal(codec_cascade_measure(&f.cascade, NULL, f.share, recall), TAPER_OK);
            for (float effort = 0; effort < 4; effort += 1.5f) {
                drawn_query d;
                draw_query(&f, 1 + bits_below(40), 1 + bits_below(12), &d);
                d.q.effort = effort;
                found r = search(&f, &d.q, 0);
                check_honest(&f, &d.q, &r);
                check_alike(&f, &d.q, &r);
                release(r);
                drop_query(&d);
            }
            drop(&f);
        }
}

/* Shares are of whole codes: where a bit is unknown the search is exact, at any effort, and beside
 * others that are not. */
static void queries_that_are_cut_are_exact(void **state) {
    (void)state;
    enum { QUERIES = 30, K = 9 };
    fixture f;
    float recall[CODEC_CASCADE_EFFORTS];
    uint32_t known[QUERIES];
    uint64_t codes[QUERIES * 8];
    make(&f, BITS_EVEN, CODEC_CASCADE_SMALL + 900, 500, EVEN);
    assert_int_equal(codec_cascade_measure(&f.cascade, NULL, f.share, recall), TAPER_OK);
    for (size_t i = 0; i < QUERIES; i++) {
        bits_draw_query(f.codes, f.order.index.n, f.bits, codes + 8 * i);
        known[i] = (uint32_t)(i % 3 == 0 ? f.bits : i % 3 == 1 ? f.bits - 1 : 1 + bits_below(499));
    }
    const codec_cascade_query q = {
        .code = codes, .queries = QUERIES, .k = K, .known_bits = known, .whole_bits = 500};
    found want = plain(&f, &q), got = search(&f, &q, 0);
    size_t lost = 0;
    for (size_t i = 0; i < QUERIES * K; i++) {
        const int is_same = got.image[i] == want.image[i] && got.distance[i] == want.distance[i];
        assert_true(is_same || known[i / K] == f.bits);
        lost += !is_same;
    }
    assert_true(lost > 0); /* effort 0 loses some of those that are whole */
    release(got), release(want);
    drop(&f);
}

/* Few codes, or few that are wanted: no effort is too small there. */
static void small_sets_are_searched_exactly(void **state) {
    (void)state;
    enum { QUERIES = 12, K = 9 };
    uint64_t codes[QUERIES * 4];
    for (size_t more = 0; more < 3; more++) { /* 1: all are wanted; 2: so few that it is exact */
        const size_t n = CODEC_CASCADE_SMALL + (more ? 900 : 0);
        fixture f;
        float recall[CODEC_CASCADE_EFFORTS];
        make(&f, BITS_EVEN, n, 250, EVEN);
        assert_int_equal(codec_cascade_measure(&f.cascade, NULL, f.share, recall), TAPER_OK);
        uint8_t *wanted = draw_wanted(n, 0);
        for (size_t i = 0; i < 31; i++) wanted[bits_below(n)] = 1;
        for (size_t i = 0; i < QUERIES; i++)
            bits_draw_query(f.codes, n, f.bits, codes + i * f.order.index.words);
        const codec_cascade_query q = {.code = codes,
                                       .queries = QUERIES,
                                       .k = K,
                                       .whole_bits = 250,
                                       .wanted = more == 2 ? wanted : NULL};
        found want = plain(&f, &q), got = search(&f, &q, 0);
        size_t lost = 0;
        for (size_t i = 0; i < QUERIES * K; i++) lost += got.distance[i] != want.distance[i];
        assert_true(more == 1 ? lost > 0 : lost == 0);
        release(got), release(want);
        free(wanted);
        drop(&f);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_by_hand),
        cmocka_unit_test(exact_searches_are_as_defined),
        cmocka_unit_test(blocks_have_ends),
        cmocka_unit_test(every_number_of_queries),
        cmocka_unit_test(every_bit_may_differ),
        cmocka_unit_test(faster_searches_are_honest),
        cmocka_unit_test(queries_that_are_cut_are_exact),
        cmocka_unit_test(small_sets_are_searched_exactly),
    };
    return cmocka_run_group_tests(tests, bits_begin, NULL);
}
