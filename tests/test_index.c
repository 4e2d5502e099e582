/* test_index.c -- an index gives back what it was built of, finds what the definition finds, is the
 * same with any threads and of any parts; what cannot be built, searched or joined is refused. */
#include "codec/taper_index.h"
#include "cmocka_all.h"
#include "infos.h"
#include "tiny_index.h"

enum { BITS = 200, WORDS = 4, N = 300 };

/* --- what it was built of --------------------------------------------------------------- */

static void check_info(const tiny_set *t, const taper_index *index, size_t size) {
    const taper_index_info info = info_of_index(index);
    const size_t n = t->set.n, words = codec_bits_words(t->set.bits);
    assert_int_equal(info.images, n);
    assert_int_equal(info.bits, t->set.bits);
    assert_true(info.model_id == t->set.model_id);
    assert_int_equal(info.code_bytes, 8 * n * words);
    assert_true(info.other_bytes >= 4 * n && info.code_bytes + info.other_bytes < size);
    assert_int_equal(info.has_names, t->set.names != NULL);
    assert_int_equal(info.has_labels, t->set.labels != NULL);
    assert_int_equal(info.classes, t->set.labels ? 3 : 0);
    assert_int_equal(info.is_weighted, t->set.weights && words > 1);
    assert_true(info.recall >= 0 && info.recall <= 1);
}

static void check_texts(const tiny_set *t, const taper_index *index) {
    for (size_t i = 0; i < t->set.n; i++) {
        if (t->set.names)
            assert_string_equal(taper_index_name(index, i), t->names[i]);
        else
            assert_null(taper_index_name(index, i));
        assert_int_equal(taper_index_label(index, i), t->set.labels ? t->labels[i] : -1);
    }
    for (uint32_t k = 0; t->set.labels && k < 3; k++)
        assert_string_equal(taper_index_class_name(index, k), tiny_classes[k]);
    assert_null(taper_index_class_name(index, t->set.labels ? 3 : 0));
    assert_null(taper_index_name(index, t->set.n));
    assert_int_equal(taper_index_label(index, t->set.n), -1);
}

/* Every image once, its code as it was, in order; equal ones by number. */
static void check_codes(const tiny_set *t, const taper_index *index) {
    const size_t words = codec_bits_words(t->set.bits);
    uint64_t *code = calloc(2 * words, sizeof *code);
    uint8_t *seen = calloc(t->set.n, 1);
    assert_true(code && seen);
    for (size_t i = 0, before = 0; i < t->set.n; i++) {
        const uint32_t image = taper_index_code(index, i, code);
        assert_true(image < t->set.n && !seen[image]++);
        assert_memory_equal(code, t->codes + image * words, words * sizeof *code);
        if (i) assert_false(bits_before(code, code + words, 64 * words));
        if (i && !memcmp(code, code + words, words * sizeof *code)) assert_true(before < image);
        memcpy(code + words, code, words * sizeof *code);
        before = image;
    }
    free(code), free(seen);
}

static void what_was_built_is_read(void **state) {
    (void)state;
    static const uint32_t lengths[] = {1, 5, 64, 65, BITS, 1024, 2049};
    static const size_t sizes[] = {1, 2, 9, 40, 100};
    for (size_t i = 0; i < 7 * 5 * 8; i++) {
        tiny_set t;
        taper_error error = {0};
        tiny_draw(&t, (int)bits_below(BITS_KINDS), sizes[i % 5], lengths[i / 5 % 7], (int)(i / 35),
                  "a");
        formats_buffer bytes = tiny_build(&t.set, 1);
        taper_index *index = tiny_open(&bytes);
        assert_int_equal(bytes.size, formats_index_file_size(&index->file.header));
        check_info(&t, index, bytes.size);
        check_texts(&t, index);
        check_codes(&t, index);
        assert_int_equal(taper_index_check(index, &error), TAPER_OK);
        taper_index_close(index);
        formats_buffer_free(&bytes);
        tiny_drop(&t);
    }
    taper_index_close(NULL);
}

static void layers_and_packing(void **state) {
    (void)state;
    const float codes[] = {-1, 1, 9, 2, -3, 9};
    uint64_t words[2];
    assert_int_equal(taper_index_layers(1), 1);
    assert_int_equal(taper_index_layers(64), 1);
    assert_int_equal(taper_index_layers(65), 2);
    assert_int_equal(taper_index_layers(1024), 5);
    assert_int_equal(taper_index_layers(65536), 11);
    assert_int_equal(taper_index_pack(codes, 2, 3, 2, words, NULL), TAPER_OK);
    assert_true(words[0] == (uint64_t)1 << 62 && words[1] == (uint64_t)1 << 63);
}

/* --- what it finds ---------------------------------------------------------------------- */

typedef struct fixture {
    tiny_set t;
    formats_buffer bytes;
    taper_index *index;
} fixture;

static int make(void **state) {
    static fixture f;
    bits_begin(state);
    tiny_draw(&f.t, BITS_NEAR, N, BITS, TINY_ALL, "a");
    f.bytes = tiny_build(&f.t.set, 1);
    f.index = tiny_open(&f.bytes);
    *state = &f;
    return 0;
}

static int drop(void **state) {
    fixture *f = *state;
    taper_index_close(f->index);
    formats_buffer_free(&f->bytes);
    tiny_drop(&f->t);
    return 0;
}

/* At any recall: or a copy of lower number. */
static void each_finds_itself(void **state) {
    const fixture *f = *state;
    static const double recalls[] = {1, 0.9, 0.5, 0};
    for (size_t r = 0; r < 4; r++) {
        uint32_t image[N], distance[N];
        uint64_t looked_at[N];
        const taper_index_search search = {.size = sizeof(taper_index_search),
                                           .queries = f->t.codes,
                                           .n_queries = N,
                                           .k = 1,
                                           .recall = recalls[r],
                                           .threads = (unsigned)r};
        assert_int_equal(taper_index_nearest(f->index, &search, image, distance, looked_at, NULL),
                         TAPER_OK);
        for (size_t i = 0; i < N; i++) {
            assert_true(image[i] <= i && distance[i] == 0 && looked_at[i] > 0);
            assert_memory_equal(f->t.codes + i * WORDS, f->t.codes + image[i] * WORDS, 8 * WORDS);
            for (uint32_t lower = 0; lower < image[i]; lower++)
                assert_memory_not_equal(f->t.codes + lower * WORDS, f->t.codes + i * WORDS,
                                        8 * WORDS);
        }
    }
}

/* The sum over differing bits of their layers' weights, of an image or of none. */
static uint32_t distance_of(const fixture *f, const uint64_t *query, uint32_t image,
                            uint32_t known) {
    static const int layer[WORDS] = {0, 1, 2, 2};
    uint32_t sum = 0;
    for (uint32_t j = 0; j < known; j++)
        sum += bits_get(query, j) != bits_get(f->t.codes + image * WORDS, j)
                   ? f->t.weights[layer[j / 64]]
                   : 0u;
    return sum;
}

/* Each of those that are not among the k found is farther than these. */
static void check_nearest(const fixture *f, const taper_index_search *s, const uint32_t *image,
                          const uint32_t *distance) {
    const uint32_t known = s->known_bits ? *s->known_bits : BITS;
    const size_t k = s->k;
    size_t expected = 0;
    for (uint32_t i = 0; i < N; i++) {
        const uint32_t d = distance_of(f, s->queries, i, known);
        size_t at = 0;
        if ((s->within && d > *s->within) || (s->wanted && !s->wanted[i])) continue;
        while (at < k && (distance[at] < d || (distance[at] == d && image[at] < i))) at++;
        if (at < k) assert_true(image[at] == i && distance[at] == d);
        expected++;
    }
    for (size_t at = expected; at < k; at++)
        assert_true(image[at] == UINT32_MAX && distance[at] == UINT32_MAX);
}

static void nearest_are_as_defined(void **state) {
    const fixture *f = *state;
    for (size_t round = 0; round < 300; round++) {
        uint64_t query[WORDS];
        uint32_t image[N], distance[N], within = (uint32_t)bits_below(30 * 65535);
        const uint32_t known = 1 + (uint32_t)bits_below(BITS);
        uint8_t wanted[N];
        for (size_t i = 0; i < N; i++) wanted[i] = !bits_below(9);
        bits_draw_query(f->t.codes, N, BITS, query);
        const taper_index_search search = {.size = sizeof(taper_index_search),
                                           .queries = query,
                                           .n_queries = 1,
                                           .k = 1 + bits_below(N),
                                           .recall = 1,
                                           .known_bits = round & 1 ? &known : NULL,
                                           .within = round & 2 ? &within : NULL,
                                           .wanted = round & 4 ? wanted : NULL};
        assert_int_equal(taper_index_nearest(f->index, &search, image, distance, NULL, NULL),
                         TAPER_OK);
        check_nearest(f, &search, image, distance);
    }
}

/* All of a range share so many bits, no others do; one bit more and there are too few. */
static void neighbourhoods_are_as_defined(void **state) {
    const fixture *f = *state;
    for (size_t round = 0; round < 500; round++) {
        uint64_t query[WORDS], code[WORDS];
        const uint32_t known = (uint32_t)bits_below(BITS + 1);
        const size_t least = 1 + bits_below(1 + bits_below(N));
        size_t deeper = 0;
        taper_index_range r = {.size = sizeof(taper_index_range)};
        bits_draw_query(f->t.codes, N, BITS, query);
        assert_int_equal(taper_index_neighbourhood(f->index, query, known, least, &r, NULL),
                         TAPER_OK);
        assert_true(r.count >= least && r.depth <= known && r.looked_at < 100);
        for (uint64_t place = 0; place < N; place++) {
            taper_index_code(f->index, place, code);
            const size_t prefix = bits_prefix(code, query, BITS);
            assert_int_equal(prefix >= r.depth, place >= r.first && place - r.first < r.count);
            deeper += prefix > r.depth;
        }
        assert_true(r.depth == known || deeper < least);
    }
}

static void bad_searches_are_named(void **state) {
    const fixture *f = *state;
    uint32_t image[N], distance[N], known[] = {BITS, 1};
    taper_error e = {0};
    taper_index_range range = {.size = sizeof(taper_index_range)};
    const taper_index_search good = {.size = sizeof(taper_index_search),
                                     .queries = f->t.codes,
                                     .n_queries = 2,
                                     .k = 3,
                                     .known_bits = known};
#define REFUSED(words, ...)                                                            \
    do {                                                                               \
        taper_index_search s = good;                                                   \
        __VA_ARGS__;                                                                   \
        assert_int_equal(taper_index_nearest(f->index, &s, image, distance, NULL, &e), \
                         TAPER_ERR_ARG);                                               \
        assert_non_null(strstr(e.text, words));                                        \
    } while (0)
    REFUSED("0 neighbours: 1 to 300", s.k = 0);
    REFUSED("301 neighbours", s.k = N + 1);
    REFUSED("recall of -0.5", s.recall = -0.5);
    REFUSED("recall of 1.5", s.recall = 1.5);
    REFUSED("recall", s.recall = NAN);
    REFUSED("0 bits of query 1", known[1] = 0);
    REFUSED("201 bits of query 1", known[1] = BITS + 1);
    known[1] = 1;
    REFUSED("257 threads: at most 256", s.threads = 257);
#undef REFUSED
    taper_index_search none = good;
    none.n_queries = 0;
    assert_int_equal(taper_index_nearest(f->index, &none, image, distance, NULL, &e), TAPER_OK);
    static const uint64_t bad[][2] = {{BITS + 1, 1}, {BITS, 0}, {BITS, N + 1}, {0, UINT64_MAX}};
    for (size_t i = 0; i < 4; i++) {
        e = (taper_error){0};
        assert_int_equal(taper_index_neighbourhood(f->index, f->t.codes, (uint32_t)bad[i][0],
                                                   bad[i][1], &range, &e),
                         TAPER_ERR_ARG);
        assert_non_null(strstr(e.text, "1 to 300 images and at most 200 bits"));
    }
}

/* --- what cannot be built --------------------------------------------------------------- */

static void threads_change_nothing(void **state) {
    (void)state;
    for (int kind = 0; kind < BITS_KINDS; kind++) {
        tiny_set t;
        tiny_draw(&t, kind, 2500, BITS, TINY_ALL, "a");
        formats_buffer want = tiny_build(&t.set, 1);
        for (unsigned threads = 0; threads <= 6; threads += 3) {
            formats_buffer got = tiny_build(&t.set, threads);
            assert_int_equal(got.size, want.size);
            assert_memory_equal(got.data, want.data, want.size);
            formats_buffer_free(&got);
        }
        formats_buffer_free(&want);
        tiny_drop(&t);
    }
}

static void bad_sets_are_named(void **state) {
    (void)state;
    tiny_set t;
    taper_error e = {0};
    formats_buffer bytes = formats_buffer_make(FORMATS_MOST_BYTES);
    const taper_sink sink = tiny_sink(&bytes);
    unsigned threads = 1;
    tiny_draw(&t, BITS_EVEN, 5, BITS, TINY_ALL, "a");
#define REFUSED(words, ...)                                                         \
    do {                                                                            \
        taper_index_set s = t.set;                                                  \
        __VA_ARGS__;                                                                \
        assert_int_equal(taper_index_build(&s, threads, &sink, &e), TAPER_ERR_ARG); \
        assert_non_null(strstr(e.text, words));                                     \
        assert_int_equal(bytes.size, 0);                                            \
    } while (0)
    REFUSED("of 0 bits", s.bits = 0);
    REFUSED("of 65537 bits", s.bits = 65537);
    REFUSED("index of 0 codes", s.n = 0);
    REFUSED("2^32 - 1", s.n = (size_t)1 << 32);
    REFUSED("code 0 has bits after its 199", s.bits = 199, t.codes[3] |= (uint64_t)1 << 56);
    REFUSED("code 4 has bits after its 200", t.codes[4 * WORDS + 3] |= 1);
    t.codes[4 * WORDS + 3] ^= 1;
    REFUSED("image 2 has label 3 of 3 classes", t.labels[2] = 3);
    REFUSED("image 2 has label -2", t.labels[2] = -2);
    t.labels[2] = 0;
    REFUSED("label", s.classes = 0);
    REFUSED("index of 5 codes", s.classes = FORMATS_MAX_CLASSES + 1);
    static const char *const illegal[] = {"", "/a", "a/", "..", "a/../b", "a\\b", "a\nb", "./a"};
    for (size_t i = 0; i < 8; i++) REFUSED("name of image 3", t.names[3] = illegal[i]);
    t.names[3] = "b";
    REFUSED("weight of layer 2 is 0", t.weights[2] = 0);
    t.weights[2] = 1;
    REFUSED("257 threads", threads = 257);
#undef REFUSED
    assert_int_equal(taper_index_build(&t.set, 1, &sink, &e), TAPER_OK);
    formats_buffer_free(&bytes);
    tiny_drop(&t);
}

/* A sink that takes so many writes, then fails. */
typedef struct failing_sink {
    size_t left;
    int has_failed;
} failing_sink;

static taper_status fail_at_last(void *user, const void *bytes, size_t n) {
    failing_sink *s = user;
    assert_true(bytes && n && !s->has_failed);
    if (s->left--) return TAPER_OK;
    s->has_failed = 1;
    return TAPER_ERR_IO;
}

static void what_the_sink_says_is_passed_on(void **state) {
    const fixture *f = *state;
    const taper_index *const from[] = {f->index, f->index};
    for (int joins = 0; joins < 2; joins++) {
        size_t writes = 0;
        for (taper_status status = TAPER_ERR_IO; status; writes++) {
            failing_sink s = {.left = writes};
            const taper_sink sink = {&s, fail_at_last};
            status = joins ? taper_index_merge(from, 2, &sink, NULL)
                           : taper_index_build(&f->t.set, 1, &sink, NULL);
            assert_int_equal(status, s.has_failed ? TAPER_ERR_IO : TAPER_OK);
        }
        assert_true(writes > 10);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_and_packing),
        cmocka_unit_test(what_was_built_is_read),
        cmocka_unit_test(each_finds_itself),
        cmocka_unit_test(nearest_are_as_defined),
        cmocka_unit_test(neighbourhoods_are_as_defined),
        cmocka_unit_test(bad_searches_are_named),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(bad_sets_are_named),
        cmocka_unit_test(what_the_sink_says_is_passed_on),
    };
    return cmocka_run_group_tests(tests, make, drop);
}
