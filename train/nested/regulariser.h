/* regulariser.h -- weight decay on the rows of the code layer, with a coefficient for each row.
 *
 * Under nested dropout the gradient of unit k decreases with k, so one coefficient for all rows
 * would be too strong for the last ones. Rippel et al. 2014, section 4.2, therefore penalise
 *
 *     sum over k of lambda_k |Omega_k|
 *
 * and choose lambda_k at each step such that its gradient has a fixed ratio to the norm of the
 * reconstruction's gradient. The penalty of a row w of Omega and its gradient (train_decay_fn):
 *
 *     L1   sum |w_i|         sign(w_i), 0 at 0
 *     L2   sum w_i^2 / 2     w_i                                                               */
#ifndef TRAIN_REGULARISER_H
#define TRAIN_REGULARISER_H
#include "train/device/operations.h"

typedef struct train_regulariser {
    train_penalty kind; /* zeroed: no penalty */
    /* 1: strength is the ratio of the two norms; 0: lambda of all rows */
    int adaptive;
    /* Above 0 and finite if kind is not NONE. */
    double strength;
} train_regulariser;

/* `none`, `l1:LAMBDA`, `l2:LAMBDA`, `adaptive-l1:RATIO`, `adaptive-l2:RATIO`. TAPER_ERR_ARG with a
 * text otherwise; *r is then zeroed. */
taper_status train_regulariser_parse(train_regulariser *r, const char *text, taper_error *error);

/* Adds the penalty's gradient to rows.gradient, which holds the reconstruction's. The regulariser
 * sets the penalty, its strength and, unless it is GIVEN, the coefficient. Adaptive: a row whose
 * gradient or penalty's gradient is 0 has coefficient 0. NaN in a row's gradient remains. */
taper_status train_regularise(const train_regulariser *r, train_stream *stream, train_decay rows);

#endif
