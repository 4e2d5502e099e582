/* lap.c -- see lap.h. */
#include "codec/transform/lap.h"
#include "codec/backend/x86.h"
#include <stddef.h>
#include <string.h>

enum { MOST = CODEC_LAP_MOST };

/* --- the matrix ------------------------------------------------------------------------ */

static double magnitude(double x) { return x < 0 ? -x : x; }

static void swap_rows(double (*row)[2 * MOST], uint32_t a, uint32_t b) {
    double kept[2 * MOST];
    memcpy(kept, row[a], sizeof kept);
    memcpy(row[a], row[b], sizeof kept);
    memcpy(row[b], kept, sizeof kept);
}

/* Transform [M I] to [I M^-1] by Gauss-Jordan elimination with pivoting. Returns 0 if M is nearly
 * singular. */
static int invert(double (*row)[2 * MOST], uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        uint32_t top = i;
        for (uint32_t r = i + 1; r < n; r++)
            if (magnitude(row[r][i]) > magnitude(row[top][i])) top = r;
        if (magnitude(row[top][i]) < 1e-6) return 0;
        swap_rows(row, i, top);
        for (uint32_t c = 2 * n; c-- > i;) row[i][c] /= row[i][i];
        for (uint32_t r = 0; r < n; r++)
            for (uint32_t c = 2 * n; r != i && c-- > i;) row[r][c] -= row[r][i] * row[i][c];
    }
    return 1;
}

taper_status codec_lap_prepare(codec_lap *lap) {
    double row[MOST][2 * MOST] = {{0}};
    uint32_t n = lap->reach;
    if (n > MOST) return TAPER_ERR_CORRUPT;
    for (uint32_t r = 0; r < n; r++)
        for (uint32_t c = 0; c < n; c++) {
            row[r][c] = lap->stored[r * n + c] / (double)CODEC_LAP_ONE;
            row[r][n + c] = r == c;
            lap->postfilter[r * n + c] = (float)((row[r][c] - (r == c)) / 2);
        }
    if (!invert(row, n)) return TAPER_ERR_CORRUPT;
    for (uint32_t r = 0; r < n; r++)
        for (uint32_t c = 0; c < n; c++) {
            if (!(magnitude(row[r][n + c]) <= CODEC_LAP_TOP)) return TAPER_ERR_CORRUPT;
            lap->prefilter[r * n + c] = (float)((row[r][n + c] - (r == c)) / 2);
        }
    return TAPER_OK;
}

/* --- the filter ------------------------------------------------------------------------ */

/* The pixels along one side of an edge. */
typedef struct side {
    float *first;   /* at distance 0 */
    ptrdiff_t away; /* to the pixel one further from the edge */
} side;

/* Mix the differences across an edge of n pixels, `along` apart. */
CODEC_CLONES static void mix(const float *matrix, uint32_t reach, side a, side b, ptrdiff_t along,
                             uint32_t n) {
    float difference[MOST][CODEC_MAX_WINDOW_SIDE], change[CODEC_MAX_WINDOW_SIDE];
    for (uint32_t k = 0; k < reach; k++)
        for (uint32_t i = 0; i < n; i++)
            difference[k][i] = a.first[k * a.away + i * along] - b.first[k * b.away + i * along];
    for (uint32_t k = 0; k < reach; k++) {
        for (uint32_t i = 0; i < n; i++) change[i] = 0;
        for (uint32_t j = 0; j < reach; j++)
            for (uint32_t i = 0; i < n; i++) change[i] += matrix[k * reach + j] * difference[j][i];
        for (uint32_t i = 0; i < n; i++) {
            a.first[k * a.away + i * along] += change[i];
            b.first[k * b.away + i * along] -= change[i];
        }
    }
}

/* Filter the edge of window `a` with its right neighbour; with the one below. */
static void mix_right(codec_window w, const float *matrix, float *a, float *b) {
    uint32_t rows = w.height * w.channels; /* the planes are stored one after the other */
    for (uint32_t y = 0; y < rows; y += w.height) {
        side left = {a + (size_t)y * w.width + w.width - 1, -1},
             right = {b + (size_t)y * w.width, 1};
        mix(matrix, w.lap->reach, left, right, w.width, w.height);
    }
}

static void mix_below(codec_window w, const float *matrix, float *a, float *b) {
    ptrdiff_t row = w.width;
    for (uint32_t c = 0; c < w.channels; c++, a += w.width * w.height, b += w.width * w.height) {
        side above = {a + (w.height - 1) * row, -row}, below = {b, row};
        mix(matrix, w.lap->reach, above, below, 1, w.width);
    }
}

static void apply(codec_window w, codec_grid grid, const float *matrix, float *windows) {
    size_t values = codec_window_values(w), line = values * grid.columns;
    float *window = windows; /* all rows, then all columns, for exact repeatability */
    for (uint32_t y = 0; y < grid.rows; y++)
        for (uint32_t x = 0; x < grid.columns; x++, window += values)
            if (x + 1 < grid.columns) mix_right(w, matrix, window, window + values);
    window = windows;
    for (uint32_t y = 0; y + 1 < grid.rows; y++)
        for (uint32_t x = 0; x < grid.columns; x++, window += values)
            mix_below(w, matrix, window, window + line);
}

void codec_lap_prefilter(codec_window w, codec_grid grid, float *windows) {
    if (w.lap) apply(w, grid, w.lap->prefilter, windows);
}

void codec_lap_prefilter_below(codec_window w, uint32_t columns, float *above, float *below) {
    const size_t values = codec_window_values(w);
    for (uint32_t x = 0; w.lap && x < columns; x++)
        mix_below(w, w.lap->prefilter, above + x * values, below + x * values);
}

void codec_lap_unfilter(codec_window w, codec_grid grid, float *windows) {
    if (w.lap) apply(w, grid, w.lap->postfilter, windows);
}

/* --- the filter of pictures ------------------------------------------------------------ */

enum { AT_ONCE = 256 /* pixels along an edge */, SHIFT = 13, HALF = 1 << (SHIFT - 1) };

CODEC_INLINE int16_t clamp16(int32_t x) {
    return (int16_t)(x < -32768 ? -32768 : x > 32767 ? 32767 : x);
}

/* c(k) of n pixels, for all k. */
CODEC_CLONES static void changes_of(const codec_lap *lap, int16_t (*restrict difference)[AT_ONCE],
                                    uint32_t n, int16_t (*restrict change)[AT_ONCE]) {
    for (uint32_t k = 0; k < lap->reach; k++) {
        uint32_t sum[AT_ONCE];
        for (uint32_t i = 0; i < n; i++)
            sum[i] = HALF - (uint32_t)(difference[k][i] * CODEC_LAP_ONE);
        for (uint32_t j = 0; j < lap->reach; j++) {
            int32_t weight = lap->stored[k * lap->reach + j];
            for (uint32_t i = 0; i < n; i++) sum[i] += (uint32_t)(weight * difference[j][i]);
        }
        for (uint32_t i = 0; i < n; i++) change[k][i] = clamp16((int32_t)sum[i] >> SHIFT);
    }
}

CODEC_CLONES static void subtract(const int16_t *restrict a, const int16_t *restrict b, uint32_t n,
                                  int16_t *restrict to) {
    for (uint32_t i = 0; i < n; i++) to[i] = clamp16(a[i] - b[i]);
}

CODEC_CLONES static void add_change(const int16_t *restrict change, uint32_t n, int16_t *restrict a,
                                    int16_t *restrict b) {
    for (uint32_t i = 0; i < n; i++) {
        a[i] = clamp16(a[i] + change[i]);
        b[i] = clamp16(b[i] - change[i]);
    }
}

/* The edge between two rows: n pixels of the rows from `below` on and of those above. */
static void mix_rows(const codec_lap *lap, int16_t *below, size_t stride, uint32_t n) {
    int16_t difference[MOST][AT_ONCE], change[MOST][AT_ONCE];
    for (uint32_t k = 0; k < lap->reach; k++)
        subtract(below - (k + 1) * stride, below + k * stride, n, difference[k]);
    changes_of(lap, difference, n, change);
    for (uint32_t k = 0; k < lap->reach; k++)
        add_change(change[k], n, below - (k + 1) * stride, below + k * stride);
}

/* The edge between two columns, of n rows; `right` is the pixel right of it in the first row. */
static void mix_columns(const codec_lap *lap, int16_t *right, size_t stride, uint32_t n) {
    int16_t difference[MOST][AT_ONCE], change[MOST][AT_ONCE];
    int16_t *at = right;
    for (uint32_t i = 0; i < n; i++, at += stride)
        for (uint32_t k = 0; k < lap->reach; k++)
            difference[k][i] = clamp16(at[-(ptrdiff_t)k - 1] - at[k]);
    changes_of(lap, difference, n, change);
    at = right;
    for (uint32_t i = 0; i < n; i++, at += stride)
        for (uint32_t k = 0; k < lap->reach; k++) {
            int16_t *left = at - k - 1;
            *left = clamp16(*left + change[k][i]);
            at[k] = clamp16(at[k] - change[k][i]);
        }
}

#ifdef CODEC_X86_KERNELS

/* Eight pixels on either side of an edge are a row of two vectors. Rows of the matrix beyond the
 * reach are 0, so the pixels there do not change. */
enum { SIDE = 8 };

/* [j / 2]: the columns j and j + 1 of all rows, in pairs. */
CODEC_FOR_256 static void load_columns(const codec_lap *lap, __m256i column[SIDE / 2]) {
    for (uint32_t j = 0; j < SIDE; j += 2) {
        int16_t pair[SIDE][2] = {{0}};
        for (uint32_t k = 0; k < lap->reach; k++)
            for (uint32_t i = 0; i < 2 && j + i < lap->reach; i++)
                pair[k][i] = lap->stored[k * lap->reach + j + i];
        column[j / 2] = _mm256_loadu_si256((const __m256i *)(const void *)pair);
    }
}

CODEC_FOR_256 CODEC_INLINE __m128i reversed(__m128i x) {
    return _mm_shuffle_epi8(x, _mm_setr_epi8(14, 15, 12, 13, 10, 11, 8, 9, 6, 7, 4, 5, 2, 3, 0, 1));
}

CODEC_FOR_256 static void mix_columns_256(const codec_lap *lap, int16_t *right, size_t stride,
                                          uint32_t n) {
    __m256i column[SIDE / 2];
    load_columns(lap, column);
    int16_t there[SIDE] = {0};
    for (uint32_t k = 0; k < lap->reach; k++) there[k] = -1;
    const __m128i mask = _mm_loadu_si128((const __m128i *)(const void *)there);
    for (uint32_t i = 0; i < n; i++, right += stride) {
        __m128i a = reversed(_mm_loadu_si128((const __m128i *)(const void *)(right - SIDE))),
                b = _mm_loadu_si128((const __m128i *)(const void *)right),
                d = _mm_and_si128(_mm_subs_epi16(a, b), mask);
        __m256i twice = _mm256_broadcastsi128_si256(d),
                sum = _mm256_sub_epi32(_mm256_set1_epi32(HALF),
                                       _mm256_slli_epi32(_mm256_cvtepi16_epi32(d), 12));
        sum = _mm256_add_epi32(sum, _mm256_madd_epi16(column[0], _mm256_shuffle_epi32(twice, 0)));
        sum =
            _mm256_add_epi32(sum, _mm256_madd_epi16(column[1], _mm256_shuffle_epi32(twice, 0x55)));
        sum =
            _mm256_add_epi32(sum, _mm256_madd_epi16(column[2], _mm256_shuffle_epi32(twice, 0xAA)));
        sum =
            _mm256_add_epi32(sum, _mm256_madd_epi16(column[3], _mm256_shuffle_epi32(twice, 0xFF)));
        sum = _mm256_srai_epi32(sum, SHIFT);
        __m128i change =
            _mm_packs_epi32(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
        _mm_storeu_si128((__m128i *)(void *)(right - SIDE), reversed(_mm_adds_epi16(a, change)));
        _mm_storeu_si128((__m128i *)(void *)right, _mm_subs_epi16(b, change));
    }
}

/* The edge between two rows, for pixels that fill vectors: n is a multiple of 16. The differences
 * of two rows are interleaved, so that a product of pairs adds both. */
CODEC_FOR_256 static void mix_rows_256(const codec_lap *lap, int16_t *below, size_t stride,
                                       uint32_t n) {
    int32_t pair[MOST * MOST / 2];
    uint32_t reach = lap->reach, pairs = (reach + 1) / 2;
    for (uint32_t k = 0; k < reach; k++)
        for (uint32_t j = 0; j < pairs; j++) {
            const int16_t *at = lap->stored + k * reach + 2 * j;
            uint16_t second = 2 * j + 1 < reach ? (uint16_t)at[1] : 0;
            pair[k * pairs + j] = (int32_t)((uint32_t)second << 16 | (uint16_t)at[0]);
        }
    for (uint32_t i = 0; i < n; i += 16) {
        __m256i d[MOST + 1], low[MOST / 2], high[MOST / 2];
        d[reach] = _mm256_setzero_si256();
        for (uint32_t k = 0; k < reach; k++) {
            const int16_t *a = below + i - (k + 1) * stride, *b = below + i + k * stride;
            d[k] = _mm256_subs_epi16(_mm256_loadu_si256((const __m256i *)(const void *)a),
                                     _mm256_loadu_si256((const __m256i *)(const void *)b));
        }
        for (uint32_t j = 0; j < pairs; j++) {
            low[j] = _mm256_unpacklo_epi16(d[2 * j], d[2 * j + 1]);
            high[j] = _mm256_unpackhi_epi16(d[2 * j], d[2 * j + 1]);
        }
        for (uint32_t k = 0; k < reach; k++) {
            /* 4096 d: d in the upper half of a number, shifted to the right by 4 */
            const __m256i zero = _mm256_setzero_si256(), half = _mm256_set1_epi32(HALF);
            __m256i s = _mm256_sub_epi32(half,
                                         _mm256_srai_epi32(_mm256_unpacklo_epi16(zero, d[k]), 4)),
                    t = _mm256_sub_epi32(half,
                                         _mm256_srai_epi32(_mm256_unpackhi_epi16(zero, d[k]), 4));
            for (uint32_t j = 0; j < pairs; j++) {
                __m256i weight = _mm256_set1_epi32(pair[k * pairs + j]);
                s = _mm256_add_epi32(s, _mm256_madd_epi16(low[j], weight));
                t = _mm256_add_epi32(t, _mm256_madd_epi16(high[j], weight));
            }
            __m256i change =
                _mm256_packs_epi32(_mm256_srai_epi32(s, SHIFT), _mm256_srai_epi32(t, SHIFT));
            __m256i *a = (__m256i *)(void *)(below + i - (k + 1) * stride),
                    *b = (__m256i *)(void *)(below + i + k * stride);
            _mm256_storeu_si256(a, _mm256_adds_epi16(_mm256_loadu_si256(a), change));
            _mm256_storeu_si256(b, _mm256_subs_epi16(_mm256_loadu_si256(b), change));
        }
    }
}

static void filter_rows(const codec_lap *lap, int16_t *below, size_t stride, uint32_t n) {
    uint32_t whole = codec_has_256() ? n / 16 * 16 : 0;
    if (whole) mix_rows_256(lap, below, stride, whole);
    if (n > whole) mix_rows(lap, below + whole, stride, n - whole);
}

static void filter_columns(codec_window w, int16_t *right, size_t stride, uint32_t n) {
    if (w.lap->reach <= SIDE && w.width >= SIDE && codec_has_256())
        mix_columns_256(w.lap, right, stride, n);
    else
        mix_columns(w.lap, right, stride, n);
}

#else

static void filter_rows(const codec_lap *lap, int16_t *below, size_t stride, uint32_t n) {
    mix_rows(lap, below, stride, n);
}

CODEC_CLONES static void filter_columns(codec_window w, int16_t *right, size_t stride, uint32_t n) {
    mix_columns(w.lap, right, stride, n);
}

#endif

static uint32_t at_most(uint32_t left) { return left < AT_ONCE ? left : AT_ONCE; }

void codec_lap_postfilter_from(codec_window w, const codec_picture *p, uint32_t first,
                               uint32_t end) {
    for (uint32_t c = 0; c < p->channels; c++) {
        for (uint32_t y = first; y < end; y += AT_ONCE)
            for (uint32_t x = w.width; x < p->width; x += w.width)
                filter_columns(w, codec_picture_row(p, c, y) + x, p->width, at_most(end - y));
        for (uint32_t y = first ? first : w.height; y < end; y += w.height)
            for (uint32_t x = 0; x < p->width; x += AT_ONCE)
                filter_rows(w.lap, codec_picture_row(p, c, y) + x, p->width, at_most(p->width - x));
    }
}

void codec_lap_postfilter(codec_window w, const codec_picture *p) {
    codec_lap_postfilter_from(w, p, 0, p->height);
}
