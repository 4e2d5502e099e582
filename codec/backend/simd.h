/* simd.h -- functions compiled several times, the best chosen when the program starts. For
 * loops whose results are the same in every clone: integers, and floats whose sums do not run along
 * the loop (nothing is contracted or reassociated: -ffp-contract=off). */
#ifndef CODEC_SIMD_H
#define CODEC_SIMD_H

/* gcc's target_clones needs ELF's indirect functions, which sanitizers and other compilers do not
 * get along with. */
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CODEC_CLONES __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
/* Where bits of words are counted: vectors do that from Ice Lake on, single words long before. */
#define CODEC_COUNTING_CLONES \
    __attribute__((target_clones("arch=icelake-server", "popcnt", "default")))
#else
#define CODEC_CLONES
#define CODEC_COUNTING_CLONES
#endif

/* Ask memory for what is read soon, where that can be said. */
#ifdef __GNUC__
#define CODEC_PREFETCH(address) __builtin_prefetch(address)
#else
#define CODEC_PREFETCH(address) (void)(address)
#endif

/* All ones where a comparison holds, else 0: compilers run that many at a time where conditions
 * stay branches. Of 16 bits on both sides, lest they go over to 32. */
#define CODEC_MASK16(comparison) ((uint16_t) - (comparison))

/* For what clones call: out of line it would be compiled for the oldest processor. Kernels call it,
 * too. */
#ifdef __CUDACC__
#define CODEC_INLINE static __host__ __device__ __forceinline__
#elif defined __GNUC__
#define CODEC_INLINE static inline __attribute__((always_inline))
#else
#define CODEC_INLINE static inline
#endif

#endif
