/* conjugate_gradient.c -- Polak-Ribiere steps along strong Wolfe lines; see conjugate_gradient.h.
 */
#include "train/optimise/conjugate_gradient.h"
#include "train/sampling/numbers.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

taper_status train_cg_create(train_cg *cg, size_t n) {
    *cg = (train_cg){.n = n};
    float **vector[4] = {&cg->direction, &cg->gradient, &cg->trial_parameter, &cg->trial_gradient};
    for (int i = 0; i < 4; i++)
        if (!(*vector[i] = calloc(n ? n : 1, sizeof **vector[i]))) {
            train_cg_free(cg);
            return TAPER_ERR_NOMEM;
        }
    return TAPER_OK;
}

void train_cg_free(train_cg *cg) {
    free(cg->direction);
    free(cg->gradient);
    free(cg->trial_parameter);
    free(cg->trial_gradient);
    memset(cg, 0, sizeof *cg);
}

void train_cg_reset(train_cg *cg) {
    memset(cg->direction, 0, cg->n * sizeof *cg->direction);
    memset(cg->gradient, 0, cg->n * sizeof *cg->gradient);
    cg->value = cg->alpha = cg->slope = 0.0;
    cg->iterations = cg->since_restart = 0;
}

train_cg_options train_cg_defaults(void) {
    return (train_cg_options){train_line_defaults(), 1.0, 0};
}

/* --- the line ------------------------------------------------------------------------- */

typedef struct line {
    train_cg *cg;
    train_cg_objective *objective;
    void *user;
    const float *parameter;
} line;

static taper_status evaluate_on_line(void *user, double alpha, double *value, double *slope) {
    line *l = user;
    train_cg *cg = l->cg;
    for (size_t i = 0; i < cg->n; i++)
        cg->trial_parameter[i] = (float)(l->parameter[i] + alpha * cg->direction[i]);
    TAPER_TRY(l->objective(l->user, cg->trial_parameter, cg->trial_gradient, value));
    *slope = train_dot(cg->n, cg->trial_gradient, cg->direction);
    return TAPER_OK;
}

/* Search the line; afterwards the trial vectors are those of the point that was found. */
static taper_status search_line(line *l, const train_line_options *options,
                                const train_line_point *start, double first,
                                train_line_result *found) {
    TAPER_TRY(train_line_search(options, evaluate_on_line, l, start, first, found));
    if (found->last || found->point.alpha == 0.0) return TAPER_OK;
    found->evaluations++;
    return evaluate_on_line(l, found->point.alpha, &found->point.value, &found->point.slope);
}

/* --- the direction -------------------------------------------------------------------- */

/* d = -g, with g the gradient at hand. */
static void restart(train_cg *cg) {
    for (size_t i = 0; i < cg->n; i++) cg->direction[i] = -cg->gradient[i];
    cg->since_restart = 0;
}

/* The gradient of this step's objective, in trial_gradient, takes the place of the last one's. */
static void take_gradient(train_cg *cg) {
    for (size_t i = 0; i < cg->n; i++) {
        double memory = (double)cg->direction[i] + cg->gradient[i]; /* beta d_before */
        cg->direction[i] = (float)(memory - cg->trial_gradient[i]);
        cg->gradient[i] = cg->trial_gradient[i];
    }
}

/* From the gradient of a step's start, `gradient`, to that of its end, `trial_gradient`: the
 * direction of the next step. */
static void turn(train_cg *cg, double gradient_square) {
    double end_square = train_dot(cg->n, cg->trial_gradient, cg->trial_gradient),
           between = train_dot(cg->n, cg->trial_gradient, cg->gradient);
    double beta = fmax(0.0, (end_square - between) / gradient_square);
    memcpy(cg->gradient, cg->trial_gradient, cg->n * sizeof *cg->gradient);
    if (!(beta > 0.0) || !isfinite(beta)) {
        restart(cg);
        return;
    }
    for (size_t i = 0; i < cg->n; i++)
        cg->direction[i] = (float)(beta * cg->direction[i] - cg->gradient[i]);
}

/* --- the step ------------------------------------------------------------------------- */

/* Value and gradient at the start, into `value` and cg->gradient; the state is as it was when they
 * are not finite. */
static taper_status begin(train_cg *cg, line *l, const train_cg_options *options, double *value,
                          train_cg_result *result) {
    *value = cg->value;
    if (options->same_objective && cg->iterations) return TAPER_OK;
    result->evaluations++;
    taper_status status = l->objective(l->user, l->parameter, cg->trial_gradient, value);
    if (status) {
        train_cg_reset(cg);
        return status;
    }
    if (!isfinite(*value) || !isfinite(train_dot(cg->n, cg->trial_gradient, cg->trial_gradient)))
        return TAPER_ERR_ARG;
    take_gradient(cg);
    return TAPER_OK;
}

/* The direction's slope; the direction becomes -g where it must. */
static double choose_direction(train_cg *cg, double gradient_square, train_cg_result *result) {
    double slope = train_dot(cg->n, cg->gradient, cg->direction);
    if (!cg->since_restart || cg->since_restart >= cg->n || !(slope < 0.0)) {
        restart(cg);
        slope = -gradient_square;
        result->restarted = 1;
    }
    return slope;
}

/* The first length tried: as much gain as in the last step, to first order, but not far beyond its
 * length (Nocedal & Wright, section 3.5). */
static double first_try(const train_cg *cg, double slope, const train_cg_options *options) {
    if (cg->alpha > 0.0) return cg->alpha * fmin(10.0, cg->slope / slope);
    return options->first_length / sqrt(train_dot(cg->n, cg->direction, cg->direction));
}

/* Go to where the line search ended, and prepare the next step. */
static void finish(train_cg *cg, float *parameter, const train_line_point *start,
                   const train_line_result *found, double gradient_square) {
    cg->iterations++;
    cg->since_restart++; /* a restart below sets it to 0 */
    cg->value = found->point.value;
    if (found->point.alpha > 0.0) {
        memcpy(parameter, cg->trial_parameter, cg->n * sizeof *parameter);
        cg->alpha = found->point.alpha;
        cg->slope = start->slope;
        turn(cg, gradient_square);
    }
    if (!found->wolfe) restart(cg);
}

taper_status train_cg_step(train_cg *cg, train_cg_objective *objective, void *user,
                           float *parameter, const train_cg_options *options,
                           train_cg_result *result) {
    train_cg_result unused;
    if (!result) result = &unused;
    *result = (train_cg_result){0};
    if (!(options->first_length > 0.0) || !isfinite(options->first_length) ||
        !train_line_legal(&options->line))
        return TAPER_ERR_ARG;
    line l = {cg, objective, user, parameter};
    train_line_point start = {0};
    train_line_result found = {0};
    TAPER_TRY(begin(cg, &l, options, &start.value, result));
    double square = train_dot(cg->n, cg->gradient, cg->gradient);
    start.slope = choose_direction(cg, square, result);
    found.point = start;
    found.wolfe = 1; /* where the gradient is 0 there is nothing to search */
    if (start.slope < 0.0) {
        double first = first_try(cg, start.slope, options);
        taper_status status = search_line(&l, &options->line, &start, first, &found);
        if (status) {
            train_cg_reset(cg);
            return status;
        }
    }
    finish(cg, parameter, &start, &found, square);
    *result = (train_cg_result){start.value,
                                found.point.value,
                                start.slope,
                                found.point.slope,
                                found.point.alpha,
                                sqrt(square),
                                result->evaluations + found.evaluations,
                                found.wolfe,
                                result->restarted};
    return TAPER_OK;
}
