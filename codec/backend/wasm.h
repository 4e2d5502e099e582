/* wasm.h -- helpers for kernels with 128-bit vectors of WebAssembly. They are chosen when the
 * library is compiled (-msimd128), as a module with such instructions runs on no browser without
 * them. CODEC_WASM_KERNELS is defined if they are compiled; see x86.h for CODEC_PLAIN_KERNELS. */
#ifndef CODEC_WASM_H
#define CODEC_WASM_H
#include "codec/backend/simd.h"

#if defined(__wasm_simd128__) && !defined(CODEC_PLAIN_KERNELS)
#define CODEC_WASM_KERNELS
#include <wasm_simd128.h>

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
#endif

#endif
