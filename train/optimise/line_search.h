/* line_search.h -- a step length that satisfies the strong Wolfe conditions.
 *
 * For phi(alpha), the objective along a direction with phi'(0) < 0, it finds alpha > 0 with
 *
 *     phi(alpha) <= phi(0) + c1 alpha phi'(0)      (sufficient decrease)
 *     |phi'(alpha)| <= c2 |phi'(0)|                (curvature condition)
 *
 * Bracketing and zooming follow algorithms 3.5 and 3.6 of Nocedal & Wright, "Numerical
 * Optimization", 2nd edition 2006, with safeguarded cubic interpolation. All arithmetic is in
 * double and nothing is random: the same phi gives the same steps. */
#ifndef TRAIN_LINE_SEARCH_H
#define TRAIN_LINE_SEARCH_H
#include "formats/status.h"

typedef struct train_line_point {
    double alpha, value, slope; /* phi and phi' at alpha */
} train_line_point;

/* Evaluates phi and its slope at alpha > 0. Values that are not finite are legal: the search then
 * tries shorter steps. A status other than TAPER_OK ends it. */
typedef taper_status train_line_function(void *user, double alpha, double *value, double *slope);

typedef struct train_line_options {
    double c1, c2;        /* 0 < c1 < c2 < 1 */
    uint32_t evaluations; /* of phi, at most; at least 1 */
} train_line_options;

/* c1 = 1e-4, c2 = 0.1 (for conjugate gradients), 25 evaluations. */
train_line_options train_line_defaults(void);
int train_line_legal(const train_line_options *options); /* 1: within the ranges above */

typedef struct train_line_result {
    /* The result; alpha 0 if no point gained enough. */
    train_line_point point;
    uint32_t evaluations; /* of phi */
    int wolfe;            /* 1: point satisfies both conditions */
    /* 1: point is the last evaluated one, so the caller's state there is current */
    int last;
} train_line_result;

/* Searches from start (alpha 0, phi(0), phi'(0) < 0, all finite). The first trial is alpha = first,
 * above 0. If no point within the allowed evaluations satisfies both conditions, the result is the
 * lowest point found that satisfies the first one. TAPER_ERR_ARG: start, first or options are
 * invalid; nothing was evaluated. Otherwise the status of phi if it failed. *result is filled in
 * every case. */
taper_status train_line_search(const train_line_options *options, train_line_function *phi,
                               void *user, const train_line_point *start, double first,
                               train_line_result *result);

#endif
