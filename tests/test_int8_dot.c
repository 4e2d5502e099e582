/* test_int8_dot.c -- every kernel for products of bytes, against the definition. */
#include "cmocka_all.h"
#include "codec/backend/int8_dot.h"
#include "random_conditional.h"

enum { SEED = 4100, MOST_N = 256, MOST_LANES = 256 };

static int runs(const codec_byte_kernel *k) {
    if (!k->runs()) print_message("SKIP no %s here\n", k->name);
    return k->runs();
}

static void sums_are_changed_as_defined(void **unused) {
    (void)unused;
    size_t kernels;
    const codec_byte_kernel *kernel = codec_byte_kernels(&kernels);
    for (size_t k = 0; k < kernels; k++) {
        if (!runs(&kernel[k])) continue;
        uint64_t state = SEED;
        for (uint32_t n = 8; n <= MOST_N; n += 8) {
            int8_t pairs[2 * MOST_N];
            int32_t sum[MOST_N + 1], want[MOST_N + 1];
            int extreme = n % 64 == 0, sign = n % 128 ? -1 : 1;
            int32_t a = extreme ? 254 * sign : conditional_draw(&state, 254),
                    b = extreme ? 254 * sign : conditional_draw(&state, 254);
            for (uint32_t i = 0; i < 2 * n; i++)
                pairs[i] = (int8_t)(extreme ? 127 : conditional_draw(&state, 127));
            for (uint32_t i = 0; i <= n; i++) want[i] = sum[i] = conditional_draw(&state, 1 << 29);
            for (uint32_t i = 0; i < n; i++) want[i] += pairs[2 * i] * a + pairs[2 * i + 1] * b;
            kernel[k].add_pairs(sum, pairs, a, b, n);
            assert_memory_equal(sum, want, (n + 1) * sizeof *sum); /* and no further */
        }
    }
}

/* Rows in any order, the same row several times, and none; sums of several blocks and of less. */
static void rows_are_added_as_defined(void **unused) {
    (void)unused;
    enum { MATRIX_ROWS = 9, MOST_ROWS = 40 };
    static int8_t pairs[MATRIX_ROWS * 2 * MOST_N];
    size_t kernels;
    const codec_byte_kernel *kernel = codec_byte_kernels(&kernels);
    for (size_t k = 0; k < kernels; k++) {
        if (!runs(&kernel[k])) continue;
        uint64_t state = SEED + 2;
        for (size_t i = 0; i < sizeof pairs; i++) pairs[i] = (int8_t)conditional_draw(&state, 127);
        for (uint32_t n = 8; n <= MOST_N; n += 8) {
            int32_t sum[MOST_N + 1], want[MOST_N + 1];
            codec_pair_row row[MOST_ROWS];
            size_t rows = picture_random(&state) % (MOST_ROWS + 1);
            for (uint32_t i = 0; i <= n; i++) want[i] = sum[i] = conditional_draw(&state, 1 << 29);
            for (size_t r = 0; r < rows; r++) {
                row[r] = (codec_pair_row){(uint32_t)(picture_random(&state) % MATRIX_ROWS),
                                          (int16_t)conditional_draw(&state, 254),
                                          (int16_t)conditional_draw(&state, 254)};
                for (uint32_t i = 0; i < n; i++) {
                    const int8_t *pair = pairs + (row[r].row * n + i) * 2;
                    want[i] += pair[0] * row[r].a + pair[1] * row[r].b;
                }
            }
            kernel[k].add_rows(sum, pairs, row, rows, n);
            assert_memory_equal(sum, want, (n + 1) * sizeof *sum); /* and no further */
        }
    }
}

/* Weights within +-127 and activations within 0 .. 127, as numbers of the matrix and vector. */
static void fill(int8_t *matrix, int8_t *vector, uint32_t n, uint32_t lanes, int weights_in_matrix,
                 int extreme, uint64_t *state) {
    for (uint32_t i = 0; i < n * lanes; i++)
        matrix[i] = (int8_t)(extreme             ? (weights_in_matrix && n % 8 ? -127 : 127)
                             : weights_in_matrix ? conditional_draw(state, 127)
                                                 : abs(conditional_draw(state, 127)));
    for (uint32_t i = 0; i < n; i++)
        vector[i] = (int8_t)(extreme             ? (weights_in_matrix ? 127 : -127)
                             : weights_in_matrix ? abs(conditional_draw(state, 127))
                                                 : conditional_draw(state, 127));
}

static void products_are_as_defined(void **unused) {
    (void)unused;
    static int8_t matrix[MOST_N * MOST_LANES];
    size_t kernels;
    const codec_byte_kernel *kernel = codec_byte_kernels(&kernels);
    for (size_t k = 0; k < kernels; k++) {
        if (!runs(&kernel[k])) continue;
        uint64_t state = SEED + 1;
        for (uint32_t round = 0; round < 400; round++) {
            uint32_t n = (uint32_t)(4 + picture_random(&state) % (round % 8 ? 18 : MOST_N / 4) * 4),
                     lanes = (uint32_t)(8 + picture_random(&state) %
                                                (round % 8 ? 9 : MOST_LANES / 8) * 8);
            int weights_in_matrix = round / 8 % 2;
            int8_t vector[MOST_N];
            int32_t sum[MOST_LANES + 1] = {0};
            fill(matrix, vector, n, lanes, weights_in_matrix, round % 5 == 0, &state);
            sum[lanes] = 85;
            if (weights_in_matrix)
                kernel[k].weight_lanes(matrix, (const uint8_t *)vector, n, lanes, sum);
            else
                kernel[k].activation_lanes((const uint8_t *)matrix, vector, n, lanes, sum);
            for (uint32_t lane = 0; lane < lanes; lane++) {
                int32_t want = 0;
                for (uint32_t i = 0; i < n; i++)
                    want += matrix[codec_quad_at(lanes, i, lane)] * vector[i];
                assert_int_equal(sum[lane], want);
            }
            assert_int_equal(sum[lanes], 85); /* and no further */
        }
    }
}

/* The definition of conditional.h. */
static uint8_t layer_output(int32_t sum, uint8_t shift, int32_t bias, uint8_t x) {
    int64_t z = (((int64_t)sum * 16 >> shift) + bias + 8) >> 4;
    z = x + (z < 0 ? 0 : z > 127 ? 127 : z);
    return (uint8_t)(z > 127 ? 127 : z);
}

static void layers_are_as_defined(void **unused) {
    (void)unused;
    static int8_t matrix[CODEC_MOST_LAYER * CODEC_MOST_LAYER];
    uint8_t shift[CODEC_MOST_LAYER], x[CODEC_MOST_LAYER + 1], before[CODEC_MOST_LAYER + 1];
    int32_t bias[CODEC_MOST_LAYER];
    size_t kernels;
    const codec_byte_kernel *kernel = codec_byte_kernels(&kernels);
    for (size_t k = 0; k < kernels; k++) {
        if (!runs(&kernel[k])) continue;
        uint64_t state = SEED + 3;
        for (uint32_t n = 8; n <= CODEC_MOST_LAYER; n += 8) {
            for (uint32_t i = 0; i < n * n; i++)
                matrix[i] = (int8_t)conditional_draw(&state, n % 64 ? 127 : 20);
            for (uint32_t i = 0; i < n; i++) {
                shift[i] = (uint8_t)(i % 16 ? picture_random(&state) % 12 : 30);
                bias[i] = conditional_draw(&state, i % 5 ? 2000 : 1 << 16);
            }
            for (uint32_t i = 0; i <= n; i++)
                before[i] = x[i] = (uint8_t)abs(conditional_draw(&state, 127));
            kernel[k].middle_layer(matrix, shift, bias, n, x);
            for (uint32_t i = 0; i < n; i++) {
                int32_t sum = 0;
                for (uint32_t j = 0; j < n; j++) sum += matrix[codec_quad_at(n, j, i)] * before[j];
                assert_int_equal(x[i], layer_output(sum, shift[i], bias[i], before[i]));
            }
            assert_int_equal(x[n], before[n]);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_are_changed_as_defined), cmocka_unit_test(rows_are_added_as_defined),
        cmocka_unit_test(layers_are_as_defined), cmocka_unit_test(products_are_as_defined)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
