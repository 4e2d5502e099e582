/* test_index_join.c -- several open indexes as one give what the index merged of them gives: codes,
 * labels, neighbours, neighbourhoods, ranks; a thousand parts; parts that do not fit together. */
#include "codec/taper_index.h"
#include "cmocka_all.h"
#include "infos.h"
#include "tiny_index.h"

enum { BITS = 130, WORDS = 3, MOST_PARTS = 1000 };

typedef struct parts {
    formats_buffer bytes[MOST_PARTS], merged_bytes;
    taper_index *part[MOST_PARTS];
    taper_index *joined, *merged;
    size_t n;
} parts;

static taper_index *join(taper_index *const *part, size_t n) {
    taper_index *joined;
    taper_error error = {0};
    if (taper_index_join(&joined, (const taper_index *const *)part, n, NULL, &error))
        fail_msg("%s", error.text);
    return joined;
}

/* n parts of drawn sizes, 1 and more. `merged` is what taper_index_merge makes, or of more than 256
 * parts the index of the whole set. */
static void open_parts(parts *p, const tiny_set *t, size_t n) {
    p->n = n;
    for (size_t i = 0, first = 0; i < n; i++) {
        const size_t left = t->set.n - first - (n - 1 - i);
        const size_t most = left < 2 * t->set.n / n ? left : 2 * t->set.n / n;
        const size_t size = i + 1 == n ? left : 1 + bits_below(most);
        const taper_index_set set = tiny_part(&t->set, first, size);
        p->bytes[i] = tiny_build(&set, 1);
        p->part[i] = tiny_open(&p->bytes[i]);
        first += size;
    }
    p->merged_bytes = formats_buffer_make(FORMATS_MOST_BYTES);
    const taper_sink sink = tiny_sink(&p->merged_bytes);
    if (n <= 256)
        assert_int_equal(taper_index_merge((const taper_index *const *)p->part, n, &sink, NULL),
                         TAPER_OK);
    else
        p->merged_bytes = tiny_build(&t->set, 1);
    p->merged = tiny_open(&p->merged_bytes);
    p->joined = join(p->part, n);
}

static void close_parts(parts *p) {
    taper_index_close(p->joined), taper_index_close(p->merged);
    for (size_t i = 0; i < p->n; i++)
        taper_index_close(p->part[i]), formats_buffer_free(&p->bytes[i]);
    formats_buffer_free(&p->merged_bytes);
}

static void check_contents(const parts *p) {
    const taper_index_info a = info_of_index(p->joined), b = info_of_index(p->merged);
    assert_true(a.images == b.images && a.model_id == b.model_id && a.bits == b.bits);
    assert_true(a.classes == b.classes && a.is_weighted == b.is_weighted);
    assert_true(a.has_names == b.has_names && a.has_labels == b.has_labels);
    assert_true(a.code_bytes == b.code_bytes && a.other_bytes == b.other_bytes);
    assert_int_equal(taper_index_check(p->joined, NULL), TAPER_OK);
    for (uint32_t k = 0; k < a.classes; k++)
        assert_string_equal(taper_index_class_name(p->joined, k),
                            taper_index_class_name(p->merged, k));
    for (uint64_t i = 0; i < a.images; i++) {
        uint64_t x[WORDS], y[WORDS];
        assert_int_equal(taper_index_label(p->joined, i), taper_index_label(p->merged, i));
        if (a.has_names)
            assert_string_equal(taper_index_name(p->joined, i), taper_index_name(p->merged, i));
        else
            assert_null(taper_index_name(p->joined, i));
        assert_int_equal(taper_index_code(p->joined, i, x), taper_index_code(p->merged, i, y));
        assert_memory_equal(x, y, sizeof x);
    }
    assert_int_equal(taper_index_code(p->joined, a.images, (uint64_t[WORDS]){0}), UINT32_MAX);
    assert_null(taper_index_name(p->joined, a.images));
    assert_int_equal(taper_index_label(p->joined, a.images), -1);
}

enum { QUERIES = 20, MOST_K = 60 };

static void check_nearest(const parts *p, const taper_index_search *search) {
    static uint32_t image[2][QUERIES * MOST_K], distance[2][QUERIES * MOST_K];
    const size_t bytes = QUERIES * search->k * sizeof **image;
    uint64_t looked_at[QUERIES] = {0};
    taper_error error = {0};
    if (taper_index_nearest(p->joined, search, image[0], distance[0], looked_at, &error))
        fail_msg("%s", error.text);
    assert_int_equal(taper_index_nearest(p->merged, search, image[1], distance[1], NULL, NULL), 0);
    assert_memory_equal(image[0], image[1], bytes);
    assert_memory_equal(distance[0], distance[1], bytes);
    for (size_t i = 0; i < QUERIES; i++) assert_true(looked_at[i] >= p->n);
    float margins[QUERIES * BITS];
    for (size_t j = 0; j < QUERIES * BITS; j++) margins[j] = (float)bits_below(1000);
    const taper_index_ranking rank = {sizeof rank, search->queries, margins, QUERIES, search->k};
    assert_int_equal(taper_index_rank(p->joined, &rank, image[0], distance[0], NULL), TAPER_OK);
    assert_int_equal(taper_index_rank(p->merged, &rank, image[1], distance[1], NULL), TAPER_OK);
    assert_memory_equal(image[0], image[1], bytes);
    assert_memory_equal(distance[0], distance[1], bytes);
}

static void check_neighbourhoods(const parts *p, const uint64_t *query, const uint32_t *known) {
    const size_t n = info_of_index(p->merged).images;
    for (size_t i = 0; i < QUERIES; i++) {
        taper_index_range a = {.size = sizeof a}, b = {.size = sizeof b};
        const size_t least = i ? 1 + bits_below(n) : n;
        taper_error error = {0};
        if (taper_index_neighbourhood(p->joined, query + i * WORDS, known[i], least, &a, &error))
            fail_msg("%s", error.text);
        taper_index_neighbourhood(p->merged, query + i * WORDS, known[i], least, &b, NULL);
        assert_true(a.first == b.first && a.count == b.count && a.depth == b.depth);
    }
}

/* All kinds of searches that are exact, of drawn queries. */
static void check_searches(const parts *p, const tiny_set *t) {
    uint64_t query[QUERIES * WORDS];
    uint32_t known[QUERIES];
    uint8_t *wanted = malloc(t->set.n);
    assert_non_null(wanted);
    for (size_t i = 0; i < QUERIES; i++) {
        bits_draw_query(t->codes, t->set.n, BITS, query + i * WORDS);
        known[i] = (uint32_t)(1 + bits_below(BITS));
    }
    for (size_t i = 0; i < t->set.n; i++) wanted[i] = !bits_below(3);
    for (int kind = 0; kind < 12; kind++) {
        const uint32_t within = (uint32_t)bits_below(t->set.weights ? 200000 : 30);
        const taper_index_search search = {.size = sizeof search,
                                           .queries = query,
                                           .n_queries = QUERIES,
                                           .k = 1 +
                                                bits_below(t->set.n < MOST_K ? t->set.n : MOST_K),
                                           .recall = 1,
                                           .known_bits = kind & 1 ? known : NULL,
                                           .wanted = kind & 2 ? wanted : NULL,
                                           .within = kind & 4 ? &within : NULL,
                                           .threads = kind & 8 ? 3 : 1};
        check_nearest(p, &search);
    }
    check_neighbourhoods(p, query, known);
    free(wanted);
}

static void check_codes_of_images(const parts *p, const tiny_set *t) {
    for (int i = 0; i < 20; i++) {
        uint64_t code[WORDS];
        const size_t image = bits_below(t->set.n);
        assert_int_equal(taper_index_image_code(p->joined, image, code, NULL), TAPER_OK);
        assert_memory_equal(code, t->codes + image * WORDS, sizeof code);
    }
    assert_int_equal(taper_index_image_code(p->joined, t->set.n, (uint64_t[WORDS]){0}, NULL),
                     TAPER_ERR_ARG);
}

static void check(int kind, size_t images, size_t n, int has) {
    static parts p;
    tiny_set t;
    tiny_draw(&t, kind, images, BITS, has, "a");
    open_parts(&p, &t, n);
    check_searches(&p, &t);
    check_contents(&p);
    check_codes_of_images(&p, &t);
    close_parts(&p);
    tiny_drop(&t);
}

/* Copies of one code, too: all are as near, and the order is that of the numbers. */
static void several_are_as_the_merged(void **state) {
    (void)state;
    static const size_t n[] = {1, 2, 7};
    for (int kind = 0; kind < BITS_KINDS; kind++)
        for (int has = 0; has <= TINY_ALL; has++)
            for (int i = 0; i < 3; i++) check(kind, n[i] + bits_below(300), n[i], has);
}

static void a_thousand_are_as_the_whole(void **state) {
    (void)state;
    check(BITS_NEAR, 3000, MOST_PARTS, TINY_ALL);
    check(BITS_COPIES, MOST_PARTS, MOST_PARTS, 0);
}

/* Parts that are searched by their own calibration: nothing is found that is not there, and of the
 * nearest as many as were asked for. */
static void large_parts_are_searched_in_part(void **state) {
    (void)state;
    enum { N = 40000, K = 20 };
    static parts p;
    tiny_set t;
    uint64_t query[QUERIES * WORDS];
    uint32_t image[2][QUERIES * K], distance[2][QUERIES * K];
    uint64_t looked_at[2][QUERIES], looked[2] = {0};
    size_t found = 0;
    tiny_draw(&t, BITS_NEAR, N, BITS, 0, "a");
    open_parts(&p, &t, 2);
    for (size_t i = 0; i < QUERIES; i++) bits_draw_query(t.codes, N, BITS, query + i * WORDS);
    for (int exact = 0; exact < 2; exact++) {
        const taper_index_search search = {.size = sizeof search,
                                           .queries = query,
                                           .n_queries = QUERIES,
                                           .k = K,
                                           .recall = exact ? 1 : 0.01,
                                           .threads = 1};
        assert_int_equal(taper_index_nearest(p.joined, &search, image[exact], distance[exact],
                                             looked_at[exact], NULL),
                         TAPER_OK);
        for (size_t i = 0; i < QUERIES; i++) looked[exact] += looked_at[exact][i];
    }
    for (size_t i = 0; i < QUERIES * K; i++) {
        assert_true(distance[0][i] >= distance[1][i]);
        for (size_t j = i / K * K; j < (i / K + 1) * K; j++) found += image[0][i] == image[1][j];
    }
    printf("%zu of %d found; words looked at: %llu of %llu\n", found, QUERIES * K,
           (unsigned long long)looked[0], (unsigned long long)looked[1]);
    assert_true(2 * found >= QUERIES * K && looked[0] < looked[1]);
    close_parts(&p);
    tiny_drop(&t);
}

/* Classes go by their names; a part without labels has none; equal names stay. */
static void names_stay_and_classes_are_joined(void **state) {
    (void)state;
    static const char *const other_classes[] = {"dog", "bird"};
    static const int32_t first_labels[] = {2, 0}, second_labels[] = {0, 1};
    static const int32_t labels[] = {2, 0, 2, 3, -1, -1};
    tiny_set t;
    formats_buffer bytes[3];
    taper_index *part[3];
    tiny_draw(&t, BITS_EVEN, 2, BITS, TINY_ALL, "a");
    for (size_t p = 0; p < 3; p++) {
        taper_index_set set = t.set;
        set.labels = p == 0 ? first_labels : p == 1 ? second_labels : NULL;
        if (p == 1) set.class_names = other_classes, set.classes = 2;
        if (p == 2) set.names = NULL;
        bytes[p] = tiny_build(&set, 1);
        part[p] = tiny_open(&bytes[p]);
    }
    taper_index *got = join(part, 3);
    for (size_t i = 0; i < 6; i++) {
        if (i < 4)
            assert_string_equal(taper_index_name(got, i), t.names[i % 2]);
        else
            assert_null(taper_index_name(got, i));
        assert_int_equal(taper_index_label(got, i), labels[i]);
    }
    assert_true(info_of_index(got).classes == 4 && info_of_index(got).has_names);
    assert_string_equal(taper_index_class_name(got, 3), "bird");
    taper_index_close(got);
    for (size_t p = 0; p < 3; p++) taper_index_close(part[p]), formats_buffer_free(&bytes[p]);
    tiny_drop(&t);
}

static void refused(const taper_index *const *part, size_t n, const taper_limits *limits,
                    taper_status status, const char *words) {
    taper_index *joined = (taper_index *)&joined;
    taper_error e = {0};
    assert_int_equal(taper_index_join(&joined, part, n, limits, &e), status);
    assert_null(joined);
    if (!strstr(e.text, words)) fail_msg("'%s' lacks '%s'", e.text, words);
}

static void what_does_not_fit_is_refused(void **state) {
    (void)state;
    static const char *const words[] = {"129 bits", "of model 0000000000000005", "other weights"};
    tiny_set t;
    formats_buffer bytes[4];
    taper_index *part[4];
    tiny_draw(&t, BITS_EQUAL, 200, BITS, TINY_LABELS, "a");
    memset(t.codes, 0, 200 * WORDS * sizeof *t.codes);
    for (size_t p = 0; p < 4; p++) {
        taper_index_set set = t.set;
        if (p == 1) set.bits--;
        if (p == 2) set.model_id = 5;
        if (p == 3) set.weights = t.weights;
        bytes[p] = tiny_build(&set, 1);
        part[p] = tiny_open(&bytes[p]);
    }
    const taper_index *from[2] = {part[0], part[0]};
    for (size_t p = 1; p < 4; p++) {
        from[1] = part[p];
        refused(from, 2, NULL, TAPER_ERR_ARG, words[p - 1]);
    }
    refused(from, 0, NULL, TAPER_ERR_ARG, "at least 1");
    from[1] = NULL;
    refused(from, 2, NULL, TAPER_ERR_ARG, "NULL");
    from[1] = part[0];
    taper_limits few = {.size = sizeof few, .max_images = 399};
    refused(from, 2, &few, TAPER_ERR_LIMIT, "400 codes");
    taper_limits small = {.size = sizeof small, .max_memory = 1000};
    refused(from, 2, &small, TAPER_ERR_LIMIT, "memory");
    taper_index *joined = join((taper_index *const *)from, 2);
    from[1] = joined;
    refused(from, 2, NULL, TAPER_ERR_ARG, "is joined of others");
    formats_buffer out = formats_buffer_make(FORMATS_MOST_BYTES);
    const taper_sink sink = tiny_sink(&out);
    assert_int_equal(taper_index_merge(from, 2, &sink, NULL), TAPER_ERR_ARG);
    taper_index_close(joined);
    for (size_t p = 0; p < 4; p++) taper_index_close(part[p]), formats_buffer_free(&bytes[p]);
    tiny_drop(&t);
}

/* The sorted order is refused where memory is short; searches go on. */
static void order_is_within_memory(void **state) {
    (void)state;
    tiny_set t;
    taper_index *joined;
    taper_error e = {0};
    taper_limits small = {.size = sizeof small, .max_memory = 1000};
    taper_index_range range = {.size = sizeof range};
    uint64_t code[WORDS];
    uint32_t image, distance;
    tiny_draw(&t, BITS_EVEN, 200, BITS, 0, "a");
    formats_buffer bytes = tiny_build(&t.set, 1);
    taper_index *const part = tiny_open(&bytes);
    const taper_index *from[2] = {part, part};
    assert_int_equal(taper_index_join(&joined, from, 2, &small, NULL), TAPER_OK);
    assert_int_equal(taper_index_neighbourhood(joined, t.codes, BITS, 1, &range, &e),
                     TAPER_ERR_LIMIT);
    assert_non_null(strstr(e.text, "1600 bytes"));
    assert_int_equal(taper_index_code(joined, 0, code), UINT32_MAX);
    const taper_index_search search = {
        .size = sizeof search, .queries = t.codes, .n_queries = 1, .k = 1};
    assert_int_equal(taper_index_nearest(joined, &search, &image, &distance, NULL, NULL), TAPER_OK);
    assert_true(image == 0 && distance == 0);
    taper_index_close(joined), taper_index_close(part);
    formats_buffer_free(&bytes);
    tiny_drop(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several_are_as_the_merged),
        cmocka_unit_test(a_thousand_are_as_the_whole),
        cmocka_unit_test(large_parts_are_searched_in_part),
        cmocka_unit_test(names_stay_and_classes_are_joined),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(order_is_within_memory),
    };
    return cmocka_run_group_tests(tests, bits_begin, NULL);
}
