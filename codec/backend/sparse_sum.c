/* sparse_sum.c -- see sparse_sum.h. */
#include "codec/backend/sparse_sum.h"
#include "codec/backend/wasm.h"
#include "codec/backend/x86.h"

enum { STEP = CODEC_SPARSE_STEP, BLOCK = CODEC_SPARSE_BLOCK };

void codec_sparse_sum_plain(const int16_t *matrix, uint32_t lanes, uint32_t first, uint32_t count,
                            const codec_term *term, size_t n, int32_t *sum) {
    for (size_t t = 0; t < n; t++) {
        const int16_t *row = matrix + codec_sparse_at(lanes, 2 * term[t].pair, first);
        for (uint32_t i = 0; i < count; i++) {
            uint32_t a = (uint32_t)(term[t].x[0] * row[2 * i]),
                     b = (uint32_t)(term[t].x[1] * row[2 * i + 1]);
            sum[i] = (int32_t)((uint32_t)sum[i] + a + b);
        }
    }
}

#ifdef CODEC_X86_KERNELS

/* Both kernels keep the sums of `count` lanes, a constant, in registers. */

CODEC_FOR_512 CODEC_INLINE void add_512(const int16_t *matrix, uint32_t lanes, uint32_t count,
                                        const codec_term *term, size_t n, int32_t *sum) {
    __m512i s[BLOCK / 16];
    for (uint32_t v = 0; v < count / 16; v++) s[v] = _mm512_loadu_si512(sum + 16 * v);
    for (const codec_term *end = term + n; term < end; term++) {
        const int16_t *row = matrix + (size_t)term->pair * lanes * 2;
        __m512i x = _mm512_set1_epi32(codec_four_bytes(term->x));
        for (uint32_t v = 0; v < count / 16; v++)
            s[v] = _mm512_dpwssd_epi32(s[v], x, _mm512_loadu_si512(row + 32 * v));
    }
    for (uint32_t v = 0; v < count / 16; v++) _mm512_storeu_si512(sum + 16 * v, s[v]);
}

CODEC_FOR_512 static void sum_512(const int16_t *matrix, uint32_t lanes, uint32_t first,
                                  uint32_t count, const codec_term *term, size_t n, int32_t *sum) {
    const int16_t *from = matrix + (size_t)first * 2;
    if (count == BLOCK) {
        add_512(from, lanes, BLOCK, term, n, sum);
        return;
    }
    if (count >= 64) {
        add_512(from, lanes, 64, term, n, sum);
        from += 2 * 64, sum += 64, count -= 64;
    }
    for (; count >= STEP; from += 2 * STEP, sum += STEP, count -= STEP)
        add_512(from, lanes, STEP, term, n, sum);
}

CODEC_FOR_256 CODEC_INLINE void add_256(const int16_t *matrix, uint32_t lanes, uint32_t count,
                                        const codec_term *term, size_t n, int32_t *sum) {
    __m256i s[BLOCK / 8];
    for (uint32_t v = 0; v < count / 8; v++)
        s[v] = _mm256_loadu_si256((const __m256i *)(const void *)(sum + 8 * v));
    for (const codec_term *end = term + n; term < end; term++) {
        const int16_t *row = matrix + (size_t)term->pair * lanes * 2;
        __m256i x = _mm256_set1_epi32(codec_four_bytes(term->x));
        for (uint32_t v = 0; v < count / 8; v++) {
            __m256i w = _mm256_loadu_si256((const __m256i *)(const void *)(row + 16 * v));
            s[v] = _mm256_add_epi32(s[v], _mm256_madd_epi16(x, w));
        }
    }
    for (uint32_t v = 0; v < count / 8; v++)
        _mm256_storeu_si256((__m256i *)(void *)(sum + 8 * v), s[v]);
}

CODEC_FOR_256 static void sum_256(const int16_t *matrix, uint32_t lanes, uint32_t first,
                                  uint32_t count, const codec_term *term, size_t n, int32_t *sum) {
    const int16_t *from = matrix + (size_t)first * 2;
    if (count == BLOCK) {
        add_256(from, lanes, BLOCK, term, n, sum);
        return;
    }
    if (count >= 64) {
        add_256(from, lanes, 64, term, n, sum);
        from += 2 * 64, sum += 64, count -= 64;
    }
    for (; count >= STEP; from += 2 * STEP, sum += STEP, count -= STEP)
        add_256(from, lanes, STEP, term, n, sum);
}

#endif

#ifdef CODEC_WASM_KERNELS

CODEC_INLINE void add_128(const int16_t *matrix, uint32_t lanes, uint32_t count,
                          const codec_term *term, size_t n, int32_t *sum) {
    v128_t s[BLOCK / 8];
    for (uint32_t v = 0; v < count / 4; v++) s[v] = wasm_v128_load(sum + 4 * v);
    for (const codec_term *end = term + n; term < end; term++) {
        const int16_t *row = matrix + (size_t)term->pair * lanes * 2;
        v128_t x = wasm_v128_load32_splat(term->x);
        CODEC_AS_IT_IS(row);
        for (uint32_t v = 0; v < count / 4; v++)
            s[v] = codec_add_pairs_128(s[v], wasm_v128_load(row + 8 * v), x);
    }
    for (uint32_t v = 0; v < count / 4; v++) wasm_v128_store(sum + 4 * v, s[v]);
}

/* Half a block has a variable for each sum. */
static void sum_128(const int16_t *matrix, uint32_t lanes, uint32_t first, uint32_t count,
                    const codec_term *term, size_t n, int32_t *sum) {
    enum { HALF = BLOCK / 2 };
    const int16_t *from = matrix + (size_t)first * 2;
    for (; count >= HALF; from += 2 * HALF, sum += HALF, count -= HALF)
        add_128(from, lanes, HALF, term, n, sum);
    for (; count >= STEP; from += 2 * STEP, sum += STEP, count -= STEP)
        add_128(from, lanes, STEP, term, n, sum);
}

#endif

static const codec_sparse_kernel kernels[] = {
#ifdef CODEC_WASM_KERNELS
    {"WebAssembly SIMD", codec_runs_always, sum_128},
#endif
#ifdef CODEC_X86_KERNELS
    {"AVX-512 with VNNI", codec_has_512, sum_512},
    {"AVX2", codec_has_256, sum_256},
#endif
    {"plain", codec_runs_always, codec_sparse_sum_plain}};

const codec_sparse_kernel *codec_sparse_kernels(size_t *n) {
    *n = sizeof kernels / sizeof *kernels;
    return kernels;
}

void codec_sparse_sum(const int16_t *matrix, uint32_t lanes, uint32_t first, uint32_t count,
                      const codec_term *term, size_t n, int32_t *sum) {
    size_t i = 0;
    while (i + 1 < sizeof kernels / sizeof *kernels && !kernels[i].runs()) i++;
    kernels[i].sum(matrix, lanes, first, count, term, n, sum);
}
