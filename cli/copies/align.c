/* align.c -- see align.h. */
#include "cli/copies/align.h"
#include "codec/backend/simd.h"
#include <math.h>
#include <string.h>

enum { NUMBERS = 6, MOST_PIXELS = CLI_GREY_PIXELS };

/* --- templates --- */

/* Repeat the edges in the frame. */
static void fill_frame(float *pixel, unsigned side) {
    const size_t stride = side + 2;
    for (size_t y = 1; y <= side; y++) {
        pixel[y * stride] = pixel[y * stride + 1];
        pixel[y * stride + side + 1] = pixel[y * stride + side];
    }
    memcpy(pixel, pixel + stride, stride * sizeof *pixel);
    memcpy(pixel + (side + 1) * stride, pixel + side * stride, stride * sizeof *pixel);
}

/* The version with half the sides. */
CODEC_CLONES static void halve(const float *from, unsigned side, float *to) {
    const size_t stride = side + 2, half = side / 2;
    for (size_t y = 0; y < half; y++)
        for (size_t x = 0; x < half; x++) {
            const float *at = from + (2 * y + 1) * stride + 2 * x + 1;
            to[(y + 1) * (half + 2) + x + 1] = (at[0] + at[1] + at[stride] + at[stride + 1]) / 4;
        }
    fill_frame(to, side / 2);
}

CODEC_CLONES static void take_slopes(const float *pixel, unsigned side, float *across,
                                     float *down) {
    const size_t stride = side + 2;
    const float per = (float)side / 4; /* of two pixels' distance */
    for (unsigned y = 0; y < side; y++)
        for (unsigned x = 0; x < side; x++) {
            const float *at = cli_framed(pixel, side, x, y);
            across[y * side + x] = (at[1] - at[-1]) * per;
            down[y * side + x] = (at[stride] - *(at - stride)) * per;
        }
}

void cli_template_make(cli_template *to, const uint8_t grey[CLI_GREY_PIXELS]) {
    const size_t side = CLI_GREY_SIDE, stride = side + 2;
    for (size_t y = 0; y < side; y++)
        for (size_t x = 0; x < side; x++) to->whole[(y + 1) * stride + x + 1] = grey[y * side + x];
    fill_frame(to->whole, CLI_GREY_SIDE);
    halve(to->whole, CLI_GREY_SIDE, to->half);
    halve(to->half, CLI_HALF_SIDE, to->quarter);
}

void cli_template_take_slopes(cli_template *of) {
    take_slopes(of->half, CLI_HALF_SIDE, of->half_x, of->half_y);
    take_slopes(of->quarter, CLI_QUARTER_SIDE, of->quarter_x, of->quarter_y);
}

/* --- maps --- */

cli_map cli_map_after(const cli_map *outer, const cli_map *inner) {
    const float *o = outer->m, *i = inner->m;
    return (cli_map){{o[0] * i[0] + o[1] * i[3], o[0] * i[1] + o[1] * i[4],
                      o[0] * i[2] + o[1] * i[5] + o[2], o[3] * i[0] + o[4] * i[3],
                      o[3] * i[1] + o[4] * i[4], o[3] * i[2] + o[4] * i[5] + o[5]}};
}

bool cli_map_invert(cli_map *map) {
    const float *m = map->m, det = m[0] * m[4] - m[1] * m[3];
    if (!(fabsf(det) > 0.1F)) return false;
    const float a = m[4] / det, b = -m[1] / det, d = -m[3] / det, e = m[0] / det;
    *map = (cli_map){{a, b, -(a * m[2] + b * m[5]), d, e, -(d * m[2] + e * m[5])}};
    return true;
}

/* --- pixels of the other version --- */

/* Places of a row, in the frame: the pixel at the upper left, and how far they are to the right of
 * it and below. */
typedef struct places {
    int at[CLI_GREY_SIDE];
    float right[CLI_GREY_SIDE], low[CLI_GREY_SIDE];
} places;

CODEC_INLINE float limited(float value, float most) {
    const float positive = value > 0 ? value : 0;
    return positive < most ? positive : most;
}

CODEC_INLINE void find_places(unsigned side, const cli_map *map, unsigned row, places *to,
                              float *weight) {
    const float *m = map->m, half = (float)side / 2, most = (float)side + 0.5F;
    const float y = ((float)row + 0.5F) / half - 1;
    for (int x = 0; x < (int)side; x++) {
        const float at = ((float)x + 0.5F) / half - 1;
        const float u = m[0] * at + m[1] * y + m[2], v = m[3] * at + m[4] * y + m[5];
        const float column = limited((u + 1) * half + 0.5F, most);
        const float line = limited((v + 1) * half + 0.5F, most);
        const int left = (int)column, top = (int)line;
        weight[x] = fabsf(u) <= 1 && fabsf(v) <= 1 ? 1 : 0;
        to->at[x] = top * ((int)side + 2) + left;
        to->right[x] = column - (float)left, to->low[x] = line - (float)top;
    }
}

CODEC_CLONES unsigned cli_look_up(const float *pixel, unsigned side, const cli_map *map,
                                  float *value, float *weight) {
    float above[2 * CLI_GREY_SIDE], below[2 * CLI_GREY_SIDE]; /* left, right; left, right; ... */
    const size_t stride = side + 2, pair = 2 * sizeof *pixel;
    places p;
    unsigned within = 0;
    for (unsigned row = 0; row < side; row++, value += side, weight += side) {
        find_places(side, map, row, &p, weight);
        for (unsigned x = 0; x < side; x++) {
            const float *at = pixel + p.at[x];
            memcpy(above + 2 * (size_t)x, at, pair);
            memcpy(below + 2 * (size_t)x, at + stride, pair);
        }
        for (unsigned x = 0; x < side; x++) {
            const float *a = above + 2 * (size_t)x, *b = below + 2 * (size_t)x;
            const float upper = a[0] + p.right[x] * (a[1] - a[0]);
            const float lower = b[0] + p.right[x] * (b[1] - b[0]);
            value[x] = upper + p.low[x] * (lower - upper);
        }
        for (unsigned x = 0; x < side; x++) within += weight[x] > 0;
    }
    return within;
}

/* Scales of 0.7 to 1.43 and slants below 0.2: what is tried for copies. */
static bool is_likely(const cli_map *map) {
    const float *m = map->m, least = 0.7F, most = 1.43F, slant = 0.2F, shift = 0.4F;
    return m[0] >= least && m[0] <= most && m[4] >= least && m[4] <= most && fabsf(m[1]) <= slant &&
           fabsf(m[3]) <= slant && fabsf(m[2]) <= shift && fabsf(m[5]) <= shift;
}

/* --- a step --- */

/* One size of both images. */
typedef struct level {
    unsigned side;
    const float *pixel, *across, *down; /* of a */
    const float *other;                 /* b */
    double least;                       /* squared correlation; below it there is no map */
} level;

/* Sums of a step: of the matrix and of the right side of the normal equations. */
typedef struct sums {
    double matrix[NUMBERS][NUMBERS], right[NUMBERS];
} sums;

/* Sums over all pixels are taken column by column, in the order of the rows, and then over the
 * columns. So their order is fixed, and several columns are added at a time. */
enum { MOST_SIDE = CLI_GREY_SIDE };

CODEC_INLINE double over_columns(const float *column, unsigned side) {
    double sum = 0;
    for (unsigned x = 0; x < side; x++) sum += column[x];
    return sum;
}

/* Bring b to the brightness and contrast of a, by least squares over what is weighted, and subtract
 * a. False: one of them is flat, or they are not alike at all. */
CODEC_CLONES static bool subtract(const level *l, float *value, const float *weight) {
    float sum[6][MOST_SIDE] = {{0}};
    const float middle = 128; /* keeps squares small */
    for (unsigned y = 0; y < l->side; y++) {
        const float *a = cli_framed(l->pixel, l->side, 0, y), *b = value + (size_t)y * l->side;
        const float *weights = weight + (size_t)y * l->side;
        for (unsigned x = 0; x < l->side; x++) {
            const float w = weights[x], p = a[x] - middle, q = b[x] - middle, wp = w * p,
                        wq = w * q;
            sum[0][x] += w, sum[1][x] += wp, sum[2][x] += wq;
            sum[3][x] += wp * p, sum[4][x] += wq * q, sum[5][x] += wp * q;
        }
    }
    double total[6];
    for (unsigned i = 0; i < 6; i++) total[i] = over_columns(sum[i], l->side);
    const double n = total[0], a = total[1] / n, b = total[2] / n, flat = 0.25;
    const double aa = total[3] / n - a * a, bb = total[4] / n - b * b, ab = total[5] / n - a * b;
    if (!(aa > flat) || !(bb > flat) || !(ab > 0)) return false;
    if (!(ab * ab > l->least * aa * bb)) return false;
    const float gain = (float)(ab / bb), shift = (float)(a + middle - (b + middle) * ab / bb);
    for (unsigned y = 0; y < l->side; y++)
        for (unsigned x = 0; x < l->side; x++)
            value[y * l->side + x] =
                value[y * l->side + x] * gain + shift - *cli_framed(l->pixel, l->side, x, y);
    return true;
}

/* Less weight for differences above the usual one. */
CODEC_CLONES static void weigh(const level *l, const float *difference, float *weight) {
    float sum[MOST_SIDE] = {0}, n[MOST_SIDE] = {0};
    const size_t pixels = (size_t)l->side * l->side;
    for (size_t i = 0; i < pixels; i += l->side)
        for (unsigned x = 0; x < l->side; x++)
            sum[x] += weight[i + x] * fabsf(difference[i + x]), n[x] += weight[i + x];
    const float usual = (float)(2 * over_columns(sum, l->side) / over_columns(n, l->side)) + 1;
    for (size_t i = 0; i < pixels; i++) {
        const float ratio = difference[i] / usual, more = 1 + ratio * ratio;
        weight[i] /= more * more;
    }
}

/* Sums of each column: of slopes g, h in x and y, and of the difference e, times powers of y. */
typedef struct column_sums {
    float gg[3][MOST_SIDE], gh[3][MOST_SIDE], hh[3][MOST_SIDE], ge[2][MOST_SIDE], he[2][MOST_SIDE];
} column_sums;

CODEC_CLONES static void add_row(column_sums *c, const level *l, unsigned row,
                                 const float *difference, const float *weight) {
    const size_t first = (size_t)row * l->side;
    const float *across = l->across + first, *down = l->down + first;
    const float *e = difference + first, *w = weight + first;
    const float y = ((float)row + 0.5F) * 2 / (float)l->side - 1, yy = y * y;
    for (unsigned x = 0; x < l->side; x++) {
        const float g = across[x], h = down[x], wg = w[x] * g, wh = w[x] * h;
        const float gg = wg * g, gh = wg * h, hh = wh * h, ge = wg * e[x], he = wh * e[x];
        c->gg[0][x] += gg, c->gg[1][x] += gg * y, c->gg[2][x] += gg * yy;
        c->gh[0][x] += gh, c->gh[1][x] += gh * y, c->gh[2][x] += gh * yy;
        c->hh[0][x] += hh, c->hh[1][x] += hh * y, c->hh[2][x] += hh * yy;
        c->ge[0][x] += ge, c->ge[1][x] += ge * y;
        c->he[0][x] += he, c->he[1][x] += he * y;
    }
}

/* The sum over the columns of products with x to a power, 0 to 2. */
static double with_x(const float *column, unsigned side, unsigned power) {
    double sum = 0;
    for (unsigned i = 0; i < side; i++) {
        const double x = (i + 0.5) * 2 / side - 1;
        sum += column[i] * (power == 0 ? 1 : power == 1 ? x : x * x);
    }
    return sum;
}

/* The equations of a step: the differences change by
 * g (n0 x + n1 y + n2) + h (n3 x + n4 y + n5). */
static void make_equations(const column_sums *c, unsigned side, sums *s) {
    const float(*part[2][2])[MOST_SIDE] = {{c->gg, c->gh}, {c->gh, c->hh}};
    const float(*right[2])[MOST_SIDE] = {c->ge, c->he};
    static const uint8_t of_x[3] = {1, 0, 0}, of_y[3] = {0, 1, 0}; /* powers in x, y, 1 */
    for (unsigned i = 0; i < NUMBERS; i++) {
        const unsigned p = i / 3, a = i % 3;
        for (unsigned k = i; k < NUMBERS; k++) {
            const unsigned b = k % 3;
            s->matrix[i][k] = with_x(part[p][k / 3][of_y[a] + of_y[b]], side, of_x[a] + of_x[b]);
            s->matrix[k][i] = s->matrix[i][k];
        }
        s->right[i] = with_x(right[p][of_y[a]], side, of_x[a]);
    }
}

/* Solve the symmetric equations by elimination; a hundredth of the mean of the diagonal is added
 * to it, which keeps directions without slopes as they are. */
static bool solve(sums *s, double *out) {
    double mean = 0;
    for (size_t i = 0; i < NUMBERS; i++) mean += s->matrix[i][i] / NUMBERS;
    if (!(mean > 0)) return false;
    for (size_t i = 0; i < NUMBERS; i++) s->matrix[i][i] += mean / 100;
    for (size_t i = 0; i < NUMBERS; i++)
        for (size_t k = i + 1; k < NUMBERS; k++) {
            const double factor = s->matrix[k][i] / s->matrix[i][i];
            for (size_t j = i; j < NUMBERS; j++) s->matrix[k][j] -= factor * s->matrix[i][j];
            s->right[k] -= factor * s->right[i];
        }
    for (size_t i = NUMBERS; i-- > 0;) {
        out[i] = s->right[i];
        for (size_t j = i + 1; j < NUMBERS; j++) out[i] -= s->matrix[i][j] * out[j];
        out[i] /= s->matrix[i][i];
    }
    return true;
}

/* One step; *change: its largest number. False: there is no step. */
static bool step(const level *l, cli_map *map, float *change) {
    float difference[MOST_PIXELS], weight[MOST_PIXELS];
    column_sums columns = {.gg = {{0}}};
    sums s;
    double moved[NUMBERS];
    const size_t pixels = (size_t)l->side * l->side;
    if (cli_look_up(l->other, l->side, map, difference, weight) < pixels / 3) return false;
    if (!subtract(l, difference, weight)) return false;
    weigh(l, difference, weight);
    for (unsigned row = 0; row < l->side; row++) add_row(&columns, l, row, difference, weight);
    make_equations(&columns, l->side, &s);
    if (!solve(&s, moved)) return false;
    cli_map back = {{1, 0, 0, 0, 1, 0}};
    *change = 0;
    for (size_t i = 0; i < NUMBERS; i++) {
        back.m[i] += (float)moved[i];
        if (fabsf((float)moved[i]) > *change) *change = fabsf((float)moved[i]);
    }
    if (!cli_map_invert(&back)) return false;
    *map = cli_map_after(map, &back);
    return is_likely(map);
}

static bool run_level(const level *l, unsigned steps, float enough, cli_map *map) {
    float change = 1;
    for (unsigned i = 0; i < steps && change > enough; i++)
        if (!step(l, map, &change)) return false;
    return true;
}

bool cli_align(const cli_template *a, const cli_template *b, float least, cli_map *map) {
    const level coarse = {CLI_QUARTER_SIDE, a->quarter, a->quarter_x,
                          a->quarter_y,     b->quarter, (double)least * least};
    const level fine = {CLI_HALF_SIDE, a->half, a->half_x,
                        a->half_y,     b->half, (double)least * least};
    const float near = 0.008F; /* a quarter of a pixel of the whole version */
    return run_level(&coarse, 4, 4 * near, map) && run_level(&fine, 4, near, map);
}

bool cli_align_whole(const cli_template *a, const cli_template *b, cli_map *map) {
    float across[CLI_GREY_PIXELS], down[CLI_GREY_PIXELS];
    const level whole = {CLI_GREY_SIDE, a->whole, across, down, b->whole, 0};
    take_slopes(a->whole, CLI_GREY_SIDE, across, down);
    return run_level(&whole, 4, 0.002F, map);
}
