/* least_squares.c -- see least_squares.h. */
#include "bench/paper/least_squares.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 256 }; /* of pixels at a time, for the cache */

/* --- moments --------------------------------------------------------------------------- */

taper_status paper_moments_alloc(paper_moments *m, uint32_t units, uint32_t inputs) {
    size_t rows = (size_t)units + 1, wide = rows > inputs ? rows : inputs;
    *m = (paper_moments){.units = units, .inputs = inputs};
    m->code = calloc(rows * rows, sizeof *m->code);
    m->pixels = calloc(rows * inputs, sizeof *m->pixels);
    m->x = malloc(PAPER_REFIT_BLOCK * rows * sizeof *m->x);
    m->product = malloc(rows * wide * sizeof *m->product);
    if (m->code && m->pixels && m->x && m->product) return TAPER_OK;
    paper_moments_free(m);
    return TAPER_ERR_NOMEM;
}

void paper_moments_free(paper_moments *m) {
    free(m->code), free(m->pixels), free(m->x), free(m->product);
    *m = (paper_moments){0};
}

/* X of rows; order NULL: as they are. */
static void put_ones(const float *codes, size_t n, uint32_t units, const uint32_t *order,
                     float *x) {
    for (size_t i = 0; i < n; i++) {
        float *to = x + i * (units + 1);
        to[0] = 1.0f;
        for (uint32_t k = 0; k < units; k++) to[k + 1] = codes[i * units + (order ? order[k] : k)];
    }
}

taper_status paper_moments_add(paper_moments *m, codec_backend *be, const float *codes,
                               const float *pixels, size_t n) {
    size_t rows = (size_t)m->units + 1;
    put_ones(codes, n, m->units, NULL, m->x);
    TAPER_TRY(be->ops->gemm(be, 1, 0, rows, rows, n, m->x, m->x, 0.0f, m->product));
    for (size_t i = 0; i < rows * rows; i++) m->code[i] += (double)m->product[i];
    TAPER_TRY(be->ops->gemm(be, 1, 0, rows, m->inputs, n, m->x, pixels, 0.0f, m->product));
    for (size_t i = 0; i < rows * m->inputs; i++) m->pixels[i] += (double)m->product[i];
    m->n += n;
    return TAPER_OK;
}

/* M with units in an order, its lower half filled. */
static void arrange(const paper_moments *m, const uint32_t *order, double ridge, double *to) {
    size_t rows = (size_t)m->units + 1;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < rows; j++) {
            size_t a = i && order ? order[i - 1] + (size_t)1 : i,
                   b = j && order ? order[j - 1] + (size_t)1 : j;
            to[i * rows + j] = m->code[a * rows + b] / (double)m->n + (i && i == j ? ridge : 0.0);
        }
}

/* --- forward selection ----------------------------------------------------------------- */

/* Take pivot p out of M and of the Gram matrix G = P P^T: both are then of what is at right angles
 * to it. */
static void take_out(double *a, double *g, size_t rows, size_t p, double *l, double *h) {
    double root = sqrt(a[p * rows + p]), square = g[p * rows + p] / (root * root);
    for (size_t j = 0; j < rows; j++) l[j] = a[p * rows + j] / root, h[j] = g[p * rows + j] / root;
    for (size_t i = 0; i < rows; i++) {
        double li = l[i], rest = h[i] - li * square;
        for (size_t j = 0; j < rows; j++) {
            a[i * rows + j] -= li * l[j];
            g[i * rows + j] -= li * h[j] + rest * l[j];
        }
    }
}

static void gram_of_pixels(const paper_moments *m, double *g) {
    size_t rows = (size_t)m->units + 1;
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j <= i; j++) {
            const double *p = m->pixels + i * m->inputs, *q = m->pixels + j * m->inputs;
            double sum[8] = {0}, last = 0.0;
            size_t k = 0;
            for (; k + 8 <= m->inputs; k += 8)
                for (size_t c = 0; c < 8; c++) sum[c] += p[k + c] * q[k + c];
            for (; k < m->inputs; k++) last += p[k] * q[k];
            for (size_t c = 0; c < 8; c++) last += sum[c];
            g[i * rows + j] = g[j * rows + i] = last / ((double)m->n * (double)m->n);
        }
}

taper_status paper_greedy_order(const paper_moments *m, double ridge, uint32_t *order) {
    size_t rows = (size_t)m->units + 1;
    double *a = malloc((2 * rows + 2) * rows * sizeof *a), *g, *l;
    uint8_t *taken = calloc(rows, 1);
    if (!a || !taken) {
        free(a), free(taken);
        return TAPER_ERR_NOMEM;
    }
    g = a + rows * rows, l = g + rows * rows;
    arrange(m, NULL, ridge, a);
    gram_of_pixels(m, g);
    take_out(a, g, rows, 0, l, l + rows);
    for (uint32_t i = 0; i < m->units; i++) {
        size_t best = 0;
        for (size_t k = 1; k < rows; k++)
            if (!taken[k] && (!best || g[k * rows + k] * a[best * rows + best] >
                                           g[best * rows + best] * a[k * rows + k]))
                best = k;
        taken[best] = 1, order[i] = (uint32_t)best - 1;
        take_out(a, g, rows, best, l, l + rows);
    }
    free(a), free(taken);
    return TAPER_OK;
}

/* --- the decoder ----------------------------------------------------------------------- */

/* L of A = L L^T in place, and zeros above; -1 where A is not positive definite. */
static int factor(double *a, size_t n) {
    for (size_t k = 0; k < n; k++) {
        double *pivot = a + k * n;
        if (!(pivot[k] > 0.0)) return -1;
        double root = sqrt(pivot[k]);
        for (size_t i = k; i < n; i++) a[i * n + k] /= root;
        for (size_t j = k + 1; j < n; j++) pivot[j] = a[j * n + k]; /* column k, laid along */
        for (size_t i = k + 1; i < n; i++) {
            double *row = a + i * n, lead = row[k];
            for (size_t j = k + 1; j <= i; j++) row[j] -= lead * pivot[j];
        }
        for (size_t j = k + 1; j < n; j++) pivot[j] = 0.0;
    }
    return 0;
}

/* b[n][width] becomes L^-1 b. */
static void solve_lower(const double *l, size_t n, double *b, size_t width) {
    for (size_t i = 0; i < n; i++) {
        double *row = b + i * width;
        for (size_t j = 0; j < i; j++) {
            const double *from = b + j * width;
            double lead = l[i * n + j];
            for (size_t c = 0; c < width; c++) row[c] -= lead * from[c];
        }
        for (size_t c = 0; c < width; c++) row[c] /= l[i * n + i];
    }
}

/* Columns [first, first + width) of L^-1 P (pixels) or of L^-1 (pixels NULL), through block. */
static void solve_columns(paper_refit *r, const paper_moments *m, const double *l, size_t first,
                          size_t width, int pixels, double *block) {
    size_t rows = (size_t)r->units + 1;
    for (size_t i = 0; i < rows; i++) {
        size_t from = i ? r->order[i - 1] + (size_t)1 : 0;
        for (size_t c = 0; c < width; c++)
            block[i * width + c] =
                pixels ? m->pixels[from * m->inputs + first + c] / (double)m->n : first + c == i;
    }
    solve_lower(l, rows, block, width);
    float *to = pixels ? r->decoder : r->to_z;
    size_t stride = pixels ? r->inputs : rows;
    for (size_t i = 0; i < rows; i++)
        for (size_t c = 0; c < width; c++) to[i * stride + first + c] = (float)block[i * width + c];
}

static taper_status take_gram(paper_refit *r, codec_backend *be) {
    size_t rows = (size_t)r->units + 1;
    TAPER_TRY(
        be->ops->gemm(be, 0, 1, rows, rows, r->inputs, r->decoder, r->decoder, 0.0f, r->gram));
    for (size_t i = 0; i < rows; i++) {
        r->square[i] = (double)r->gram[i * rows + i];
        for (size_t j = 0; j <= i; j++) r->gram[i * rows + j] = 0.0f;
    }
    return TAPER_OK;
}

static taper_status fit(paper_refit *r, const paper_moments *m, codec_backend *be, double ridge,
                        double *l, double *block) {
    size_t rows = (size_t)r->units + 1;
    arrange(m, r->order, ridge, l);
    if (factor(l, rows)) return TAPER_ERR_ARG;
    for (size_t c = 0; c < rows; c += COLUMNS)
        solve_columns(r, m, l, c, rows - c < COLUMNS ? rows - c : COLUMNS, 0, block);
    for (size_t c = 0; c < r->inputs; c += COLUMNS)
        solve_columns(r, m, l, c, r->inputs - c < COLUMNS ? r->inputs - c : COLUMNS, 1, block);
    return take_gram(r, be);
}

taper_status paper_refit_solve(paper_refit *r, const paper_moments *m, codec_backend *be,
                               const uint32_t *order, double ridge) {
    size_t rows = (size_t)m->units + 1;
    *r = (paper_refit){.units = m->units, .inputs = m->inputs};
    r->order = malloc(rows * sizeof *r->order);
    r->to_z = malloc(2 * rows * rows * sizeof *r->to_z);
    r->decoder = malloc(rows * r->inputs * sizeof *r->decoder);
    r->square = malloc(rows * sizeof *r->square);
    r->scratch = malloc(4 * PAPER_REFIT_BLOCK * rows * sizeof *r->scratch);
    double *l = malloc(rows * rows * sizeof *l), *block = malloc(rows * COLUMNS * sizeof *block);
    taper_status status = TAPER_ERR_NOMEM;
    if (r->order && r->to_z && r->decoder && r->square && r->scratch && l && block) {
        r->gram = r->to_z + rows * rows;
        for (uint32_t k = 0; k < m->units; k++) r->order[k] = order ? order[k] : k;
        status = fit(r, m, be, ridge, l, block);
    }
    free(l), free(block);
    if (status != TAPER_OK) paper_refit_free(r);
    return status;
}

void paper_refit_free(paper_refit *r) {
    free(r->order), free(r->to_z), free(r->decoder), free(r->square), free(r->scratch);
    *r = (paper_refit){0};
}

/* --- errors ---------------------------------------------------------------------------- */

/* With e_b what is left at length b, |e_b|^2 = |e_(b-1)|^2 - z_b (2 e_(b-1) . Q_b - z_b |Q_b|^2),
 * and e_(b-1) . Q_b = y . Q_b - sum_(k < b) z_k Q_k . Q_b. */
taper_status paper_refit_errors(const paper_refit *r, codec_backend *be, const float *codes,
                                const float *pixels, size_t n, double *error) {
    size_t rows = (size_t)r->units + 1, room = PAPER_REFIT_BLOCK * rows;
    float *x = r->scratch, *z = x + room, *along = z + room, *before = along + room;
    double left = 0.0;
    put_ones(codes, n, r->units, r->order, x);
    TAPER_TRY(be->ops->gemm(be, 0, 1, n, rows, rows, x, r->to_z, 0.0f, z));
    TAPER_TRY(be->ops->gemm(be, 0, 1, n, rows, r->inputs, pixels, r->decoder, 0.0f, along));
    TAPER_TRY(be->ops->gemm(be, 0, 0, n, rows, rows, z, r->gram, 0.0f, before));
    for (size_t i = 0; i < n * r->inputs; i++) left += (double)pixels[i] * (double)pixels[i];
    for (size_t b = 0; b < rows; b++) {
        for (size_t i = b; i < n * rows; i += rows) {
            double at = (double)z[i], over = (double)along[i] - (double)before[i];
            left -= at * (2.0 * over - at * r->square[b]);
        }
        error[b] += left;
    }
    return TAPER_OK;
}
