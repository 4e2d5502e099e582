/* simd.h -- functions that are compiled several times; the best version is selected when the
 * program starts. Only for loops with the same result in every version: integers, and floats
 * without sums along the loop (nothing is contracted or reassociated: -ffp-contract=off). */
#ifndef CODEC_SIMD_H
#define CODEC_SIMD_H

/* gcc's target_clones needs indirect functions of ELF, which sanitizers and other compilers do not
 * support. */
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CODEC_CLONES __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
/* For loops that count bits: vector instructions for it exist since Ice Lake, scalar ones longer.
 */
#define CODEC_COUNTING_CLONES \
    __attribute__((target_clones("arch=icelake-server", "popcnt", "default")))
/* Browsers first compile quickly, to slow code, and replace it when a function is called again. A
 * loop that is inlined in a function that runs once would be slow to its end. */
#elif defined(__wasm__)
#define CODEC_CLONES __attribute__((noinline))
#define CODEC_COUNTING_CLONES
#else
#define CODEC_CLONES
#define CODEC_COUNTING_CLONES
#endif

/* Prefetch an address, if the compiler supports it. */
#ifdef __GNUC__
#define CODEC_PREFETCH(address) __builtin_prefetch(address)
#else
#define CODEC_PREFETCH(address) (void)(address)
#endif

/* Before a loop, where clang judges its gain from vectors wrongly. */
#ifdef __clang__
#define CODEC_VECTORS    _Pragma("clang loop vectorize(enable)")
#define CODEC_NO_VECTORS _Pragma("clang loop vectorize(disable)")
#else
#define CODEC_VECTORS
#define CODEC_NO_VECTORS
#endif

/* All ones if the comparison holds, else 0. Compilers vectorise this, but not branches. Both sides
 * should have 16 bits; otherwise compilers use 32-bit lanes. */
#define CODEC_MASK16(comparison) ((uint16_t) - (comparison))

/* For functions that clones call. Without inlining they would be compiled for the oldest processor.
 * GPU kernels call them, too. */
#ifdef __CUDACC__
#define CODEC_INLINE static __host__ __device__ __forceinline__
#elif defined __GNUC__
#define CODEC_INLINE static inline __attribute__((always_inline))
#else
#define CODEC_INLINE static inline
#endif

#endif
