/* centring.h -- codes minus the references' mean, scaled and rounded to float32: the factors of the
 * products of a search. Codes far from 0 would leave few correct digits of their distances. */
#ifndef CODEC_CENTRING_H
#define CODEC_CENTRING_H
#include "codec/taper_search.h"

typedef struct codec_centring {
    size_t width;
    double *centre; /* [width] means of the references */
    /* A power of two: the largest scale |x - centre| of both sets is in [1/2, 1], unless all
     * numbers are at the centre. */
    double scale;
} codec_centring;

/* Measure all references and queries. TAPER_ERR_ARG: a number is not finite; the message says which
 * set. TAPER_ERR_NOMEM. On failure *out owns nothing. */
taper_status codec_centring_open(codec_centring *out, const taper_search *search,
                                 taper_error *error);
void codec_centring_close(codec_centring *centring);

/* to[rows][width] = factor scale (from - centre), rounded to float32; factor is +-1 or +-2.
 * squares[rows]: the sum of squares of each row of `to`, divided by factor^2. */
void codec_centre_rows(const codec_centring *centring, double factor, size_t rows,
                       const float *from, float *to, double *squares);

#endif
