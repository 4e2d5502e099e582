/* test_ordered_index.c -- places and nested neighbourhoods against their definition, a code after
 * the other and a bit after the other; how many codes are looked at for them; that arrays which
 * hold anything lead nowhere else. */
#include "codec/search/ordered_index.h"
#include "cmocka_all.h"
#include "random_bits.h"

static const size_t lengths[] = {1, 2, 5, 12, 64, 65, 130, 320};
enum { LENGTHS = sizeof lengths / sizeof *lengths, MOST_CODES = 300, MOST_BITS = 384 };

/* What the definition asks of a query: which codes share how many bits with it. */
typedef struct asked {
    size_t n, below;               /* codes; those before the query */
    size_t prefix[MOST_CODES];     /* bits that the code at each place shares */
    size_t members[MOST_BITS + 1]; /* of N_b, for each b */
} asked;

static void ask(const bits_order *o, const uint64_t *query, asked *a) {
    const size_t words = o->index.words;
    *a = (asked){.n = o->index.n};
    for (size_t i = 0; i < a->n; i++) {
        a->prefix[i] = bits_prefix(o->sorted + i * words, query, 64 * words);
        a->below += (size_t)bits_before(o->sorted + i * words, query, 64 * words);
        for (size_t b = 0; b <= a->prefix[i]; b++) a->members[b]++;
    }
}

static codec_neighbourhood members(const asked *a, size_t depth) {
    codec_neighbourhood r = {.size = a->members[depth], .depth = depth};
    while (r.size && a->prefix[r.first] < depth) r.first++;
    return r;
}

static codec_neighbourhood defined(const asked *a, size_t least, size_t deepest) {
    while (deepest && a->members[deepest] < least) deepest--;
    return members(a, deepest);
}

static void check_range(codec_neighbourhood got, codec_neighbourhood want, const bits_order *o,
                        size_t least, const char *what) {
    if (got.size != want.size || got.depth != want.depth || (want.size && got.first != want.first))
        fail_msg("%s of %zu codes, at least %zu: %zu from %zu share %zu bits, not %zu from %zu "
                 "that share %zu (table by %u bits, seed %llu)",
                 what, o->index.n, least, got.size, got.first, got.depth, want.size, want.first,
                 want.depth, o->index.table_bits, (unsigned long long)bits_seed);
}

/* --- the definition --------------------------------------------------------------------- */

static void check_place(const bits_order *o, const uint64_t *query, const asked *a) {
    size_t looked_at = 5;
    assert_int_equal(codec_index_place(&o->index, query, &looked_at), a->below);
    assert_in_range(looked_at, 5, 5 + 10); /* it is added; 2^9 > 300 */
}

static void check_query(const bits_order *o, const uint64_t *query, size_t bits) {
    asked a;
    ask(o, query, &a);
    check_place(o, query, &a);
    const size_t deepest[] = {bits, 0, 1, bits_below(bits + 1)};
    for (size_t d = 0; d < 4; d++)
        for (size_t least = 1; least <= a.n; least++)
            check_range(codec_index_neighbourhood(&o->index, query, least, deepest[d]),
                        defined(&a, least, deepest[d]), o, least, "neighbourhood");
    const size_t least = 1 + bits_below(a.n);
    check_range(codec_index_neighbourhood_plain(&o->index, query, least, deepest[3]),
                defined(&a, least, deepest[3]), o, least, "plain neighbourhood");
}

static void check_codes(int kind, size_t n, size_t bits, uint32_t table_bits, size_t queries) {
    bits_order o;
    uint64_t *codes = bits_draw(kind, n, bits);
    bits_order_make(&o, codes, n, bits, table_bits);
    uint64_t query[MOST_BITS / 64];
    for (size_t q = 0; q < queries; q++) {
        bits_draw_query(codes, n, bits, query);
        check_query(&o, query, bits);
    }
    bits_order_free(&o);
    free(codes);
}

/* Every number of codes, every number that is asked for. */
static void neighbourhoods_are_as_defined(void **state) {
    (void)state;
    for (size_t n = 1; n <= MOST_CODES; n++)
        check_codes((int)bits_below(BITS_KINDS), n, lengths[bits_below(LENGTHS)], n % 6, 2);
}

/* Few codes, in all ways. */
static void few_codes_in_all_ways(void **state) {
    (void)state;
    for (size_t n = 1; n <= 12; n++)
        for (size_t l = 0; l < LENGTHS; l++)
            for (int kind = 0; kind < BITS_KINDS; kind++)
                for (uint32_t table_bits = 0; table_bits <= 5; table_bits++)
                    check_codes(kind, n, lengths[l], table_bits, 4);
}

/* All codes of five bits, each up to three times, and all queries. */
static void all_queries_of_five_bits(void **state) {
    (void)state;
    for (uint32_t table_bits = 0; table_bits <= 6; table_bits++) {
        uint64_t codes[96];
        size_t n = 0;
        bits_order o;
        for (uint64_t c = 0; c < 32; c++)
            for (size_t copies = bits_below(4); copies; copies--) codes[n++] = c << 59;
        if (!n) continue;
        bits_order_make(&o, codes, n, 5, table_bits);
        for (uint64_t c = 0; c < 32; c++) check_query(&o, &(uint64_t){c << 59}, 5);
        bits_order_free(&o);
    }
}

/* --- how codes lie ---------------------------------------------------------------------- */

static void layers_hold_the_words(void **state) {
    (void)state;
    for (size_t words = 1; words <= 1024; words += words < 70 ? 1 : 53) {
        size_t sum = 0, layers = codec_index_layers(words);
        for (size_t l = 0; l < layers; l++) {
            assert_int_equal(codec_index_layer_first(l), sum);
            sum += codec_index_layer_words(words, l);
        }
        assert_int_equal(sum, words);
        assert_in_range(layers, 1, CODEC_INDEX_MOST_LAYERS);
    }
    assert_int_equal(codec_index_layers(16), 5);
    assert_int_equal(codec_index_layers(1024), CODEC_INDEX_MOST_LAYERS);
}

static void codes_come_out_of_layers(void **state) {
    (void)state;
    enum { N = 40 };
    for (size_t bits = 1; bits <= 2048; bits = 2 * bits + bits_below(2)) {
        bits_order o;
        uint64_t *codes = bits_draw(BITS_SKEWED, N, bits), code[2048 / 64];
        bits_order_make(&o, codes, N, bits, 0);
        for (size_t i = 0; i < N; i++) {
            codec_index_code(&o.index, i, code);
            assert_memory_equal(code, codes + o.image[i] * o.index.words,
                                o.index.words * sizeof *code);
        }
        bits_order_free(&o);
        free(codes);
    }
}

static void tables_count_codes_below(void **state) {
    (void)state;
    for (uint32_t bits = 0; bits <= 9; bits++)
        for (int kind = 0; kind < BITS_KINDS; kind++) {
            const size_t n = 1 + bits_below(200);
            bits_order o;
            uint64_t *codes = bits_draw(kind, n, 64);
            bits_order_make(&o, codes, n, 64, bits);
            for (uint64_t e = 0; e <= (uint64_t)1 << bits; e++) {
                size_t below = 0;
                for (size_t i = 0; i < n; i++) below += (bits ? codes[i] >> (64 - bits) : 0) < e;
                assert_int_equal(o.start[e], below);
            }
            bits_order_free(&o);
            free(codes);
        }
    assert_int_equal(codec_index_table_bits(1), 0);
    assert_int_equal(codec_index_table_bits(8), 0);
    assert_int_equal(codec_index_table_bits(9), 1);
    assert_int_equal(codec_index_table_bits(100000), 14);
    assert_int_equal(codec_index_table_bits(UINT32_MAX), CODEC_INDEX_MOST_TABLE_BITS);
}

/* --- how many are looked at ------------------------------------------------------------- */

static size_t most_looked_at(const bits_order *o, const uint64_t *codes, size_t bits) {
    size_t most = 0;
    uint64_t query[4];
    for (size_t q = 0; q < 300; q++) {
        bits_draw_query(codes, o->index.n, bits, query);
        for (size_t least = 1; least < o->index.n; least += 1 + least + bits_below(least)) {
            const size_t looked_at =
                codec_index_neighbourhood(&o->index, query, least, bits).looked_at;
            if (looked_at > most) most = looked_at;
        }
    }
    return most;
}

/* However many codes share how much. */
static void few_codes_are_looked_at(void **state) {
    (void)state;
    enum { BITS = 100 };
    for (size_t n = 10, log2 = 3; n <= 100000; n *= 10) {
        while ((size_t)1 << log2 < n) log2++;
        for (int kind = BITS_NEAR; kind <= BITS_KINDS; kind++)
            for (int table = 0; table < 2; table++) {
                bits_order o;
                uint64_t *codes = bits_draw(kind % BITS_KINDS, n, BITS);
                bits_order_make(&o, codes, n, BITS, table ? codec_index_table_bits(n) : 0);
                const size_t most = most_looked_at(&o, codes, BITS);
                if (most > 7 * log2 + 12) fail_msg("%zu of %zu codes, kind %d", most, n, kind);
                bits_order_free(&o);
                free(codes);
            }
    }
}

/* --- arrays that hold anything ---------------------------------------------------------- */

static void check_bounds(const bits_order *o, const uint64_t *query, size_t bits) {
    size_t looked_at = 0;
    const size_t n = o->index.n;
    assert_in_range(codec_index_place(&o->index, query, &looked_at), 0, n);
    for (size_t least = 1; least <= n; least++) {
        const size_t deepest = bits_below(bits + 1);
        const codec_neighbourhood a = codec_index_neighbourhood(&o->index, query, least, deepest);
        assert_true(a.first <= n && a.size <= n - a.first && a.depth <= deepest);
        assert_true(a.looked_at < 200);
    }
}

/* Codes in any order, and a table of any numbers up to n. In the sanitizer build what lies beyond
 * the arrays must not be touched. */
static void anything_keeps_to_the_arrays(void **state) {
    (void)state;
    for (size_t round = 0; round < 400; round++) {
        const size_t n = 1 + bits_below(round % 4 ? 12 : 150), bits = lengths[round % LENGTHS];
        const uint32_t table_bits = (uint32_t)bits_below(6);
        bits_order o;
        uint64_t *codes = bits_draw((int)bits_below(BITS_KINDS), n, bits), query[MOST_BITS / 64];
        bits_order_make(&o, codes, n, bits, table_bits);
        for (size_t i = 0; i < n * o.index.words; i++)
            if (bits_below(2)) o.layered[i] = o.layered[bits_below(n * o.index.words)];
        for (size_t e = 0; e <= (size_t)1 << table_bits; e++)
            if (bits_below(3)) o.start[e] = (uint32_t)bits_below(n + 1);
        for (size_t q = 0; q < 4; q++) {
            bits_draw_query(codes, n, bits, query);
            if (q == 3) memset(query, bits_below(2) ? 0xFF : 0, sizeof query);
            check_bounds(&o, query, bits);
        }
        bits_order_free(&o);
        free(codes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_hold_the_words),    cmocka_unit_test(codes_come_out_of_layers),
        cmocka_unit_test(tables_count_codes_below), cmocka_unit_test(few_codes_in_all_ways),
        cmocka_unit_test(all_queries_of_five_bits), cmocka_unit_test(neighbourhoods_are_as_defined),
        cmocka_unit_test(few_codes_are_looked_at),  cmocka_unit_test(anything_keeps_to_the_arrays),
    };
    return cmocka_run_group_tests(tests, bits_begin, NULL);
}
