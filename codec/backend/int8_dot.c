/* int8_dot.c -- see int8_dot.h. */
#include "codec/backend/int8_dot.h"
#include "codec/backend/wasm.h"
#include "codec/backend/x86.h"
#include <string.h>

static void plain_add_pairs(int32_t *sum, const int8_t *pairs, int32_t a, int32_t b, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) sum[i] += pairs[2 * i] * a + pairs[2 * i + 1] * b;
}

static void plain_add_rows(int32_t *sum, const int8_t *pairs, const codec_pair_row *row,
                           size_t rows, uint32_t n) {
    for (size_t r = 0; r < rows; r++)
        plain_add_pairs(sum, pairs + (size_t)row[r].row * 2 * n, row[r].a, row[r].b, n);
}

static void plain_weight_lanes(const int8_t *matrix, const uint8_t *vector, uint32_t n,
                               uint32_t lanes, int32_t *sum) {
    memset(sum, 0, lanes * sizeof *sum);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t lane = 0; lane < lanes; lane++)
            sum[lane] += matrix[codec_quad_at(lanes, i, lane)] * vector[i];
}

static void plain_activation_lanes(const uint8_t *matrix, const int8_t *vector, uint32_t n,
                                   uint32_t lanes, int32_t *sum) {
    memset(sum, 0, lanes * sizeof *sum);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t lane = 0; lane < lanes; lane++)
            sum[lane] += matrix[codec_quad_at(lanes, i, lane)] * vector[i];
}

enum { MOST_ACTIVATION = 127 };

CODEC_INLINE void activate_lane(int32_t sum, uint8_t shift, int32_t bias, uint8_t *x) {
    int32_t z = ((sum * 16 >> shift) + bias + 8) >> 4;
    z = *x + (z < 0 ? 0 : z > MOST_ACTIVATION ? MOST_ACTIVATION : z);
    *x = (uint8_t)(z > MOST_ACTIVATION ? MOST_ACTIVATION : z);
}

static void plain_middle_layer(const int8_t *matrix, const uint8_t *shift, const int32_t *bias,
                               uint32_t n, uint8_t *x) {
    int32_t sum[CODEC_MOST_LAYER];
    plain_weight_lanes(matrix, x, n, n, sum);
    for (uint32_t i = 0; i < n; i++) activate_lane(sum[i], shift[i], bias[i], &x[i]);
}

#ifdef CODEC_X86_KERNELS

enum { LANES = 8, MOST_VECTORS = 8 }; /* sums are in registers, 64 lanes at a time */

CODEC_FOR_256 static void add_pairs_256(int32_t *sum, const int8_t *pairs, int32_t a, int32_t b,
                                        uint32_t n) {
    const __m256i x = _mm256_set1_epi32((int32_t)((uint32_t)b << 16 | (uint16_t)a));
    for (uint32_t i = 0; i < n; i += LANES) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(pairs + 2 * i));
        __m256i *to = (__m256i *)(void *)(sum + i);
        __m256i more = _mm256_madd_epi16(_mm256_cvtepi8_epi16(bytes), x);
        _mm256_storeu_si256(to, _mm256_add_epi32(_mm256_loadu_si256(to), more));
    }
}

/* Add rows to the sums of `vectors` vectors. pairs: those of the first sum in row 0. */
CODEC_FOR_256 CODEC_INLINE void rows_256(int32_t *sum, const int8_t *pairs,
                                         const codec_pair_row *row, size_t rows, uint32_t n,
                                         uint32_t vectors) {
    __m256i s[MOST_VECTORS];
    for (uint32_t v = 0; v < vectors; v++)
        s[v] = _mm256_loadu_si256((const __m256i *)(const void *)(sum + LANES * v));
    for (const codec_pair_row *end = row + rows; row < end; row++) {
        __m256i x = _mm256_set1_epi32(codec_four_bytes(&row->a));
        const int8_t *from = pairs + (size_t)row->row * 2 * n;
        for (uint32_t v = 0; v < vectors; v++) {
            __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(from + 2 * LANES * v));
            __m256i more = _mm256_madd_epi16(_mm256_cvtepi8_epi16(bytes), x);
            s[v] = _mm256_add_epi32(s[v], more);
        }
    }
    for (uint32_t v = 0; v < vectors; v++)
        _mm256_storeu_si256((__m256i *)(void *)(sum + LANES * v), s[v]);
}

CODEC_FOR_256 static void add_rows_256(int32_t *sum, const int8_t *pairs, const codec_pair_row *row,
                                       size_t rows, uint32_t n) {
    enum { WHOLE = LANES * MOST_VECTORS };
    uint32_t i = 0;
    for (; i + WHOLE <= n; i += WHOLE) rows_256(sum + i, pairs + 2 * i, row, rows, n, MOST_VECTORS);
    for (; i < n; i += LANES) rows_256(sum + i, pairs + 2 * i, row, rows, n, 1);
}

/* Process `vectors` vectors of lanes. The instruction requires activations as its first operand. */
CODEC_FOR_256 CODEC_INLINE void block_256(const uint8_t *matrix, const uint8_t *vector,
                                          int weights_in_matrix, uint32_t n, uint32_t lanes,
                                          uint32_t vectors, int32_t *sum) {
    const __m256i ones = _mm256_set1_epi16(1);
    __m256i s[MOST_VECTORS];
    for (uint32_t v = 0; v < vectors; v++) s[v] = _mm256_setzero_si256();
    for (uint32_t i = 0; i < n; i += 4, matrix += 4 * (size_t)lanes) {
        __m256i x = _mm256_set1_epi32(codec_four_bytes(vector + i));
        for (uint32_t v = 0; v < vectors; v++) {
            __m256i m = _mm256_loadu_si256((const __m256i *)(const void *)(matrix + 32 * v));
            __m256i pairs =
                weights_in_matrix ? _mm256_maddubs_epi16(x, m) : _mm256_maddubs_epi16(m, x);
            s[v] = _mm256_add_epi32(s[v], _mm256_madd_epi16(pairs, ones));
        }
    }
    for (uint32_t v = 0; v < vectors; v++)
        _mm256_storeu_si256((__m256i *)(void *)(sum + LANES * v), s[v]);
}

CODEC_FOR_256 CODEC_INLINE void all_lanes_256(const uint8_t *matrix, const uint8_t *vector,
                                              int weights_in_matrix, uint32_t n, uint32_t lanes,
                                              int32_t *sum) {
    enum { WHOLE = LANES * MOST_VECTORS };
    uint32_t first = 0;
    for (; first + WHOLE <= lanes; first += WHOLE)
        block_256(matrix + 4 * first, vector, weights_in_matrix, n, lanes, MOST_VECTORS,
                  sum + first);
    for (; first < lanes; first += LANES)
        block_256(matrix + 4 * first, vector, weights_in_matrix, n, lanes, 1, sum + first);
}

CODEC_FOR_256 __attribute__((noinline)) static void weight_lanes_256(const int8_t *matrix,
                                                                     const uint8_t *vector,
                                                                     uint32_t n, uint32_t lanes,
                                                                     int32_t *sum) {
    all_lanes_256((const uint8_t *)matrix, vector, 1, n, lanes, sum);
}

CODEC_FOR_256 static void activation_lanes_256(const uint8_t *matrix, const int8_t *vector,
                                               uint32_t n, uint32_t lanes, int32_t *sum) {
    all_lanes_256(matrix, (const uint8_t *)vector, 0, n, lanes, sum);
}

/* activate() before its clamp, of 8 sums. */
CODEC_FOR_256 CODEC_INLINE __m256i scaled_256(const int32_t *sum, const uint8_t *shift,
                                              const int32_t *bias) {
    __m256i by = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)shift));
    __m256i z = _mm256_slli_epi32(_mm256_loadu_si256((const __m256i *)(const void *)sum), 4);
    z = _mm256_add_epi32(_mm256_srav_epi32(z, by),
                         _mm256_loadu_si256((const __m256i *)(const void *)bias));
    return _mm256_srai_epi32(_mm256_add_epi32(z, _mm256_set1_epi32(8)), 4);
}

/* The rest of a middle layer after its sums. */
CODEC_FOR_256 static void activate_256(const int32_t *sum, const uint8_t *shift,
                                       const int32_t *bias, uint32_t n, uint8_t *x) {
    enum { WHOLE = 32 };
    const __m256i most = _mm256_set1_epi8(MOST_ACTIVATION),
                  order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    uint32_t i = 0;
    for (; i + WHOLE <= n; i += WHOLE) {
        __m256i z[4];
        for (uint32_t v = 0; v < 4; v++)
            z[v] = scaled_256(sum + i + LANES * v, shift + i + LANES * v, bias + i + LANES * v);
        /* saturated conversions do one part of each clamp */
        __m256i bytes =
            _mm256_packus_epi16(_mm256_packs_epi32(z[0], z[1]), _mm256_packs_epi32(z[2], z[3]));
        bytes = _mm256_min_epu8(_mm256_permutevar8x32_epi32(bytes, order), most);
        __m256i *to = (__m256i *)(void *)(x + i);
        bytes = _mm256_adds_epu8(bytes, _mm256_loadu_si256(to));
        _mm256_storeu_si256(to, _mm256_min_epu8(bytes, most));
    }
    for (; i < n; i++) activate_lane(sum[i], shift[i], bias[i], &x[i]);
}

/* The sums go through memory: with all of it in one function compilers copy registers in the loop
 * over the vector. */
CODEC_FOR_256 static void middle_layer_256(const int8_t *matrix, const uint8_t *shift,
                                           const int32_t *bias, uint32_t n, uint8_t *x) {
    int32_t sum[CODEC_MOST_LAYER];
    weight_lanes_256(matrix, x, n, n, sum);
    activate_256(sum, shift, bias, n, x);
}

/* --- AVX-512 with VNNI: four products of a lane at a time ----------------------------------- */

enum { LANES_512 = 16, MOST_VECTORS_512 = 4 };

CODEC_FOR_512 CODEC_INLINE void rows_512(int32_t *sum, const int8_t *pairs,
                                         const codec_pair_row *row, size_t rows, uint32_t n) {
    __m512i s[MOST_VECTORS_512];
    for (uint32_t v = 0; v < MOST_VECTORS_512; v++) s[v] = _mm512_loadu_si512(sum + LANES_512 * v);
    for (const codec_pair_row *end = row + rows; row < end; row++) {
        __m512i x = _mm512_set1_epi32(codec_four_bytes(&row->a));
        const int8_t *from = pairs + (size_t)row->row * 2 * n;
        for (uint32_t v = 0; v < MOST_VECTORS_512; v++) {
            const void *at = from + 2 * LANES_512 * v;
            s[v] = _mm512_dpwssd_epi32(s[v], _mm512_cvtepi8_epi16(_mm256_loadu_si256(at)), x);
        }
    }
    for (uint32_t v = 0; v < MOST_VECTORS_512; v++) _mm512_storeu_si512(sum + LANES_512 * v, s[v]);
}

CODEC_FOR_512 static void add_rows_512(int32_t *sum, const int8_t *pairs, const codec_pair_row *row,
                                       size_t rows, uint32_t n) {
    enum { WHOLE = LANES_512 * MOST_VECTORS_512 };
    uint32_t i = 0;
    for (; i + WHOLE <= n; i += WHOLE) rows_512(sum + i, pairs + 2 * i, row, rows, n);
    for (; i < n; i += LANES) rows_256(sum + i, pairs + 2 * i, row, rows, n, 1);
}

CODEC_FOR_512 CODEC_INLINE void block_512(const uint8_t *matrix, const uint8_t *vector,
                                          int weights_in_matrix, uint32_t n, uint32_t lanes,
                                          int32_t *sum) {
    __m512i s[MOST_VECTORS_512];
    for (uint32_t v = 0; v < MOST_VECTORS_512; v++) s[v] = _mm512_setzero_si512();
    for (uint32_t i = 0; i < n; i += 4, matrix += 4 * (size_t)lanes) {
        __m512i x = _mm512_set1_epi32(codec_four_bytes(vector + i));
        for (uint32_t v = 0; v < MOST_VECTORS_512; v++) {
            __m512i m = _mm512_loadu_si512(matrix + 64 * v);
            s[v] = weights_in_matrix ? _mm512_dpbusd_epi32(s[v], x, m)
                                     : _mm512_dpbusd_epi32(s[v], m, x);
        }
    }
    for (uint32_t v = 0; v < MOST_VECTORS_512; v++) _mm512_storeu_si512(sum + LANES_512 * v, s[v]);
}

CODEC_FOR_512 CODEC_INLINE void all_lanes_512(const uint8_t *matrix, const uint8_t *vector,
                                              int weights_in_matrix, uint32_t n, uint32_t lanes,
                                              int32_t *sum) {
    enum { WHOLE = LANES_512 * MOST_VECTORS_512 };
    uint32_t first = 0;
    for (; first + WHOLE <= lanes; first += WHOLE)
        block_512(matrix + 4 * first, vector, weights_in_matrix, n, lanes, sum + first);
    for (; first < lanes; first += LANES)
        block_256(matrix + 4 * first, vector, weights_in_matrix, n, lanes, 1, sum + first);
}

CODEC_FOR_512 static void weight_lanes_512(const int8_t *matrix, const uint8_t *vector, uint32_t n,
                                           uint32_t lanes, int32_t *sum) {
    all_lanes_512((const uint8_t *)matrix, vector, 1, n, lanes, sum);
}

CODEC_FOR_512 static void activation_lanes_512(const uint8_t *matrix, const int8_t *vector,
                                               uint32_t n, uint32_t lanes, int32_t *sum) {
    all_lanes_512(matrix, (const uint8_t *)vector, 0, n, lanes, sum);
}

CODEC_FOR_512 static void middle_layer_512(const int8_t *matrix, const uint8_t *shift,
                                           const int32_t *bias, uint32_t n, uint8_t *x) {
    int32_t sum[CODEC_MOST_LAYER];
    weight_lanes_512(matrix, x, n, n, sum);
    activate_256(sum, shift, bias, n, x);
}

#endif

#ifdef CODEC_WASM_KERNELS

/* Sums are in variables, so many vectors of four lanes at a time. */
enum { MOST_VECTORS = 8 };

CODEC_INLINE void rows_128(int32_t *sum, const int8_t *pairs, const codec_pair_row *row,
                           size_t rows, uint32_t n, uint32_t vectors) {
    v128_t s[MOST_VECTORS];
    for (uint32_t v = 0; v < vectors; v++) s[v] = wasm_v128_load(sum + 4 * v);
    for (const codec_pair_row *end = row + rows; row < end; row++) {
        v128_t x = wasm_v128_load32_splat(&row->a);
        const int8_t *from = pairs + (size_t)row->row * 2 * n;
        CODEC_AS_IT_IS(from);
        for (uint32_t v = 0; v < vectors; v++)
            s[v] = codec_add_pairs_128(s[v], wasm_i16x8_load8x8(from + 8 * v), x);
    }
    for (uint32_t v = 0; v < vectors; v++) wasm_v128_store(sum + 4 * v, s[v]);
}

static void add_rows_128(int32_t *sum, const int8_t *pairs, const codec_pair_row *row, size_t rows,
                         uint32_t n) {
    enum { WHOLE = 4 * MOST_VECTORS };
    uint32_t i = 0;
    for (; i + WHOLE <= n; i += WHOLE) rows_128(sum + i, pairs + 2 * i, row, rows, n, MOST_VECTORS);
    for (; i < n; i += 8) rows_128(sum + i, pairs + 2 * i, row, rows, n, 2);
}

static void add_pairs_128(int32_t *sum, const int8_t *pairs, int32_t a, int32_t b, uint32_t n) {
    const codec_pair_row row = {0, (int16_t)a, (int16_t)b};
    add_rows_128(sum, pairs, &row, 1, n);
}

/* Two vectors of sums for each four lanes: activations and weights are alike as 16-bit numbers. */
CODEC_INLINE void block_128(const uint8_t *matrix, const uint8_t *vector, uint32_t n,
                            uint32_t lanes, uint32_t vectors, int32_t *sum) {
    v128_t s[MOST_VECTORS];
    for (uint32_t v = 0; v < vectors; v++) s[v] = wasm_i32x4_splat(0);
    for (uint32_t i = 0; i < n; i += 4, matrix += 4 * (size_t)lanes) {
        v128_t x = codec_four_lanes_128(vector + i);
        CODEC_AS_IT_IS(matrix);
        for (uint32_t v = 0; v < vectors; v++)
            s[v] = codec_add_pairs_128(s[v], wasm_i16x8_load8x8(matrix + 8 * v), x);
    }
    for (uint32_t v = 0; v < vectors; v += 2)
        wasm_v128_store(sum + 2 * v, codec_pair_sums_128(s[v], s[v + 1]));
}

static void all_lanes_128(const uint8_t *matrix, const uint8_t *vector, uint32_t n, uint32_t lanes,
                          int32_t *sum) {
    enum { WHOLE = 2 * MOST_VECTORS };
    uint32_t first = 0;
    for (; first + WHOLE <= lanes; first += WHOLE)
        block_128(matrix + 4 * first, vector, n, lanes, MOST_VECTORS, sum + first);
    for (; first < lanes; first += 8)
        block_128(matrix + 4 * first, vector, n, lanes, 4, sum + first);
}

static void weight_lanes_128(const int8_t *matrix, const uint8_t *vector, uint32_t n,
                             uint32_t lanes, int32_t *sum) {
    all_lanes_128((const uint8_t *)matrix, vector, n, lanes, sum);
}

static void activation_lanes_128(const uint8_t *matrix, const int8_t *vector, uint32_t n,
                                 uint32_t lanes, int32_t *sum) {
    all_lanes_128(matrix, (const uint8_t *)vector, n, lanes, sum);
}

/* activate_lane() before its clamps, of four sums. */
CODEC_INLINE v128_t scaled_128(const int32_t *sum, const uint8_t *shift, const int32_t *bias) {
    v128_t by =
        wasm_u32x4_extend_low_u16x8(wasm_u16x8_extend_low_u8x16(wasm_v128_load32_zero(shift)));
    v128_t z =
        codec_shift_right_128(wasm_i32x4_shl(wasm_v128_load(sum), 4), codec_shift_factors_128(by));
    z = wasm_i32x4_add(z, wasm_i32x4_add(wasm_v128_load(bias), wasm_i32x4_splat(8)));
    return wasm_i32x4_shr(z, 4);
}

/* Saturated conversions do one part of each clamp. */
static void activate_128(const int32_t *sum, const uint8_t *shift, const int32_t *bias, uint32_t n,
                         uint8_t *x) {
    const v128_t most = wasm_i8x16_splat(MOST_ACTIVATION);
    for (uint32_t i = 0; i < n; i += 8) {
        v128_t z = wasm_i16x8_narrow_i32x4(scaled_128(sum + i, shift + i, bias + i),
                                           scaled_128(sum + i + 4, shift + i + 4, bias + i + 4));
        v128_t bytes = wasm_u8x16_min(wasm_u8x16_narrow_i16x8(z, z), most);
        bytes = wasm_u8x16_add_sat(bytes, wasm_v128_load64_zero(x + i));
        wasm_v128_store64_lane(x + i, wasm_u8x16_min(bytes, most), 0);
    }
}

/* The least shift of n, a multiple of 8. */
static uint8_t least_of(const uint8_t *shift, uint32_t n) {
    uint8_t least = 255;
    for (uint32_t i = 0; i < n; i++) least = shift[i] < least ? shift[i] : least;
    return least;
}

static void middle_layer_128(const int8_t *matrix, const uint8_t *shift, const int32_t *bias,
                             uint32_t n, uint8_t *x) {
    int32_t sum[CODEC_MOST_LAYER];
    weight_lanes_128(matrix, x, n, n, sum);
    if (least_of(shift, n) >= CODEC_LEAST_SHIFT_128)
        activate_128(sum, shift, bias, n, x);
    else
        for (uint32_t i = 0; i < n; i++) activate_lane(sum[i], shift[i], bias[i], &x[i]);
}

#endif

static const codec_byte_kernel kernels[] = {
#ifdef CODEC_WASM_KERNELS
    {"WebAssembly SIMD", codec_runs_always, add_pairs_128, add_rows_128, weight_lanes_128,
     activation_lanes_128, middle_layer_128},
#endif
#ifdef CODEC_X86_KERNELS
    {"AVX-512 with VNNI", codec_has_512, add_pairs_256, add_rows_512, weight_lanes_512,
     activation_lanes_512, middle_layer_512},
    {"AVX2", codec_has_256, add_pairs_256, add_rows_256, weight_lanes_256, activation_lanes_256,
     middle_layer_256},
#endif
    {"plain", codec_runs_always, plain_add_pairs, plain_add_rows, plain_weight_lanes,
     plain_activation_lanes, plain_middle_layer}};

const codec_byte_kernel *codec_byte_kernels(size_t *n) {
    *n = sizeof kernels / sizeof *kernels;
    return kernels;
}

/* Without a loop over the kernels, as calls are short. */
static inline const codec_byte_kernel *fastest(void) {
#ifdef CODEC_X86_KERNELS
    return &kernels[codec_has_512() ? 0 : codec_has_256() ? 1 : 2];
#else
    return kernels;
#endif
}

void codec_add_pairs(int32_t *sum, const int8_t *pairs, int32_t a, int32_t b, uint32_t n) {
    fastest()->add_pairs(sum, pairs, a, b, n);
}

void codec_add_rows(int32_t *sum, const int8_t *pairs, const codec_pair_row *row, size_t rows,
                    uint32_t n) {
    fastest()->add_rows(sum, pairs, row, rows, n);
}

void codec_weight_lanes(const int8_t *matrix, const uint8_t *vector, uint32_t n, uint32_t lanes,
                        int32_t *sum) {
    fastest()->weight_lanes(matrix, vector, n, lanes, sum);
}

void codec_activation_lanes(const uint8_t *matrix, const int8_t *vector, uint32_t n, uint32_t lanes,
                            int32_t *sum) {
    fastest()->activation_lanes(matrix, vector, n, lanes, sum);
}

void codec_middle_layer(const int8_t *matrix, const uint8_t *shift, const int32_t *bias, uint32_t n,
                        uint8_t *x) {
    fastest()->middle_layer(matrix, shift, bias, n, x);
}
