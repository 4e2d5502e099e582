/* test_arguments_search.c -- every function of codec/taper_search.h with every argument at its
 * extremes; see arguments.h. */
#include "arguments.h"

enum { N = 3, WIDTH = 2, K = 2, CLASSES = 2 };

static const float codes[N * WIDTH] = {0, 1, 2, 3, 4, 5};
static uint32_t neighbours[N * N];
static double distances[N * N];

static taper_status nearest(const taper_search *search) {
    taper_error error = {0};
    return allowed(taper_nearest(search, neighbours, distances, &error), &error);
}

static taper_search good(void) {
    return (taper_search){.size = sizeof(taper_search),
                          .references = codes,
                          .n_references = N,
                          .queries = codes,
                          .n_queries = N,
                          .width = WIDTH,
                          .k = K,
                          .threads = 1};
}

static void try_numbers_that_are_not_finite(void) {
    float other[N * WIDTH];
    EACH_REAL(v) {
        taper_search s = good();
        memcpy(other, codes, sizeof other);
        other[3] = isfinite(*v) && fabs(*v) > 1 ? 3.4e38f : (float)*v;
        s.queries = other;
        assert_int_equal(nearest(&s), isfinite(*v) ? TAPER_OK : TAPER_ERR_ARG);
        s.references = other, s.queries = NULL;
        assert_int_equal(nearest(&s), isfinite(*v) ? TAPER_OK : TAPER_ERR_ARG);
    }
}

static void try_nearest(void) {
    taper_error error = {0};
    taper_search s = good();
    assert_int_equal(nearest(&s), TAPER_OK);
    refused(taper_nearest(NULL, neighbours, distances, &error), &error);
    refused(taper_nearest(&s, NULL, distances, &error), &error);
    refused(taper_nearest(&s, neighbours, NULL, &error), &error);
    s.references = NULL;
    assert_int_equal(nearest(&s), TAPER_ERR_ARG);
    s = good(), s.size = 0;
    assert_int_equal(nearest(&s), TAPER_ERR_ARG);
    for (int leave_one_out = 0; leave_one_out <= 1; leave_one_out++)
        for (int field = 0; field < 6; field++) EACH_NUMBER(v) {
                s = good();
                if (leave_one_out) s.queries = NULL;
                size_t *const number[] = {&s.n_references, &s.n_queries, &s.first, &s.width, &s.k};
                if (field < 5) *number[field] = (size_t)*v;
                if (field == 5) s.threads = (unsigned)*v;
                if (!leave_one_out && field == 1 && *v > N && *v < INT64_MAX) continue; /* arrays */
                if (field == 0 && *v > N && *v <= UINT32_MAX) continue;
                if (field == 3 && *v > WIDTH && *v <= 1 << 20) continue;
                const int is_good = field == 5 || (field == 2 && (!leave_one_out || *v == 0)) ||
                                    *v == 1 || (field == 1 && *v == 0);
                if (!is_good) assert_int_not_equal(nearest(&s), TAPER_OK);
                if (is_good) nearest(&s);
            }
    try_numbers_that_are_not_finite();
}

static void try_vote(void) {
    static const uint32_t found[N * K] = {0, 1, 1, 2, 2, 0};
    static const int32_t labels[N] = {0, 1, 1}, illegal[N] = {-1, INT32_MAX, INT32_MIN};
    const taper_votes good_votes = {sizeof(taper_votes), found, N, K, K, labels, N, CLASSES, NULL};
    int32_t voted[N];
    taper_error error = {0};
    taper_votes v = good_votes;
    assert_int_equal(taper_vote(&v, voted, NULL), TAPER_OK);
    refused(taper_vote(NULL, voted, &error), &error);
    refused(taper_vote(&v, NULL, &error), &error);
    v.neighbours = NULL;
    refused(taper_vote(&v, voted, &error), &error);
    v = good_votes, v.size = 0;
    refused(taper_vote(&v, voted, &error), &error);
    v = good_votes, v.labels = NULL;
    refused(taper_vote(&v, voted, &error), &error);
    v = good_votes, v.labels = illegal;
    refused(taper_vote(&v, voted, &error), &error);
    EACH_COUNT(n)
    for (int field = 0; field < 4; field++) {
        v = good_votes;
        size_t *const number[] = {&v.n_queries, &v.found, &v.k, &v.n_labels};
        *number[field] = *n;
        const taper_status status = allowed(taper_vote(&v, voted, &error), &error);
        assert_true(*n <= 1 || status == TAPER_ERR_ARG);
    }
    EACH_NUMBER(n) {
        v = good_votes, v.classes = (uint32_t)*n;
        refused(taper_vote(&v, voted, &error), &error); /* label 1 needs 2, and there are 2^24 */
    }
}

static void try_count_errors(void) {
    static const int32_t labels[N] = {0, 1, 1}, illegal[N] = {0, INT32_MIN, INT32_MAX};
    uint64_t confusion[CLASSES * CLASSES];
    taper_error_rate rate = {.size = sizeof(taper_error_rate)};
    taper_error error = {0};
    refused(taper_count_errors(NULL, labels, N, CLASSES, confusion, &rate, &error), &error);
    refused(taper_count_errors(labels, NULL, N, CLASSES, confusion, &rate, &error), &error);
    refused(taper_count_errors(labels, labels, N, CLASSES, confusion, NULL, &error), &error);
    refused(taper_count_errors(labels, labels, N, CLASSES, NULL, &(taper_error_rate){0}, &error),
            &error);
    refused(taper_count_errors(illegal, labels, N, CLASSES, confusion, &rate, &error), &error);
    refused(taper_count_errors(labels, illegal, N, CLASSES, confusion, &rate, &error), &error);
    EACH_COUNT(n)
    assert_int_equal(
        allowed(taper_count_errors(labels, labels, *n, CLASSES, confusion, &rate, &error), &error),
        *n == 1 ? TAPER_OK : TAPER_ERR_ARG);
    EACH_NUMBER(n)
    refused(taper_count_errors(labels, labels, N, (uint32_t)*n, NULL, &rate, &error), &error);
    assert_int_equal(taper_count_errors(labels, labels, N, 1 << 24, NULL, &rate, NULL), TAPER_OK);
}

static void try_rate_errors(void) {
    taper_error_rate rate = {.size = sizeof(taper_error_rate)};
    taper_error error = {0};
    refused(taper_rate_errors(1, 2, NULL, &error), &error);
    refused(taper_rate_errors(1, 2, &(taper_error_rate){0}, &error), &error);
    refused(taper_rate_errors(0, 0, &rate, &error), &error);
    EACH_NUMBER(n) {
        refused(taper_rate_errors(UINT64_MAX, (uint64_t)*n >> 1, &rate, &error), &error);
        assert_int_equal(taper_rate_errors(0, UINT64_MAX, &rate, NULL), TAPER_OK);
    }
    assert_true(rate.rate == 0 && rate.high < 1e-18);
}

static void try_balance_errors(void) {
    static const uint64_t none[N] = {0}, some[N] = {UINT64_MAX, 1, 1};
    taper_error_rate rate = {.size = sizeof(taper_error_rate)};
    taper_error error = {0};
    assert_int_equal(taper_balance_errors(none, some, N, &rate, NULL), TAPER_OK);
    refused(taper_balance_errors(NULL, some, N, &rate, &error), &error);
    refused(taper_balance_errors(none, NULL, N, &rate, &error), &error);
    refused(taper_balance_errors(none, some, N, NULL, &error), &error);
    refused(taper_balance_errors(none, some, N, &(taper_error_rate){0}, &error), &error);
    refused(taper_balance_errors(some, none, N, &rate, &error), &error);
    refused(taper_balance_errors(none, none, N, &rate, &error), &error);
    refused(taper_balance_errors(none, some, 0, &rate, &error), &error);
    refused(taper_balance_errors(none, some, UINT32_MAX, &rate, &error), &error);
}

static const argument_trial table[] = {
    {"taper_nearest", try_nearest},
    {"taper_vote", try_vote},
    {"taper_count_errors", try_count_errors},
    {"taper_rate_errors", try_rate_errors},
    {"taper_balance_errors", try_balance_errors},
};
enum { FUNCTIONS = sizeof table / sizeof *table };

static void every_function_is_tried(void **state) {
    (void)state;
    argument_table_is_complete("codec/taper_search.h", table, FUNCTIONS);
}

static void extremes_are_answered(void **state) {
    (void)state;
    argument_run_all(table, FUNCTIONS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_function_is_tried),
        cmocka_unit_test(extremes_are_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
