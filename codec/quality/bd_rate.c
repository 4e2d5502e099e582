/* bd_rate.c -- BD-rate of two curves; see codec/taper_quality.h. */
#include "codec/taper_quality.h"
#include "formats/status.h"
#include <math.h>
#include <stdlib.h>

typedef struct curve { /* log rate y and its slope over quality x; x is strictly ascending */
    double *x, *y, *slope;
    size_t n;
} curve;

static int by_quality_then_rate(const void *left, const void *right) {
    const taper_rd_point *a = left, *b = right;
    if (a->psnr_db != b->psnr_db) return a->psnr_db < b->psnr_db ? -1 : 1;
    return (a->rate > b->rate) - (a->rate < b->rate);
}

/* Sort points and drop dominated ones, in place. The others ascend strictly in quality and rate. */
static size_t pareto_front(taper_rd_point *p, size_t n) {
    qsort(p, n, sizeof *p, by_quality_then_rate);
    size_t kept = 0;
    double cheapest =
        INFINITY; /* by descending quality: a point must have a lower rate than all before it */
    for (size_t i = n; i-- > 0;) {
        int is_cheapest_twin = i == 0 || p[i - 1].psnr_db < p[i].psnr_db;
        if (!is_cheapest_twin || p[i].rate >= cheapest) continue;
        cheapest = p[i].rate;
        p[n - 1 - kept++] = p[i];
    }
    for (size_t i = 0; i < kept; i++) p[i] = p[n - kept + i];
    return kept;
}

/* The slope at an end from its two nearest intervals, not below 0. (The other condition of the
 * method, for data that are not monotone, is not needed: the points ascend.) */
static double end_slope(double h0, double h1, double d0, double d1) {
    double slope = ((2 * h0 + h1) * d0 - h0 * d1) / (h0 + h1);
    return slope * d0 <= 0 ? 0 : slope;
}

static void pchip_slopes(curve *c) {
    const double *x = c->x, *y = c->y;
    const size_t n = c->n;
    if (n == 2) {
        c->slope[0] = c->slope[1] = (y[1] - y[0]) / (x[1] - x[0]);
        return;
    }
    for (size_t i = 1; i + 1 < n; i++) {
        double h0 = x[i] - x[i - 1], h1 = x[i + 1] - x[i];
        double d0 = (y[i] - y[i - 1]) / h0, d1 = (y[i + 1] - y[i]) / h1;
        double w0 = 2 * h1 + h0, w1 = h1 + 2 * h0;
        c->slope[i] = d0 * d1 <= 0 ? 0 : (w0 + w1) / (w0 / d0 + w1 / d1);
    }
    double h0 = x[1] - x[0], h1 = x[2] - x[1];
    c->slope[0] = end_slope(h0, h1, (y[1] - y[0]) / h0, (y[2] - y[1]) / h1);
    h0 = x[n - 1] - x[n - 2], h1 = x[n - 2] - x[n - 3];
    c->slope[n - 1] = end_slope(h0, h1, (y[n - 1] - y[n - 2]) / h0, (y[n - 2] - y[n - 3]) / h1);
}

static void curve_free(curve *c) {
    free(c->x);
    *c = (curve){0};
}

/* Make a curve from points. On failure *c owns nothing. which: the name of the curve in messages.
 */
static taper_status curve_make(const taper_rd_point *points, size_t n, const char *which, curve *c,
                               taper_error *error) {
    *c = (curve){0};
    TAPER_TRY(formats_need_array(points, n, sizeof *points, which, error));
    for (size_t i = 0; i < n; i++)
        if (!(points[i].rate > 0 && isfinite(points[i].rate) && isfinite(points[i].psnr_db)))
            return formats_fail(error, TAPER_ERR_ARG,
                                "point %zu of the %s is not a positive rate with a finite quality",
                                i, which);
    if (n < 2 || n > SIZE_MAX / 64)
        return formats_fail(error, TAPER_ERR_ARG, "the %s needs at least two points, it has %zu",
                            which, n);
    taper_rd_point *front = malloc(n * sizeof *front);
    double *arrays = malloc(3 * n * sizeof *arrays);
    if (!front || !arrays) {
        free(front);
        free(arrays);
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for a curve of %zu points", n);
    }
    for (size_t i = 0; i < n; i++) front[i] = points[i];
    size_t kept = pareto_front(front, n);
    *c = (curve){arrays, arrays + n, arrays + 2 * n, kept};
    for (size_t i = 0; i < kept; i++) {
        c->x[i] = front[i].psnr_db;
        c->y[i] = log(front[i].rate);
    }
    free(front);
    if (kept < 2) {
        curve_free(c);
        return formats_fail(error, TAPER_ERR_ARG,
                            "the %s has fewer than two points that trade rate for quality", which);
    }
    pchip_slopes(c);
    return TAPER_OK;
}

/* Interval i of the curve as y[i] + s (slope + s (c2 + s c3)), s = x - x[i]. */
static void piece(const curve *c, size_t i, double *c2, double *c3) {
    double h = c->x[i + 1] - c->x[i], d = (c->y[i + 1] - c->y[i]) / h;
    *c2 = (3 * d - 2 * c->slope[i] - c->slope[i + 1]) / h;
    *c3 = (c->slope[i] + c->slope[i + 1] - 2 * d) / (h * h);
}

static double integrate(const curve *c, double from, double to) {
    double sum = 0;
    for (size_t i = 0; i + 1 < c->n; i++) {
        double lo = fmax(from, c->x[i]) - c->x[i], hi = fmin(to, c->x[i + 1]) - c->x[i], c2, c3;
        if (hi <= lo) continue;
        piece(c, i, &c2, &c3);
        double end[2] = {lo, hi}, area[2];
        for (int k = 0; k < 2; k++) {
            double s = end[k];
            area[k] = s * (c->y[i] + s * (c->slope[i] / 2 + s * (c2 / 3 + s * c3 / 4)));
        }
        sum += area[1] - area[0];
    }
    return sum;
}

taper_status taper_quality_bd_rate(const taper_rd_point *anchor, size_t n_anchor,
                                   const taper_rd_point *test, size_t n_test, taper_bd_rate *result,
                                   taper_error *error) {
    curve a, t;
    TAPER_TRY(formats_need(result, "the place of the result", error));
    TAPER_TRY(curve_make(anchor, n_anchor, "anchor's curve", &a, error));
    taper_status status = curve_make(test, n_test, "tested curve", &t, error);
    if (status == TAPER_OK) {
        double from = fmax(a.x[0], t.x[0]), to = fmin(a.x[a.n - 1], t.x[t.n - 1]);
        if (to > from) {
            double mean = (integrate(&t, from, to) - integrate(&a, from, to)) / (to - from);
            *result = (taper_bd_rate){100 * (exp(mean) - 1), from, to};
        } else {
            status = formats_fail(
                error, TAPER_ERR_ARG,
                "the curves share no range of quality: %.2f to %.2f dB against %.2f to %.2f dB",
                t.x[0], t.x[t.n - 1], a.x[0], a.x[a.n - 1]);
        }
    }
    curve_free(&t);
    curve_free(&a);
    return status;
}

/* Rate at a quality within the curve's range. */
static double rate_at(const curve *c, double psnr_db) {
    size_t i = 0;
    double c2, c3;
    while (i + 2 < c->n && psnr_db > c->x[i + 1]) i++;
    piece(c, i, &c2, &c3);
    double s = psnr_db - c->x[i];
    return exp(c->y[i] + s * (c->slope[i] + s * (c2 + s * c3)));
}

taper_status taper_quality_rate_at(const taper_rd_point *points, size_t n, double psnr_db,
                                   double *rate, taper_error *error) {
    curve c;
    TAPER_TRY(formats_need(rate, "the place of the rate", error));
    TAPER_TRY(curve_make(points, n, "curve", &c, error));
    taper_status status = TAPER_OK;
    if (psnr_db >= c.x[0] && psnr_db <= c.x[c.n - 1])
        *rate = rate_at(&c, psnr_db);
    else
        status =
            formats_fail(error, TAPER_ERR_ARG, "%.2f dB lies outside the curve, %.2f to %.2f dB",
                         psnr_db, c.x[0], c.x[c.n - 1]);
    curve_free(&c);
    return status;
}

/* Nonzero if setting `other` beats point i, at one of its points or between two of them. kept: [n]
 * temporary. */
static int is_beaten(const taper_rd_point *points, const int *setting, size_t n, size_t i,
                     int other, taper_rd_point *kept) {
    size_t m = 0;
    for (size_t j = 0; j < n; j++)
        if (setting[j] == other && j != i) {
            if (points[j].psnr_db >= points[i].psnr_db && points[j].rate < points[i].rate) return 1;
            if (points[j].psnr_db == points[i].psnr_db && points[j].rate == points[i].rate && j < i)
                return 1;
            kept[m++] = points[j];
        }
    double rate;
    return other != setting[i] && m >= 2 &&
           taper_quality_rate_at(kept, m, points[i].psnr_db, &rate, NULL) == TAPER_OK &&
           rate < points[i].rate;
}

taper_status taper_quality_best(const taper_rd_point *points, const int *setting, size_t n,
                                unsigned char *keep, taper_error *error) {
    TAPER_TRY(formats_need_array(points, n, sizeof *points, "the points", error));
    TAPER_TRY(formats_need_array(setting, n, sizeof *setting, "the settings", error));
    TAPER_TRY(formats_need_array(keep, n, sizeof *points, "the choice", error));
    taper_rd_point *kept = malloc((n + 1) * sizeof *kept);
    if (!kept) return formats_fail(error, TAPER_ERR_NOMEM, "no memory for %zu points", n);
    for (size_t i = 0; i < n; i++) {
        keep[i] = 1;
        for (size_t j = 0; j < n && keep[i]; j++)
            if (is_beaten(points, setting, n, i, setting[j], kept)) keep[i] = 0;
    }
    free(kept);
    return TAPER_OK;
}
