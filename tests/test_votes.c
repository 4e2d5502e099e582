/* test_votes.c -- labels by votes, their ties; errors, their interval and what is confused. */
#include "codec/search/votes.h"
#include "tests/cmocka_all.h"
#include <math.h>
#include <string.h>

enum { REFERENCES = 8, FOUND = 5 };
/*                                          0  1  2  3  4  5  6  7 */
static const int32_t labels[REFERENCES] = {2, 2, 0, 0, 1, 1, 1, 3};

static int32_t vote(const uint32_t *neighbours, size_t k) {
    int32_t voted = -9;
    taper_error e = {0};
    const taper_votes votes = {sizeof(taper_votes), neighbours, 1,   FOUND, k, labels,
                               REFERENCES,          4,          NULL};
    assert_int_equal(taper_vote(&votes, &voted, &e), TAPER_OK);
    return voted;
}

static void most_votes_win(void **state) {
    (void)state;
    const uint32_t near[FOUND] = {7, 4, 2, 5, 3};
    assert_int_equal(vote(near, 1), 3);
    assert_int_equal(vote(near, 4), 1); /* 3 1 0 1 */
    const uint32_t all[FOUND] = {2, 6, 5, 3, 4};
    assert_int_equal(vote(all, 5), 1); /* 0 1 1 0 1 */
}

static void nearest_of_the_tied_wins(void **state) {
    (void)state;
    const uint32_t near[FOUND] = {7, 0, 4, 5, 1};
    assert_int_equal(vote(near, 2), 3); /* 3 2: one each */
    assert_int_equal(vote(near, 3), 3);
    assert_int_equal(vote(near, 4), 1);
    assert_int_equal(vote(near, 5), 2); /* 3 2 1 1 2: the 2 is nearer than the 1, the 3 has one */
    const uint32_t other[FOUND] = {7, 4, 0, 1, 5};
    assert_int_equal(vote(other, 5), 1); /* 3 1 2 2 1 */
}

static void several_k_of_one_search(void **state) {
    (void)state;
    const uint32_t neighbours[2][FOUND] = {{2, 0, 1, 7, 7}, {4, 3, 2, 5, 6}};
    const int32_t want[FOUND][2] = {{0, 1}, {0, 1}, {2, 0}, {2, 1}, {2, 1}};
    taper_error e = {0};
    for (size_t k = 1; k <= FOUND; k++) {
        int32_t voted[2];
        const taper_votes votes = {
            sizeof(taper_votes), neighbours[0], 2, FOUND, k, labels, REFERENCES, 4, NULL};
        assert_int_equal(taper_vote(&votes, voted, &e), TAPER_OK);
        if (k != 5)
            assert_memory_equal(voted, want[k - 1], sizeof voted);
        else
            assert_int_equal(voted[0], 2); /* 0 2 2 3 3: 2 before 3 */
    }
}

static void bad_votes_are_named(void **state) {
    (void)state;
    const uint32_t near[FOUND] = {7, 4, 2, 5, 3}, far[FOUND] = {7, 4, 8, 5, 3};
    const int32_t some[REFERENCES] = {2, 2, 0, -1, 1, 1, 1, 3};
    int32_t voted;
    taper_error e = {0};
    const taper_votes good = {sizeof(taper_votes), near, 1, FOUND, 3, labels, REFERENCES, 4, NULL};
    assert_int_equal(taper_vote(&good, &voted, &e), TAPER_OK);
    taper_votes bad = good;
    bad.labels = some;
    assert_int_equal(taper_vote(&bad, &voted, &e), TAPER_ERR_ARG);
    assert_string_equal(e.text, "the label of reference 3 is -1: of 4 classes it is 0 to 3");
    bad = good, bad.classes = 3;
    assert_int_equal(taper_vote(&bad, &voted, &e), TAPER_ERR_ARG);
    assert_non_null(strstr(e.text, "reference 7 is 3"));
    bad = good, bad.neighbours = far;
    assert_int_equal(taper_vote(&bad, &voted, &e), TAPER_ERR_ARG);
    assert_string_equal(e.text, "query 0: its neighbour 2 is reference 8, of 8 labels");
    bad.k = 2; /* who has no vote is not looked at */
    assert_int_equal(taper_vote(&bad, &voted, &e), TAPER_OK);
    for (size_t k = 0; k <= FOUND + 1; k += FOUND + 1) {
        bad = good, bad.k = k;
        assert_int_equal(taper_vote(&bad, &voted, &e), TAPER_ERR_ARG);
        assert_non_null(strstr(e.text, "k is 1 to 5"));
    }
    bad = good, bad.classes = 0;
    assert_int_equal(taper_vote(&bad, &voted, &e), TAPER_ERR_ARG);
    bad.classes = (1u << 24) + 1;
    assert_int_equal(taper_vote(&bad, &voted, &e), TAPER_ERR_ARG);
}

/* A rare class is not outvoted; weights that are all equal change nothing, nor do ties. */
static void votes_are_weighted(void **state) {
    (void)state;
    const uint32_t near[FOUND] = {7, 0, 4, 5, 1}; /* 3 2 1 1 2 */
    const double weights[][4] = {{1, 1, 1, 1},         {0.1, 0.1, 0.1, 0.1}, {1, 1, 1, 1.9},
                                 {1, 1, 1, 2.1},       {1, 1.01, 1, 1},      {1, 1, 0.4, 1},
                                 {1e-9, 1e-9, 1e-9, 1}};
    const int32_t want[] = {2, 2, 2, 3, 1, 1, 3};
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        int32_t voted = -9;
        const taper_votes votes = {sizeof(taper_votes), near, 1,         FOUND, FOUND, labels,
                                   REFERENCES,          4,    weights[i]};
        assert_int_equal(taper_vote(&votes, &voted, NULL), TAPER_OK);
        assert_int_equal(voted, want[i]);
    }
    const double bad[] = {0, -1, NAN, INFINITY};
    for (size_t i = 0; i < 4; i++) {
        const double some[4] = {1, 1, bad[i], 1};
        const taper_votes votes = {sizeof(taper_votes), near, 1,   FOUND, FOUND, labels,
                                   REFERENCES,          4,    some};
        int32_t voted;
        taper_error e = {0};
        assert_int_equal(taper_vote(&votes, &voted, &e), TAPER_ERR_ARG);
        assert_non_null(strstr(e.text, "a vote for class 2"));
    }
}

/* --- errors ---------------------------------------------------------------------------- */

static void errors_are_counted(void **state) {
    (void)state;
    const int32_t voted[] = {0, 1, 2, 1, 0, 2}, truth[] = {0, 1, 1, 1, 2, 2};
    const uint64_t want[9] = {1, 0, 0, 0, 2, 1, 1, 0, 1};
    uint64_t confusion[9];
    taper_error_rate rate = {.size = sizeof rate}, none = rate;
    taper_error e = {0};
    memset(confusion, 255, sizeof confusion);
    assert_int_equal(taper_count_errors(voted, truth, 6, 3, confusion, &rate, &e), TAPER_OK);
    assert_memory_equal(confusion, want, sizeof want);
    assert_int_equal(rate.tested, 6);
    assert_int_equal(rate.wrong, 2);
    assert_true(fabs(rate.rate - 1 / 3.0) <= 1e-15);
    assert_true(rate.low < rate.rate && rate.rate < rate.high);
    memset(&none, 0, sizeof none);
    assert_int_equal(taper_count_errors(voted, truth, 6, 2, NULL, &none, &e), TAPER_ERR_ARG);
    assert_string_equal(e.text, "the voted label 2 is 2: of 2 classes it is 0 to 1");
    assert_int_equal(taper_count_errors(truth, voted, 6, 2, NULL, &none, &e), TAPER_ERR_ARG);
    assert_int_equal(taper_count_errors(voted, truth, 0, 3, NULL, &none, &e), TAPER_ERR_ARG);
    assert_int_equal(none.tested, 0);
}

/* R 4.2: prop.test(x, n, correct = FALSE)$conf.int has the same interval. Checked here is what
 * defines it: at either end the rate is z standard deviations of that end away. */
static void interval_is_wilsons(void **state) {
    (void)state;
    const double z = 1.959963984540054;
    const uint64_t pairs[][2] = {{92, 10000}, {1, 10}, {9, 10}, {1, 2007}, {500, 1000}, {3, 3000}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const double n = (double)pairs[i][1], p = (double)pairs[i][0] / n;
        double end[2];
        codec_wilson(pairs[i][0], pairs[i][1], &end[0], &end[1]);
        assert_true(end[0] < p && p < end[1]);
        for (int j = 0; j < 2; j++)
            assert_true(fabs(fabs(p - end[j]) / sqrt(end[j] * (1 - end[j]) / n) - z) <= 1e-9);
    }
    double low, high;
    codec_wilson(92, 10000, &low, &high); /* 0.92 %: 0.75 to 1.13 */
    assert_true(fabs(low - 0.00751) <= 2e-5 && fabs(high - 0.01127) <= 2e-5);
    codec_wilson(0, 50, &low, &high);
    assert_true(low == 0 && fabs(high - z * z / (50 + z * z)) <= 1e-12);
    codec_wilson(50, 50, &low, &high);
    assert_true(high == 1 && fabs(low - 50 / (50 + z * z)) <= 1e-12);
}

static taper_error_rate balance(const uint64_t *wrong, const uint64_t *tested, uint32_t n) {
    taper_error_rate rate = {.size = sizeof rate};
    assert_int_equal(taper_balance_errors(wrong, tested, n, &rate, NULL), TAPER_OK);
    assert_true(0 <= rate.low && rate.low <= rate.rate && rate.rate <= rate.high && rate.high <= 1);
    return rate;
}

/* With one class it is Wilson's interval; with classes of equal numbers and errors, that of all
 * images; by hand with two classes; a class that was not tested may have any error. */
static void balanced_error_is_the_mean(void **state) {
    (void)state;
    const uint64_t wrong[] = {3, 3, 3, 3}, tested[] = {40, 40, 40, 40};
    for (uint32_t n = 1; n <= 4; n += 3) {
        taper_error_rate want = {.size = sizeof want}, rate = balance(wrong, tested, n);
        assert_int_equal(taper_rate_errors(3 * n, 40 * n, &want, NULL), TAPER_OK);
        assert_true(fabs(rate.rate - 0.075) < 1e-12 && fabs(rate.low - want.low) < 1e-12);
        assert_true(fabs(rate.high - want.high) < 1e-12);
        assert_true(rate.wrong == 3 * n && rate.tested == 40 * n);
    }
    const uint64_t few[] = {2, 3}, of[] = {1000, 10};
    const double z = 1.959963984540054, p = (0.002 + 0.3) / 2, a = 4 / 1004.0, b = 5 / 14.0;
    const double q = (a + b) / 2, v = (a * (1 - a) / 1000 + b * (1 - b) / 10) / 4;
    const double n = q * (1 - q) / v;
    const taper_error_rate rate = balance(few, of, 2);
    assert_true(fabs(rate.rate - p) < 1e-12);
    const double ends[] = {rate.low, rate.high};
    for (int j = 0; j < 2; j++) /* what defines Wilson's interval, of n trials */
        assert_true(fabs(fabs(p - ends[j]) / sqrt(ends[j] * (1 - ends[j]) / n) - z) <= 1e-9);
    const uint64_t none[] = {1000, 10, 0};
    const uint64_t none_wrong[] = {2, 3, 0};
    const taper_error_rate unknown = balance(none_wrong, none, 3);
    assert_true(fabs(unknown.rate - p) < 1e-12);
    assert_true(fabs(unknown.low - 2 * rate.low / 3) < 1e-12);
    assert_true(fabs(unknown.high - (2 * rate.high + 1) / 3) < 1e-12);
    const uint64_t all[] = {7, 3};
    assert_true(balance(all, all, 2).high == 1 && balance(all, all, 2).rate == 1);
    const uint64_t zero[] = {0, 0};
    assert_true(balance(zero, all, 2).low == 0);
    taper_error_rate kept = {.size = sizeof kept, .tested = 5};
    assert_int_equal(taper_balance_errors(zero, zero, 2, &kept, NULL), TAPER_ERR_ARG);
    assert_int_equal(taper_balance_errors(all, few, 2, &kept, NULL), TAPER_ERR_ARG);
    assert_int_equal(taper_rate_errors(3, 2, &kept, NULL), TAPER_ERR_ARG);
    assert_int_equal(taper_rate_errors(0, 0, &kept, NULL), TAPER_ERR_ARG);
    assert_int_equal(kept.tested, 5);
}

/* splitmix64 (Steele, Lea & Flood 2014), as a number below 1 */
static double draw(uint64_t *at) {
    uint64_t x = *at += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return (double)((x ^ x >> 31) >> 11) * 0x1p-53;
}

/* How often the interval of drawn errors has the balanced error that they were drawn with: rare
 * classes beside frequent ones, classes of one or two images, errors near 0. */
static void balanced_interval_covers(void **state) {
    (void)state;
    enum { MOST = 100, DRAWS = 4000 };
    static const struct {
        uint32_t groups[2], tested[2]; /* two kinds of classes */
        double error[2];
    } cases[] = {{{1, 1}, {1000, 10}, {0.005, 0.8}}, {{1, 1}, {1000, 10}, {0.005, 0.4}},
                 {{1, 1}, {250, 3}, {0.002, 0.3}},   {{1, 1}, {250, 3}, {0.01, 0.9}},
                 {{10, 0}, {2, 1}, {0.1, 0}},        {{100, 0}, {1, 1}, {0.5, 0}},
                 {{100, 0}, {1, 1}, {0.02, 0}},      {{10, 0}, {200, 1}, {0.02, 0}},
                 {{5, 5}, {50, 3}, {0.02, 0.3}},     {{9, 1}, {100, 3}, {0.01, 0.6}},
                 {{26, 0}, {2, 1}, {0.3, 0}}};
    uint64_t seed = 5, wrong[MOST], tested[MOST];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint32_t n = cases[i].groups[0] + cases[i].groups[1];
        int covered = 0;
        double mean = 0;
        for (uint32_t c = 0; c < n; c++) mean += cases[i].error[c >= cases[i].groups[0]] / n;
        for (int d = 0; d < DRAWS; d++) {
            for (uint32_t c = 0; c < n; c++) {
                const int kind = c >= cases[i].groups[0];
                tested[c] = cases[i].tested[kind], wrong[c] = 0;
                for (uint64_t j = 0; j < tested[c]; j++)
                    wrong[c] += draw(&seed) < cases[i].error[kind];
            }
            const taper_error_rate rate = balance(wrong, tested, n);
            covered += rate.low <= mean && mean <= rate.high;
        }
        assert_true(covered >= 0.905 * DRAWS);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(most_votes_win),           cmocka_unit_test(nearest_of_the_tied_wins),
        cmocka_unit_test(several_k_of_one_search),  cmocka_unit_test(bad_votes_are_named),
        cmocka_unit_test(errors_are_counted),       cmocka_unit_test(interval_is_wilsons),
        cmocka_unit_test(votes_are_weighted),       cmocka_unit_test(balanced_error_is_the_mean),
        cmocka_unit_test(balanced_interval_covers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
