/* centring.h -- codes less the references' mean, scaled and rounded to float32: what the products
 * of a search are made of. The farther codes are from 0, the fewer digits a product would leave of
 * their distances. */
#ifndef CODEC_CENTRING_H
#define CODEC_CENTRING_H
#include "codec/taper_search.h"

typedef struct codec_centring {
    size_t width;
    double *centre; /* [width] means of the references */
    double scale;   /* a power of two: scale |x - centre| <= 1 for all numbers of both sets, and at
                       least 1/2 for one, or all are at the centre */
} codec_centring;

/* Of all references and queries. TAPER_ERR_ARG: a number is not finite; the text tells whose.
 * TAPER_ERR_NOMEM. On success to be closed; on failure there is nothing to close. */
taper_status codec_centring_open(codec_centring *out, const taper_search *search,
                                 taper_error *error);
void codec_centring_close(codec_centring *centring);

/* to[rows][width] = factor scale (from - centre), each rounded to float32; factor is +-1 or +-2.
 * squares[rows]: the sum of squares of what `to` holds, over factor^2. */
void codec_centre_rows(const codec_centring *centring, double factor, size_t rows,
                       const float *from, float *to, double *squares);

#endif
