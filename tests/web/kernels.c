/* kernels.c -- kernels of the WebAssembly build against their definitions in plain C, as a module
 * of its own: kernels_run() traps where one differs. Beside tests/test_int8_dot.c and
 * tests/test_significance.c, which it is linked with, it draws convolutions and sparse sums. */
#include "codec/backend/int8_dot.h"
#include "codec/backend/int_convolution.h"
#include "codec/backend/sparse_sum.h"
#include "codec/bitplane/significance.h"
#include "formats/bytes.h"
#include "tests/web/cmocka/cmocka.h"
#include <stdlib.h>
#include <zstd.h>

#define EXPORT(name) __attribute__((export_name(#name))) name

int main_of_test_int8_dot(void);
int main_of_test_significance(void);

static int failed_line;
_Noreturn void web_test_fail(int line) {
    failed_line = line;
    __builtin_trap();
}
int EXPORT(kernels_line)(void) { return failed_line; }

/* For models that tests make: a frame of stored blocks. */
enum { STORED_BLOCK = 1 << 16 };
size_t ZSTD_compressBound(size_t size) { return size + 3 * (size / STORED_BLOCK + 1) + 9; }
const char *ZSTD_getErrorName(size_t got) { return got ? "error" : ""; }
size_t ZSTD_compress(void *to, size_t room, const void *from, size_t size, int level) {
    static const uint8_t head[5] = {0x28, 0xB5, 0x2F, 0xFD,
                                    0xA0}; /* a size of four bytes follows */
    uint8_t *at = to;
    const uint8_t *left = from;
    (void)room, (void)level;
    memcpy(at, head, sizeof head);
    formats_set_u32le(at + 5, (uint32_t)size);
    at += 9;
    for (size_t n, last = 0; !last; at += 3 + n, left += n, size -= n) {
        n = size < STORED_BLOCK ? size : STORED_BLOCK, last = n == size;
        at[0] = (uint8_t)(n << 3 | last), at[1] = (uint8_t)(n >> 5), at[2] = (uint8_t)(n >> 13);
        memcpy(at + 3, left, n);
    }
    return (size_t)(at - (uint8_t *)to);
}

static uint32_t state = 1;
static int32_t drawn(int32_t least, int32_t most) {
    state = state * 1664525 + 1013904223;
    return least + (int32_t)(((uint64_t)state * (uint32_t)(most - least + 1)) >> 32);
}

/* --- convolutions ---------------------------------------------------------------------- */

enum { COLUMNS = 26, MOST_INPUTS = 32, MOST_OUTPUTS = 35 };

typedef struct drawing {
    int16_t weight[MOST_OUTPUTS * CODEC_CONVOLVE_TAPS * MOST_INPUTS];
    uint8_t shift[MOST_OUTPUTS];
    int32_t bias[MOST_OUTPUTS];
    union {
        int16_t numbers[(COLUMNS + 2) * MOST_INPUTS + 8]; /* and what kernels may read */
        uint8_t bytes[(COLUMNS + 2) * MOST_INPUTS];
    } row[3];
} drawing;

/* least or most, or one of the numbers between. */
static int32_t drawn_end(int32_t least, int32_t most, int ends) {
    return !ends ? drawn(least, most) : drawn(0, 1) ? most : least;
}

/* ends: weights and inputs of the largest magnitudes only. */
static void draw(drawing *d, codec_convolution *c, int least_shift, int ends) {
    enum { MOST_NUMBER = 3276, MOST_WEIGHT = 1365 }; /* as in row_products.h */
    const int most = c->bytes ? CODEC_CONVOLVE_MOST_BYTE_WEIGHT : ends ? MOST_WEIGHT : 200;
    const uint32_t weights = c->outputs * CODEC_CONVOLVE_TAPS * c->inputs;
    for (uint32_t i = 0; i < weights; i++) d->weight[i] = (int16_t)drawn_end(-most, most, ends);
    for (uint32_t o = 0; o < c->outputs; o++) {
        d->shift[o] = (uint8_t)drawn(least_shift, 30);
        d->bias[o] = drawn(-100000, 100000);
    }
    for (int r = 0; r < 3; r++)
        for (uint32_t i = 0; i < (COLUMNS + 2) * c->inputs; i++)
            if (c->bytes)
                d->row[r].bytes[i] = (uint8_t)drawn_end(0, 127, ends);
            else
                d->row[r].numbers[i] = (int16_t)drawn_end(-MOST_NUMBER, MOST_NUMBER, ends);
}

static void check_convolution(codec_convolution c, uint32_t columns, int least_shift, int ends) {
    static drawing d;
    static int32_t got[COLUMNS * MOST_OUTPUTS + 1], want[COLUMNS * MOST_OUTPUTS + 1];
    size_t n;
    const codec_convolve_kernel *kernel = codec_convolve_kernels(&n);
    const void *const in[3] = {&d.row[0], &d.row[1], &d.row[2]};
    draw(&d, &c, least_shift, ends);
    c.weight = d.weight, c.shift = d.shift;
    assert_int_equal(codec_convolution_pack(&c), TAPER_OK);
    for (size_t k = 0; k < n; k++) {
        memset(got, k ? 1 : 2, sizeof got);
        memset(want, k ? 1 : 2, sizeof want);
        kernel[k].row(&c, in, columns, d.bias, got);
        codec_convolve_row_plain(&c, in, columns, d.bias, want);
        assert_memory_equal(got, want, sizeof got);
    }
    free(c.packed), free(c.quads), free(c.shifts);
}

/* Few inputs have the largest magnitudes, so that sums fit 32 bits. */
static void check_convolutions(void) {
    static const uint32_t columns[] = {1, 3, 4, 5, 12, 13, COLUMNS};
    for (uint32_t outputs = 1; outputs <= MOST_OUTPUTS; outputs += outputs < 14 ? 1 : 7)
        for (uint32_t inputs = 4; inputs <= MOST_INPUTS; inputs += inputs < 12   ? 4
                                                                   : inputs < 16 ? 2
                                                                                 : 8)
            for (int bytes = 0; bytes < 1 + (inputs % 8 == 0); bytes++)
                for (uint32_t i = 0; i < sizeof columns / sizeof *columns; i++)
                    for (int ends = 0; ends < 1 + (bytes || inputs <= 8); ends++)
                        check_convolution((codec_convolution){.inputs = inputs,
                                                              .outputs = outputs,
                                                              .bytes = bytes},
                                          columns[i], i % 2 ? 0 : 2, ends);
}

/* --- sparse sums ----------------------------------------------------------------------- */

static void check_sparse_sums(void) {
    enum { PAIRS = 5, LANES = 2 * CODEC_SPARSE_BLOCK, TERMS = 9 };
    static int16_t matrix[PAIRS * LANES * 2];
    static int32_t got[LANES], want[LANES];
    codec_term term[TERMS];
    size_t n;
    const codec_sparse_kernel *kernel = codec_sparse_kernels(&n);
    for (size_t i = 0; i < PAIRS * LANES * 2; i++) matrix[i] = (int16_t)drawn(-32768, 32767);
    for (size_t t = 0; t < TERMS; t++)
        term[t] = (codec_term){(uint32_t)drawn(0, PAIRS - 1),
                               {(int16_t)drawn(-32768, 32767), (int16_t)drawn(-32768, 32767)}};
    for (size_t k = 0; k < n; k++)
        for (uint32_t count = 16; count <= CODEC_SPARSE_BLOCK; count += CODEC_SPARSE_STEP) {
            for (uint32_t i = 0; i < LANES; i++) got[i] = want[i] = drawn(-1000, 1000);
            kernel[k].sum(matrix, LANES, 16, count, term, count == 32 ? 0 : TERMS, got);
            codec_sparse_sum_plain(matrix, LANES, 16, count, term, count == 32 ? 0 : TERMS, want);
            assert_memory_equal(got, want, sizeof got);
        }
}

/* The number of kernels beside the definitions: 4 with SIMD, 0 without. */
int EXPORT(kernels_run)(void) {
    size_t bytes, convolutions, sums, contexts;
    codec_byte_kernels(&bytes);
    codec_convolve_kernels(&convolutions);
    codec_sparse_kernels(&sums);
    codec_significance_kernels(&contexts);
    main_of_test_int8_dot();
    main_of_test_significance();
    check_convolutions();
    check_sparse_sums();
    return (int)(bytes + convolutions + sums + contexts) - 4;
}
