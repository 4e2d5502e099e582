/* lap.c -- see lap.h. */
#include "codec/transform/lap.h"
#include "codec/backend/simd.h"
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

void codec_lap_postfilter(codec_window w, codec_grid grid, float *windows) {
    if (w.lap) apply(w, grid, w.lap->postfilter, windows);
}
