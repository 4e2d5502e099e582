/* test_ranks.c -- sums over ranks, which are threads of this test (train/parallel/ranks.h). */
#include "cmocka_all.h"
#include "train/parallel/ranks.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 5 };

/* Threads show each other their arrays between two barriers. */
static struct {
    pthread_barrier_t barrier;
    const char *shown[MOST];
} hall;

typedef struct member {
    uint32_t rank, size;
    int failed;
} member;

static taper_status exchange(void *state, const void *to, void *from, size_t bytes,
                             taper_error *error) {
    const member *m = state;
    (void)error;
    hall.shown[m->rank] = to;
    pthread_barrier_wait(&hall.barrier);
    for (uint32_t r = 0; r < m->size; r++)
        memcpy((char *)from + r * bytes, hall.shown[r] + m->rank * bytes, bytes);
    pthread_barrier_wait(&hall.barrier);
    return TAPER_OK;
}

static taper_status gather(void *state, const void *mine, void *all, size_t bytes,
                           taper_error *error) {
    const member *m = state;
    (void)error;
    hall.shown[m->rank] = mine;
    pthread_barrier_wait(&hall.barrier);
    for (uint32_t r = 0; r < m->size; r++) memcpy((char *)all + r * bytes, hall.shown[r], bytes);
    pthread_barrier_wait(&hall.barrier);
    return TAPER_OK;
}

static taper_status broadcast(void *state, void *data, size_t bytes, uint32_t root,
                              taper_error *error) {
    const member *m = state;
    (void)error;
    hall.shown[m->rank] = data;
    pthread_barrier_wait(&hall.barrier);
    if (m->rank != root) memcpy(data, hall.shown[root], bytes);
    pthread_barrier_wait(&hall.barrier);
    return TAPER_OK;
}

static const train_transport transport = {exchange, gather, broadcast};

/* Of rank r, numbers whose sum depends on its order. */
static float number(uint32_t r, size_t i) {
    return (float)(i % 97 + 1) * (r % 2 ? 1.0e-4f : 3.0f) * (float)(r + 1);
}

static int sums_are_right(train_ranks *ranks, size_t n) {
    float *x = malloc(n * sizeof *x + 1);
    int right = x != NULL;
    for (size_t i = 0; i < n && right; i++) x[i] = number(ranks->rank, i);
    right = right && train_sum_floats(ranks, x, n, NULL) == TAPER_OK;
    for (size_t i = 0; i < n && right; i++) {
        float sum = number(0, i);
        for (uint32_t r = 1; r < ranks->size; r++) sum += number(r, i);
        right = x[i] == sum;
    }
    free(x);
    return right;
}

static int others_are_right(train_ranks *ranks) {
    uint64_t count[3] = {ranks->rank, 1, UINT64_MAX}, all[MOST];
    double half[2] = {0.5, ranks->rank};
    uint8_t bytes[300] = {0};
    const uint32_t n = ranks->size;
    uint64_t word = 7 + ranks->rank;
    bytes[ranks->rank] = 255, bytes[299 - ranks->rank] = (uint8_t)ranks->rank;
    if (train_sum_integers(ranks, count, 3, NULL) || train_sum_doubles(ranks, half, 2, NULL) ||
        train_sum_bytes(ranks, bytes, sizeof bytes, NULL) ||
        train_gather(ranks, &word, all, sizeof word, NULL) ||
        train_broadcast(ranks, &word, sizeof word, n - 1, NULL))
        return 0;
    for (uint32_t r = 0; r < n; r++)
        if (bytes[r] != 255 || bytes[299 - r] != r || all[r] != 7 + r) return 0;
    return count[0] == n * (n - 1) / 2 && count[1] == n && count[2] == 0 - (uint64_t)n &&
           half[0] == 0.5 * n && half[1] == (double)(n * (n - 1) / 2) && word == 6 + n;
}

static void *run(void *context) {
    static const size_t sizes[] = {0, 1, 2, 3, 1000, (1 << 18) - 1, (1 << 18) + 1, 600001};
    member *m = context;
    train_ranks ranks = {.rank = m->rank, .size = m->size, .transport = &transport, .state = m};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        m->failed |= !sums_are_right(&ranks, sizes[i]);
    m->failed |= !others_are_right(&ranks);
    train_ranks_free(&ranks);
    return NULL;
}

static void sums_are_in_the_order_of_ranks(void **state) {
    (void)state;
    for (uint32_t n = 1; n <= MOST; n++) {
        pthread_t thread[MOST];
        member m[MOST];
        pthread_barrier_init(&hall.barrier, NULL, n);
        for (uint32_t r = 0; r < n; r++) {
            m[r] = (member){r, n, 0};
            assert_int_equal(pthread_create(&thread[r], NULL, run, &m[r]), 0);
        }
        for (uint32_t r = 0; r < n; r++) pthread_join(thread[r], NULL);
        for (uint32_t r = 0; r < n; r++) assert_int_equal(m[r].failed, 0);
        pthread_barrier_destroy(&hall.barrier);
    }
}

static void one_process_is_no_ranks(void **state) {
    (void)state;
    float x = 3;
    uint64_t all = 0, mine = 9;
    assert_int_equal(train_sum_floats(NULL, &x, 1, NULL), TAPER_OK);
    assert_int_equal(train_gather(NULL, &mine, &all, sizeof all, NULL), TAPER_OK);
    assert_int_equal(train_broadcast(NULL, &mine, sizeof mine, 0, NULL), TAPER_OK);
    assert_true(x == 3 && all == 9 && mine == 9);
    assert_int_equal(train_is_first(NULL), 1);
    assert_int_equal(train_rank_count(NULL), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums_are_in_the_order_of_ranks),
                                       cmocka_unit_test(one_process_is_no_ranks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
