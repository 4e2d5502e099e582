/* name_block.c -- see name_block.h. A byte is odd, so that its name needs a look, if a name may not
 * hold it, or if it follows the begin of a part of a path and is a '.', a '/' or the end. */
#include "formats/name_block.h"
#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define HAS_VECTORS
#define FOR_VECTORS __attribute__((target("avx2")))
#endif

enum { MOST_LENGTH = 4095 };

typedef struct search {
    const uint8_t *bytes;
    uint32_t n, *at;
    uint32_t found;
    size_t begin; /* of the current string */
    int is_odd;
} search;

/* The string that begins at s->begin ends at this offset. */
static inline void end_string(search *s, size_t end) {
    s->at[s->found++] = (uint32_t)s->begin;
    s->is_odd |= end - s->begin > MOST_LENGTH;
    s->begin = end + 1;
}

static int is_odd(uint8_t before, uint8_t c) {
    const int begins = before == 0 || before == '/';
    return (c && c < ' ') || c == 0x7F || c == '\\' || (begins && (!c || c == '/' || c == '.'));
}

/* Look at bytes first .. size - 1 until n strings have ended. */
static void look(search *s, size_t first, size_t size) {
    for (size_t i = first; i < size && s->found < s->n && s->begin <= UINT32_MAX; i++) {
        s->is_odd |= is_odd(i ? s->bytes[i - 1] : 0, s->bytes[i]);
        if (!s->bytes[i]) end_string(s, i);
    }
}

static formats_name_block result_of(const search *s) {
    return (formats_name_block){s->found, s->begin, !s->is_odd};
}

formats_name_block formats_name_block_find_plain(const uint8_t *bytes, size_t size, uint32_t n,
                                                 uint32_t *at) {
    search s = {.bytes = bytes, .n = n, .at = at};
    look(&s, 0, size);
    return result_of(&s);
}

#ifdef HAS_VECTORS
enum { STEP = 32 };

FOR_VECTORS static inline __m256i load(const uint8_t *from) {
    return _mm256_loadu_si256((const __m256i *)from);
}
FOR_VECTORS static inline __m256i equals(__m256i v, char c) {
    return _mm256_cmpeq_epi8(v, _mm256_set1_epi8(c));
}
FOR_VECTORS static inline __m256i either(__m256i a, __m256i b) { return _mm256_or_si256(a, b); }

/* The odd bytes of v; before: the byte before each; ends: those that are 0. */
FOR_VECTORS static inline __m256i odd_of(__m256i before, __m256i v, __m256i ends) {
    const __m256i low = _mm256_cmpeq_epi8(_mm256_min_epu8(v, _mm256_set1_epi8(' ' - 1)), v);
    const __m256i bad = either(equals(v, 0x7F), equals(v, '\\'));
    const __m256i begins = either(equals(before, 0), equals(before, '/'));
    const __m256i no_part = either(either(equals(v, '.'), equals(v, '/')), ends);
    return either(either(_mm256_andnot_si256(ends, low), bad), _mm256_and_si256(begins, no_part));
}

/* Look at steps of 32 bytes from the second byte on, while more strings are wanted than a step can
 * have. Returns the first byte that was not looked at. */
FOR_VECTORS static size_t look_at_steps(search *all, size_t size) {
    search s = *all; /* a copy stays in registers */
    __m256i odd = _mm256_setzero_si256();
    size_t i = 1;
    for (; size - i >= STEP && s.n - s.found >= STEP && i < UINT32_MAX - STEP; i += STEP) {
        const __m256i v = load(s.bytes + i), ends = equals(v, 0);
        odd = either(odd, odd_of(load(s.bytes + i - 1), v, ends));
        for (unsigned mask = (unsigned)_mm256_movemask_epi8(ends); mask; mask &= mask - 1)
            end_string(&s, i + (unsigned)__builtin_ctz(mask));
    }
    s.is_odd |= _mm256_movemask_epi8(odd) != 0;
    *all = s;
    return i;
}

formats_name_block formats_name_block_find(const uint8_t *bytes, size_t size, uint32_t n,
                                           uint32_t *at) {
    search s = {.bytes = bytes, .n = n, .at = at};
    if (size <= STEP || !__builtin_cpu_supports("avx2"))
        return formats_name_block_find_plain(bytes, size, n, at);
    look(&s, 0, 1);
    look(&s, look_at_steps(&s, size), size);
    return result_of(&s);
}
#else
formats_name_block formats_name_block_find(const uint8_t *bytes, size_t size, uint32_t n,
                                           uint32_t *at) {
    return formats_name_block_find_plain(bytes, size, n, at);
}
#endif
