/* terms.h -- the known part of a group's codes as coefficients in integers (synthesis.h), window by
 * window, without the zeros.
 *
 * The coefficient of level q of unit u at a depth is
 *     X = round((256 |q| + c) T 2^bits / 256), with the sign of q; 0 for q = 0,
 * where T is the threshold (code_tables.h) and c the reconstruction point; at most 2^26 - 1. Beyond
 * 16 bits X is split: X = 4096 coarse + fine, -2048 <= fine < 2048. */
#ifndef CODEC_TERMS_H
#define CODEC_TERMS_H
#include "codec/backend/sparse_sum.h"
#include "codec/bitplane/group.h"

enum {
    CODEC_TERMS_WINDOWS = 32, /* windows of a batch, at most */
    CODEC_TERMS_COARSE_BITS = 12,
    CODEC_TERMS_MOST_BITS = 26 /* of |X| */
};

/* A float as mantissa 2^exponent; mantissa below 2^24. */
typedef struct codec_scaled {
    uint32_t mantissa;
    int exponent;
} codec_scaled;
codec_scaled codec_scaled_of(float x);

/* The terms of a batch of windows. */
typedef struct codec_terms {
    uint32_t capacity; /* pairs of rows */
    uint32_t n_fine[CODEC_TERMS_WINDOWS], n_coarse[CODEC_TERMS_WINDOWS];
    codec_term *fine, *coarse; /* [WINDOWS][capacity], ascending pairs */
} codec_terms;

/* Lay out the lists for so many rows; their memory need not be zeroed. */
void codec_terms_lay_out(codec_terms *terms, uint32_t rows, formats_layout *at);

/* Set what is added to the coefficients of unit u in the windows of the batch whose next plane is
 * known; for the head (head_rows.h). */
typedef void codec_terms_more_fn(const void *context, uint32_t u,
                                 int32_t more[CODEC_TERMS_WINDOWS]);

/* The rows of a matrix, which terms name: row k is of unit[k]. */
typedef struct codec_term_rows {
    uint32_t n;
    const uint32_t *unit; /* [n] ascending; NULL: row k is of unit k */
    const int8_t *bits;   /* [units] of the group (synthesis.h) */
} codec_term_rows;

static inline uint32_t codec_term_unit(const codec_term_rows *rows, uint32_t k) {
    return rows->unit ? rows->unit[k] : k;
}

/* Fill them for n windows from `first`. more: NULL: nothing is added. */
void codec_terms_list(const codec_group *group, const codec_term_rows *rows, uint32_t first,
                      uint32_t n, codec_terms_more_fn *more, const void *context,
                      codec_terms *terms);

#endif
