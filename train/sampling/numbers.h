/* numbers.h -- decimal numbers of settings and small text files; array helpers that learners
 * share. */
#ifndef TRAIN_NUMBERS_H
#define TRAIN_NUMBERS_H
#include <stddef.h>
#include <stdint.h>

/* A finite decimal number at the front of text, as "0.25", "-3" or "1e-4": no blanks before it, no
 * hexadecimal, no "inf". Returns what follows it, or NULL where there is none (*value
 * unchanged). */
const char *train_number(const char *text, double *value);

/* A whole number at the front of text, digits only, at most 2^32 - 1; otherwise as train_number. */
const char *train_whole_number(const char *text, uint32_t *value);

/* The sum of a[i] b[i], in double, in an order that n alone decides. a may be b. */
double train_dot(size_t n, const float *a, const float *b);

/* *out: rows * columns zeros, on a cache line, which kernels load whole; free() gives them back. 0
 * without memory, and when there would be too many. */
int train_zeros(float **out, size_t rows, size_t columns);

/* The integer nearest to w, -most .. most. */
int32_t train_rounded(float w, int32_t most);

#endif
