/* test_backend.c -- every backend operation x shape x backend against `plain`, and `plain` against
 * double.
 *
 * Inputs come from a seeded generator (printed; TAPER_TEST_SEED=n repeats a run). Outputs are
 * filled with NaN and ringed with canaries before each call. */
#include "codec/backend/fused.h"
#include "codec/backend/plain.h"
#include "codec/backend/backend.h"
#include "codec/backend/pool.h"
#include "train/sampling/philox.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static uint64_t seed = 20140201;
static uint64_t drawn;

static float uniform(void) { /* -1 .. 1 */
    uint32_t word[4];
    train_philox(seed, drawn++, 0, word);
    return (float)((double)word[0] / 2147483648.0 - 1.0);
}

/* --- buffers with canaries -------------------------------------------------------------------- */

enum { RING = 16 };
static const float canary = -12345.5f;

static float *buffer(size_t n) {
    float *p = malloc((n + 2 * RING) * sizeof *p);
    assert_non_null(p);
    for (size_t i = 0; i < n + 2 * RING; i++) p[i] = i < RING || i >= n + RING ? canary : NAN;
    return p + RING;
}

static float *random_buffer(size_t n) {
    float *p = buffer(n);
    for (size_t i = 0; i < n; i++) p[i] = uniform();
    return p;
}

static float *copy_of(const float *x, size_t n) {
    float *p = buffer(n);
    for (size_t i = 0; i < n; i++) p[i] = x[i];
    return p;
}

static void release(float *p, size_t n) {
    for (size_t i = 0; i < RING; i++) {
        if (p[-1 - (ptrdiff_t)i] != canary || p[n + i] != canary)
            fail_msg("canary overwritten, seed %llu", (unsigned long long)seed);
    }
    free(p - RING);
}

static void check_close(const char *op, const char *where, const float *got, const float *want,
                        size_t n, double tolerance) {
    for (size_t i = 0; i < n; i++)
        if (!(fabs((double)got[i] - want[i]) <= tolerance))
            fail_msg("%s %s: element %zu is %g, expected %g (tolerance %g, seed %llu)", op, where,
                     i, got[i], want[i], tolerance, (unsigned long long)seed);
}

static void check_same(const char *op, const char *where, const float *got, const float *want,
                       size_t n) {
    if (memcmp(got, want, n * sizeof *got))
        fail_msg("%s %s: results differ in their bits (seed %llu)", op, where,
                 (unsigned long long)seed);
}

/* --- the backends: plain and fused, with and without threads ---------------------------------- */

typedef struct candidate {
    char name[32];
    codec_backend be;
} candidate;
static candidate candidates[6];
static size_t n_candidates;
static codec_backend plain;

static int open_all(void **state) {
    (void)state;
    const char *given = getenv("TAPER_TEST_SEED");
    if (given) seed = strtoull(given, NULL, 10);
    printf("seed %llu\n", (unsigned long long)seed);
    codec_backend_plain(&plain);
    for (int threads = 1; threads <= 3; threads += 2)
        for (unsigned kind = 0; kind < 3; kind++) {
            candidate *c = &candidates[n_candidates];
            taper_status status =
                kind ? codec_backend_fused(&c->be, 256 * kind) : codec_backend_plain(&c->be);
            if (status == TAPER_ERR_UNSUPPORTED) {
                printf("skipped: no fused multiply-adds in this build or processor\n");
                continue;
            }
            if (status != TAPER_OK ||
                codec_backend_set_threads(&c->be, (unsigned)threads) != TAPER_OK)
                return -1;
            snprintf(c->name, sizeof c->name, "%s %u, %d threads", c->be.ops->name, 256 * kind,
                     threads);
            n_candidates++;
        }
    return 0;
}

static int close_all(void **state) {
    (void)state;
    for (size_t i = 0; i < n_candidates; i++) codec_backend_close(&candidates[i].be);
    return 0;
}

/* --- gemm ------------------------------------------------------------------------------------- */

static const size_t shapes[][3] = {{1, 1, 1},      {1, 1, 64},     {1, 33, 7},     {3, 1, 5},
                                   {7, 31, 33},    {17, 32, 64},   {64, 65, 2},    {127, 5, 9},
                                   {128, 300, 41}, {33, 257, 129}, {260, 70, 130}, {5, 3, 0},
                                   {20, 40, 385},  {9, 33, 769},   {13, 50, 1024}};

static double element(const float *x, int transposed, size_t rows, size_t columns, size_t i,
                      size_t j) {
    return transposed ? x[j * rows + i] : x[i * columns + j];
}

static void gemm_in_double(int ta, int tb, const size_t *s, const float *a, const float *b,
                           float beta, float *c) {
    for (size_t i = 0; i < s[0]; i++)
        for (size_t j = 0; j < s[1]; j++) {
            double sum = beta == 0.0f ? 0.0 : (double)beta * c[i * s[1] + j];
            for (size_t p = 0; p < s[2]; p++)
                sum += element(a, ta, s[0], s[2], i, p) * element(b, tb, s[2], s[1], p, j);
            c[i * s[1] + j] = (float)sum;
        }
}

static void one_gemm(codec_backend *be, const char *name, const size_t *s, int ta, int tb,
                     float beta) {
    char where[160];
    snprintf(where, sizeof where, "%.32s, %zux%zux%zu, ta %d tb %d beta %g", name, s[0], s[1], s[2],
             ta, tb, beta);
    size_t nc = s[0] * s[1];
    float *a = random_buffer(s[0] * s[2]), *b = random_buffer(s[2] * s[1]);
    float *c = beta == 0.0f ? buffer(nc) : random_buffer(nc), *want = copy_of(c, nc);
    assert_int_equal(be->ops->gemm(be, ta, tb, s[0], s[1], s[2], a, b, beta, c), TAPER_OK);
    gemm_in_double(ta, tb, s, a, b, beta, want);
    check_close("gemm", where, c, want, nc, 1e-6 * (double)(s[2] + 2));
    release(a, s[0] * s[2]), release(b, s[2] * s[1]), release(c, nc), release(want, nc);
}

static void gemm_equals_double(void **state) {
    (void)state;
    for (size_t i = 0; i < n_candidates; i++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            for (int t = 0; t < 4; t++)
                for (int b = 0; b < 3; b++)
                    one_gemm(&candidates[i].be, candidates[i].name, shapes[s], t & 1, t >> 1,
                             (float)b * 0.5f);
}

/* Shapes large enough to be cut into blocks: one thread and three give the same bits. */
static void gemm_same_for_all_threads(void **state) {
    (void)state;
    static const size_t large[][3] = {{300, 700, 40}, {1000, 300, 30}, {130, 1030, 257}};
    for (size_t i = 0; i < n_candidates; i++)
        for (size_t s = 0; s < 3; s++) {
            const size_t m = large[s][0], n = large[s][1], k = large[s][2];
            codec_backend serial = candidates[i].be;
            serial.pool = NULL;
            float *a = random_buffer(m * k), *b = random_buffer(n * k), *c = buffer(m * n),
                  *want = buffer(m * n);
            assert_int_equal(serial.ops->gemm(&serial, 0, 1, m, n, k, a, b, 0.0f, want), TAPER_OK);
            for (int again = 0; again < 3; again++) {
                codec_backend *be = &candidates[i].be;
                assert_int_equal(be->ops->gemm(be, 0, 1, m, n, k, a, b, 0.0f, c), TAPER_OK);
                check_same("gemm", candidates[i].name, c, want, m * n);
            }
            release(a, m * k), release(b, n * k), release(c, m * n), release(want, m * n);
        }
}

/* NaN in an input reaches the output: nothing is skipped for being multiplied by 0. */
static void gemm_passes_nan_on(void **state) {
    (void)state;
    for (size_t i = 0; i < n_candidates; i++) {
        codec_backend *be = &candidates[i].be;
        float a[4] = {NAN, 0, 1, 1}, b[4] = {0, 1, 0, 1}, c[4];
        assert_int_equal(be->ops->gemm(be, 0, 0, 2, 2, 2, a, b, 0.0f, c), TAPER_OK);
        assert_true(isnan(c[0]) && isnan(c[1]) && c[2] == 0.0f && c[3] == 2.0f);
    }
}

/* Every entry is the sum of its parts, each by fused multiply-adds in ascending order, to the bit:
 * for every kernel, and so on every machine that has one. */
static void gemm_fused_sums_as_defined(void **state) {
    (void)state;
    static const size_t deep[][3] = {{9, 33, 384}, {8, 5, 385},    {20, 64, 385}, {17, 32, 767},
                                     {3, 40, 768}, {10, 70, 1024}, {16, 33, 1600}};
    for (size_t i = 0; i < n_candidates; i++)
        for (size_t s = 0; s < 4 * sizeof deep / sizeof *deep; s++) {
            codec_backend *be = &candidates[i].be;
            if (strcmp(be->ops->name, "fused")) continue;
            const size_t m = deep[s / 4][0], n = deep[s / 4][1], k = deep[s / 4][2];
            int ta = s & 1, tb = (s & 2) != 0;
            float *a = random_buffer(m * k), *b = random_buffer(n * k), *c = random_buffer(m * n),
                  *want = copy_of(c, m * n);
            for (size_t e = 0; e < m * n; e++) {
                size_t left = k, p = 0;
                for (size_t end; left; left = k - end) {
                    size_t part = left >= 768 ? 384 : left > 384 ? (left + 1) / 2 : left;
                    float sum = 0;
                    for (end = p + part; p < end; p++)
                        sum = fmaf((float)element(a, ta, m, k, e / n, p),
                                   (float)element(b, tb, k, n, p, e % n), sum);
                    want[e] += sum;
                }
            }
            assert_int_equal(be->ops->gemm(be, ta, tb, m, n, k, a, b, 1.0f, c), TAPER_OK);
            check_same("gemm", candidates[i].name, c, want, m * n);
            release(a, m * k), release(b, n * k), release(c, m * n), release(want, m * n);
        }
}

/* A row among others and by itself: the same bits. */
static void gemm_row_does_not_depend_on_others(void **state) {
    (void)state;
    enum { M = 131, N = 77, K = 400 };
    for (size_t i = 0; i < n_candidates; i++) {
        codec_backend *be = &candidates[i].be;
        float *a = random_buffer(M * K), *b = random_buffer(N * K), *c = buffer(M * N),
              *alone = buffer(N);
        assert_int_equal(be->ops->gemm(be, 0, 1, M, N, K, a, b, 0.0f, c), TAPER_OK);
        for (size_t row = 0; row < M; row += 13) {
            assert_int_equal(be->ops->gemm(be, 0, 1, 1, N, K, a + row * K, b, 0.0f, alone),
                             TAPER_OK);
            check_same("gemm", candidates[i].name, alone, c + row * N, N);
        }
        release(a, M * K), release(b, N * K), release(c, M * N), release(alone, N);
    }
}

/* --- bias and activation ---------------------------------------------------------------------- */

static const size_t areas[][2] = {{1, 1}, {1, 65}, {7, 3}, {33, 64}, {70, 129}, {257, 31}};
enum { N_AREAS = sizeof areas / sizeof *areas };

static void one_bias(codec_backend *be, const char *name, size_t rows, size_t width, int with_bias,
                     codec_activation activation) {
    size_t n = rows * width;
    float *bias = random_buffer(width), *y = random_buffer(n), *want = copy_of(y, n);
    assert_int_equal(be->ops->bias(be, rows, width, with_bias ? bias : NULL, activation, y),
                     TAPER_OK);
    for (size_t i = 0; i < n; i++) {
        float v = want[i] + (with_bias ? bias[i % width] : 0.0f);
        want[i] = activation == CODEC_RELU && v < 0.0f ? 0.0f : v;
    }
    check_close("bias", name, y, want, n, 0.0);

    release(bias, width), release(y, n), release(want, n);
}

static void bias_equals_definition(void **state) {
    (void)state;
    for (size_t i = 0; i < n_candidates; i++)
        for (size_t s = 0; s < N_AREAS; s++)
            for (int t = 0; t < 4; t++)
                one_bias(&candidates[i].be, candidates[i].name, areas[s][0], areas[s][1], t & 1,
                         t & 2 ? CODEC_RELU : CODEC_LINEAR);
}

static double logistic(double x) { return 1.0 / (1.0 + exp(-x)); }

static void logistic_equals_double(void **state) {
    (void)state;
    for (size_t i = 0; i < n_candidates; i++)
        for (size_t s = 0; s < N_AREAS; s++) {
            codec_backend *be = &candidates[i].be;
            size_t rows = areas[s][0], width = areas[s][1], n = rows * width;
            float *bias = random_buffer(width), *y = random_buffer(n);
            for (size_t j = 0; j < n; j++) y[j] *= (float)(1 + j % 90); /* both ends, too */
            float *want = copy_of(y, n);
            be->ops->bias(be, rows, width, bias, CODEC_LOGISTIC, y);
            for (size_t j = 0; j < n; j++) {
                double exact = logistic((double)(want[j] + bias[j % width]));
                assert_true(fabs(y[j] - exact) <= 3e-7 * exact + 1.7e-38);
                want[j] = (float)exact;
            }
            release(bias, width), release(y, n), release(want, n);
        }
}

static void logistic_saturates_and_keeps_nan(void **state) {
    (void)state;
    for (size_t i = 0; i < n_candidates; i++) {
        codec_backend *be = &candidates[i].be;
        float y[] = {NAN,   INFINITY, -INFINITY, 3e38f, -3e38f, 0.0f,   -0.0f,
                     88.0f, -88.0f,   -86.9f,    -NAN,  17.5f,  1e-38f, -87.0f};
        enum { SIZE = sizeof y / sizeof *y };
        be->ops->bias(be, 1, SIZE, NULL, CODEC_LOGISTIC, y);
        assert_true(isnan(y[0]) && y[1] == 1.0f && y[2] == 0.0f && y[3] == 1.0f && y[4] == 0.0f);
        assert_true(y[5] == 0.5f && y[6] == 0.5f && y[7] == 1.0f && y[8] == 0.0f && isnan(y[10]));
        assert_true(y[9] > 1e-38f && y[9] < 2e-38f && y[12] == 0.5f && y[13] > 1e-38f);
    }
}

static void relu_keeps_nan(void **state) {
    (void)state;
    for (size_t i = 0; i < n_candidates; i++) {
        float y[3] = {NAN, -1.0f, 2.0f};
        candidates[i].be.ops->bias(&candidates[i].be, 1, 3, NULL, CODEC_RELU, y);
        assert_true(isnan(y[0]) && y[1] == 0.0f && y[2] == 2.0f);
    }
}

/* --- the pool --------------------------------------------------------------------------------- */

static void count_block(void *context, size_t block) {
    atomic_fetch_add((atomic_int *)context + block, 1);
}

static void pool_runs_each_block_once(void **state) {
    (void)state;
    static atomic_int count[500];
    for (unsigned threads = 1; threads <= 4; threads++) {
        codec_pool *pool = NULL;
        assert_int_equal(codec_pool_create(&pool, threads), TAPER_OK);
        assert_int_equal(codec_pool_threads(pool), threads);
        for (size_t blocks = 0; blocks <= 500; blocks += blocks < 5 ? 1 : 99) {
            memset(count, 0, sizeof count);
            codec_pool_run(pool, count_block, count, blocks);
            for (size_t i = 0; i < 500; i++) assert_int_equal(atomic_load(&count[i]), i < blocks);
        }
        codec_pool_destroy(pool);
    }
    assert_true(codec_pool_cores() >= 1);
}

static void cpu_backend_says_what_it_is(void **state) {
    (void)state;
    codec_backend be;
    codec_backend_cpu(&be);
    assert_non_null(be.ops);
    assert_true(strlen(be.kernels) > 0);
    printf("kernels: %s\n", be.kernels);
    codec_backend_close(&be);
    assert_null(be.ops);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gemm_equals_double),
        cmocka_unit_test(gemm_same_for_all_threads),
        cmocka_unit_test(gemm_passes_nan_on),
        cmocka_unit_test(gemm_fused_sums_as_defined),
        cmocka_unit_test(gemm_row_does_not_depend_on_others),
        cmocka_unit_test(bias_equals_definition),
        cmocka_unit_test(relu_keeps_nan),
        cmocka_unit_test(logistic_equals_double),
        cmocka_unit_test(logistic_saturates_and_keeps_nan),
        cmocka_unit_test(pool_runs_each_block_once),
        cmocka_unit_test(cpu_backend_says_what_it_is),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
