/* test_margins.c -- what an index finds, ranked by margins: against the definition, one bit at a
 * time. */
#include "cmocka_all.h"
#include "tiny_index.h"
#include <math.h>

enum { N = 700, QUERIES = 9, FOUND = 40 };

static int bit_of(const uint64_t *code, size_t b) { return code[b / 64] >> (63 - b % 64) & 1; }

/* The sum over differing bits of their weights times the roots of their margins. */
static double sum_of(const tiny_set *t, const uint64_t *query, const float *margins, size_t image) {
    const uint64_t *code = t->codes + image * codec_bits_words(t->set.bits);
    double sum = 0;
    for (size_t b = 0; b < t->set.bits; b++) {
        size_t layer = 0;
        while (b >= (size_t)64 << layer) layer++; /* layers end at 64, 128, 256 .. bits */
        if (bit_of(code, b) != bit_of(query, b))
            sum += (t->set.weights ? t->weights[layer] : 1) * sqrt(fabs((double)margins[b]));
    }
    return sum;
}

static void check_ranks(int kind, uint32_t bits, int has) {
    const size_t words = codec_bits_words(bits);
    tiny_set t, asked;
    tiny_draw(&t, kind, N, bits, has, "a");
    tiny_draw(&asked, kind, QUERIES, bits, has, "b");
    formats_buffer file = tiny_build(&t.set, 1);
    taper_index *index = tiny_open(&file);
    float *margins = malloc(QUERIES * bits * sizeof *margins);
    uint32_t image[QUERIES * FOUND], distance[QUERIES * FOUND], before[QUERIES * FOUND];
    const taper_index_search search = {.size = sizeof(taper_index_search),
                                       .queries = asked.codes,
                                       .n_queries = QUERIES,
                                       .k = FOUND,
                                       .recall = 1,
                                       .threads = 1};
    const taper_index_ranking ranking = {sizeof(taper_index_ranking), asked.codes, margins, QUERIES,
                                         FOUND};
    for (size_t i = 0; i < QUERIES * bits; i++)
        margins[i] = (float)bits_below(1000) / 500.0f - 1.0f;
    assert_int_equal(taper_index_nearest(index, &search, image, distance, NULL, NULL), TAPER_OK);
    memcpy(before, image, sizeof before);
    image[FOUND - 1] = before[FOUND - 1] = UINT32_MAX; /* one found fewer */
    assert_int_equal(taper_index_rank(index, &ranking, image, distance, NULL), TAPER_OK);
    assert_true(image[FOUND - 1] == UINT32_MAX);
    size_t moved = 0;
    for (size_t q = 0; q < QUERIES; q++) {
        const size_t held = FOUND - (q == 0);
        double last = -1;
        for (size_t i = 0; i < held; i++) {
            const uint32_t *row = image + q * FOUND, *was = before + q * FOUND;
            const double sum = sum_of(&t, asked.codes + q * words, margins + q * bits, row[i]);
            size_t same = 0;
            assert_true(sum > last - 1e-9 * (1 + sum));
            for (size_t j = 0; j < held; j++) same += was[j] == row[i];
            assert_int_equal(same, 1); /* those that were found, each once */
            moved += row[i] != was[i];
            last = sum;
        }
    }
    assert_true(moved > 0);
    free(margins);
    taper_index_close(index);
    formats_buffer_free(&file);
    tiny_drop(&t), tiny_drop(&asked);
}

static void ranks_are_by_the_definition(void **state) {
    (void)state;
    static const uint32_t bits[] = {8, 64, 65, 130, 300, 1024};
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++)
        for (int has = 0; has < 2; has++) check_ranks(BITS_EVEN, bits[i], has ? TINY_ALL : 0);
}

/* With equal margins and even weights ranks are as they were, and so are distances. */
static void equal_margins_change_nothing(void **state) {
    (void)state;
    tiny_set t;
    tiny_draw(&t, BITS_EVEN, N, 100, 0, "a");
    formats_buffer file = tiny_build(&t.set, 1);
    taper_index *index = tiny_open(&file);
    uint32_t image[FOUND], distance[FOUND], image_then[FOUND], distance_then[FOUND];
    float margins[100];
    for (int b = 0; b < 100; b++) margins[b] = b % 2 ? 0.5f : -0.5f;
    const taper_index_search search = {.size = sizeof(taper_index_search),
                                       .queries = t.codes,
                                       .n_queries = 1,
                                       .k = FOUND,
                                       .recall = 1};
    taper_index_ranking ranking = {sizeof(taper_index_ranking), t.codes, margins, 1, FOUND};
    assert_int_equal(taper_index_nearest(index, &search, image, distance, NULL, NULL), TAPER_OK);
    memcpy(image_then, image, sizeof image), memcpy(distance_then, distance, sizeof distance);
    assert_int_equal(taper_index_rank(index, &ranking, image, distance, NULL), TAPER_OK);
    assert_memory_equal(image, image_then, sizeof image);
    assert_memory_equal(distance, distance_then, sizeof distance);
    taper_error error = {0};
    margins[7] = NAN;
    assert_int_equal(taper_index_rank(index, &ranking, image, distance, &error), TAPER_ERR_ARG);
    assert_non_null(strstr(error.text, "bit 7"));
    margins[7] = 1;
    image[3] = N;
    assert_int_equal(taper_index_rank(index, &ranking, image, distance, NULL), TAPER_ERR_ARG);
    ranking.n_queries = 0;
    assert_int_equal(taper_index_rank(index, &ranking, image, distance, NULL), TAPER_OK);
    taper_index_close(index);
    formats_buffer_free(&file);
    tiny_drop(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(ranks_are_by_the_definition),
                                       cmocka_unit_test(equal_margins_change_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
