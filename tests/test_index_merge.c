/* test_index_merge.c -- an index joined of parts is the one of all their images, but for what was
 * measured; names and classes that clash; parts that do not fit together. */
#include "codec/taper_index.h"
#include "cmocka_all.h"
#include "infos.h"
#include "tiny_index.h"
#include <math.h>
#include <time.h>

enum { BITS = 130, WORDS = 3, MOST_PARTS = 5 };

static formats_buffer join(taper_index *const *part, size_t n) {
    const taper_index *from[256];
    formats_buffer bytes = formats_buffer_make(FORMATS_MOST_BYTES);
    const taper_sink sink = tiny_sink(&bytes);
    taper_error error = {0};
    for (size_t i = 0; i < n; i++) from[i] = part[i];
    if (taper_index_merge(from, n, &sink, &error)) fail_msg("%s", error.text);
    return bytes;
}

/* What is measured drops no more than that of any part: the largest shares, the lowest recalls. */
static void check_measured(const taper_index *got, taper_index *const *part, size_t parts) {
    for (size_t l = 0; l < 2 * got->order.layers; l++) {
        float most = 0;
        for (size_t p = 0; p < parts; p++)
            if (part[p]->cascade.share[l] > most) most = part[p]->cascade.share[l];
        assert_true(got->cascade.share[l] == most);
    }
    for (size_t e = 0; e < FORMATS_INDEX_EFFORTS; e++) {
        float least = 1;
        for (size_t p = 0; p < parts; p++)
            if (part[p]->recall[e] < least) least = part[p]->recall[e];
        assert_true(got->recall[e] == least);
    }
}

/* All else is the whole's. */
static void check_parts(const taper_index *got, const taper_index *want) {
    for (unsigned part = 0; part < FORMATS_INDEX_PARTS; part++) {
        const uint64_t size = formats_index_size(&want->file.header, part);
        assert_int_equal(formats_index_size(&got->file.header, part), size);
        if (size && part != FORMATS_INDEX_SHARES && part != FORMATS_INDEX_RECALLS)
            assert_memory_equal(formats_index_part_at(&got->file, part),
                                formats_index_part_at(&want->file, part), size);
    }
    assert_memory_equal(&got->file.header, &want->file.header, sizeof want->file.header);
}

static void check_searches(const taper_index *got, const taper_index *want, const tiny_set *t) {
    enum { QUERIES = 20, K = 9 };
    uint64_t query[QUERIES * WORDS];
    uint32_t image[2][QUERIES * K], distance[2][QUERIES * K];
    for (size_t i = 0; i < QUERIES; i++)
        bits_draw_query(t->codes, t->set.n, BITS, query + i * WORDS);
    taper_index_search search = {.size = sizeof(taper_index_search),
                                 .queries = query,
                                 .n_queries = QUERIES,
                                 .recall = 1,
                                 .threads = 1};
    search.k = t->set.n < K ? t->set.n : K;
    assert_int_equal(taper_index_nearest(got, &search, image[0], distance[0], NULL, NULL), 0);
    assert_int_equal(taper_index_nearest(want, &search, image[1], distance[1], NULL, NULL), 0);
    assert_memory_equal(image[0], image[1], QUERIES * search.k * sizeof **image);
    assert_memory_equal(distance[0], distance[1], QUERIES * search.k * sizeof **distance);
    for (size_t i = 0; i < QUERIES; i++) {
        taper_index_range a = {.size = sizeof a}, b = {.size = sizeof b};
        const size_t least = 1 + bits_below(t->set.n);
        taper_index_neighbourhood(got, query + i * WORDS, BITS, least, &a, NULL);
        taper_index_neighbourhood(want, query + i * WORDS, BITS, least, &b, NULL);
        assert_true(a.first == b.first && a.count == b.count && a.depth == b.depth);
        assert_true(a.looked_at == b.looked_at);
    }
}

/* Parts of drawn sizes, 1 and more. */
static void check_joined(const tiny_set *t, size_t parts) {
    formats_buffer whole = tiny_build(&t->set, 1), bytes[MOST_PARTS];
    taper_index *want = tiny_open(&whole), *part[MOST_PARTS];
    for (size_t p = 0, first = 0; p < parts; p++) {
        const size_t left = t->set.n - first - (parts - 1 - p);
        const size_t n = p + 1 == parts ? left : 1 + bits_below(left);
        const taper_index_set set = tiny_part(&t->set, first, n);
        bytes[p] = tiny_build(&set, 1);
        part[p] = tiny_open(&bytes[p]);
        first += n;
    }
    formats_buffer joined = join(part, parts);
    taper_index *got = tiny_open(&joined);
    assert_int_equal(taper_index_check(got, NULL), TAPER_OK);
    check_parts(got, want);
    check_measured(got, part, parts);
    check_searches(got, want, t);
    if (parts == 1) assert_memory_equal(joined.data, whole.data, whole.size);
    for (size_t p = 0; p < parts; p++) {
        taper_index_close(part[p]);
        formats_buffer_free(&bytes[p]);
    }
    taper_index_close(got), taper_index_close(want);
    formats_buffer_free(&joined), formats_buffer_free(&whole);
}

static void joined_parts_are_the_whole(void **state) {
    (void)state;
    static const size_t parts[] = {1, 2, MOST_PARTS};
    for (int kind = 0; kind < BITS_KINDS; kind++)
        for (int has = 0; has <= TINY_ALL; has++)
            for (int i = 0; i < 3; i++) {
                tiny_set t;
                tiny_draw(&t, kind, parts[i] + bits_below(300), BITS, has, "a");
                check_joined(&t, parts[i]);
                tiny_drop(&t);
            }
}

static void is_told(const taper_index *index, const taper_part *want) {
    taper_part part = {.size = sizeof part, .images = 7};
    assert_int_equal(taper_index_get_part(index, &part, NULL), TAPER_OK);
    assert_memory_equal(&part, want, sizeof part);
}

/* What a built and a merged index are told to say; other bytes do not change; nothing is
 * inherited. */
static void parts_of_sets_are_told(void **state) {
    (void)state;
    enum { N = 9 };
    const taper_part none = {.size = sizeof none},
                     told = {sizeof told, 3, 1, 3 * N + 4, 1, UINT64_MAX, 2, (uint64_t)1 << 63};
    for (uint32_t bits = 1; bits <= 65536; bits *= 16) {
        tiny_set t;
        tiny_draw(&t, BITS_EVEN, N, bits, TINY_ALL, "a");
        formats_buffer plain = tiny_build(&t.set, 1);
        t.set.part = &told;
        formats_buffer bytes = tiny_build(&t.set, 1), merged, again;
        taper_index *from = tiny_open(&bytes);
        is_told(from, &told);
        merged = join(&from, 1);
        assert_memory_equal(merged.data, plain.data, plain.size);
        taper_index *got = tiny_open(&merged);
        is_told(got, &none);
        again = formats_buffer_make(FORMATS_MOST_BYTES);
        const taper_sink sink = tiny_sink(&again);
        const taper_index *const sources[] = {got};
        assert_int_equal(taper_index_merge_part(sources, 1, &told, &sink, NULL), TAPER_OK);
        assert_int_equal(again.size, bytes.size);
        assert_memory_equal(again.data, bytes.data, bytes.size);
        taper_index_close(got), taper_index_close(from);
        formats_buffer_free(&plain), formats_buffer_free(&bytes);
        formats_buffer_free(&merged), formats_buffer_free(&again);
        tiny_drop(&t);
    }
}

/* More than is written in one piece, of all parts that are long. */
static void many_codes_are_joined(void **state) {
    (void)state;
    tiny_set t;
    tiny_draw(&t, BITS_NEAR, 20000, BITS, 0, "a");
    check_joined(&t, 3);
    tiny_drop(&t);
    formats_buffer bytes[2];
    taper_index *part[2];
    tiny_draw(&t, BITS_NEAR, 12, 65536, 0, "a"); /* half a code is a layer */
    for (size_t p = 0; p < 2; p++) {
        const taper_index_set set = tiny_part(&t.set, 6 * p, 6);
        bytes[p] = tiny_build(&set, 1);
        part[p] = tiny_open(&bytes[p]);
    }
    formats_buffer whole = tiny_build(&t.set, 1), joined = join(part, 2);
    taper_index *got = tiny_open(&joined), *want = tiny_open(&whole);
    check_parts(got, want);
    check_measured(got, part, 2);
    taper_index_close(got), taper_index_close(want);
    for (size_t p = 0; p < 2; p++) taper_index_close(part[p]), formats_buffer_free(&bytes[p]);
    formats_buffer_free(&joined), formats_buffer_free(&whole);
    tiny_drop(&t);
}

/* As many as may be, and the one as many times. */
static void as_many_as_may_be(void **state) {
    (void)state;
    tiny_set t;
    taper_index *from[256];
    tiny_draw(&t, BITS_EVEN, 3, BITS, TINY_LABELS, "a");
    formats_buffer bytes = tiny_build(&t.set, 1);
    from[0] = tiny_open(&bytes);
    for (size_t i = 1; i < 256; i++) from[i] = from[0];
    formats_buffer joined = join(from, 256);
    taper_index *got = tiny_open(&joined);
    assert_int_equal(taper_index_check(got, NULL), TAPER_OK);
    for (size_t place = 0; place < 768; place++) {
        uint64_t code[WORDS];
        const uint32_t image = taper_index_code(got, place, code);
        assert_memory_equal(code, t.codes + image % 3 * WORDS, sizeof code);
        assert_int_equal(taper_index_label(got, image), t.labels[image % 3]);
    }
    taper_index_close(got), taper_index_close(from[0]);
    formats_buffer_free(&joined), formats_buffer_free(&bytes);
    tiny_drop(&t);
}

/* Seconds to join so many parts of the set, together as long. */
static double seconds_of(const tiny_set *t, size_t parts) {
    formats_buffer *bytes = malloc(parts * sizeof *bytes);
    taper_index **part = malloc(parts * sizeof *part);
    const size_t each = t->set.n / parts;
    double least = INFINITY;
    assert_true(bytes && part);
    for (size_t p = 0; p < parts; p++) {
        const taper_index_set set = tiny_part(&t->set, each * p, each);
        bytes[p] = tiny_build(&set, 1);
        part[p] = tiny_open(&bytes[p]);
    }
    for (int round = 0; round < 3; round++) {
        const clock_t begun = clock();
        formats_buffer joined = join(part, parts);
        least = fmin(least, (double)(clock() - begun) / CLOCKS_PER_SEC);
        formats_buffer_free(&joined);
    }
    for (size_t p = 0; p < parts; p++) taper_index_close(part[p]), formats_buffer_free(&bytes[p]);
    free(bytes), free(part);
    return least;
}

/* Of 256 parts a code takes log 256 comparisons, where that of 8 takes log 8. */
static void many_parts_are_joined_as_fast(void **state) {
    enum { CODES = 65536 };
    tiny_set t;
    (void)state;
    tiny_draw(&t, BITS_EVEN, CODES, 64, 0, "a");
    const double few = seconds_of(&t, 8), many = seconds_of(&t, 256);
    printf("%.1f ns a code of 8 parts, %.1f of 256\n", 1e9 * few / CODES, 1e9 * many / CODES);
    assert_true(many < 6 * (few + 0.002));
    tiny_drop(&t);
}

/* Names that are there get a folder, images without one their number; classes go by their names;
 * a part without labels has none. */
static void names_and_classes_are_joined(void **state) {
    (void)state;
    static const char *const other_classes[] = {"dog", "bird"};
    static const char *const names[][2] = {{"a/0.png", "a/1.png"},
                                           {"shard-2/a/0.png", "shard-2/a/1.png"},
                                           {"000005.png", "000006.png"}};
    static const int32_t first_labels[] = {2, 0}, second_labels[] = {0, 1};
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
    formats_buffer joined = join(part, 3);
    taper_index *got = tiny_open(&joined);
    static const int32_t labels[] = {2, 0, 2, 3, -1, -1};
    for (size_t i = 0; i < 6; i++) {
        assert_string_equal(taper_index_name(got, i), names[i / 2][i % 2]);
        assert_int_equal(taper_index_label(got, i), labels[i]);
    }
    assert_int_equal(info_of_index(got).classes, 4);
    assert_string_equal(taper_index_class_name(got, 3), "bird");
    taper_index_close(got);
    for (size_t p = 0; p < 3; p++) taper_index_close(part[p]), formats_buffer_free(&bytes[p]);
    formats_buffer_free(&joined);
    tiny_drop(&t);
}

static void parts_that_do_not_fit_are_named(void **state) {
    (void)state;
    static const char *const words[] = {"129 bits", "of model 0000000000000005", "other weights"};
    tiny_set t;
    formats_buffer bytes[4];
    taper_index *part[4];
    tiny_draw(&t, BITS_EQUAL, 2, BITS, 0, "a");
    memset(t.codes, 0, 2 * WORDS * sizeof *t.codes);
    for (size_t p = 0; p < 4; p++) {
        taper_index_set set = t.set;
        if (p == 1) set.bits--;
        if (p == 2) set.model_id = 5;
        if (p == 3) set.weights = t.weights;
        bytes[p] = tiny_build(&set, 1);
        part[p] = tiny_open(&bytes[p]);
    }
    formats_buffer out = formats_buffer_make(FORMATS_MOST_BYTES);
    const taper_sink sink = tiny_sink(&out);
    taper_error e = {0};
    const taper_index *from[257] = {part[0], part[0]};
    for (size_t p = 1; p < 4; p++) {
        from[1] = part[p];
        assert_int_equal(taper_index_merge(from, 2, &sink, &e), TAPER_ERR_ARG);
        assert_non_null(strstr(e.text, words[p - 1]));
    }
    for (size_t i = 0; i < 257; i++) from[i] = part[0];
    for (size_t n = 0; n <= 257; n += 257) {
        assert_int_equal(taper_index_merge(from, n, &sink, &e), TAPER_ERR_ARG);
        assert_non_null(strstr(e.text, "1 to 256"));
    }
    assert_int_equal(out.size, 0);
    for (size_t p = 0; p < 4; p++) taper_index_close(part[p]), formats_buffer_free(&bytes[p]);
    formats_buffer_free(&out);
    tiny_drop(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joined_parts_are_the_whole),
        cmocka_unit_test(parts_of_sets_are_told),
        cmocka_unit_test(many_codes_are_joined),
        cmocka_unit_test(as_many_as_may_be),
        cmocka_unit_test(many_parts_are_joined_as_fast),
        cmocka_unit_test(names_and_classes_are_joined),
        cmocka_unit_test(parts_that_do_not_fit_are_named),
    };
    return cmocka_run_group_tests(tests, bits_begin, NULL);
}
