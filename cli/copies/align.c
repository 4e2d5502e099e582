/* align.c -- see align.h. */
#include "cli/copies/align.h"
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
static void halve(const float *from, unsigned side, float *to) {
    const size_t stride = side + 2, half = side / 2;
    for (size_t y = 0; y < half; y++)
        for (size_t x = 0; x < half; x++) {
            const float *at = from + (2 * y + 1) * stride + 2 * x + 1;
            to[(y + 1) * (half + 2) + x + 1] = (at[0] + at[1] + at[stride] + at[stride + 1]) / 4;
        }
    fill_frame(to, side / 2);
}

static void take_slopes(const float *pixel, unsigned side, float *across, float *down) {
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
        for (size_t x = 0; x < side; x++)
            to->whole[(y + 1) * stride + x + 1] = grey[y * side + x];
    fill_frame(to->whole, CLI_GREY_SIDE);
    halve(to->whole, CLI_GREY_SIDE, to->half);
    halve(to->half, CLI_HALF_SIDE, to->quarter);
    take_slopes(to->half, CLI_HALF_SIDE, to->half_x, to->half_y);
    take_slopes(to->quarter, CLI_QUARTER_SIDE, to->quarter_x, to->quarter_y);
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

/* Scales of 0.7 to 1.43 and slants below 0.2: what is tried for copies. */
static bool is_likely(const cli_map *map) {
    const float *m = map->m, least = 0.7F, most = 1.43F, slant = 0.2F, shift = 0.4F;
    return m[0] >= least && m[0] <= most && m[4] >= least && m[4] <= most &&
           fabsf(m[1]) <= slant && fabsf(m[3]) <= slant && fabsf(m[2]) <= shift &&
           fabsf(m[5]) <= shift;
}

/* --- a step --- */

/* One size of both images. */
typedef struct level {
    unsigned side;
    const float *pixel, *across, *down; /* of a */
    const float *other;                 /* b */
} level;

/* Sums of a step: of the matrix and of the right side of the normal equations. */
typedef struct sums {
    double matrix[NUMBERS][NUMBERS], right[NUMBERS];
} sums;

/* b at the places of a. weight: 1 within b, else 0. Returns how many are within. */
static unsigned look_up(const level *l, const cli_map *map, float *value, float *weight) {
    unsigned within = 0;
    const float *m = map->m, step = 2 / (float)l->side;
    for (unsigned row = 0; row < l->side; row++)
        for (unsigned column = 0; column < l->side; column++) {
            const float x = ((float)column + 0.5F) * step - 1, y = ((float)row + 0.5F) * step - 1;
            const float u = m[0] * x + m[1] * y + m[2], v = m[3] * x + m[4] * y + m[5];
            const bool is_within = fabsf(u) <= 1 && fabsf(v) <= 1;
            const size_t at = (size_t)row * l->side + column;
            value[at] = is_within ? cli_sample(l->other, l->side, u, v) : 0;
            weight[at] = is_within;
            within += is_within;
        }
    return within;
}

/* Bring b to the brightness and contrast of a, by means and deviations of what is weighted, and
 * subtract a. False: one of them is flat. */
static bool subtract(const level *l, float *value, const float *weight) {
    double n = 0, a = 0, b = 0, aa = 0, bb = 0, ab = 0;
    for (unsigned y = 0, i = 0; y < l->side; y++)
        for (unsigned x = 0; x < l->side; x++, i++) {
            const double w = weight[i], p = *cli_framed(l->pixel, l->side, x, y), q = value[i];
            n += w, a += w * p, b += w * q, aa += w * p * p, bb += w * q * q, ab += w * p * q;
        }
    a /= n, b /= n;
    aa = aa / n - a * a, bb = bb / n - b * b, ab = ab / n - a * b;
    const double flat = 0.25;
    if (!(aa > flat) || !(bb > flat) || !(ab > 0)) return false;
    const float gain = (float)(ab / bb), shift = (float)(a - b * ab / bb);
    for (unsigned y = 0, i = 0; y < l->side; y++)
        for (unsigned x = 0; x < l->side; x++, i++)
            value[i] = value[i] * gain + shift - *cli_framed(l->pixel, l->side, x, y);
    return true;
}

/* Less weight for differences above the usual one. */
static void weigh(const level *l, const float *difference, float *weight) {
    double sum = 0, n = 0;
    const size_t pixels = (size_t)l->side * l->side;
    for (size_t i = 0; i < pixels; i++)
        sum += weight[i] * fabsf(difference[i]), n += weight[i];
    const float usual = (float)(2 * sum / n) + 1;
    for (size_t i = 0; i < pixels; i++) {
        const float ratio = difference[i] / usual, more = 1 + ratio * ratio;
        weight[i] /= more * more;
    }
}

/* Row y of the sums: with the slopes g, h in x and y, the differences change by
 * g (n0 x + n1 y + n2) + h (n3 x + n4 y + n5). */
static void add_row(sums *s, const level *l, unsigned row, const float *difference,
                    const float *weight) {
    const float step = 2 / (float)l->side, y = ((float)row + 0.5F) * step - 1;
    float gg[3] = {0, 0, 0}, gh[3] = {0, 0, 0}, hh[3] = {0, 0, 0}, ge[2] = {0, 0}, he[2] = {0, 0};
    for (unsigned column = 0; column < l->side; column++) {
        const size_t at = (size_t)row * l->side + column;
        const float x = ((float)column + 0.5F) * step - 1, g = l->across[at], h = l->down[at];
        const float wg = weight[at] * g, wh = weight[at] * h, e = difference[at];
        gg[0] += wg * g, gg[1] += wg * g * x, gg[2] += wg * g * x * x;
        gh[0] += wg * h, gh[1] += wg * h * x, gh[2] += wg * h * x * x;
        hh[0] += wh * h, hh[1] += wh * h * x, hh[2] += wh * h * x * x;
        ge[0] += wg * e, ge[1] += wg * e * x, he[0] += wh * e, he[1] += wh * e * x;
    }
    const float *part[2][2] = {{gg, gh}, {gh, hh}}, *right[2] = {ge, he};
    for (size_t p = 0; p < 2; p++) {
        for (size_t q = 0; q < 2; q++) {
            double(*to)[NUMBERS] = &s->matrix[3 * p];
            const float *of = part[p][q];
            const double products[3][3] = {{of[2], y * of[1], of[1]},
                                           {y * of[1], y * y * of[0], y * of[0]},
                                           {of[1], y * of[0], of[0]}};
            for (size_t i = 0; i < 3; i++)
                for (size_t k = 0; k < 3; k++) to[i][3 * q + k] += products[i][k];
        }
        s->right[3 * p] += right[p][1];
        s->right[3 * p + 1] += y * right[p][0];
        s->right[3 * p + 2] += right[p][0];
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
    sums s = {.right = {0}};
    double moved[NUMBERS];
    const size_t pixels = (size_t)l->side * l->side;
    if (look_up(l, map, difference, weight) < pixels / 3) return false;
    if (!subtract(l, difference, weight)) return false;
    weigh(l, difference, weight);
    for (unsigned row = 0; row < l->side; row++) add_row(&s, l, row, difference, weight);
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

bool cli_align(const cli_template *a, const cli_template *b, cli_map *map) {
    const level coarse = {CLI_QUARTER_SIDE, a->quarter, a->quarter_x, a->quarter_y, b->quarter};
    const level fine = {CLI_HALF_SIDE, a->half, a->half_x, a->half_y, b->half};
    const float near = 0.004F; /* an eighth of a pixel of the whole version */
    return run_level(&coarse, 6, 4 * near, map) && run_level(&fine, 6, near, map);
}

bool cli_align_whole(const cli_template *a, const cli_template *b, cli_map *map) {
    float across[CLI_GREY_PIXELS], down[CLI_GREY_PIXELS];
    const level whole = {CLI_GREY_SIDE, a->whole, across, down, b->whole};
    take_slopes(a->whole, CLI_GREY_SIDE, across, down);
    return run_level(&whole, 4, 0.002F, map);
}
