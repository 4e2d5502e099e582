/* regulariser.h -- weight decay on the rows of the code layer, each with a coefficient of its own.
 *
 * Under nested dropout the gradient of unit k fades with k, so that one coefficient for all rows
 * would drown the last ones. Rippel et al. 2014, section 4.2, therefore penalise
 *
 *     sum over k of lambda_k |Omega_k|
 *
 * with lambda_k chosen at each step so that its gradient has a fixed ratio to the norm of the
 * reconstruction's gradient. The penalty of a row w of Omega and its gradient (train_decay_fn):
 *
 *     L1   sum |w_i|         sign(w_i), 0 at 0
 *     L2   sum w_i^2 / 2     w_i                                                               */
#ifndef TRAIN_REGULARISER_H
#define TRAIN_REGULARISER_H
#include "train/device/operations.h"

typedef struct train_regulariser {
    train_penalty kind; /* zeroed, it does nothing */
    int adaptive;       /* 1: strength is the ratio of the two norms; 0: lambda, of all rows */
    double strength;    /* above 0 and finite, where kind is not NONE */
} train_regulariser;

/* `none`, `l1:LAMBDA`, `l2:LAMBDA`, `adaptive-l1:RATIO`, `adaptive-l2:RATIO`. TAPER_ERR_ARG with a
 * text otherwise; *r is then zeroed. */
taper_status train_regulariser_parse(train_regulariser *r, const char *text, taper_error *error);

/* Add the penalty's gradient to gradient[rows][inputs], which holds the reconstruction's, all on
 * the device. lambda[rows] (may be NULL) becomes the coefficients. Adaptive: a row whose gradient,
 * or whose penalty's, is 0 has coefficient 0. NaN in a row's gradient stays there. */
taper_status train_regularise_rows(const train_regulariser *r, train_stream *stream, size_t rows,
                                   size_t inputs, const float *weight, float *gradient,
                                   double *lambda);

/* The same with coefficients as lambda[rows] has them; *value += the penalty of these rows, the sum
 * of lambda |Omega_k|. chosen 1: they are chosen now, as above. */
taper_status train_regularise_line(const train_regulariser *r, train_stream *stream, int chosen,
                                   size_t rows, size_t inputs, const float *weight, float *gradient,
                                   double *lambda, double *value);

#endif
