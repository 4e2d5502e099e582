/* wasm.h -- helpers for kernels with 128-bit vectors of WebAssembly. They are chosen when the
 * library is compiled (-msimd128), as a module with such instructions runs on no browser without
 * them. CODEC_WASM_KERNELS is defined if they are compiled; see x86.h for CODEC_PLAIN_KERNELS. */
#ifndef CODEC_WASM_H
#define CODEC_WASM_H
#include "codec/backend/simd.h"

#if defined(__wasm_simd128__) && !defined(CODEC_PLAIN_KERNELS)
#define CODEC_WASM_KERNELS
#include <wasm_simd128.h>

/* Keeps what depends on this pointer, shift or factor within a loop. Compilers count from the last
 * of several offsets, so that others are negative, which takes an addition each. They splat shifts
 * and extend factors before a loop, and then do not find the instruction that does both. */
#define CODEC_AS_IT_IS(value) __asm__ volatile("" : "+r"(value))

/* sum + products of pairs of 16-bit lanes. */
CODEC_INLINE v128_t codec_add_pairs_128(v128_t sum, v128_t a, v128_t b) {
    return wasm_i32x4_add(sum, wasm_i32x4_dot_i16x8(a, b));
}

/* Four bytes, twice, as 16-bit lanes. */
CODEC_INLINE v128_t codec_four_lanes_128(const void *from) {
    return wasm_i16x8_extend_low_i8x16(wasm_v128_load32_splat(from));
}

/* Lanes 0 + 1, 2 + 3 of a, then of b. */
CODEC_INLINE v128_t codec_pair_sums_128(v128_t a, v128_t b) {
    return wasm_i32x4_add(wasm_i32x4_shuffle(a, b, 0, 2, 4, 6),
                          wasm_i32x4_shuffle(a, b, 1, 3, 5, 7));
}

/* x >> shift, rounded down, for each 32-bit lane; shifts from CODEC_LEAST_SHIFT_128 to 30. There
 * are no shifts by lanes: it is the upper half of a product, and the factor a bit of one of four
 * bytes. */
enum { CODEC_LEAST_SHIFT_128 = 2 };
CODEC_INLINE v128_t codec_shift_factors_128(v128_t shift) {
    const v128_t bits =
        wasm_i8x16_const(1, 2, 4, 8, 16, 32, 64, -128, 0, 0, 0, 0, 0, 0, 0, 0); /* 0 above 15 */
    const v128_t all = wasm_i8x16_const(32, 24, 16, 8, 32, 24, 16, 8, 32, 24, 16, 8, 32, 24, 16, 8);
    v128_t by =
        wasm_i8x16_shuffle(shift, shift, 0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12);
    return wasm_i8x16_swizzle(bits, wasm_i8x16_sub(all, by));
}
CODEC_INLINE v128_t codec_shift_right_128(v128_t x, v128_t factors) {
    CODEC_AS_IT_IS(factors);
    return wasm_i32x4_shuffle(wasm_i64x2_extmul_low_i32x4(x, factors),
                              wasm_i64x2_extmul_high_i32x4(x, factors), 1, 3, 5, 7);
}
#endif

#endif
