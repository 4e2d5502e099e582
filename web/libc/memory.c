/* memory.c -- memset and memcpy of the C library, by vectors where there are any. The linker takes
 * these in place of those of wasi-libc, which are compiled without vectors. */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __wasm_simd128__
#include <wasm_simd128.h>

void *memset(void *to, int byte, size_t n) {
    uint8_t *at = to;
    const v128_t all = wasm_i8x16_splat((int8_t)byte);
    if (n >= 16) {
        for (size_t i = 0; i + 16 < n; i += 16) wasm_v128_store(at + i, all);
        wasm_v128_store(at + n - 16, all);
    } else {
        for (volatile uint8_t *one = at; n; n--) *one++ = (uint8_t)byte;
    }
    return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t n) {
    uint8_t *a = to;
    const uint8_t *b = from;
    if (n >= 16) {
        v128_t last = wasm_v128_load(b + n - 16);
        for (size_t i = 0; i + 16 < n; i += 16) wasm_v128_store(a + i, wasm_v128_load(b + i));
        wasm_v128_store(a + n - 16, last);
    } else {
        for (volatile uint8_t *one = a; n; n--) *one++ = *b++;
    }
    return to;
}
#endif
