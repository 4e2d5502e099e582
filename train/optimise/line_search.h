/* line_search.h -- a step length that satisfies the strong Wolfe conditions.
 *
 * For phi(alpha), the objective along a direction, with phi'(0) < 0, a length alpha > 0 with
 *
 *     phi(alpha) <= phi(0) + c1 alpha phi'(0)      (it gains enough)
 *     |phi'(alpha)| <= c2 |phi'(0)|                (and nothing much is left on this line)
 *
 * Bracketing and zooming after algorithms 3.5 and 3.6 of Nocedal & Wright, "Numerical
 * Optimization", 2nd edition 2006, with safeguarded cubic interpolation. All in double, without
 * random choices: the same phi gives the same steps. */
#ifndef TRAIN_LINE_SEARCH_H
#define TRAIN_LINE_SEARCH_H
#include "formats/status.h"

typedef struct train_line_point {
    double alpha, value, slope; /* phi and phi' at alpha */
} train_line_point;

/* Evaluate phi and its slope at alpha > 0. Values that are not finite are legal: the search takes
 * shorter steps. A status other than TAPER_OK ends it. */
typedef taper_status train_line_function(void *user, double alpha, double *value, double *slope);

typedef struct train_line_options {
    double c1, c2;        /* 0 < c1 < c2 < 1 */
    uint32_t evaluations; /* of phi, at most; at least 1 */
} train_line_options;

/* c1 = 1e-4, c2 = 0.1 (for conjugate gradients), 25 evaluations. */
train_line_options train_line_defaults(void);
int train_line_legal(const train_line_options *options); /* 1: within the ranges above */

typedef struct train_line_result {
    train_line_point point; /* where to go: alpha 0 when no point gained enough */
    uint32_t evaluations;   /* made */
    int wolfe;              /* point satisfies both conditions */
    int last; /* point is where phi was evaluated last (what the caller computed there is fresh) */
} train_line_result;

/* Search from start (alpha 0, phi(0), phi'(0) < 0, all finite), trying alpha = first > 0 at first.
 * Where both conditions cannot be had within the evaluations, the result is the lowest point found
 * that satisfies the first one. TAPER_ERR_ARG: start, first or options are not as said; nothing was
 * evaluated. What phi returned, when it failed. *result is filled in every case. */
taper_status train_line_search(const train_line_options *options, train_line_function *phi,
                               void *user, const train_line_point *start, double first,
                               train_line_result *result);

#endif
