/* conjugate_gradient.c -- Polak-Ribiere steps along strong Wolfe lines; see conjugate_gradient.h.
 */
#include "train/optimise/conjugate_gradient.h"
#include "train/device/operations.h"
#include <math.h>

static void lay_out(train_cg *cg) {
    cg->start = train_arena_floats(&cg->arena, cg->weights->n, 1);
    cg->sum = train_arena_take(&cg->arena, 1, 1, sizeof *cg->sum);
}

taper_status train_cg_create(train_cg *cg, train_stream *stream, train_weights *weights) {
    *cg = (train_cg){.stream = stream, .weights = weights};
    lay_out(cg);
    taper_status status = train_arena_alloc(&cg->arena, stream->device);
    if (status == TAPER_OK) lay_out(cg);
    if (status != TAPER_OK) *cg = (train_cg){0};
    return status;
}

void train_cg_free(train_cg *cg) {
    train_arena_free(&cg->arena);
    *cg = (train_cg){0};
}

taper_status train_cg_reset(train_cg *cg) {
    const train_weights *w = cg->weights;
    cg->state = (train_cg_state){0};
    TAPER_TRY(train_zero(cg->stream, w->m, w->n * sizeof *w->m));
    return train_zero(cg->stream, w->v, w->n * sizeof *w->v);
}

train_cg_options train_cg_defaults(void) {
    return (train_cg_options){train_line_defaults(), 1.0, 0};
}

/* --- vectors -------------------------------------------------------------------------- */

static taper_status dot(train_cg *cg, const float *a, const float *b, double *sum) {
    TAPER_TRY(cg->stream->ops->dot(cg->stream, cg->weights->n, a, b, cg->sum));
    TAPER_TRY(train_download(cg->stream, sum, cg->sum, sizeof *sum));
    return train_broadcast(cg->ranks, sum, sizeof *sum, 0, NULL);
}

static taper_status copy(train_cg *cg, float *to, const float *from) {
    return train_copy(cg->stream, to, from, cg->weights->n * sizeof *to);
}

/* --- the line ------------------------------------------------------------------------- */

typedef struct line {
    train_cg *cg;
    train_cg_objective *objective;
    void *user;
} line;

/* Sets the parameters to start + alpha d and evaluates there. */
static taper_status evaluate_on_line(void *user, double alpha, double *value, double *slope) {
    line *l = user;
    train_cg *cg = l->cg;
    train_weights *w = cg->weights;
    TAPER_TRY(
        cg->stream->ops->combine(cg->stream, w->n, alpha, w->m, 1.0, cg->start, w->parameter));
    TAPER_TRY(l->objective(l->user, value));
    return dot(cg, w->gradient, w->m, slope);
}

/* Searches the line; afterwards parameters and gradient are those of the point found. */
static taper_status search_line(line *l, const train_line_options *options,
                                const train_line_point *start, double first,
                                train_line_result *found) {
    train_cg *cg = l->cg;
    TAPER_TRY(copy(cg, cg->start, cg->weights->parameter));
    taper_status status = train_line_search(options, evaluate_on_line, l, start, first, found);
    if (status == TAPER_OK && found->point.alpha > 0.0 && !found->last) {
        found->evaluations++;
        status = evaluate_on_line(l, found->point.alpha, &found->point.value, &found->point.slope);
    }
    if (status == TAPER_OK && found->point.alpha > 0.0) return status;
    taper_status back = copy(cg, cg->weights->parameter, cg->start);
    return status != TAPER_OK ? status : back;
}

/* --- the direction -------------------------------------------------------------------- */

/* d = -g, with g the present gradient. */
static taper_status restart(train_cg *cg) {
    const train_weights *w = cg->weights;
    cg->state.since_restart = 0;
    return cg->stream->ops->scale(cg->stream, w->n, -1.0f, w->v, w->m);
}

/* Replaces the last objective's gradient in d by that of this step's; d + g is beta d_before. */
static taper_status take_gradient(train_cg *cg) {
    const train_weights *w = cg->weights;
    TAPER_TRY(cg->stream->ops->add_difference(cg->stream, w->n, w->v, w->gradient, w->m));
    return copy(cg, w->v, w->gradient);
}

/* The direction of the next step, from the gradients at the start, v, and at the end of a step. */
static taper_status next_direction(train_cg *cg, double gradient_square) {
    const train_weights *w = cg->weights;
    double end_square, between;
    TAPER_TRY(dot(cg, w->gradient, w->gradient, &end_square));
    TAPER_TRY(dot(cg, w->gradient, w->v, &between));
    double beta = fmax(0.0, (end_square - between) / gradient_square);
    TAPER_TRY(copy(cg, w->v, w->gradient));
    if (!(beta > 0.0) || !isfinite(beta)) return restart(cg);
    return cg->stream->ops->combine(cg->stream, w->n, beta, w->m, -1.0, w->v, w->m);
}

/* --- the step ------------------------------------------------------------------------- */

/* Value and gradient at the start, into *value and v. If they are not finite, the state is
 * unchanged. */
static taper_status begin(train_cg *cg, line *l, const train_cg_options *options, double *value,
                          train_cg_result *result) {
    double square;
    *value = cg->state.value;
    if (options->same_objective && cg->state.iterations) return TAPER_OK;
    result->evaluations++;
    taper_status status = l->objective(l->user, value);
    if (status) {
        (void)train_cg_reset(cg); /* fails if the device is lost, which is reported already */
        return status;
    }
    TAPER_TRY(dot(cg, cg->weights->gradient, cg->weights->gradient, &square));
    if (!isfinite(*value) || !isfinite(square)) return TAPER_ERR_ARG;
    return take_gradient(cg);
}

/* The slope along the direction, which is replaced by -g if necessary. */
static taper_status choose_direction(train_cg *cg, double gradient_square, double *slope,
                                     train_cg_result *result) {
    const train_weights *w = cg->weights;
    uint64_t since = cg->state.since_restart;
    TAPER_TRY(dot(cg, w->v, w->m, slope));
    if (since && since < w->n && *slope < 0.0) return TAPER_OK;
    *slope = -gradient_square;
    result->restarted = 1;
    return restart(cg);
}

/* The first trial length: to first order the same gain as in the last step, but not much longer
 * than that step (Nocedal & Wright, section 3.5). */
static taper_status first_try(train_cg *cg, double slope, const train_cg_options *options,
                              double *alpha) {
    double square;
    *alpha = cg->state.alpha * fmin(10.0, cg->state.slope / slope);
    if (cg->state.alpha > 0.0) return TAPER_OK;
    TAPER_TRY(dot(cg, cg->weights->m, cg->weights->m, &square));
    *alpha = options->first_length / sqrt(square);
    return TAPER_OK;
}

/* Prepares the next step from the end of the line search. */
static taper_status finish(train_cg *cg, const train_line_point *start,
                           const train_line_result *found, double gradient_square) {
    cg->state.iterations++;
    cg->state.since_restart++; /* a restart below sets it to 0 */
    cg->state.value = found->point.value;
    if (found->point.alpha > 0.0) {
        cg->state.alpha = found->point.alpha;
        cg->state.slope = start->slope;
        TAPER_TRY(next_direction(cg, gradient_square));
    }
    return found->wolfe ? TAPER_OK : restart(cg);
}

/* Searches along the direction if it is a descent direction. */
static taper_status go_along(train_cg *cg, line *l, const train_line_point *start,
                             const train_cg_options *options, train_line_result *found) {
    double first;
    if (!(start->slope < 0.0)) return TAPER_OK;
    TAPER_TRY(first_try(cg, start->slope, options, &first));
    taper_status status = search_line(l, &options->line, start, first, found);
    if (status != TAPER_OK) (void)train_cg_reset(cg);
    return status;
}

taper_status train_cg_step(train_cg *cg, train_cg_objective *objective, void *user,
                           const train_cg_options *options, train_cg_result *result) {
    train_cg_result unused;
    if (!result) result = &unused;
    *result = (train_cg_result){0};
    if (!(options->first_length > 0.0) || !isfinite(options->first_length) ||
        !train_line_legal(&options->line))
        return TAPER_ERR_ARG;
    line l = {cg, objective, user};
    train_line_point start = {0};
    double square;
    TAPER_TRY(begin(cg, &l, options, &start.value, result));
    TAPER_TRY(dot(cg, cg->weights->v, cg->weights->v, &square));
    TAPER_TRY(choose_direction(cg, square, &start.slope, result));
    /* if the gradient is 0 there is nothing to search */
    train_line_result found = {.point = start, .wolfe = 1};
    TAPER_TRY(go_along(cg, &l, &start, options, &found));
    TAPER_TRY(finish(cg, &start, &found, square));
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
