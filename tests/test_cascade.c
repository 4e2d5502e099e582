/* test_cascade.c -- exact searches against the definition, number for number; what searches of less
 * effort promise: true distances in order, whatever the threads and the queries beside; that more
 * effort finds more, and that as much is found as was measured. */
#include "codec/search/cascade_measure.h"
#include "cmocka_all.h"
#include "random_bits.h"

enum { BLOCK = 2048, MOST_WORDS = 32, LAYERS = CODEC_INDEX_MOST_LAYERS };

typedef struct fixture {
    bits_order order;
    uint64_t *codes;
    size_t bits;
    uint16_t weight[LAYERS];
    float share[2 * LAYERS];
    codec_cascade cascade;
} fixture;

/* Weights: even, falling, rising, and the greatest that there are. */
enum { EVEN, FALLING, RISING, GREATEST, WEIGHTS };

static uint16_t weight_of(int kind, size_t l) {
    return kind == FALLING    ? (uint16_t)(600 >> l)
           : kind == RISING   ? (uint16_t)(1 + 3 * l)
           : kind == GREATEST ? UINT16_MAX
                              : 1;
}

static void lay(fixture *f, size_t n) {
    bits_order_make(&f->order, f->codes, n, f->bits, codec_index_table_bits(n));
    f->cascade = (codec_cascade){&f->order.index, f->order.image, f->weight, f->share};
}

static void make(fixture *f, int kind, size_t n, size_t bits, int weights) {
    f->bits = bits;
    f->codes = bits_draw(kind, n, bits);
    for (size_t l = 0; l < LAYERS; l++) f->weight[l] = weight_of(weights, l);
    lay(f, n);
}

static void drop(fixture *f) {
    bits_order_free(&f->order);
    free(f->codes);
}

typedef struct found {
    uint32_t *image, *distance;
    uint64_t *looked_at;
    size_t n;
} found;

static found room_for(const codec_cascade_query *q) {
    const size_t n = q->queries * q->k;
    found r = {malloc((n + 1) * sizeof *r.image), malloc((n + 1) * sizeof *r.distance),
               calloc(q->queries, sizeof *r.looked_at), n};
    assert_true(r.image && r.distance && r.looked_at);
    for (size_t i = 0; i <= n; i++) r.image[i] = r.distance[i] = 0xdeadbeef;
    return r;
}

static void release(found r) {
    assert_true(r.image[r.n] == 0xdeadbeef && r.distance[r.n] == 0xdeadbeef);
    free(r.image), free(r.distance), free(r.looked_at);
}

static found search(const fixture *f, const codec_cascade_query *q, unsigned threads) {
    codec_pool *pool = NULL;
    found r = room_for(q);
    if (threads) assert_int_equal(codec_pool_create(&pool, threads), TAPER_OK);
    assert_int_equal(codec_cascade_search(&f->cascade, q, pool, r.image, r.distance, r.looked_at),
                     TAPER_OK);
    codec_pool_destroy(pool);
    return r;
}

static void check_same(const fixture *f, const codec_cascade_query *q, const found *got,
                       const found *want) {
    for (size_t i = 0; i < want->n; i++)
        if (got->image[i] != want->image[i] || got->distance[i] != want->distance[i])
            fail_msg("%zu codes of %zu bits, weights %u %u, %zu queries, k %zu: place %zu of query "
                     "%zu is %u at %u, not %u at %u (seed %llu)",
                     f->order.index.n, f->bits, f->weight[0], f->weight[1], q->queries, q->k,
                     i % q->k, i / q->k, got->image[i], got->distance[i], want->image[i],
                     want->distance[i], (unsigned long long)bits_seed);
}

static found plain(const fixture *f, const codec_cascade_query *q) {
    found r = room_for(q);
    assert_int_equal(codec_cascade_plain(&f->cascade, q, r.image, r.distance), TAPER_OK);
    return r;
}

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
    const codec_cascade c = {&o.index, o.image, weight, NULL};
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

static uint32_t distance_of(const fixture *f, const uint64_t *query, uint32_t image, size_t known) {
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
            make(&f, kind, BLOCK + 300, weights % 2 ? 200 : 512, weights);
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
    make(&f, BITS_EVEN, 3000, 500, EVEN);
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

/* The share of the k nearest that are as near as the k-th. */
static double recall_at(const fixture *f, codec_cascade_query q, float effort, uint64_t *words) {
    size_t right = 0;
    q.effort = CODEC_CASCADE_EXACT;
    found exact = search(f, &q, 0);
    q.effort = effort;
    found r = search(f, &q, 0);
    for (size_t i = 0; i < r.n; i++)
        right += r.distance[i] <= exact.distance[i / q.k * q.k + q.k - 1];
    *words = 0;
    for (size_t i = 0; i < q.queries; i++) *words += r.looked_at[i];
    const double recall = (double)right / (double)r.n;
    release(exact), release(r);
    return recall;
}

/* More effort finds more of them and looks at more; fewer words are looked at than there are. What
 * was measured of some codes holds of others. */
static void recall_grows_with_effort(void **state) {
    (void)state;
    enum { N = 6000, QUERIES = 100, BITS = 512 };
    fixture f;
    float measured[CODEC_CASCADE_EFFORTS];
    make(&f, BITS_NEAR, N, BITS, EVEN);
    for (size_t i = 0; i < N; i++) /* no copies: else all that is near is at 0 */
        for (size_t j = 0; j < 25; j++)
            bits_flip(f.codes + i * f.order.index.words, bits_below(BITS));
    bits_order_free(&f.order);
    lay(&f, N);
    assert_int_equal(codec_cascade_measure(&f.cascade, NULL, f.share, measured), TAPER_OK);
    codec_cascade_query q = {.code = f.codes, .queries = QUERIES, .k = 11};
    double before = 0;
    uint64_t words, words_before = 0;
    for (size_t e = 0; e < CODEC_CASCADE_EFFORTS; e++) {
        const double recall = recall_at(&f, q, codec_cascade_effort(e), &words);
        print_message("effort %.1f: measured %.3f, recall %.3f, %.3f of the words\n",
                      (double)codec_cascade_effort(e), (double)measured[e], recall,
                      (double)words / ((double)QUERIES * N * BITS / 64));
        assert_true(recall >= before - 0.02 && words >= words_before);
        assert_true(fabs(recall - (double)measured[e]) < 0.15);
        before = recall, words_before = words;
    }
    assert_true(before > 0.99 && words_before < (uint64_t)QUERIES * N * BITS / 64);
    assert_true(measured[0] < 0.9f);
    drop(&f);
}

/* --- what is measured ------------------------------------------------------------------- */

/* Shares by their definition, from pairs of neighbours found by exact search. */
static void shares_are_those_of_neighbours(void **state) {
    (void)state;
    enum { N = 90, BITS = 200, K = 11 };
    fixture f;
    float recall[CODEC_CASCADE_EFFORTS];
    make(&f, BITS_EVEN, N, BITS, FALLING); /* fewer than a hundred: each is a sample */
    assert_int_equal(codec_cascade_measure(&f.cascade, NULL, f.share, recall), TAPER_OK);
    codec_cascade_query q = {.code = f.codes, .queries = N, .k = K, .effort = CODEC_CASCADE_EXACT};
    found near = search(&f, &q, 0);
    static const size_t ends[] = {64, 128, BITS};
    for (size_t l = 0; l < 3; l++) {
        double part = 0, whole = 0, spread = 0, pairs = 0;
        for (int pass = 0; pass < 2; pass++)
            for (size_t i = 0; i < N * K; i++) {
                const uint64_t *code = f.codes + i / K * f.order.index.words;
                const double all = near.distance[i];
                const double d = distance_of(&f, code, near.image[i], ends[l]);
                if (near.image[i] == i / K) continue;
                if (pass)
                    spread += (d - part / whole * all) * (d - part / whole * all) / all;
                else
                    part += d, whole += all, pairs++;
            }
        assert_true(fabs((double)f.share[2 * l] - part / whole) < 1e-5);
        assert_true(fabs((double)f.share[2 * l + 1] - sqrt(spread / pairs)) < 1e-3);
    }
    release(near);
    drop(&f);
}

static void little_can_be_measured(void **state) {
    (void)state;
    static const size_t sizes[] = {1, 2, 3, 10, 101, 3000};
    for (size_t i = 0; i < 12; i++) {
        const int kind = i % 2 ? BITS_COPIES : BITS_EQUAL;
        fixture f;
        float recall[CODEC_CASCADE_EFFORTS];
        make(&f, kind, sizes[i / 2], 130, EVEN);
        for (size_t s = 0; s < 2 * LAYERS; s++) f.share[s] = NAN;
        assert_int_equal(codec_cascade_measure(&f.cascade, NULL, f.share, recall), TAPER_OK);
        for (size_t l = 0; l < 3; l++) {
            assert_true(f.share[2 * l] >= 0 && f.share[2 * l] <= 1);
            assert_true(f.share[2 * l + 1] >= 0 && f.share[2 * l + 1] < 1e6f);
            if (kind == BITS_EQUAL || sizes[i / 2] == 1)
                assert_true(f.share[2 * l] == 1 && f.share[2 * l + 1] == 0);
        }
        for (size_t e = 0; e < CODEC_CASCADE_EFFORTS; e++)
            assert_true(recall[e] >= 0 && recall[e] <= 1 && (kind != BITS_EQUAL || recall[e] == 1));
        drop(&f);
    }
}

/* With threads as without. */
static void measuring_does_not_depend_on_threads(void **state) {
    (void)state;
    fixture f;
    codec_pool *pool;
    float share[2 * LAYERS] = {0}, recall[2][CODEC_CASCADE_EFFORTS];
    make(&f, BITS_NEAR, 3000, 300, FALLING);
    assert_int_equal(codec_pool_create(&pool, 3), TAPER_OK);
    assert_int_equal(codec_cascade_measure(&f.cascade, NULL, f.share, recall[0]), TAPER_OK);
    assert_int_equal(codec_cascade_measure(&f.cascade, pool, share, recall[1]), TAPER_OK);
    assert_memory_equal(f.share, share, 2 * f.order.index.layers * sizeof *share);
    assert_memory_equal(recall[0], recall[1], sizeof recall[0]);
    codec_pool_destroy(pool);
    drop(&f);
}

static void effort_rises_with_recall(void **state) {
    (void)state;
    for (size_t round = 0; round < 300; round++) {
        float recall[CODEC_CASCADE_EFFORTS], most = 0;
        for (size_t e = 0; e < CODEC_CASCADE_EFFORTS; e++) { /* they need not rise */
            recall[e] = (float)bits_below(101) / 100;
            if (recall[e] > most) most = recall[e];
        }
        float before = 0;
        for (double wanted = 0; wanted <= 1; wanted += 0.003) {
            const float effort = codec_cascade_effort_for(recall, wanted);
            assert_true(effort >= before);
            if (wanted > (double)most)
                assert_true(effort == CODEC_CASCADE_EXACT);
            else
                assert_true(effort <= codec_cascade_effort(CODEC_CASCADE_EFFORTS - 1));
            before = effort;
        }
        for (size_t e = 0; e < CODEC_CASCADE_EFFORTS; e++)
            assert_true(codec_cascade_effort_for(recall, (double)recall[e]) <=
                        codec_cascade_effort(e));
    }
    const float rising[CODEC_CASCADE_EFFORTS] = {0.5f, 0.75f, 1, 1, 1, 1, 1, 1, 1, 1};
    assert_true(codec_cascade_effort_for(rising, 0.2) == 0);
    assert_true(fabsf(codec_cascade_effort_for(rising, 0.625) - 0.25f) < 1e-6f);
    assert_true(codec_cascade_effort_for(rising, 1) == 1);
    const float none[CODEC_CASCADE_EFFORTS] = {0};
    assert_true(codec_cascade_effort_for(none, 0.01) == CODEC_CASCADE_EXACT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_by_hand),
        cmocka_unit_test(exact_searches_are_as_defined),
        cmocka_unit_test(blocks_have_ends),
        cmocka_unit_test(every_number_of_queries),
        cmocka_unit_test(faster_searches_are_honest),
        cmocka_unit_test(queries_that_are_cut_are_exact),
        cmocka_unit_test(recall_grows_with_effort),
        cmocka_unit_test(shares_are_those_of_neighbours),
        cmocka_unit_test(little_can_be_measured),
        cmocka_unit_test(measuring_does_not_depend_on_threads),
        cmocka_unit_test(effort_rises_with_recall),
    };
    return cmocka_run_group_tests(tests, bits_begin, NULL);
}
