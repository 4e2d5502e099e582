/* x86.h -- helpers for kernels with x86-64 intrinsics, which are selected when the program runs.
 * CODEC_X86_KERNELS is defined if they are compiled. With CODEC_PLAIN_KERNELS they are not: tests
 * use it to try the reference implementations. */
#ifndef CODEC_X86_H
#define CODEC_X86_H
#include "codec/backend/simd.h"
#include <stdint.h>
#include <string.h>

static inline int codec_runs_always(void) { return 1; }

#if defined(__x86_64__) && defined(__GNUC__) && !defined(CODEC_PLAIN_KERNELS)
#define CODEC_X86_KERNELS
#include <immintrin.h>

#define CODEC_FOR_512 __attribute__((target("avx512f,avx512bw,avx512vnni")))
#define CODEC_FOR_256 __attribute__((target("avx2")))

static inline int codec_has_512(void) {
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vnni");
}
static inline int codec_has_256(void) { return __builtin_cpu_supports("avx2"); }

/* Load four bytes, or two 16-bit numbers, to be broadcast to all lanes. */
CODEC_INLINE int32_t codec_four_bytes(const void *from) {
    int32_t four;
    memcpy(&four, from, sizeof four);
    return four;
}
#endif

#endif
