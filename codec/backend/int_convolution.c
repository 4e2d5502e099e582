/* int_convolution.c -- see int_convolution.h. Integers: all kernels give the same result. */
#include "codec/backend/int_convolution.h"
#include "codec/backend/x86.h"
#include <stdlib.h>
#include <string.h>

enum { TAPS = CODEC_CONVOLVE_TAPS, LANES = CODEC_CONVOLVE_LANES };

void codec_convolve_row_plain(const codec_convolution *c, const int16_t *const in[3],
                              uint32_t columns, const int32_t *bias, int32_t *z) {
    uint32_t row = TAPS / 3 * c->inputs; /* inputs of three adjacent patches */
    for (uint32_t j = 0; j < columns; j++)
        for (uint32_t o = 0; o < c->outputs; o++) {
            const int16_t *w = c->weight + (size_t)o * TAPS * c->inputs;
            int32_t sum = 0;
            for (uint32_t i = 0; i < 3; i++, w += row)
                for (uint32_t k = 0; k < row; k++) sum += w[k] * in[i][(size_t)j * c->inputs + k];
            *z++ = (sum * 8 >> c->shift[o]) + bias[o];
        }
}

static uint32_t lanes_of(const codec_convolution *c) {
    return (c->outputs + LANES - 1) / LANES * LANES;
}

taper_status codec_convolution_pack(codec_convolution *c) {
    uint32_t inputs = TAPS * c->inputs, lanes = lanes_of(c);
    c->packed = calloc((size_t)inputs * lanes, sizeof *c->packed);
    c->shifts = calloc(lanes, sizeof *c->shifts);
    if (!c->packed || !c->shifts) return TAPER_ERR_NOMEM;
    for (uint32_t o = 0; o < c->outputs; o++) {
        c->shifts[o] = c->shift[o];
        for (uint32_t i = 0; i < inputs; i++)
            c->packed[((size_t)(i / 2) * lanes + o) * 2 + i % 2] =
                c->weight[(size_t)o * inputs + i];
    }
    return TAPER_OK;
}

#ifdef CODEC_X86_KERNELS

/* Both kernels process several patches and several vectors of outputs at a time. For each pair of
 * inputs, every lane gets the pair and multiplies it by its two weights. */
enum { PATCHES_512 = 8, PATCHES_256 = 5, VECTORS = 2 };

/* The arguments of a block of a row. */
typedef struct block {
    const codec_convolution *c;
    const int16_t *in[3];           /* starting at the left neighbour of the first patch */
    uint32_t patches, lanes, first; /* lanes, first: of outputs */
    const int32_t *bias;
    int32_t *z;
} block;

CODEC_FOR_512 CODEC_INLINE void block_512(const block *b, uint32_t patches, uint32_t vectors) {
    const codec_convolution *c = b->c;
    uint32_t row = TAPS / 3 * c->inputs;
    const int16_t *w = c->packed + 2 * b->first;
    __m512i sum[PATCHES_512][VECTORS];
    for (uint32_t p = 0; p < patches; p++)
        for (uint32_t v = 0; v < vectors; v++) sum[p][v] = _mm512_setzero_si512();
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t k = 0; k < row; k += 2, w += 2 * b->lanes) {
            __m512i weight[VECTORS];
            for (uint32_t v = 0; v < vectors; v++) weight[v] = _mm512_loadu_si512(w + 32 * v);
            for (uint32_t p = 0; p < patches; p++) {
                __m512i x =
                    _mm512_set1_epi32(codec_four_bytes(b->in[i] + (size_t)p * c->inputs + k));
                for (uint32_t v = 0; v < vectors; v++)
                    sum[p][v] = _mm512_dpwssd_epi32(sum[p][v], weight[v], x);
            }
        }
    for (uint32_t v = 0; v < vectors; v++) {
        uint32_t first = b->first + 16 * v, left = c->outputs - first;
        __mmask16 there = (__mmask16)(left < 16 ? (1u << left) - 1 : 0xFFFF);
        __m512i shift = _mm512_loadu_si512(c->shifts + first),
                bias = _mm512_maskz_loadu_epi32(there, b->bias + first);
        for (uint32_t p = 0; p < patches; p++)
            _mm512_mask_storeu_epi32(
                b->z + (size_t)p * c->outputs + first, there,
                _mm512_add_epi32(_mm512_srav_epi32(_mm512_slli_epi32(sum[p][v], 3), shift), bias));
    }
}

CODEC_FOR_512 static void work_512(const block *b) {
    uint32_t vectors = b->first + 16 >= b->c->outputs ? 1 : 2;
    if (b->patches == PATCHES_512 && vectors == 2)
        block_512(b, PATCHES_512, 2);
    else if (b->patches == PATCHES_512)
        block_512(b, PATCHES_512, 1);
    else
        block_512(b, b->patches, vectors);
}

CODEC_FOR_256 CODEC_INLINE void block_256(const block *b, uint32_t patches) {
    const codec_convolution *c = b->c;
    uint32_t row = TAPS / 3 * c->inputs;
    const int16_t *w = c->packed + 2 * b->first;
    __m256i sum[PATCHES_256][VECTORS];
    for (uint32_t p = 0; p < patches; p++)
        for (uint32_t v = 0; v < VECTORS; v++) sum[p][v] = _mm256_setzero_si256();
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t k = 0; k < row; k += 2, w += 2 * b->lanes) {
            __m256i weight[VECTORS];
            for (uint32_t v = 0; v < VECTORS; v++)
                weight[v] = _mm256_loadu_si256((const __m256i *)(const void *)(w + 16 * v));
            for (uint32_t p = 0; p < patches; p++) {
                __m256i x =
                    _mm256_set1_epi32(codec_four_bytes(b->in[i] + (size_t)p * c->inputs + k));
                for (uint32_t v = 0; v < VECTORS; v++)
                    sum[p][v] = _mm256_add_epi32(sum[p][v], _mm256_madd_epi16(weight[v], x));
            }
        }
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    for (uint32_t v = 0; v < VECTORS && b->first + 8 * v < c->outputs; v++) {
        uint32_t first = b->first + 8 * v, left = c->outputs - first;
        __m256i there = _mm256_cmpgt_epi32(_mm256_set1_epi32((int32_t)left), lane),
                shift = _mm256_loadu_si256((const __m256i *)(const void *)(c->shifts + first)),
                bias = _mm256_maskload_epi32(b->bias + first, there);
        for (uint32_t p = 0; p < patches; p++)
            _mm256_maskstore_epi32(
                b->z + (size_t)p * c->outputs + first, there,
                _mm256_add_epi32(_mm256_srav_epi32(_mm256_slli_epi32(sum[p][v], 3), shift), bias));
    }
}

CODEC_FOR_256 static void work_256(const block *b) {
    if (b->patches == PATCHES_256)
        block_256(b, PATCHES_256);
    else
        block_256(b, b->patches);
}

static void work_blocks(const codec_convolution *c, const int16_t *const in[3], uint32_t columns,
                        const int32_t *bias, int32_t *z, void work(const block *), uint32_t patches,
                        uint32_t step) {
    block b = {.c = c, .lanes = lanes_of(c), .bias = bias};
    for (uint32_t j = 0; j < columns; j += patches) {
        b.patches = columns - j < patches ? columns - j : patches;
        b.z = z + (size_t)j * c->outputs;
        for (int i = 0; i < 3; i++) b.in[i] = in[i] + (size_t)j * c->inputs;
        for (b.first = 0; b.first < c->outputs; b.first += step) work(&b);
    }
}

static void row_512(const codec_convolution *c, const int16_t *const in[3], uint32_t columns,
                    const int32_t *bias, int32_t *z) {
    work_blocks(c, in, columns, bias, z, work_512, PATCHES_512, 16 * VECTORS);
}

static void row_256(const codec_convolution *c, const int16_t *const in[3], uint32_t columns,
                    const int32_t *bias, int32_t *z) {
    work_blocks(c, in, columns, bias, z, work_256, PATCHES_256, 8 * VECTORS);
}

#endif

static const codec_convolve_kernel kernels[] = {
#ifdef CODEC_X86_KERNELS
    {"AVX-512 with VNNI", codec_has_512, row_512},
    {"AVX2", codec_has_256, row_256},
#endif
    {"plain", codec_runs_always, codec_convolve_row_plain}};

const codec_convolve_kernel *codec_convolve_kernels(size_t *n) {
    *n = sizeof kernels / sizeof *kernels;
    return kernels;
}

void codec_convolve_row(const codec_convolution *c, const int16_t *const in[3], uint32_t columns,
                        const int32_t *bias, int32_t *z) {
    size_t i = 0;
    while (!kernels[i].runs()) i++;
    kernels[i].row(c, in, columns, bias, z);
}
