/* centring.c -- see centring.h. */
#include "codec/search/centring.h"
#include "codec/backend/simd.h"
#include "formats/status.h"
#include <math.h>
#include <stdlib.h>

/* Statistics of a set, for each element of a code. */
typedef struct survey {
    double *sum;       /* [width] not finite if a number is not: sums of float32 do not overflow */
    float *low, *high; /* [width] */
} survey;

CODEC_CLONES static void survey_rows(const survey *s, size_t rows, size_t width, const float *x) {
    for (size_t i = 0; i < rows; i++, x += width)
        for (size_t j = 0; j < width; j++) {
            s->sum[j] += x[j];
            s->low[j] = x[j] < s->low[j] ? x[j] : s->low[j];
            s->high[j] = x[j] > s->high[j] ? x[j] : s->high[j];
        }
}

/* Reject a set with a sum that is not finite. */
static taper_status refuse_infinite(const double *sum, const char *what, size_t rows, size_t width,
                                    const float *x, taper_error *error) {
    size_t j = 0;
    while (j < width && isfinite(sum[j])) j++;
    if (j == width) return TAPER_OK;
    for (size_t i = 0; i < rows; i++)
        for (j = 0; j < width; j++)
            if (!isfinite(x[i * width + j]))
                return formats_fail(error, TAPER_ERR_ARG,
                                    "%s %zu: number %zu of the code is %g; leave this code out",
                                    what, i, j, (double)x[i * width + j]);
    return formats_fail(error, TAPER_ERR_ARG, "codes changed while they were searched");
}

/* Compute the means of the references, and the scale. */
static taper_status measure(codec_centring *c, const survey *s, const taper_search *search,
                            taper_error *error) {
    const size_t n = search->n_references, width = search->width;
    const size_t queries = search->queries ? search->n_queries : 0;
    for (size_t j = 0; j < width; j++) s->sum[j] = 0, s->low[j] = INFINITY, s->high[j] = -INFINITY;
    survey_rows(s, n, width, search->references);
    TAPER_TRY(refuse_infinite(s->sum, "reference", n, width, search->references, error));
    for (size_t j = 0; j < width; j++) c->centre[j] = s->sum[j] / (double)n, s->sum[j] = 0;
    survey_rows(s, queries, width, search->queries);
    TAPER_TRY(refuse_infinite(s->sum, "query", queries, width, search->queries, error));
    double most = 0;
    for (size_t j = 0; j < width; j++)
        most = fmax(most, fmax(s->high[j] - c->centre[j], c->centre[j] - s->low[j]));
    int exponent = 0;
    frexp(most, &exponent);
    c->scale = ldexp(1.0, -exponent);
    return TAPER_OK;
}

taper_status codec_centring_open(codec_centring *out, const taper_search *search,
                                 taper_error *error) {
    const size_t width = search->width;
    *out = (codec_centring){width, malloc(width * sizeof *out->centre), 1.0};
    survey s = {malloc(width * sizeof *s.sum), malloc(width * sizeof *s.low),
                malloc(width * sizeof *s.high)};
    taper_status status = out->centre && s.sum && s.low && s.high
                              ? measure(out, &s, search, error)
                              : formats_fail(error, TAPER_ERR_NOMEM, "no memory for a code's mean");
    free(s.sum), free(s.low), free(s.high);
    if (status) codec_centring_close(out);
    return status;
}

void codec_centring_close(codec_centring *centring) {
    free(centring->centre);
    centring->centre = NULL;
}

CODEC_CLONES static void centre_row(const double *centre, double scale, size_t width,
                                    const float *from, float *to) {
    for (size_t j = 0; j < width; j++) to[j] = (float)((from[j] - centre[j]) * scale);
}

/* In vector lanes: a sum in ascending order would take longer than the products. */
CODEC_CLONES static double sum_squares(size_t n, const float *x) {
    enum { LANES = 16 };
    double lane[LANES] = {0}, sum = 0;
    size_t j = 0;
    for (; j + LANES <= n; j += LANES)
        for (size_t l = 0; l < LANES; l++) lane[l] += (double)x[j + l] * x[j + l];
    for (; j < n; j++) sum += (double)x[j] * x[j];
    for (size_t l = 0; l < LANES; l++) sum += lane[l];
    return sum;
}

void codec_centre_rows(const codec_centring *centring, double factor, size_t rows,
                       const float *from, float *to, double *squares) {
    const size_t width = centring->width;
    for (size_t i = 0; i < rows; i++, from += width, to += width) {
        centre_row(centring->centre, factor * centring->scale, width, from, to);
        squares[i] = sum_squares(width, to) / (factor * factor);
    }
}
