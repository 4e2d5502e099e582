/* test_arguments_index.c -- every function of codec/taper_index.h with every argument at its
 * extremes; see arguments.h. */
#include "arguments.h"
#include "tiny_index.h"

enum { N = 5, BITS = 70, WORDS = 2, K = 2 };

static tiny_set drawn;
static formats_buffer file;
static taper_index *index;

static taper_status swallow(void *user, const void *bytes, size_t n) {
    (void)user, (void)bytes, (void)n;
    return TAPER_OK;
}
static const taper_sink sink = {NULL, swallow}, no_sink = {NULL, NULL};

/* --- making ----------------------------------------------------------------------------- */

static void try_pack(void) {
    float codes[3] = {1, -1, NAN};
    uint64_t word = 7;
    taper_error error = {0};
    refused(taper_index_pack(NULL, 1, 3, 3, &word, &error), &error);
    refused(taper_index_pack(codes, 1, 3, 3, NULL, &error), &error);
    refused(taper_index_pack(codes, SIZE_MAX, 3, 3, &word, &error), &error);
    refused(taper_index_pack(codes, 1, SIZE_MAX, 3, &word, &error), &error);
    refused(taper_index_pack(codes, 1, 3, UINT32_MAX, &word, &error), &error);
    assert_int_equal(taper_index_pack(codes, 0, 3, 3, &word, NULL), TAPER_OK);
    assert_true(word == 7);
    assert_int_equal(taper_index_pack(codes, 1, 3, 3, &word, NULL), TAPER_OK);
    assert_true(word == (uint64_t)1 << 63);
}

static void try_layers(void) { EACH_NUMBER(v) assert_true(taper_index_layers((uint32_t)*v) < 40); }

static taper_status build(const taper_index_set *set) {
    taper_error error = {0};
    return allowed(taper_index_build(set, 1, &sink, &error), &error);
}

static void try_build(void) {
    static const char *const nameless[N] = {NULL};
    static const uint16_t weights[] = {0, UINT16_MAX};
    const int32_t labels[N] = {INT32_MIN, -1, 0, 1, INT32_MAX};
    taper_error error = {0};
    taper_index_set s = drawn.set;
    assert_int_equal(build(&s), TAPER_OK);
    refused(taper_index_build(NULL, 1, &sink, &error), &error);
    refused(taper_index_build(&s, 1, NULL, &error), &error);
    refused(taper_index_build(&s, 1, &no_sink, &error), &error);
    s.size = 0;
    assert_int_equal(build(&s), TAPER_ERR_ARG);
    EACH_NUMBER(v) {
        if (*v) allowed(taper_index_build(&drawn.set, (unsigned)*v, &sink, &error), &error);
        s = drawn.set, s.bits = (uint32_t)*v;
        assert_int_equal(build(&s), TAPER_ERR_ARG); /* bits behind the last */
        s = drawn.set, s.model_id = *v;
        assert_int_equal(build(&s), TAPER_OK);
        s = drawn.set, s.classes = (uint32_t)*v;
        assert_int_equal(build(&s), TAPER_ERR_ARG);
    }
    EACH_COUNT(v) {
        s = drawn.set, s.n = *v;
        assert_int_equal(build(&s), *v == 1 ? TAPER_OK : TAPER_ERR_ARG);
    }
    s = drawn.set, s.codes = NULL;
    assert_int_equal(build(&s), TAPER_ERR_ARG);
    s = drawn.set, s.weights = weights;
    assert_int_equal(build(&s), TAPER_ERR_ARG);
    s = drawn.set, s.names = nameless;
    assert_int_equal(build(&s), TAPER_ERR_ARG);
    s = drawn.set, s.labels = labels;
    assert_int_equal(build(&s), TAPER_ERR_ARG);
    s = drawn.set, s.class_names = NULL;
    assert_int_equal(build(&s), TAPER_ERR_ARG);
    s = drawn.set, s.names = NULL, s.labels = NULL, s.weights = NULL;
    assert_int_equal(build(&s), TAPER_OK);
}

/* --- an open index ---------------------------------------------------------------------- */

static void try_open(void) {
    taper_error error = {0};
    taper_index *other;
    refused(taper_index_open(NULL, file.data, file.size, NULL, &error), &error);
    refused(taper_index_open(&other, NULL, file.size, NULL, &error), &error);
    refused(taper_index_open(&other, file.data, file.size, &argument_no_size, &error), &error);
    refused(taper_index_open(&other, file.data + 1, file.size - 1, NULL, &error), &error);
    EACH_NUMBER(v) {
        const taper_status status =
            allowed(taper_index_open(&other, file.data, *v, NULL, &error), &error);
        assert_true(status && !other);
        for (int i = 0; i < ARGUMENT_LIMITS; i++) {
            const taper_limits limits = argument_limits(i, *v);
            allowed(taper_index_open(&other, file.data, file.size, &limits, &error), &error);
            taper_index_close(other);
        }
    }
}

static void try_open_file(void) {
    taper_error error = {0};
    taper_index *other;
    const char *path = "arguments.tpx";
    FILE *to = fopen(path, "wb");
    assert_non_null(to);
    assert_int_equal(fwrite(file.data, 1, file.size, to), file.size);
    assert_int_equal(fclose(to), 0);
    refused(taper_index_open_file(NULL, path, NULL, &error), &error);
    refused(taper_index_open_file(&other, NULL, NULL, &error), &error);
    refused(taper_index_open_file(&other, path, &argument_no_size, &error), &error);
    assert_int_equal(allowed(taper_index_open_file(&other, "nowhere", NULL, &error), &error),
                     TAPER_ERR_IO);
    assert_null(other);
    assert_int_equal(taper_index_open_file(&other, path, NULL, NULL), TAPER_OK);
    assert_int_equal(taper_index_check(other, NULL), TAPER_OK);
    taper_index_close(other);
    remove(path);
}

static void try_close(void) { taper_index_close(NULL); }

static void try_check(void) {
    taper_error error = {0};
    refused(taper_index_check(NULL, &error), &error);
}

static void try_get_info(void) {
    taper_error error = {0};
    taper_index_info info = {.size = sizeof info, .images = 7}, no_size = {.images = 7};
    refused(taper_index_get_info(NULL, &info, &error), &error);
    refused(taper_index_get_info(index, NULL, &error), &error);
    refused(taper_index_get_info(index, &no_size, &error), &error);
    assert_true(info.images == 7 && no_size.images == 7);
}

static void try_get_part(void) {
    taper_error error = {0};
    taper_part part = {.size = sizeof part, .images = 7}, no_size = {.images = 7};
    refused(taper_index_get_part(NULL, &part, &error), &error);
    refused(taper_index_get_part(index, NULL, &error), &error);
    refused(taper_index_get_part(index, &no_size, &error), &error);
    assert_true(part.images == 7 && no_size.images == 7);
    assert_int_equal(taper_index_get_part(index, &part, &error), TAPER_OK);
    assert_int_equal(part.images, 0);
}

static void try_name(void) {
    assert_null(taper_index_name(NULL, 0));
    EACH_NUMBER(v) assert_true(!taper_index_name(index, *v) == (*v >= N));
}

static void try_label(void) {
    assert_int_equal(taper_index_label(NULL, 0), -1);
    EACH_NUMBER(v) assert_true(*v < N || taper_index_label(index, *v) == -1);
}

static void try_class_name(void) {
    assert_null(taper_index_class_name(NULL, 0));
    EACH_NUMBER(v) assert_true(!taper_index_class_name(index, (uint32_t)*v) == (*v > 2));
}

static void try_code(void) {
    uint64_t code[WORDS];
    assert_int_equal(taper_index_code(NULL, 0, code), UINT32_MAX);
    assert_int_equal(taper_index_code(index, 0, NULL), UINT32_MAX);
    EACH_NUMBER(v) assert_true((taper_index_code(index, *v, code) < N) == (*v < N));
}

static void try_image_code(void) {
    uint64_t code[WORDS];
    taper_error error = {0};
    refused(taper_index_image_code(NULL, 0, code, &error), &error);
    refused(taper_index_image_code(index, 0, NULL, &error), &error);
    EACH_NUMBER(v)
    assert_int_equal(allowed(taper_index_image_code(index, *v, code, &error), &error),
                     *v < N ? TAPER_OK : TAPER_ERR_ARG);
}

static void try_merge(void) {
    const taper_index *const one[] = {index}, *const none[] = {NULL};
    taper_error error = {0};
    refused(taper_index_merge(NULL, 1, &sink, &error), &error);
    refused(taper_index_merge(none, 1, &sink, &error), &error);
    refused(taper_index_merge(one, 1, NULL, &error), &error);
    refused(taper_index_merge(one, 1, &no_sink, &error), &error);
    EACH_COUNT(v)
    assert_int_equal(allowed(taper_index_merge(one, *v, &sink, &error), &error),
                     *v == 1 ? TAPER_OK : TAPER_ERR_ARG);
}

static void try_merge_part(void) {
    const taper_index *const one[] = {index}, *const none[] = {NULL};
    const taper_part good = {.size = sizeof good, .parts = 1, .images = N};
    taper_error error = {0};
    taper_part part = good;
    refused(taper_index_merge_part(NULL, 1, &good, &sink, &error), &error);
    refused(taper_index_merge_part(none, 1, &good, &sink, &error), &error);
    refused(taper_index_merge_part(one, 1, &good, NULL, &error), &error);
    assert_int_equal(taper_index_merge_part(one, 1, NULL, &sink, &error), TAPER_OK);
    assert_int_equal(taper_index_merge_part(one, 1, &good, &sink, &error), TAPER_OK);
    part.size = 0;
    refused(taper_index_merge_part(one, 1, &part, &sink, &error), &error);
    EACH_NUMBER(v) {
        part = good, part.parts = (uint32_t)*v;
        assert_int_equal(allowed(taper_index_merge_part(one, 1, &part, &sink, &error), &error),
                         (uint32_t)*v == 1 ? TAPER_OK : TAPER_ERR_ARG);
        part = good, part.part = (uint32_t)*v;
        assert_int_equal(allowed(taper_index_merge_part(one, 1, &part, &sink, &error), &error),
                         (uint32_t)*v ? TAPER_ERR_ARG : TAPER_OK);
        part = good, part.images = *v;
        assert_int_equal(allowed(taper_index_merge_part(one, 1, &part, &sink, &error), &error),
                         *v == N ? TAPER_OK : TAPER_ERR_ARG);
        part = good, part.left_out = *v;
        assert_int_equal(allowed(taper_index_merge_part(one, 1, &part, &sink, &error), &error),
                         *v ? TAPER_ERR_ARG : TAPER_OK);
        taper_index_set s = drawn.set;
        part = good, part.images = *v, s.part = &part;
        assert_int_equal(build(&s), *v == N ? TAPER_OK : TAPER_ERR_ARG);
    }
}

static void try_join(void) {
    const taper_index *const one[] = {index}, *const none[] = {NULL};
    taper_index *joined;
    taper_error error = {0};
    refused(taper_index_join(NULL, one, 1, NULL, &error), &error);
    refused(taper_index_join(&joined, NULL, 1, NULL, &error), &error);
    refused(taper_index_join(&joined, none, 1, NULL, &error), &error);
    EACH_COUNT(v) {
        const taper_status status =
            allowed(taper_index_join(&joined, one, *v, NULL, &error), &error);
        assert_int_equal(status, *v == 1 ? TAPER_OK : TAPER_ERR_ARG);
        assert_int_equal(joined != NULL, *v == 1);
        taper_index_close(joined);
    }
    EACH_NUMBER(v)
    for (int i = 0; i < ARGUMENT_LIMITS; i++) {
        const taper_limits limits = argument_limits(i, *v);
        allowed(taper_index_join(&joined, one, 1, &limits, &error), &error);
        taper_index_close(joined);
    }
}

/* --- search ----------------------------------------------------------------------------- */

static void try_neighbourhood(void) {
    taper_index_range range = {.size = sizeof(taper_index_range)};
    taper_error error = {0};
    const uint64_t *query = drawn.codes;
    refused(taper_index_neighbourhood(NULL, query, 1, 1, &range, &error), &error);
    refused(taper_index_neighbourhood(index, NULL, 1, 1, &range, &error), &error);
    refused(taper_index_neighbourhood(index, query, 1, 1, NULL, &error), &error);
    refused(taper_index_neighbourhood(index, query, 1, 1, &(taper_index_range){0}, &error), &error);
    EACH_NUMBER(v) {
        assert_int_equal(
            allowed(taper_index_neighbourhood(index, query, (uint32_t)*v, 1, &range, &error),
                    &error),
            *v > BITS ? TAPER_ERR_ARG : TAPER_OK);
        assert_int_equal(
            allowed(taper_index_neighbourhood(index, query, 1, *v, &range, &error), &error),
            *v == 1 ? TAPER_OK : TAPER_ERR_ARG);
    }
}

static uint32_t images[N * K], distances[N * K];

static taper_status nearest(const taper_index_search *search) {
    uint64_t looked_at[N];
    taper_error error = {0};
    return allowed(taper_index_nearest(index, search, images, distances, looked_at, &error),
                   &error);
}

static void try_nearest(void) {
    static const uint8_t wanted[N] = {UINT8_MAX};
    const taper_index_search good = {.size = sizeof(taper_index_search),
                                     .queries = drawn.codes,
                                     .n_queries = N,
                                     .k = K,
                                     .recall = 1,
                                     .threads = 1};
    taper_index_search s = good;
    taper_error error = {0};
    uint32_t known[N], within;
    assert_int_equal(nearest(&s), TAPER_OK);
    refused(taper_index_nearest(NULL, &s, images, distances, NULL, &error), &error);
    refused(taper_index_nearest(index, NULL, images, distances, NULL, &error), &error);
    refused(taper_index_nearest(index, &s, NULL, distances, NULL, &error), &error);
    refused(taper_index_nearest(index, &s, images, NULL, NULL, &error), &error);
    assert_int_equal(taper_index_nearest(index, &s, images, distances, NULL, NULL), TAPER_OK);
    s.queries = NULL;
    assert_int_equal(nearest(&s), TAPER_ERR_ARG);
    s = good, s.size = 0;
    assert_int_equal(nearest(&s), TAPER_ERR_ARG);
    EACH_COUNT(v) {
        s = good, s.n_queries = *v;
        assert_int_equal(nearest(&s), *v > 1 ? TAPER_ERR_ARG : TAPER_OK);
        s = good, s.k = *v;
        assert_int_equal(nearest(&s), *v == 1 ? TAPER_OK : TAPER_ERR_ARG);
    }
    EACH_NUMBER(v) {
        for (int i = 0; i < N; i++) known[i] = (uint32_t)*v;
        within = (uint32_t)*v;
        s = good, s.known_bits = known;
        assert_int_equal(nearest(&s), *v == 1 ? TAPER_OK : TAPER_ERR_ARG);
        s = good, s.within = &within, s.wanted = wanted;
        assert_int_equal(nearest(&s), TAPER_OK);
        s = good, s.threads = (unsigned)*v;
        assert_int_equal(nearest(&s), *v > 1 ? TAPER_ERR_ARG : TAPER_OK);
    }
    EACH_REAL(v) {
        s = good, s.recall = *v;
        assert_int_equal(nearest(&s), *v >= 0 && *v <= 1 ? TAPER_OK : TAPER_ERR_ARG);
    }
}

static taper_status rank(const taper_index_ranking *ranking) {
    taper_error error = {0};
    return allowed(taper_index_rank(index, ranking, images, distances, &error), &error);
}

static void try_rank(void) {
    static float margins[N * BITS];
    const taper_index_ranking good = {sizeof(taper_index_ranking), drawn.codes, margins, N, K};
    taper_index_ranking r = good;
    taper_error error = {0};
    for (int i = 0; i < N * K; i++) images[i] = (uint32_t)i % N, distances[i] = 0;
    assert_int_equal(rank(&r), TAPER_OK);
    refused(taper_index_rank(NULL, &r, images, distances, &error), &error);
    refused(taper_index_rank(index, NULL, images, distances, &error), &error);
    refused(taper_index_rank(index, &r, NULL, distances, &error), &error);
    refused(taper_index_rank(index, &r, images, NULL, &error), &error);
    r.size = 0;
    assert_int_equal(rank(&r), TAPER_ERR_ARG);
    r = good;
    r.queries = NULL;
    assert_int_equal(rank(&r), TAPER_ERR_ARG);
    r = good, r.margins = NULL;
    assert_int_equal(rank(&r), TAPER_ERR_ARG);
    EACH_COUNT(v) {
        r = good, r.n_queries = *v;
        assert_int_equal(rank(&r), *v > 1 ? TAPER_ERR_ARG : TAPER_OK);
        r = good, r.found = *v;
        assert_int_equal(rank(&r), *v > 1 ? TAPER_ERR_ARG : TAPER_OK);
    }
    EACH_REAL(v) {
        margins[3] = isfinite(*v) && fabs(*v) > 1 ? 3.4e38f : (float)*v;
        assert_int_equal(rank(&good), isfinite(*v) ? TAPER_OK : TAPER_ERR_ARG);
    }
    margins[3] = 0;
    EACH_NUMBER(v) {
        images[1] = (uint32_t)*v;
        assert_int_equal(rank(&good),
                         *v < N || (uint32_t)*v == UINT32_MAX ? TAPER_OK : TAPER_ERR_ARG);
    }
}

static const argument_trial table[] = {
    {"taper_index_pack", try_pack},
    {"taper_index_layers", try_layers},
    {"taper_index_open_file", try_open_file},
    {"taper_index_build", try_build},
    {"taper_index_open", try_open},
    {"taper_index_close", try_close},
    {"taper_index_check", try_check},
    {"taper_index_get_info", try_get_info},
    {"taper_index_get_part", try_get_part},
    {"taper_index_name", try_name},
    {"taper_index_label", try_label},
    {"taper_index_class_name", try_class_name},
    {"taper_index_code", try_code},
    {"taper_index_image_code", try_image_code},
    {"taper_index_join", try_join},
    {"taper_index_merge", try_merge},
    {"taper_index_merge_part", try_merge_part},
    {"taper_index_neighbourhood", try_neighbourhood},
    {"taper_index_nearest", try_nearest},
    {"taper_index_rank", try_rank},
};
enum { FUNCTIONS = sizeof table / sizeof *table };

static int make(void **state) {
    bits_begin(state);
    tiny_draw(&drawn, BITS_EVEN, N, BITS, TINY_ALL, "a");
    for (int i = 0; i < N; i++) drawn.codes[i * WORDS] |= 1; /* behind the first bits of fewer */
    for (int i = 0; i < N; i++) drawn.labels[i] = 2;
    file = tiny_build(&drawn.set, 1);
    index = tiny_open(&file);
    return 0;
}

static int drop(void **state) {
    (void)state;
    taper_index_close(index);
    formats_buffer_free(&file);
    tiny_drop(&drawn);
    return 0;
}

static void every_function_is_tried(void **state) {
    (void)state;
    argument_table_is_complete("codec/taper_index.h", table, FUNCTIONS);
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
    return cmocka_run_group_tests(tests, make, drop);
}
