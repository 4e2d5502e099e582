/* test_cascade_measure.c -- more effort finds more, as much as was measured; shares against their
 * definition; what is measured where there is little; which effort a recall takes. */
#include "cmocka_all.h"
#include "drawn_cascade.h"

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
    enum { N = 20000, QUERIES = 100, BITS = 512 };
    fixture f;
    float measured[CODEC_CASCADE_EFFORTS];
    make(&f, BITS_NEAR, N, BITS, EVEN);
    for (size_t i = 0; i < N; i++) /* no copies: else all that is near is at 0 */
        for (size_t j = 0; j < 25; j++)
            bits_flip(f.codes + i * f.order.index.words, bits_below(BITS));
    lay_again(&f, N);
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

/* Codes around 100 others, from which they differ in later bits more often. */
static void draw_clusters(fixture *f, size_t n, size_t bits) {
    make(f, BITS_EVEN, n, bits, EVEN);
    const size_t words = f->order.index.words;
    for (size_t i = 100; i < n; i++) {
        memcpy(f->codes + i * words, f->codes + i % 100 * words, words * sizeof *f->codes);
        for (size_t j = 0; j < bits; j++)
            if (bits_below(10 * bits) < j) bits_flip(f->codes + i * words, j);
    }
    lay_again(f, n);
}

/* Members have all their neighbours beside them, by first bits that are the same; queries of no
 * cluster have none, and their neighbours differ in first bits, too. */
static void strangers_find_theirs(void **state) {
    (void)state;
    enum { N = 20000, QUERIES = 60, BITS = 512 };
    static const double wanted[] = {0.5, 0.9, 0.99};
    fixture f;
    float measured[CODEC_CASCADE_EFFORTS];
    uint64_t words, *outside = bits_draw(BITS_EVEN, QUERIES, BITS);
    draw_clusters(&f, N, BITS);
    assert_int_equal(codec_cascade_measure(&f.cascade, NULL, f.share, measured), TAPER_OK);
    assert_true(measured[0] > 0.5f);
    for (size_t i = 0; i < 3; i++) {
        const codec_cascade_query q = {.code = outside, .queries = QUERIES, .k = 10};
        const float effort = codec_cascade_effort_for(codec_cascade_normal, wanted[i]);
        const double recall = recall_at(&f, q, effort, &words);
        print_message("asked for %.2f, found %.3f by %.3f of the words\n", wanted[i], recall,
                      (double)words / ((double)QUERIES * N * BITS / 64));
        assert_true(recall >= wanted[i]);
    }
    free(outside);
    drop(&f);
}

/* Copies of a query that differ from it in 16 to 20 of their first 64 bits and nowhere else: those
 * that are found first do not hide the nearest. */
static void early_copies_are_found(void **state) {
    (void)state;
    enum { N = 20000, QUERIES = 40, COPIES = 5, BITS = 512 };
    fixture f;
    float measured[CODEC_CASCADE_EFFORTS];
    uint64_t words, *queries = bits_draw(BITS_EVEN, QUERIES, BITS);
    make(&f, BITS_EVEN, N, BITS, EVEN);
    for (size_t i = 0; i < QUERIES * COPIES; i++) {
        uint64_t *copy = f.codes + i * f.order.index.words;
        memcpy(copy, queries + i / COPIES * f.order.index.words, BITS / 8);
        for (size_t j = 0; j < 16 + i % COPIES; j++) bits_flip(copy, 3 * j + i % 3);
    }
    lay_again(&f, N);
    assert_int_equal(codec_cascade_measure(&f.cascade, NULL, f.share, measured), TAPER_OK);
    const codec_cascade_query q = {.code = queries, .queries = QUERIES, .k = 1};
    const double recall =
        recall_at(&f, q, codec_cascade_effort_for(codec_cascade_normal, 0.95), &words);
    print_message("early copies: %.3f by %.3f of the words\n", recall,
                  (double)words / ((double)QUERIES * N * BITS / 64));
    assert_true(recall > 0.95);
    free(queries);
    drop(&f);
}

/* Where a normal number lies. */
static void normal_numbers_are_normal(void **state) {
    (void)state;
    for (size_t e = 0; e < CODEC_CASCADE_EFFORTS; e++)
        assert_true(fabs(erf((double)codec_cascade_effort(e) / sqrt(2)) -
                         (double)codec_cascade_normal[e]) < 1e-6);
}

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
            assert_true(recall[e] == 1); /* so few are searched exactly */
        drop(&f);
    }
}

/* With threads as without. */
static void measuring_does_not_depend_on_threads(void **state) {
    (void)state;
    fixture f;
    codec_pool *pool;
    float share[2 * LAYERS] = {0}, recall[2][CODEC_CASCADE_EFFORTS];
    make(&f, BITS_EVEN, CODEC_CASCADE_SMALL + 300, 300, EVEN);
    assert_int_equal(codec_pool_create(&pool, 3), TAPER_OK);
    assert_int_equal(codec_cascade_measure(&f.cascade, NULL, f.share, recall[0]), TAPER_OK);
    assert_int_equal(codec_cascade_measure(&f.cascade, pool, share, recall[1]), TAPER_OK);
    assert_memory_equal(f.share, share, 2 * f.order.index.layers * sizeof *share);
    assert_true(recall[0][0] < 1);
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
        cmocka_unit_test(recall_grows_with_effort),
        cmocka_unit_test(strangers_find_theirs),
        cmocka_unit_test(early_copies_are_found),
        cmocka_unit_test(normal_numbers_are_normal),
        cmocka_unit_test(shares_are_those_of_neighbours),
        cmocka_unit_test(little_can_be_measured),
        cmocka_unit_test(measuring_does_not_depend_on_threads),
        cmocka_unit_test(effort_rises_with_recall),
    };
    return cmocka_run_group_tests(tests, bits_begin, NULL);
}
