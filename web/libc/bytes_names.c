/* bytes_names.c -- copies and fills of the C library for modules with SIMD: long ones by the
 * instructions of browsers for that, short ones here, as those are slow to begin. Compiled with
 * -mbulk-memory -fno-builtin. */
#include <stddef.h>
#include <stdint.h>
#if defined(__wasm_simd128__) && defined(__wasm_bulk_memory__)
#include <wasm_simd128.h>

enum { LONG = 128 };

/* Each size from 8 to 16, then 4 to 8: two parts that may overlap. */
static void copy_few(char *to, const char *from, size_t n) {
    if (n >= 8) {
        const v128_t first = wasm_v128_load64_zero(from),
                     last = wasm_v128_load64_zero(from + n - 8);
        wasm_v128_store64_lane(to, first, 0);
        wasm_v128_store64_lane(to + n - 8, last, 0);
    } else if (n >= 4) {
        const v128_t first = wasm_v128_load32_zero(from),
                     last = wasm_v128_load32_zero(from + n - 4);
        wasm_v128_store32_lane(to, first, 0);
        wasm_v128_store32_lane(to + n - 4, last, 0);
    } else if (n) {
        const char first = from[0], middle = from[n / 2], last = from[n - 1];
        to[0] = first, to[n / 2] = middle, to[n - 1] = last;
    }
}

void *memmove(void *to, const void *from, size_t n) {
    if (n > LONG) return __builtin_memmove(to, from, n); /* memory.copy */
    if (n < 16) {
        copy_few(to, from, n);
        return to;
    }
    /* all of it is read before any is written */
    v128_t part[LONG / 16];
    const size_t parts = (n - 1) / 16;
    const v128_t last = wasm_v128_load((const char *)from + n - 16);
    for (size_t k = 0; k < parts; k++) part[k] = wasm_v128_load((const char *)from + 16 * k);
    for (size_t k = 0; k < parts; k++) wasm_v128_store((char *)to + 16 * k, part[k]);
    wasm_v128_store((char *)to + n - 16, last);
    return to;
}

void *memcpy(void *restrict to, const void *restrict from, size_t n) {
    if (n > LONG) return __builtin_memcpy(to, from, n); /* memory.copy */
    if (n < 16) {
        copy_few(to, from, n);
        return to;
    }
    const v128_t last = wasm_v128_load((const char *)from + n - 16);
    for (size_t k = 0; k + 16 < n; k += 16)
        wasm_v128_store((char *)to + k, wasm_v128_load((const char *)from + k));
    wasm_v128_store((char *)to + n - 16, last);
    return to;
}

void *memset(void *to, int value, size_t n) {
    if (n > LONG) return __builtin_memset(to, value, n); /* memory.fill */
    char *at = to;
    if (n < 16) {
        for (size_t k = 0; k < n; k++) ((volatile char *)at)[k] = (char)value;
        return to;
    }
    const v128_t all = wasm_i8x16_splat((int8_t)value);
    for (size_t k = 0; k + 16 < n; k += 16) wasm_v128_store(at + k, all);
    wasm_v128_store(at + n - 16, all);
    return to;
}
#endif
