/* int_convolution.c -- see int_convolution.h. Integers: all kernels give the same result. */
#include "codec/backend/int_convolution.h"
#include "codec/backend/row_products.h"
#include "codec/backend/wasm.h"
#include "codec/backend/x86.h"
#include <stdlib.h>
#include <string.h>

enum { TAPS = CODEC_CONVOLVE_TAPS, LANES = CODEC_CONVOLVE_LANES, NARROW_INPUTS = 24 };

/* Inputs of three adjacent patches. */
CODEC_INLINE uint32_t row_of(const codec_convolution *c) { return TAPS / 3 * c->inputs; }
CODEC_INLINE int scale_of(const codec_convolution *c) { return c->bytes ? 8 : 3; }

static int32_t plain_sum(const codec_convolution *c, const int16_t *w, const void *const in[3],
                         size_t at) {
    uint32_t row = row_of(c);
    int32_t sum = 0;
    for (uint32_t i = 0; i < 3; i++, w += row) {
        const int16_t *numbers = (const int16_t *)in[i] + at;
        const uint8_t *bytes = (const uint8_t *)in[i] + at;
        for (uint32_t k = 0; k < row; k++) sum += w[k] * (c->bytes ? bytes[k] : numbers[k]);
    }
    return sum;
}

void codec_convolve_row_plain(const codec_convolution *c, const void *const in[3], uint32_t columns,
                              const int32_t *bias, int32_t *z) {
    for (uint32_t j = 0; j < columns; j++)
        for (uint32_t o = 0; o < c->outputs; o++) {
            const int16_t *w = c->weight + (size_t)o * TAPS * c->inputs;
            int32_t sum = plain_sum(c, w, in, (size_t)j * c->inputs);
            *z++ = (sum * (1 << scale_of(c)) >> c->shift[o]) + bias[o];
        }
}

static uint32_t lanes_of(const codec_convolution *c) {
    return (c->outputs + LANES - 1) / LANES * LANES;
}

#ifdef CODEC_WASM_KERNELS

taper_status codec_convolution_pack(codec_convolution *c) {
    c->packed = codec_row_products_pack(c->weight, c->inputs, c->outputs);
    c->shifts = calloc(lanes_of(c), sizeof *c->shifts);
    if (!c->packed || !c->shifts) return TAPER_ERR_NOMEM;
    for (uint32_t o = 0; o < c->outputs; o++) c->shifts[o] = c->shift[o];
    return TAPER_OK;
}

static void row_128(const codec_convolution *c, const void *const in[3], uint32_t columns,
                    const int32_t *bias, int32_t *z) {
    const codec_row_products r = {c->inputs, c->outputs, c->bytes, c->packed, c->shift, c->shifts};
    if (columns < CODEC_ROW_LEAST || c->inputs > CODEC_ROW_MOST_INPUTS)
        codec_convolve_row_plain(c, in, columns, bias, z);
    else
        codec_row_products_run(&r, in, columns, bias, z);
}

#else

/* Nonzero if n / 4 pairs of weights, two of each four, times inputs up to 127 sum up to 16 bits. */
static int pairs_are_narrow(const int16_t *w, uint32_t n) {
    enum { MOST = 32767 / 127 };
    int32_t above = 0, below = 0;
    for (uint32_t i = 0; i < n; i += 4)
        for (uint32_t k = 0; k < 2; k++)
            if (w[i + k] > 0)
                above += w[i + k];
            else
                below -= w[i + k];
    return above <= MOST && below <= MOST;
}

static int is_narrow(const codec_convolution *c) {
    size_t n = (size_t)c->outputs * TAPS * NARROW_INPUTS;
    if (!c->bytes || c->inputs != NARROW_INPUTS || c->outputs > NARROW_INPUTS) return 0;
    for (size_t i = 0; i < n; i += NARROW_INPUTS)
        if (!pairs_are_narrow(c->weight + i, NARROW_INPUTS) ||
            !pairs_are_narrow(c->weight + i + 2, NARROW_INPUTS))
            return 0;
    return 1;
}

taper_status codec_convolution_pack(codec_convolution *c) {
    uint32_t inputs = TAPS * c->inputs, lanes = lanes_of(c);
    void *packed = calloc((size_t)inputs * lanes, c->bytes ? 1 : sizeof *c->packed);
    c->packed = c->bytes ? NULL : packed;
    c->quads = c->bytes ? packed : NULL;
    c->shifts = calloc(lanes, sizeof *c->shifts);
    if (!packed || !c->shifts) return TAPER_ERR_NOMEM;
    c->narrow = is_narrow(c);
    for (uint32_t o = 0; o < c->outputs; o++) {
        c->shifts[o] = c->shift[o];
        for (uint32_t i = 0; i < inputs; i++) {
            int16_t w = c->weight[(size_t)o * inputs + i];
            if (c->bytes)
                c->quads[((size_t)(i / 4) * lanes + o) * 4 + i % 4] = (int8_t)w;
            else
                c->packed[((size_t)(i / 2) * lanes + o) * 2 + i % 2] = w;
        }
    }
    return TAPER_OK;
}

#endif

#ifdef CODEC_X86_KERNELS

/* All kernels process several patches and several vectors of outputs at a time. For each pair of
 * numbers or four bytes of input, every lane gets them and multiplies them by its own weights. */
enum { PATCHES_512 = 8, VECTORS_512 = 2, PATCHES_256 = 6, VECTORS_256 = 4 };

/* Compilers keep weights in registers and so have too few for the sums. This makes them read the
 * weights from memory for each patch. */
#define READ_AGAIN(pointer) __asm__("" : "+r"(pointer))

/* The arguments of a block of a row. */
typedef struct block {
    const codec_convolution *c;
    const void *in[3];              /* starting at the left neighbour of the first patch */
    uint32_t patches, lanes, first; /* lanes, first: of outputs */
    const int32_t *bias;
    int32_t *z;
} block;

/* --- AVX-512 ------------------------------------------------------------------------------- */

CODEC_FOR_512 CODEC_INLINE void numbers_512(const block *b, uint32_t patches, uint32_t vectors,
                                            __m512i sum[PATCHES_512][VECTORS_512]) {
    const int16_t *w = b->c->packed + 2 * b->first;
    uint32_t row = row_of(b->c);
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t k = 0; k < row; k += 2, w += 2 * b->lanes) {
            const int16_t *from = (const int16_t *)b->in[i] + k;
            __m512i weight[VECTORS_512];
            for (uint32_t v = 0; v < vectors; v++) weight[v] = _mm512_loadu_si512(w + 32 * v);
            for (uint32_t p = 0; p < patches; p++) {
                __m512i x = _mm512_set1_epi32(codec_four_bytes(from + (size_t)p * b->c->inputs));
                for (uint32_t v = 0; v < vectors; v++)
                    sum[p][v] = _mm512_dpwssd_epi32(sum[p][v], weight[v], x);
            }
        }
}

CODEC_FOR_512 CODEC_INLINE void bytes_512(const block *b, uint32_t patches, uint32_t vectors,
                                          __m512i sum[PATCHES_512][VECTORS_512]) {
    const int8_t *w = b->c->quads + 4 * b->first;
    uint32_t row = row_of(b->c);
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t k = 0; k < row; k += 4, w += 4 * b->lanes) {
            const uint8_t *from = (const uint8_t *)b->in[i] + k;
            __m512i weight[VECTORS_512];
            for (uint32_t v = 0; v < vectors; v++) weight[v] = _mm512_loadu_si512(w + 64 * v);
            for (uint32_t p = 0; p < patches; p++) {
                __m512i x = _mm512_set1_epi32(codec_four_bytes(from + (size_t)p * b->c->inputs));
                for (uint32_t v = 0; v < vectors; v++)
                    sum[p][v] = _mm512_dpbusd_epi32(sum[p][v], x, weight[v]);
            }
        }
}

CODEC_FOR_512 CODEC_INLINE void block_512(const block *b, uint32_t patches, uint32_t vectors,
                                          int bytes) {
    const codec_convolution *c = b->c;
    __m512i sum[PATCHES_512][VECTORS_512];
    for (uint32_t p = 0; p < patches; p++)
        for (uint32_t v = 0; v < vectors; v++) sum[p][v] = _mm512_setzero_si512();
    if (bytes)
        bytes_512(b, patches, vectors, sum);
    else
        numbers_512(b, patches, vectors, sum);
    for (uint32_t v = 0; v < vectors; v++) {
        uint32_t first = b->first + 16 * v, left = c->outputs - first;
        __mmask16 there = (__mmask16)(left < 16 ? (1u << left) - 1 : 0xFFFF);
        __m512i shift = _mm512_loadu_si512(c->shifts + first),
                bias = _mm512_maskz_loadu_epi32(there, b->bias + first);
        for (uint32_t p = 0; p < patches; p++) {
            __m512i scaled = _mm512_slli_epi32(sum[p][v], bytes ? 8 : 3);
            _mm512_mask_storeu_epi32(b->z + (size_t)p * c->outputs + first, there,
                                     _mm512_add_epi32(_mm512_srav_epi32(scaled, shift), bias));
        }
    }
}

CODEC_FOR_512 CODEC_INLINE void work_512(const block *b, uint32_t vectors, int bytes) {
    if (b->patches == PATCHES_512 && vectors == 2)
        block_512(b, PATCHES_512, 2, bytes);
    else if (b->patches == PATCHES_512)
        block_512(b, PATCHES_512, 1, bytes);
    else
        block_512(b, b->patches, vectors, bytes);
}

CODEC_FOR_512 static void numbers_work_512(const block *b, uint32_t vectors) {
    work_512(b, vectors, 0);
}
CODEC_FOR_512 static void bytes_work_512(const block *b, uint32_t vectors) {
    work_512(b, vectors, 1);
}

/* --- AVX2 ---------------------------------------------------------------------------------- */

CODEC_FOR_256 CODEC_INLINE __m256i load_256(const void *from) {
    return _mm256_loadu_si256((const __m256i *)from);
}

CODEC_FOR_256 CODEC_INLINE void numbers_256(const block *b, uint32_t patches, uint32_t vectors,
                                            __m256i sum[PATCHES_256][VECTORS_256]) {
    const int16_t *w = b->c->packed + 2 * b->first;
    uint32_t row = row_of(b->c);
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t k = 0; k < row; k += 2, w += 2 * b->lanes) {
            const int16_t *from = (const int16_t *)b->in[i] + k;
            for (uint32_t p = 0; p < patches; p++) {
                __m256i x = _mm256_set1_epi32(codec_four_bytes(from + (size_t)p * b->c->inputs));
                READ_AGAIN(w);
                for (uint32_t v = 0; v < vectors; v++)
                    sum[p][v] =
                        _mm256_add_epi32(sum[p][v], _mm256_madd_epi16(x, load_256(w + 16 * v)));
            }
        }
}

/* Two quads at a time: their four products of a lane are added in 16 bits. */
CODEC_FOR_256 CODEC_INLINE void bytes_256(const block *b, uint32_t patches, uint32_t vectors,
                                          __m256i sum[PATCHES_256][VECTORS_256]) {
    const int8_t *w = b->c->quads + 4 * b->first;
    const __m256i ones = _mm256_set1_epi16(1);
    uint32_t row = row_of(b->c), step = 4 * b->lanes;
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t k = 0; k < row; k += 8, w += 2 * step) {
            const uint8_t *from = (const uint8_t *)b->in[i] + k;
            for (uint32_t p = 0; p < patches; p++, from += b->c->inputs) {
                __m256i x = _mm256_set1_epi32(codec_four_bytes(from)),
                        y = _mm256_set1_epi32(codec_four_bytes(from + 4));
                READ_AGAIN(w);
                for (uint32_t v = 0; v < vectors; v++) {
                    __m256i four =
                        _mm256_add_epi16(_mm256_maddubs_epi16(x, load_256(w + 32 * v)),
                                         _mm256_maddubs_epi16(y, load_256(w + step + 32 * v)));
                    sum[p][v] = _mm256_add_epi32(sum[p][v], _mm256_madd_epi16(four, ones));
                }
            }
        }
}

/* Keeps the order of operations: compilers reorder sums, and then have too few registers. */
#define IN_ORDER(vector) __asm__("" : "+x"(vector))

/* A tap at a time: its products of a lane are added in 16 bits. */
CODEC_FOR_256 CODEC_INLINE void narrow_256(const block *b, uint32_t patches, uint32_t vectors,
                                           __m256i sum[PATCHES_256][VECTORS_256]) {
    enum { QUADS = NARROW_INPUTS / 4 };
    const int8_t *w = b->c->quads + 4 * b->first;
    const __m256i ones = _mm256_set1_epi16(1);
    uint32_t step = 4 * 8 * ((vectors + 1) & ~1u); /* a constant where vectors is one */
    for (uint32_t i = 0; i < 3; i++) {
        const uint8_t *from = b->in[i], *end = from + 3 * NARROW_INPUTS;
        for (; from < end; from += NARROW_INPUTS, w += QUADS * step)
            for (uint32_t p = 0; p < patches; p++) {
                __m256i x[QUADS];
                for (int q = 0; q < QUADS; q++)
                    x[q] = _mm256_set1_epi32(codec_four_bytes(from + p * NARROW_INPUTS + 4 * q));
                READ_AGAIN(w);
                for (uint32_t v = 0; v < vectors; v++) {
                    const int8_t *at = w + 32 * v;
                    __m256i all = _mm256_maddubs_epi16(x[0], load_256(at));
                    for (int q = 1; q < QUADS; q++) {
                        all = _mm256_add_epi16(all,
                                               _mm256_maddubs_epi16(x[q], load_256(at + q * step)));
                        IN_ORDER(all);
                    }
                    sum[p][v] = _mm256_add_epi32(sum[p][v], _mm256_madd_epi16(all, ones));
                    IN_ORDER(sum[p][v]);
                }
            }
    }
}

/* What the inputs are. */
typedef enum input_kind { NUMBERS, BYTES, NARROW } input_kind;

CODEC_FOR_256 CODEC_INLINE void block_256(const block *b, uint32_t patches, uint32_t vectors,
                                          input_kind kind) {
    const codec_convolution *c = b->c;
    __m256i sum[PATCHES_256][VECTORS_256];
    for (uint32_t p = 0; p < patches; p++)
        for (uint32_t v = 0; v < vectors; v++) sum[p][v] = _mm256_setzero_si256();
    if (kind == NARROW)
        narrow_256(b, patches, vectors, sum);
    else if (kind == BYTES)
        bytes_256(b, patches, vectors, sum);
    else
        numbers_256(b, patches, vectors, sum);
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    for (uint32_t v = 0; v < vectors; v++) {
        uint32_t first = b->first + 8 * v, left = c->outputs - first;
        __m256i there = _mm256_cmpgt_epi32(_mm256_set1_epi32((int32_t)left), lane),
                shift = load_256(c->shifts + first),
                bias = _mm256_maskload_epi32(b->bias + first, there);
        for (uint32_t p = 0; p < patches; p++) {
            __m256i scaled = _mm256_slli_epi32(sum[p][v], kind == NUMBERS ? 3 : 8);
            _mm256_maskstore_epi32(b->z + (size_t)p * c->outputs + first, there,
                                   _mm256_add_epi32(_mm256_srav_epi32(scaled, shift), bias));
        }
    }
}

/* Twelve sums, at most, have their own registers; see row_256. */
CODEC_FOR_256 CODEC_INLINE void work_256(const block *b, uint32_t vectors, input_kind kind) {
    if (b->patches == 3 && vectors == 4)
        block_256(b, 3, 4, kind);
    else if (b->patches == 4 && vectors == 3)
        block_256(b, 4, 3, kind);
    else if (b->patches == 4 && vectors == 2)
        block_256(b, 4, 2, kind);
    else if (b->patches == 6 && vectors == 2)
        block_256(b, 6, 2, kind);
    else if (b->patches == 6 && vectors == 1)
        block_256(b, 6, 1, kind);
    else
        block_256(b, b->patches, vectors, kind);
}

CODEC_FOR_256 static void numbers_work_256(const block *b, uint32_t vectors) {
    work_256(b, vectors, NUMBERS);
}
CODEC_FOR_256 static void bytes_work_256(const block *b, uint32_t vectors) {
    work_256(b, vectors, BYTES);
}
/* The inputs of a tap take six registers, so there are six sums, at most. */
CODEC_FOR_256 static void narrow_work_256(const block *b, uint32_t vectors) {
    if (vectors == 3)
        b->patches == 2 ? block_256(b, 2, 3, NARROW) : block_256(b, 1, 3, NARROW);
    else if (vectors == 2)
        b->patches == 2 ? block_256(b, 2, 2, NARROW) : block_256(b, 1, 2, NARROW);
    else
        block_256(b, b->patches, 1, NARROW);
}

/* --- rows ---------------------------------------------------------------------------------- */

typedef void work_fn(const block *b, uint32_t vectors);

/* A kernel's shape: patches at once, outputs of a vector, vectors at once. */
typedef struct shape {
    uint32_t patches, lanes, vectors;
} shape;

static void work_blocks(const codec_convolution *c, const void *const in[3], uint32_t columns,
                        const int32_t *bias, int32_t *z, work_fn *work, shape s) {
    block b = {c, {in[0], in[1], in[2]}, s.patches, lanes_of(c), 0, bias, z};
    size_t patch = c->inputs * (c->bytes ? 1 : sizeof(int16_t));
    uint32_t all = (c->outputs + s.lanes - 1) / s.lanes;
    for (uint32_t left = columns; left; left -= b.patches) {
        if (left < s.patches) b.patches = left;
        for (uint32_t v = 0, n; v < all; v += n) {
            n = all - v < s.vectors ? all - v : s.vectors;
            b.first = v * s.lanes;
            work(&b, n);
        }
        for (int i = 0; i < 3; i++) b.in[i] = (const uint8_t *)b.in[i] + b.patches * patch;
        b.z += b.patches * c->outputs;
    }
}

static void row_512(const codec_convolution *c, const void *const in[3], uint32_t columns,
                    const int32_t *bias, int32_t *z) {
    const shape s = {PATCHES_512, 16, VECTORS_512};
    work_blocks(c, in, columns, bias, z, c->bytes ? bytes_work_512 : numbers_work_512, s);
}

static void row_256(const codec_convolution *c, const void *const in[3], uint32_t columns,
                    const int32_t *bias, int32_t *z) {
    static const shape of_vectors[] = {{6, 8, 1}, {6, 8, 2}, {4, 8, 3}, {3, 8, 4}, {4, 8, 3}};
    uint32_t vectors = (c->outputs + 7) / 8;
    shape s = of_vectors[vectors < 5 ? vectors - 1 : 4];
    if (c->narrow) s = (shape){2, 8, 3};
    work_blocks(c, in, columns, bias, z,
                c->narrow  ? narrow_work_256
                : c->bytes ? bytes_work_256
                           : numbers_work_256,
                s);
}

#endif

static const codec_convolve_kernel kernels[] = {
#ifdef CODEC_WASM_KERNELS
    {"WebAssembly SIMD", codec_runs_always, row_128},
#endif
#ifdef CODEC_X86_KERNELS
    {"AVX-512 with VNNI", codec_has_512, row_512},
    {"AVX2", codec_has_256, row_256},
#endif
    {"plain", codec_runs_always, codec_convolve_row_plain}};

const codec_convolve_kernel *codec_convolve_kernels(size_t *n) {
    *n = sizeof kernels / sizeof *kernels;
    return kernels;
}

void codec_convolve_row(const codec_convolution *c, const void *const in[3], uint32_t columns,
                        const int32_t *bias, int32_t *z) {
    size_t i = 0;
    while (i + 1 < sizeof kernels / sizeof *kernels && !kernels[i].runs()) i++;
    kernels[i].row(c, in, columns, bias, z);
}
