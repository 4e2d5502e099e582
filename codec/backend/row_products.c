/* row_products.c -- see row_products.h. */
#include "codec/backend/row_products.h"
#include <stdlib.h>
#ifdef CODEC_WASM_KERNELS

/* Three groups of patches and three vectors of outputs at a time: more sums have no registers. */
enum {
    SIDE = 4,         /* patches of a group; outputs of a vector */
    REACH = SIDE + 2, /* patches that are read for a group; its products */
    GROUPS = 3,
    VECTORS = 3,
    OUTPUTS = VECTORS * SIDE,
    MOST_ROW = 3 * CODEC_ROW_MOST_INPUTS + 8 /* three rows, and what a vector writes beyond */
};

/* --- weights ----------------------------------------------------------------------------- */

/* 24 times the factor of product p, from the weights of three taps. */
static int16_t mixed_weight(uint32_t p, int32_t left, int32_t middle, int32_t right) {
    const int32_t both = left + 4 * right;
    return (int16_t)(p == 0   ? 6 * left
                     : p == 1 ? -4 * (left + middle + right)
                     : p == 2 ? -4 * (left - middle + right)
                     : p == 3 ? both + 2 * middle
                     : p == 4 ? both - 2 * middle
                              : 24 * right);
}

/* The weights of outputs first .. first + OUTPUTS - 1 for product p: [3 inputs / 2][OUTPUTS][2]. */
static void pack_product(const int16_t *weight, uint32_t inputs, uint32_t outputs, uint32_t first,
                         uint32_t p, int16_t *to) {
    const uint32_t row = 3 * inputs, end = outputs - first < OUTPUTS ? outputs - first : OUTPUTS;
    for (uint32_t o = 0; o < end; o++)
        for (uint32_t k = 0; k < row; k++) {
            const int16_t *w = weight + ((size_t)(first + o) * 3 + k / inputs) * row + k % inputs;
            to[((size_t)(k / 2) * OUTPUTS + o) * 2 + k % 2] =
                mixed_weight(p, w[0], w[inputs], w[2 * inputs]);
        }
}

int16_t *codec_row_products_pack(const int16_t *weight, uint32_t inputs, uint32_t outputs) {
    const size_t blocks = (outputs + OUTPUTS - 1) / OUTPUTS, product = 3 * (size_t)inputs * OUTPUTS;
    int16_t *packed = calloc(blocks * REACH * product, sizeof *packed), *to = packed;
    for (uint32_t first = 0; packed && first < outputs; first += OUTPUTS)
        for (uint32_t p = 0; p < REACH; p++, to += product)
            pack_product(weight, inputs, outputs, first, p, to);
    return packed;
}

/* --- rows -------------------------------------------------------------------------------- */

typedef struct block {
    const codec_row_products *r;
    const int32_t *bias;
    uint32_t at[GROUPS]; /* the first patch of each group */
    int16_t x[REACH][GROUPS][MOST_ROW];
    v128_t sum[REACH][GROUPS][VECTORS];
} block;

/* Eight inputs of REACH adjacent patches, as the products read them. */
CODEC_INLINE void mix_inputs(const v128_t d[REACH], v128_t to[REACH]) {
    v128_t a = wasm_i16x8_sub(d[4], d[2]), b = wasm_i16x8_sub(d[3], d[1]),
           twice = wasm_i16x8_shl(b, 1), c = wasm_i16x8_sub(d[4], wasm_i16x8_shl(d[2], 2)),
           e = wasm_i16x8_sub(d[3], wasm_i16x8_shl(d[1], 2));
    to[0] = wasm_i16x8_add(wasm_i16x8_shl(wasm_i16x8_sub(d[0], d[2]), 2), a);
    to[1] = wasm_i16x8_add(c, e);
    to[2] = wasm_i16x8_sub(c, e);
    to[3] = wasm_i16x8_add(a, twice);
    to[4] = wasm_i16x8_sub(a, twice);
    to[5] = wasm_i16x8_sub(wasm_i16x8_sub(d[5], d[3]), wasm_i16x8_shl(b, 2));
}

/* The inputs of all groups. What is beyond the last input of a row is overwritten by the next row,
 * or not used. */
CODEC_INLINE void read_inputs(block *b, const void *const in[3], int bytes) {
    const uint32_t inputs = b->r->inputs;
    for (uint32_t g = 0; g < GROUPS; g++)
        for (uint32_t i = 0; i < 3; i++)
            for (uint32_t k = 0; k < inputs; k += 8) {
                v128_t d[REACH], to[REACH];
                for (uint32_t p = 0; p < REACH; p++) {
                    size_t from = (size_t)(b->at[g] + p) * inputs + k;
                    d[p] = bytes ? wasm_i16x8_load8x8((const uint8_t *)in[i] + from)
                                 : wasm_v128_load((const int16_t *)in[i] + from);
                }
                mix_inputs(d, to);
                for (uint32_t p = 0; p < REACH; p++)
                    wasm_v128_store(b->x[p][g] + i * inputs + k, to[p]);
            }
}

/* One product of each group; n: numbers of three rows. */
CODEC_INLINE void multiply(const int16_t (*x)[MOST_ROW], const int16_t *w, uint32_t n,
                           v128_t (*sum)[VECTORS]) {
    v128_t s[GROUPS][VECTORS];
    for (uint32_t g = 0; g < GROUPS; g++)
        for (uint32_t v = 0; v < VECTORS; v++) s[g][v] = wasm_i32x4_splat(0);
    for (uint32_t k = 0; k < n; k += 2, w += 2 * OUTPUTS) {
        v128_t weight[VECTORS];
        const int16_t *from = x[0] + k;
        CODEC_AS_IT_IS(w);
        CODEC_AS_IT_IS(from);
        for (uint32_t v = 0; v < VECTORS; v++) weight[v] = wasm_v128_load(w + 8 * v);
        for (uint32_t g = 0; g < GROUPS; g++) {
            v128_t pair = wasm_v128_load32_splat(from + g * MOST_ROW);
            for (uint32_t v = 0; v < VECTORS; v++)
                s[g][v] = codec_add_pairs_128(s[g][v], weight[v], pair);
        }
    }
    for (uint32_t g = 0; g < GROUPS; g++)
        for (uint32_t v = 0; v < VECTORS; v++) sum[g][v] = s[g][v];
}

/* The sums of SIDE patches, times 24, of vector v of outputs. */
CODEC_INLINE void mix_sums(const block *b, uint32_t g, uint32_t v, v128_t to[SIDE]) {
    v128_t m[REACH];
    for (uint32_t p = 0; p < REACH; p++) m[p] = b->sum[p][g][v];
    v128_t a = wasm_i32x4_add(m[1], m[2]), c = wasm_i32x4_sub(m[1], m[2]),
           e = wasm_i32x4_add(m[3], m[4]), f = wasm_i32x4_sub(m[3], m[4]);
    to[0] = wasm_i32x4_add(wasm_i32x4_add(m[0], a), e);
    to[1] = wasm_i32x4_add(c, wasm_i32x4_shl(f, 1));
    to[2] = wasm_i32x4_add(a, wasm_i32x4_shl(e, 2));
    to[3] = wasm_i32x4_add(wasm_i32x4_add(m[5], c), wasm_i32x4_shl(f, 3));
}

/* Set outputs first .. first + 3, as far as there are so many, from vector v of the sums. */
static void store_outputs(const block *b, uint32_t first, uint32_t v, int32_t *z) {
    const codec_row_products *r = b->r;
    const v128_t third = wasm_i32x4_splat((int32_t)0xAAAAAAABu); /* 3 times it is 1 */
    const uint32_t left = r->outputs - first < SIDE ? r->outputs - first : SIDE;
    const v128_t factors = codec_shift_factors_128(wasm_v128_load(r->shifts + first));
    int vectors = left == SIDE;
    for (uint32_t o = 0; o < left; o++) vectors &= r->shift[first + o] >= CODEC_LEAST_SHIFT_128;
    for (uint32_t g = 0; g < GROUPS; g++) {
        v128_t to[SIDE];
        mix_sums(b, g, v, to);
        for (uint32_t p = 0; p < SIDE; p++) {
            int32_t *at = z + (size_t)(b->at[g] + p) * r->outputs + first, s[SIDE];
            v128_t sum = wasm_i32x4_mul(to[p], third); /* times 8 */
            if (r->bytes) sum = wasm_i32x4_shl(sum, 5);
            if (vectors) {
                wasm_v128_store(at, wasm_i32x4_add(codec_shift_right_128(sum, factors),
                                                   wasm_v128_load(b->bias + first)));
                continue;
            }
            wasm_v128_store(s, sum);
            for (uint32_t o = 0; o < left; o++)
                at[o] = (s[o] >> r->shift[first + o]) + b->bias[first + o];
        }
    }
}

void codec_row_products_run(const codec_row_products *r, const void *const in[3], uint32_t columns,
                            const int32_t *bias, int32_t *z) {
    const uint32_t n = 3 * r->inputs;
    block b;
    b.r = r, b.bias = bias;
    for (uint32_t j = 0; j < columns;) {
        /* The last groups are made twice where columns are no multiple. */
        for (uint32_t g = 0; g < GROUPS; g++, j += SIDE)
            b.at[g] = j < columns - SIDE ? j : columns - SIDE;
        r->bytes ? read_inputs(&b, in, 1) : read_inputs(&b, in, 0);
        const int16_t *w = r->packed;
        for (uint32_t first = 0; first < r->outputs; first += OUTPUTS) {
            for (uint32_t p = 0; p < REACH; p++, w += (size_t)n * OUTPUTS)
                multiply(b.x[p], w, n, b.sum[p]);
            for (uint32_t v = 0; v < VECTORS && first + SIDE * v < r->outputs; v++)
                store_outputs(&b, first + SIDE * v, v, z);
        }
    }
}

#endif
