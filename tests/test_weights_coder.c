/* test_weights_coder.c -- matrices of weights there and back, and strings that no writer makes. */
#include "cmocka_all.h"
#include "codec/entropy/rans.h"
#include "codec/entropy/weights_coder.h"
#include "pictures.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SEED = 61, ROWS = 9, COLUMNS = 50, WIDTH = 10 };

static void assert_round_trip(float *weights, uint32_t rows, uint32_t columns, uint32_t width,
                              const float *step) {
    size_t n = (size_t)rows * columns;
    float *original = malloc(n * sizeof *original + 1), *back = malloc(n * sizeof *back + 1);
    assert_true(original && back);
    memcpy(original, weights, n * sizeof *original);
    formats_buffer out = formats_buffer_make(1 << 24);
    formats_write_u8(&out, 99);
    assert_int_equal(codec_weights_write(weights, rows, columns, width, step, &out), TAPER_OK);
    for (size_t i = 0; i < n; i++) { /* rounded to nearest, or held at the end of the range */
        float s = step[i / columns], q = weights[i] / s;
        if (fabsf(original[i] / s) <= CODEC_WEIGHT_MAX)
            assert_true(fabsf(weights[i] - original[i]) <= (0.5001f + 2e-7f * fabsf(q)) * s);
        else
            assert_true(fabsf(fabsf(q) - CODEC_WEIGHT_MAX) < 1);
    }
    formats_cursor in = formats_cursor_over(out.data + 1, out.size - 1);
    assert_int_equal(codec_weights_read(back, rows, columns, width, &in, NULL), TAPER_OK);
    assert_int_equal(formats_cursor_left(&in), 0);
    assert_memory_equal(back, weights, n * sizeof *back);
    formats_buffer_free(&out);
    free(original), free(back);
}

static void fill(float *weights, size_t n, double scale, uint64_t *state) {
    for (size_t i = 0; i < n; i++)
        weights[i] = (float)(scale * ((double)(picture_random(state) >> 11) * exp2(-52) - 1));
}

static void matrices_round_trip(void **unused) {
    (void)unused;
    uint64_t state = SEED;
    printf("seed %d\n", SEED);
    static float weights[ROWS * COLUMNS];
    float step[ROWS];
    for (int size = -2; size <= 22; size += 2) /* zeros, small ones, escapes, the largest */
        for (uint32_t width = 1; width <= 60; width += 13) {
            fill(weights, ROWS * COLUMNS, 1, &state);
            for (int r = 0; r < ROWS; r++) step[r] = (float)exp2(-size) * (1 + 0.1f * (float)r);
            assert_round_trip(weights, ROWS, COLUMNS, width, step);
        }
    fill(weights, 1, 5, &state);
    assert_round_trip(weights, 1, 1, 1, step);
}

/* Every magnitude around the escapes, and the largest of all. */
static void magnitudes_around_the_escape(void **unused) {
    (void)unused;
    float weights[2 * 64 + 8], step[1] = {1};
    int n = 0;
    for (int i = -64; i < 64; i++) weights[n++] = (float)i;
    weights[n++] = CODEC_WEIGHT_MAX;
    weights[n++] = -CODEC_WEIGHT_MAX;
    weights[n++] = CODEC_WEIGHT_MAX - 1;
    weights[n++] = 0;
    weights[n++] = 4.0f * CODEC_WEIGHT_MAX; /* held */
    assert_round_trip(weights, 1, (uint32_t)n, 3, step);
}

static void smooth_rows_are_short(void **unused) {
    (void)unused;
    float smooth[400], rough[400], step[1] = {0.01f};
    uint64_t state = SEED;
    for (int i = 0; i < 400; i++) smooth[i] = (float)(i % 20 < 10 ? 0.0 : 0.08);
    for (int i = 0; i < 400; i++) rough[i] = picture_random(&state) & 1 ? 0.08f : 0.0f;
    size_t size[2];
    for (int k = 0; k < 2; k++) {
        formats_buffer out = formats_buffer_make(1 << 20);
        assert_int_equal(codec_weights_write(k ? rough : smooth, 1, 400, 20, step, &out), TAPER_OK);
        size[k] = out.size;
        formats_buffer_free(&out);
    }
    assert_true(size[0] * 5 < size[1] * 4);
}

static taper_status read_from(const formats_buffer *bytes, size_t size, uint32_t rows,
                              uint32_t columns) {
    float *back = malloc((size_t)rows * columns * sizeof *back + 1);
    uint8_t *exact = malloc(size + 1);
    assert_true(back && exact);
    if (size) memcpy(exact, bytes->data, size);
    formats_cursor in = formats_cursor_over(exact, size);
    taper_error error = {0};
    taper_status status = codec_weights_read(back, rows, columns, 1, &in, &error);
    assert_int_equal(status, error.status);
    free(back), free(exact);
    return status;
}

static void illegal_steps_are_refused(void **unused) {
    (void)unused;
    static const float bad[] = {0, -1, 1e-21f, 1e6f, INFINITY, NAN, -INFINITY};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        formats_buffer out = formats_buffer_make(100);
        uint32_t bits;
        memcpy(&bits, &bad[i], 4);
        formats_write_u32le(&out, 0x3F800000);
        formats_write_u32le(&out, bits);
        formats_write_varint(&out, 0);
        assert_int_equal(read_from(&out, out.size, 2, 1), TAPER_ERR_CORRUPT);
        formats_buffer_free(&out);
    }
}

/* The largest magnitude is a symbol with all digits 0 behind its sign: one more is too large. */
static void magnitudes_have_a_ceiling(void **unused) {
    (void)unused;
    for (int above = 0; above < 2; above++) {
        formats_buffer out = formats_buffer_make(1000);
        float weight[1] = {-CODEC_WEIGHT_MAX}, step[1] = {1};
        assert_int_equal(codec_weights_write(weight, 1, 1, 1, step, &out), TAPER_OK);
        enum { PLAIN_BYTES = 3 }; /* a sign, 18 digits */
        uint8_t *plain = out.data + out.size - PLAIN_BYTES;
        assert_true(plain[-1] == PLAIN_BYTES && plain[0] == 1);
        plain[0] |= (uint8_t)(above << 1);
        assert_int_equal(read_from(&out, out.size, 1, 1), above ? TAPER_ERR_CORRUPT : TAPER_OK);
        formats_buffer_free(&out);
    }
}

/* Tables of one class, 0, of these frequencies; the others do not occur. */
static formats_buffer with_table(const uint32_t *frequency, uint8_t n, uint32_t words) {
    formats_buffer out = formats_buffer_make(1 << 20);
    formats_write_u32le(&out, 0x3F800000);
    formats_write_u8(&out, n);
    for (uint8_t s = 0; s < n; s++) formats_write_varint(&out, frequency[s]);
    for (int k = 1; k < CODEC_WEIGHT_CLASSES; k++) formats_write_u8(&out, 0);
    formats_write_varint(&out, words);
    formats_write_u32le(&out, CODEC_RANS_LEAST);
    for (uint32_t i = 0; i < words; i++) formats_write_u16le(&out, 0);
    formats_write_varint(&out, 0);
    return out;
}

/* A few bytes cannot be millions of weights: refused before the work is done. */
static void short_strings_cannot_be_many_weights(void **unused) {
    (void)unused;
    static const uint32_t zero_and_one[] = {4094, 2};
    formats_buffer out = with_table(zero_and_one, 2, 3);
    assert_int_equal(read_from(&out, out.size, 1, 10000000), TAPER_ERR_CORRUPT);
    formats_buffer_free(&out);
    float *zeros = calloc(3000000, sizeof *zeros), step[1] = {1};
    assert_non_null(zeros); /* but what a writer makes is always taken */
    assert_round_trip(zeros, 1, 3000000, 1, step);
    free(zeros);
}

/* A row of weights as it is written now; *tables and *words: where its parts begin. */
static formats_buffer good_row(float *weights, uint32_t n) {
    uint64_t state = SEED + 2;
    float step[1] = {0.001f};
    formats_buffer out = formats_buffer_make(1 << 20);
    for (uint32_t i = 0; i < n; i++)
        weights[i] = i % 3 ? (float)(picture_random(&state) % 2000) / 10000 - 0.1f : 0;
    assert_int_equal(codec_weights_write(weights, 1, n, 1, step, &out), TAPER_OK);
    return out;
}

/* Every cut is too short, no changed byte does harm, and almost all are noticed. */
static void cuts_and_changes_are_noticed(void **unused) {
    (void)unused;
    enum { N = 300 };
    float weights[N];
    formats_buffer out = good_row(weights, N);
    assert_int_equal(read_from(&out, out.size, 1, N), TAPER_OK);
    for (size_t size = 0; size < out.size; size++)
        assert_int_not_equal(read_from(&out, size, 1, N), TAPER_OK);
    uint64_t state = SEED + 3;
    size_t refused = 0;
    for (size_t i = 4; i < out.size; i++) {
        uint8_t was = out.data[i];
        out.data[i] ^= (uint8_t)(1 + picture_random(&state) % 255);
        taper_status status = read_from(&out, out.size, 1, N);
        assert_true(status == TAPER_OK || status == TAPER_ERR_CORRUPT ||
                    status == TAPER_ERR_TRUNCATED);
        refused += status != TAPER_OK;
        out.data[i] = was;
    }
    printf("%zu of %zu changed bytes refused\n", refused, out.size - 4);
    assert_true(refused * 2 > out.size);
    /* a weight more or less than there are */
    assert_int_equal(read_from(&out, out.size, 1, N - 1), TAPER_ERR_CORRUPT);
    assert_int_equal(read_from(&out, out.size, 1, N + 1), TAPER_ERR_CORRUPT);
    formats_buffer_free(&out);
}

/* The plain bits are told apart from those of another number of bytes: one less, and they would
 * have to end in zeros that are not there; one more, and it would say nothing. */
static void plain_bits_end_with_the_weights(void **unused) {
    (void)unused;
    enum { N = 300 };
    float weights[N];
    formats_buffer out = good_row(weights, N), other = formats_buffer_make(1 << 16);
    formats_cursor in = formats_cursor_over(out.data, out.size);
    formats_read_u32le(&in); /* the step */
    for (int k = 0; k < CODEC_WEIGHT_CLASSES; k++)
        for (uint32_t symbols = formats_read_u8(&in); symbols > 0; symbols--)
            formats_read_varint_max(&in, CODEC_RANS_MOST);
    size_t words = (size_t)formats_read_varint_max(&in, N);
    formats_read_u32le(&in); /* the state */
    formats_read_bytes(&in, 2 * words);
    size_t head = in.at, plain = (size_t)formats_read_varint_max(&in, N * 4);
    const uint8_t *bytes = formats_read_bytes(&in, plain);
    assert_true(in.status == TAPER_OK && in.at == out.size && plain > 0);
    for (size_t more = 0; more < 3; more++) { /* 1: as it was */
        formats_buffer_clear(&other);
        formats_write_bytes(&other, out.data, head);
        formats_write_varint(&other, plain + more - 1);
        formats_write_bytes(&other, bytes, plain - (more == 0));
        if (more == 2) formats_write_u8(&other, 0);
        assert_int_equal(read_from(&other, other.size, 1, N),
                         more == 1 ? TAPER_OK : TAPER_ERR_CORRUPT);
    }
    formats_buffer_free(&out), formats_buffer_free(&other);
}

/* Any words and plain bits behind legal tables. */
static void any_strings_are_read_or_refused(void **unused) {
    (void)unused;
    static const uint32_t frequency[] = {1000, 1000, 1000, 1096};
    enum { WORDS = 12, N = 90 };
    uint64_t state = SEED + 1;
    for (int round = 0; round < 2000; round++) {
        formats_buffer out = with_table(frequency, 4, WORDS);
        out.size--; /* its empty plain bits */
        for (size_t i = 0; i < 4 + 2 * WORDS; i++)
            out.data[out.size - 1 - i] = (uint8_t)(picture_random(&state) >> 9);
        size_t plain = picture_random(&state) % 40;
        formats_write_varint(&out, plain);
        for (size_t i = 0; i < plain; i++)
            formats_write_u8(&out, (uint8_t)(picture_random(&state) >> 9));
        taper_status status = read_from(&out, out.size, 1, N);
        assert_true(status == TAPER_OK || status == TAPER_ERR_CORRUPT);
        if (plain) /* claims a byte more than there is */
            assert_int_equal(read_from(&out, out.size - 1, 1, N), TAPER_ERR_TRUNCATED);
        formats_buffer_free(&out);
    }
}

static void illegal_tables_are_refused(void **unused) {
    (void)unused;
    static const struct {
        uint32_t frequency[3];
        uint8_t n;
        uint32_t words, weights;
    } bad[] = {{{4094, 1}, 2, 0, 0},  {{4094, 3}, 2, 0, 0},
               {{4095, 1}, 2, 0, 0},  {{4096}, 1, 0, 0},
               {{0}, 1, 0, 0},        {{4094, 2}, 2, 0, 10000000},
               {{4094, 2}, 85, 0, 0}, {{2000, 2000, 97}, 3, 0, 0},
               {{4094, 2}, 2, 5, 1},  {{0, 2048, 2048}, 0, 0, 1}};
    static const uint32_t good[] = {4094, 2}, more[85] = {4094, 2};
    formats_buffer out = with_table(good, 2, 0);
    assert_int_equal(read_from(&out, out.size, 1, 0), TAPER_OK);
    formats_buffer_free(&out);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        out = with_table(bad[i].n > 3 ? more : bad[i].frequency, bad[i].n, bad[i].words);
        if (read_from(&out, out.size, 1, bad[i].weights) != TAPER_ERR_CORRUPT)
            fail_msg("table %zu was not refused", i);
        formats_buffer_free(&out);
    }
}

/* Frequencies sum to the total whatever was counted, and none that occurs is without one. */
static void frequencies_fit(void **unused) {
    (void)unused;
    uint64_t state = SEED + 4;
    static codec_rans_table table, back;
    for (int round = 0; round < 400; round++) {
        uint32_t count[CODEC_RANS_SYMBOLS] = {0}, sum = 0, kinds = 1 + (uint32_t)round % 84;
        for (uint32_t i = 0; i < kinds; i++)
            count[picture_random(&state) % kinds] +=
                (uint32_t)(picture_random(&state) >> (34 + picture_random(&state) % 30));
        for (uint32_t s = 0; s < CODEC_RANS_SYMBOLS; s++) sum += count[s];
        codec_rans_table_make(&table, count);
        uint32_t total = 0;
        for (uint32_t s = 0; s < table.n; s++) {
            assert_true(!count[s] || table.frequency[s]);
            assert_true(table.frequency[s] <= CODEC_RANS_MOST);
            total += table.frequency[s];
        }
        assert_int_equal(total, sum ? CODEC_RANS_TOTAL : 0);
        formats_buffer out = formats_buffer_make(1000);
        codec_rans_table_write(&table, &out);
        formats_cursor in = formats_cursor_over(out.data, out.size);
        assert_int_equal(codec_rans_table_read(&back, &in, NULL), TAPER_OK);
        assert_memory_equal(&table, &back, sizeof table);
        formats_buffer_free(&out);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrices_round_trip),
        cmocka_unit_test(magnitudes_around_the_escape),
        cmocka_unit_test(smooth_rows_are_short),
        cmocka_unit_test(illegal_steps_are_refused),
        cmocka_unit_test(magnitudes_have_a_ceiling),
        cmocka_unit_test(short_strings_cannot_be_many_weights),
        cmocka_unit_test(any_strings_are_read_or_refused),
        cmocka_unit_test(cuts_and_changes_are_noticed),
        cmocka_unit_test(plain_bits_end_with_the_weights),
        cmocka_unit_test(illegal_tables_are_refused),
        cmocka_unit_test(frequencies_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
