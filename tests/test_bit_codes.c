/* test_bit_codes.c -- what is done with words of bits at a time against loops over single bits, at
 * lengths around those of words. */
#include "codec/search/bit_codes.h"
#include "cmocka_all.h"
#include "random_bits.h"
#include <math.h>

static const size_t lengths[] = {1, 63, 64, 65, 127, 128, 1000, 2048};
enum { LENGTHS = sizeof lengths / sizeof *lengths, N = 30 };
static const uint64_t canary = 0x0123456789ABCDEFu;

/* A number on or beside the border that packing looks at. */
static float draw_number(void) {
    static const float numbers[] = {0,     -0.0f, 1,        -1,        1e-45f, -1e-45f,
                                    3e38f, NAN,   INFINITY, -INFINITY, 0.5f,   0.4999f};
    return numbers[bits_below(sizeof numbers / sizeof *numbers)];
}

static void check_packed(const float *codes, size_t width, size_t bits, const uint64_t *words) {
    const size_t row = codec_bits_words(bits);
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < 64 * row; j++)
            if (bits_get(words + i * row, j) != (j < bits && codes[i * width + j] > 0))
                fail_msg("bit %zu of %zu, code %zu (seed %llu)", j, bits, i,
                         (unsigned long long)bits_seed);
}

/* Rows may be wider than what is packed of them; what the words held before is gone. */
static void packing_asks_whether_numbers_are_above_0(void **state) {
    (void)state;
    for (size_t l = 0; l < LENGTHS; l++)
        for (size_t more = 0; more < 4; more += 3) {
            const size_t bits = lengths[l], width = bits + more, row = codec_bits_words(bits);
            float *codes = malloc(N * width * sizeof *codes);
            uint64_t *words = malloc((N * row + 1) * sizeof *words);
            assert_true(codes && words);
            for (size_t i = 0; i < N * width; i++) codes[i] = draw_number();
            for (size_t i = 0; i <= N * row; i++) words[i] = canary;
            codec_bits_pack(codes, N, width, bits, words);
            check_packed(codes, width, bits, words);
            assert_true(words[N * row] == canary);
            codec_bits_pack(codes, 0, width, bits, words + N * row);
            assert_true(words[N * row] == canary);
            free(codes), free(words);
        }
}

static void words_are_counted(void **state) {
    (void)state;
    for (size_t bits = 0; bits <= 4096; bits++)
        assert_int_equal(codec_bits_words(bits), bits / 64 + (bits % 64 > 0));
}

static void keeping_clears_what_is_behind(void **state) {
    (void)state;
    for (size_t l = 0; l < LENGTHS; l++) {
        const size_t row = codec_bits_words(lengths[l]);
        uint64_t *code = malloc((row + 1) * sizeof *code), *kept = malloc((row + 1) * sizeof *kept);
        assert_true(code && kept);
        for (size_t keep = 0; keep <= 64 * row + 65; keep += keep < 200 ? 1 : 1 + bits_below(9)) {
            for (size_t w = 0; w < row; w++) code[w] = bits_word() | bits_word();
            code[row] = canary;
            memcpy(kept, code, (row + 1) * sizeof *code);
            codec_bits_keep(kept, row, keep);
            for (size_t j = 0; j < 64 * row; j++)
                if (bits_get(kept, j) != (j < keep && bits_get(code, j)))
                    fail_msg("bit %zu, of %zu that are kept", j, keep);
            assert_true(kept[row] == canary);
        }
        free(code), free(kept);
    }
}

static size_t differing(const uint64_t *a, const uint64_t *b, size_t bits) {
    size_t n = 0;
    for (size_t j = 0; j < bits; j++) n += bits_get(a, j) != bits_get(b, j);
    return n;
}

static void check_pair(const uint64_t *a, const uint64_t *b, size_t bits) {
    const size_t row = codec_bits_words(bits), prefix = bits_prefix(a, b, bits);
    const int order = codec_bits_compare(a, b, row);
    assert_int_equal(order < 0, bits_before(a, b, bits));
    assert_int_equal(order > 0, bits_before(b, a, bits));
    assert_int_equal(codec_bits_shared(a, b, row), prefix < bits ? prefix : 64 * row);
    assert_int_equal(codec_bits_distance(a, b, row), differing(a, b, bits));
}

/* All pairs of some of each kind, each with itself, too. */
static void pairs_are_compared_bit_by_bit(void **state) {
    (void)state;
    for (size_t l = 0; l < LENGTHS; l++)
        for (int kind = 0; kind < BITS_KINDS; kind++) {
            const size_t bits = lengths[l], row = codec_bits_words(bits);
            uint64_t *codes = bits_draw(kind, N, bits);
            for (size_t i = 0; i < N * N; i++)
                check_pair(codes + i / N * row, codes + i % N * row, bits);
            free(codes);
        }
}

/* Two that differ in one bit, which is each bit once. */
static void each_bit_counts(void **state) {
    (void)state;
    for (size_t l = 0; l < LENGTHS; l++) {
        const size_t bits = lengths[l], row = codec_bits_words(bits);
        uint64_t *pair = bits_draw(BITS_EVEN, 2, bits);
        for (size_t j = 0; j < bits; j++) {
            memcpy(pair + row, pair, row * sizeof *pair);
            bits_flip(pair + row, j);
            assert_int_equal(codec_bits_shared(pair, pair + row, row), j);
            assert_int_equal(codec_bits_distance(pair, pair + row, row), 1);
            assert_int_equal(codec_bits_compare(pair, pair + row, row) < 0,
                             bits_get(pair + row, j));
            assert_int_equal(codec_bits_compare(pair + row, pair, row) < 0, bits_get(pair, j));
        }
        free(pair);
    }
}

/* They are added to what is there, of any number of codes. */
static void distances_are_added(void **state) {
    (void)state;
    for (size_t l = 0; l < LENGTHS; l++)
        for (size_t n = 0; n <= N; n++) {
            const size_t bits = lengths[l], row = codec_bits_words(bits);
            uint64_t *codes = bits_draw((int)(n % BITS_KINDS), n + 1, bits);
            uint32_t distance[N + 1], before[N + 1];
            for (size_t i = 0; i <= N; i++) before[i] = distance[i] = (uint32_t)bits_below(1 << 30);
            codec_bits_add_distances(codes + n * row, codes, n, row, distance);
            for (size_t i = 0; i <= N; i++) {
                const size_t more = i < n ? differing(codes + n * row, codes + i * row, bits) : 0;
                assert_int_equal(distance[i], before[i] + more);
            }
            free(codes);
        }
}

/* By hand: the first bit is the highest of the first word. */
static void order_of_bits(void **state) {
    (void)state;
    const float codes[66] = {1, -1, 2, [63] = 1, [64] = -1, [65] = 3};
    uint64_t words[2];
    codec_bits_pack(codes, 1, 66, 66, words);
    assert_true(words[0] == 0xA000000000000001u && words[1] == 0x4000000000000000u);
    codec_bits_keep(words, 2, 2);
    assert_true(words[0] == 0x8000000000000000u && words[1] == 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_of_bits),
        cmocka_unit_test(words_are_counted),
        cmocka_unit_test(packing_asks_whether_numbers_are_above_0),
        cmocka_unit_test(keeping_clears_what_is_behind),
        cmocka_unit_test(pairs_are_compared_bit_by_bit),
        cmocka_unit_test(each_bit_counts),
        cmocka_unit_test(distances_are_added),
    };
    return cmocka_run_group_tests(tests, bits_begin, NULL);
}
