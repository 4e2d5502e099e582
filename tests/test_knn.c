/* test_knn.c -- nearest neighbours against their definition, bit for bit: on codes that are hard to
 * tell apart, for every k, cut of the work, backend and number of threads; on products that are as
 * wrong as they may be. Random codes come from a seed (printed; TAPER_TEST_SEED=n repeats a run).
 */
#include "codec/search/knn.h"
#include "codec/backend/backend.h"
#include "codec/backend/fused.h"
#include "codec/backend/plain.h"
#include "formats/status.h"
#include "tests/cmocka_all.h"
#include "train/sampling/philox.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t seed = 20071105, drawn;

static double uniform(void) { /* -1 .. 1 */
    uint32_t word[4];
    train_philox(seed, drawn++, 0, word);
    return (double)word[0] / 2147483648.0 - 1.0;
}
static size_t below(size_t n) { return (size_t)((uniform() + 1) / 2 * (double)n) % n; }

/* --- codes that are hard to tell apart ------------------------------------------------- */

typedef double number_fn(size_t row, size_t column);

static double scattered(size_t row, size_t column) { return (void)row, (void)column, uniform(); }
static double of_a_grid(size_t row, size_t column) {
    return (void)row, (void)column, round(1.4 * uniform());
}
static double far_away(size_t row, size_t column) {
    return (void)row, 1e6 * (double)(column + 1) + 8 * uniform();
}
static double in_clusters(size_t row, size_t column) {
    return cos((double)(row % 7 * 31 + column)) + 1e-4 * uniform();
}
static double copies(size_t row, size_t column) { return sin((double)(row % 5 + 9 * column)); }
static double all_one(size_t row, size_t column) { return (void)row, 3.25 + (double)column; }
static double nearer_and_nearer(size_t row, size_t column) {
    return column ? 0.0 : 1000.0 - 0.125 * (double)row;
}
static double farther_and_farther(size_t row, size_t column) {
    return column ? 0.0 : 0.125 * (double)row;
}
static double greatest(size_t row, size_t column) {
    return (void)row, (void)column, 3.4028234e38 * (uniform() < 0 ? -1 : 1) * (1 - below(3) * 1e-7);
}
static double smallest(size_t row, size_t column) {
    return (void)row, (void)column, 1.5e-45 * (double)below(4);
}
/* one number says where all are, the others who is near */
static double one_is_huge(size_t row, size_t column) {
    return (void)row, column ? 1e-3 * uniform() : 3e38;
}
/* so near beside two that are far that their products are too small for float32 */
static double two_are_far(size_t row, size_t column) {
    return (void)column, row < 2 ? (row ? 1 : -1) : 2e-22 * (1 + 0.1 * uniform());
}
static double of_many_sizes(size_t row, size_t column) {
    return (void)row, (void)column, ldexp(uniform(), (int)below(60) - 30);
}

static const struct {
    const char *name;
    number_fn *number;
} kinds[] = {{"scattered", scattered},
             {"of a grid", of_a_grid},
             {"far away", far_away},
             {"in clusters", in_clusters},
             {"copies", copies},
             {"all one", all_one},
             {"nearer and nearer", nearer_and_nearer},
             {"farther and farther", farther_and_farther},
             {"greatest", greatest},
             {"smallest", smallest},
             {"one is huge", one_is_huge},
             {"two are far", two_are_far},
             {"of many sizes", of_many_sizes}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static float *codes(size_t kind, size_t n, size_t width) {
    float *x = malloc((n * width + 1) * sizeof *x);
    assert_non_null(x);
    for (size_t i = 0; i < n * width; i++) x[i] = (float)kinds[kind].number(i / width, i % width);
    return x;
}

/* --- searches -------------------------------------------------------------------------- */

enum { BACKENDS = 4 };
static codec_backend backends[BACKENDS]; /* plain, 256 and 512 bits, and products that are wrong */
static size_t n_backends;

/* Products that are off by what a sum in float32 may be off by, up or down by chance. */
static taper_status wrong_gemm(codec_backend *be, int transpose_a, int transpose_b, size_t m,
                               size_t n, size_t k, const float *a, const float *b, float beta,
                               float *c) {
    (void)be, (void)transpose_a, (void)transpose_b, (void)beta;
    for (size_t i = 0; i < m; i++)
        for (size_t j = 0; j < n; j++) {
            double sum = 0, most = 0;
            for (size_t p = 0; p < k; p++) {
                sum += (double)a[i * k + p] * b[j * k + p];
                most += fabs((double)a[i * k + p] * b[j * k + p]);
            }
            const uint32_t chance = (uint32_t)(i * 2654435761u + j * 40503u + 12345u) * 2246822519u;
            c[i * n + j] = (float)(sum + (chance >> 31 ? 1 : -1) * (double)k * 0x1p-24 * most);
        }
    return TAPER_OK;
}
static const codec_backend_ops wrong_ops = {"wrong", wrong_gemm, codec_plain_bias};

static int open_backends(void **state) {
    (void)state;
    const char *given = getenv("TAPER_TEST_SEED");
    if (given) seed = strtoull(given, NULL, 10);
    printf("seed %llu\n", (unsigned long long)seed);
    codec_backend_plain(&backends[n_backends++]);
    for (unsigned bits = 256; bits <= 512; bits *= 2)
        if (codec_backend_fused(&backends[n_backends], bits) == TAPER_OK) n_backends++;
    backends[n_backends++] = (codec_backend){&wrong_ops, NULL, NULL, ""};
    return 0;
}

typedef struct found {
    uint32_t *neighbours;
    double *distances;
    size_t n;
} found;

static found room_for(const taper_search *s) {
    const size_t n = s->n_queries * s->k;
    found f = {malloc((n + 1) * sizeof *f.neighbours), malloc((n + 1) * sizeof *f.distances), n};
    assert_true(f.neighbours && f.distances);
    for (size_t i = 0; i <= n; i++) f.neighbours[i] = 0xdeadbeef, f.distances[i] = NAN;
    return f;
}
static void release(found f) {
    assert_true(f.neighbours[f.n] == 0xdeadbeef && isnan(f.distances[f.n]));
    free(f.neighbours), free(f.distances);
}

static void check_same(const found *got, const found *want, const char *what,
                       const codec_search_plan *p) {
    for (size_t i = 0; i < want->n; i++)
        if (got->neighbours[i] != want->neighbours[i] ||
            memcmp(&got->distances[i], &want->distances[i], sizeof(double)))
            fail_msg("%s, %s, %zu x %zu, %u threads: place %zu is reference %u at %.17g, not %u at "
                     "%.17g (seed %llu)",
                     what, p->backend->ops->name, p->rows, p->columns, p->threads, i,
                     got->neighbours[i], got->distances[i], want->neighbours[i], want->distances[i],
                     (unsigned long long)seed);
}

static void check_plan(const taper_search *s, const found *want, const char *what,
                       codec_search_plan plan) {
    taper_error e = {0};
    found got = room_for(s);
    taper_status status = codec_nearest(s, &plan, got.neighbours, got.distances, &e);
    if (status) fail_msg("%s: %s", what, e.text);
    check_same(&got, want, what, &plan);
    release(got);
}

/* Every backend, and cuts of which some do not divide anything. */
static void check_search(const taper_search *s, const char *what) {
    static const size_t cuts[][2] = {{1, 1}, {5, 64}, {64, 7}, {13, 200}, {1000, 1000}};
    found want = room_for(s);
    codec_nearest_plain(s, want.neighbours, want.distances);
    for (size_t b = 0; b < n_backends; b++)
        for (size_t c = 0; c < sizeof cuts / sizeof *cuts; c++) {
            if (c == 0 && b > 1) continue; /* slow, and the same in all */
            check_plan(s, &want, what,
                       (codec_search_plan){&backends[b], cuts[c][0], cuts[c][1], 1 + (c + b) % 3});
        }
    release(want);
}

/* --- tests ----------------------------------------------------------------------------- */

static void codes_are_told_apart(void **state) {
    (void)state;
    enum { N = 230, QUERIES = 37 };
    static const size_t widths[] = {1, 3, 30, 129}, ks[] = {1, 5, 17, N - 1};
    for (size_t kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; i < 4; i++) {
            float *references = codes(kind, N, widths[i]);
            float *queries = codes(kind, QUERIES, widths[i]);
            taper_search s = {.size = sizeof(taper_search),
                              .references = references,
                              .n_references = N,
                              .width = widths[i]};
            s.k = ks[(i + kind) % 4], s.queries = queries, s.n_queries = QUERIES;
            check_search(&s, kinds[kind].name);
            s.k = ks[(i + kind + 1) % 4], s.queries = NULL;
            s.first = kind % 2 ? 0 : 190, s.n_queries = kind % 2 ? N : N - 190;
            check_search(&s, kinds[kind].name);
            free(references), free(queries);
        }
}

/* Queries far from all references, or references far from each other and queries among them. */
static void queries_are_of_another_kind(void **state) {
    (void)state;
    enum { N = 150, QUERIES = 20, WIDTH = 12 };
    for (size_t kind = 0; kind < KINDS * KINDS; kind++) {
        float *references = codes(kind / KINDS, N, WIDTH);
        float *queries = codes(kind % KINDS, QUERIES, WIDTH);
        taper_search s = {sizeof(taper_search), references, N, queries, QUERIES, 0, WIDTH,
                          1 + kind % 9,         0};
        found want = room_for(&s);
        codec_nearest_plain(&s, want.neighbours, want.distances);
        for (size_t b = 0; b < n_backends; b++)
            check_plan(&s, &want, kinds[kind / KINDS].name,
                       (codec_search_plan){&backends[b], 8, 100, 1});
        release(want);
        free(references), free(queries);
    }
}

static void every_k(void **state) {
    (void)state;
    enum { N = 41, WIDTH = 4 };
    float *references = codes(1, N, WIDTH), *queries = codes(1, 9, WIDTH);
    for (size_t k = 1; k <= N; k++) {
        taper_search s = {sizeof(taper_search), references, N, queries, 9, 0, WIDTH, k, 1};
        check_search(&s, "every k");
        s.queries = NULL, s.n_queries = N;
        if (k < N) check_search(&s, "every k, leave-one-out");
    }
    free(references), free(queries);
}

/* The public function, in more than one block and tile. */
static void any_number_of_threads(void **state) {
    (void)state;
    enum { N = 2300, WIDTH = 7, K = 6 };
    float *references = codes(3, N, WIDTH);
    taper_search s = {.size = sizeof(taper_search),
                      .references = references,
                      .n_references = N,
                      .width = WIDTH,
                      .k = K};
    s.n_queries = N;
    found want = room_for(&s);
    codec_nearest_plain(&s, want.neighbours, want.distances);
    static const unsigned threads[] = {0, 1, 2, 3, 16, 300};
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        found got = room_for(&s);
        taper_error e = {0};
        s.threads = threads[i];
        codec_search_plan plan = codec_search_plan_of(&s);
        plan.backend = &backends[0];
        assert_int_equal(taper_nearest(&s, got.neighbours, got.distances, &e), TAPER_OK);
        check_same(&got, &want, "threads", &plan);
        release(got);
    }
    release(want);
    free(references);
}

/* Products say of each tile's first reference that it is far. It is believed: what is ruled out is
 * not measured, by what its tile holds or by what was found before. */
static taper_status lying_gemm(codec_backend *be, int transpose_a, int transpose_b, size_t m,
                               size_t n, size_t k, const float *a, const float *b, float beta,
                               float *c) {
    TAPER_TRY(codec_plain_gemm(be, transpose_a, transpose_b, m, n, k, a, b, beta, c));
    for (size_t i = 0; i < m; i++) c[i * n] = 1e30f;
    return TAPER_OK;
}

static void what_is_ruled_out_is_not_measured(void **state) {
    (void)state;
    enum { N = 64, TILE = 16, K = 3, QUERIES = 5, WIDTH = 6 };
    const codec_backend_ops ops = {"lying", lying_gemm, codec_plain_bias};
    codec_backend be = {&ops, NULL, NULL, ""};
    float *references = codes(0, N, WIDTH), *told = codes(0, N, WIDTH);
    float *queries = codes(0, QUERIES, WIDTH);
    for (size_t i = 0; i < QUERIES * WIDTH; i++) queries[i] *= 0.01f;
    for (size_t i = 0; i < N * WIDTH; i++) {
        const int first = i / WIDTH % TILE == 0; /* of its tile: near to all, and told to be far */
        told[i] = first ? 1e6f : references[i];
        if (first) references[i] = 0;
    }
    taper_search s = {sizeof(taper_search), told, N, queries, QUERIES, 0, WIDTH, K, 1};
    found want = room_for(&s);
    codec_nearest_plain(&s, want.neighbours, want.distances);
    s.references = references;
    check_plan(&s, &want, "lies", (codec_search_plan){&be, QUERIES, TILE, 1});
    release(want);
    free(references), free(told), free(queries);
}

/* By hand: points of a line, and itself left out though its copy is not. */
static void neighbours_of_a_line(void **state) {
    (void)state;
    const float line[] = {0, 1, 3, 1, 6}, at[] = {2};
    uint32_t neighbours[10];
    double distances[10];
    taper_search s = {sizeof(taper_search), line, 5, at, 1, 0, 1, 5, 1};
    assert_int_equal(taper_nearest(&s, neighbours, distances, NULL), TAPER_OK);
    assert_memory_equal(neighbours, ((uint32_t[]){1, 2, 3, 0, 4}), 5 * sizeof *neighbours);
    assert_memory_equal(distances, ((double[]){1, 1, 1, 4, 16}), 5 * sizeof *distances);
    s.queries = NULL, s.n_queries = 2, s.first = 3, s.k = 2;
    assert_int_equal(taper_nearest(&s, neighbours, distances, NULL), TAPER_OK);
    assert_memory_equal(neighbours, ((uint32_t[]){1, 0, 2, 1}), 4 * sizeof *neighbours);
    assert_memory_equal(distances, ((double[]){0, 1, 9, 25}), 4 * sizeof *distances);
    s.n_queries = 0;
    assert_int_equal(taper_nearest(&s, neighbours, distances, NULL), TAPER_OK);
}

static void bad_searches_are_named(void **state) {
    (void)state;
    float references[] = {0, 1, 2, 3, 4, 5}, queries[] = {1, 2, 3, 4};
    uint32_t neighbours[8];
    double distances[8];
    const taper_search good = {sizeof(taper_search), references, 3, queries, 2, 0, 2, 3, 1};
    taper_error e = {0};
#define REFUSED(status, words, ...)                                             \
    do {                                                                        \
        taper_search s = good;                                                  \
        __VA_ARGS__;                                                            \
        assert_int_equal(taper_nearest(&s, neighbours, distances, &e), status); \
        assert_non_null(strstr(e.text, words));                                 \
    } while (0)
    REFUSED(TAPER_ERR_ARG, "k is 1 to 3", s.k = 0);
    REFUSED(TAPER_ERR_ARG, "4 neighbours of 3 references: k is 1 to 3", s.k = 4);
    REFUSED(TAPER_ERR_ARG, "k is 1 to 2", s.queries = NULL);
    REFUSED(TAPER_ERR_ARG, "2 queries from 2 on", s.queries = NULL, s.first = 2);
    REFUSED(TAPER_ERR_ARG, "queries from 18446744073709551615 on", s.queries = NULL,
            s.first = SIZE_MAX);
    REFUSED(TAPER_ERR_ARG, "NULL", s.references = NULL);
    REFUSED(TAPER_ERR_ARG, "nothing to search in", s.n_references = 0);
    REFUSED(TAPER_ERR_ARG, "nothing to search in", s.width = 0);
    REFUSED(TAPER_ERR_LIMIT, "wider than 2^20", s.width = (1u << 20) + 1);
    REFUSED(TAPER_ERR_LIMIT, "more than 2^32 - 1", s.n_references = (size_t)1 << 32);
    queries[3] = INFINITY;
    REFUSED(TAPER_ERR_ARG, "query 1: number 1 of the code is inf", (void)0);
    references[4] = NAN;
    REFUSED(TAPER_ERR_ARG, "reference 2: number 0 of the code is ", (void)0);
    references[4] = -INFINITY;
    REFUSED(TAPER_ERR_ARG, "reference 2: number 0 of the code is -inf", s.queries = NULL, s.k = 2);
#undef REFUSED
    assert_int_equal(taper_nearest(&good, NULL, distances, &e), TAPER_ERR_ARG);
    assert_int_equal(taper_nearest(&good, neighbours, NULL, &e), TAPER_ERR_ARG);
}

/* What codec/taper_search.h says of memory. */
static void memory_is_bounded(void **state) {
    (void)state;
    static const unsigned most[][2] = {{1, 30}, {16, 30}, {256, 300}, {2, 784}, {16, 2000}};
    for (size_t i = 0; i < sizeof most / sizeof *most; i++)
        for (size_t width = 1; width <= most[i][1]; width += width < 64 ? 1 : 61) {
            const taper_search s = {.size = sizeof(taper_search),
                                    .n_references = 1000000,
                                    .queries = (const float *)&s,
                                    .n_queries = 10000,
                                    .width = width,
                                    .k = 5,
                                    .threads = most[i][0]};
            const codec_search_plan plan = codec_search_plan_of(&s);
            if (!(codec_search_bytes(&plan, width) <= (uint64_t)64 << 20))
                fail_msg("%u threads, width %zu: %zu x %zu", most[i][0], width, plan.rows,
                         plan.columns);
            assert_true(plan.threads == most[i][0] && plan.rows * plan.threads <= 10255);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_of_a_line),
        cmocka_unit_test(codes_are_told_apart),
        cmocka_unit_test(every_k),
        cmocka_unit_test(queries_are_of_another_kind),
        cmocka_unit_test(any_number_of_threads),
        cmocka_unit_test(bad_searches_are_named),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(what_is_ruled_out_is_not_measured),
    };
    return cmocka_run_group_tests(tests, open_backends, NULL);
}
