/* nested_step.c -- one step of nested dropout, by Adam or by conjugate gradients; see
 * nested_step.h.
 *
 * All random numbers depend on (seed, step, row). Several ranks add up the gradient of the rows
 * before anything else is computed from it, so that regularisers count once. */
#include "train/nested/nested_step.h"
#include "train/optimise/rank_sums.h"
#include "train/optimise/run.h"
#include "train/sampling/philox.h"

static train_nested_layer code_layer(const train_nested_run *r) {
    return r->net->layer[r->net->shape.layers - 1];
}

/* --- truncations ----------------------------------------------------------------------- */

static void draw_truncations(train_nested_run *r) {
    const train_nested_options *o = r->options;
    for (size_t i = 0; i < r->batch; i++) {
        uint32_t word[4];
        r->kept[i] = r->net->units;
        if (!o->truncation) continue;
        train_philox(o->seed, i, TRAIN_STREAM_CUT + (r->step << 8), word);
        r->kept[i] =
            train_truncation_draw(o->truncation, r->net->frozen, train_philox_uniform(word[0]));
    }
}

/* One past the last row of W_L that is trained in this step: reached by its truncations. With
 * invariance or orthonormal rows it is all of them. */
static uint32_t trained_end(const train_nested_run *r) {
    const int all = r->options->invariance > 0.0f || r->options->orthonormal;
    uint32_t longest = all ? r->net->units : r->options->class_units;
    for (size_t i = 0; i < r->batch; i++) longest = r->kept[i] > longest ? r->kept[i] : longest;
    return longest;
}

/* Multiply-adds of the matrix products of this step per row, without those of neighbours. */
static double multiply_adds(const train_nested_run *r) {
    const train_nested_network *net = r->net;
    double sum = 0.0, trained = (double)(trained_end(r) - net->frozen), all = trained_end(r);
    int encoder =
        !net->shape.binary || r->options->straight_through || r->options->invariance > 0.0f;
    for (uint32_t l = 0; l < net->shape.layers; l++) {
        double inputs = net->layer[l].inputs, outputs = net->layer[l].outputs;
        int last = l + 1 == net->shape.layers;
        double forward = last ? all : outputs, back = last ? trained : outputs;
        sum += inputs * (2 * forward + back * (1 + encoder) + (l || encoder ? back : 0) +
                         (l && encoder ? back : 0));
        if (r->options->class_units) sum += inputs * (last ? r->options->class_units : outputs);
    }
    if (net->feedback) /* its use is half a square per row; its computation is once per step */
        sum += all * all / 2 + (double)net->units * net->units / 2 *
                                   net->layer[net->shape.layers - 1].inputs / (double)r->batch;
    return sum;
}

/* --- loss and gradient ----------------------------------------------------------------- */

/* The truncations of the rows that are here. */
static void pick_truncations(train_nested_run *r) {
    const uint32_t *position = r->part.own.position + r->first;
    for (size_t i = 0; i < r->n; i++) r->own_kept[i] = r->kept[position[i]];
}

train_nested_step train_nested_step_of(train_nested_run *r) {
    const train_nested_options *o = r->options;
    train_nested_part *p = &r->part;
    const uint32_t *there = p->positions.there.at;
    pick_truncations(r);
    return (train_nested_step){.seed = o->seed,
                               .step = r->step,
                               .corruption = o->corruption,
                               .dropout = o->dropout,
                               .invariance = o->invariance,
                               .perturbation = o->perturbation,
                               .straight_through = o->straight_through,
                               .kept = r->own_kept,
                               .position = p->data->ranks ? there + r->first : NULL,
                               .last = p->data->ranks && r->net->shape.binary ? &p->last : NULL,
                               .classes = o->class_units ? &r->classes : NULL};
}

/* Loss and gradient of the step's rows, of all ranks; adds to losses. */
static taper_status add_rows(train_nested_run *r, double *losses) {
    const train_nested_step step = train_nested_step_of(r);
    train_nested_network *net = r->net;
    train_ranks *ranks = r->data->ranks;
    TAPER_TRY(train_nested_zero(net));
    TAPER_TRY(train_nested_feed_back(net));
    TAPER_TRY(train_nested_add(net, &step, r->rows.rows, r->rows.order, r->n, r->batch, 0, losses));
    TAPER_TRY(train_sum_doubles_there(&net->stream, ranks, losses, 3, r->error));
    return train_sum_floats_there(&net->stream, ranks, net->weights.gradient, net->weights.n,
                                  r->error);
}

/* The last rows of the step: their number does not depend on the size of blocks. */
static void begin_last(train_nested_run *r) {
    const size_t rows = (r->batch - 1) % TRAIN_LEAST_ROWS + 1, first = r->batch - rows;
    const train_nested_step step = train_nested_step_of(r);
    if (step.last)
        train_nested_last_begin(step.last, r->part.own.position + r->first, first, rows,
                                train_nested_active(r->net, &step, r->kept + first, rows));
}

/* The code layer's weights of units that are trained. */
static train_decay trained_rows(const train_nested_run *r) {
    const train_nested_layer last = code_layer(r);
    const size_t at = (size_t)r->net->frozen * last.inputs;
    return (train_decay){.rows = trained_end(r) - r->net->frozen,
                         .width = last.inputs,
                         .weight = last.w + at,
                         .gradient = r->net->layer_gradient[r->net->shape.layers - 1].w + at};
}

static taper_status adam_gradient(train_nested_run *r) {
    TAPER_TRY(add_rows(r, r->losses));
    TAPER_TRY(train_regularise(&r->options->regulariser, &r->net->stream, trained_rows(r)));
    if (!r->options->orthonormal) return TAPER_OK;
    return train_orthonormal_project(&r->orthonormal, code_layer(r).v, r->net->layer_gradient[0].v);
}

static taper_status take_rows(train_nested_run *r) {
    train_nested_part *p = &r->part;
    const size_t k = r->step % r->loop.steps_per_epoch;
    for (size_t i = 0; r->label && i < r->batch; i++)
        r->label[i] = r->data->label[p->shuffled[k * r->batch + i]];
    r->first = p->own.begin[k], r->n = train_own_count(&p->own, k);
    r->classes.position = p->own.position + r->first;
    begin_last(r);
    return train_feed_take(&p->feed, &r->net->stream, &p->order, r->first, r->n, &r->rows);
}

static taper_status say(taper_status status, uint64_t step, taper_error *error) {
    return train_explain(status, error, "step %llu could not be taken",
                         (unsigned long long)step + 1);
}

/* With conjugate gradients this does nothing: the move computes gradients at points of a line. */
taper_status train_nested_compute(void *run, uint64_t step, double *losses, taper_error *error) {
    train_nested_run *r = run;
    r->step = step;
    r->losses = losses;
    r->error = error;
    draw_truncations(r);
    const double begin[TRAIN_LOSSES] = {0.0, 0.0, 0.0, multiply_adds(r)};
    taper_status status = train_upload(&r->net->stream, losses, begin, sizeof begin);
    if (status == TAPER_OK) status = take_rows(r);
    if (status == TAPER_OK && r->options->optimiser == TRAIN_ADAM) status = adam_gradient(r);
    return say(status, step, error);
}

/* --- Adam ------------------------------------------------------------------------------ */

/* The ranges that Adam updates: everything except rows of the code layer that are frozen or not
 * reached, and thresholds of binary units. */
static size_t trained_ranges(const train_nested_run *r, train_range *range) {
    const train_nested_network *net = r->net;
    const float *all = net->weights.parameter;
    train_nested_layer last = code_layer(r);
    uint32_t first = net->frozen, end = trained_end(r);
    size_t from = (size_t)first * last.inputs, weights = (size_t)(end - first) * last.inputs, n = 0;
    size_t before = (size_t)(last.w - all);
    if (before) range[n++] = (train_range){0, before};
    if (weights) range[n++] = (train_range){before + from, weights};
    if (weights && !net->shape.binary)
        range[n++] = (train_range){(size_t)(last.b - all) + first, end - first};
    if (weights && last.v != last.w)
        range[n++] = (train_range){(size_t)(last.v - all) + from, weights};
    range[n++] = (train_range){(size_t)(last.c - all), last.inputs};
    return n;
}

static taper_status adam_step(train_nested_run *r) {
    const train_nested_options *o = r->options;
    const uint64_t steps = r->loop.steps, warmup = steps / 20 < 100 ? steps / 20 : 100;
    train_range range[5];
    size_t ranges = trained_ranges(r, range);
    const float rate = train_cosine_rate(o->rate, r->step, steps, warmup);
    TAPER_TRY(train_loop_adam(&r->loop, rate, range, ranges, r->losses));
    if (!o->orthonormal) return TAPER_OK;
    const train_nested_layer last = code_layer(r);
    TAPER_TRY(train_orthonormal_retract(&r->orthonormal, last.v));
    /* products of other processors may be rounded in another way */
    return train_broadcast_there(&r->net->stream, r->data->ranks, last.v,
                                 (size_t)last.inputs * last.outputs * sizeof *last.v, r->error);
}

/* --- conjugate gradients --------------------------------------------------------------- */

/* The network's losses, with the penalty in the fourth place and added to the loss. Coefficients
 * are those of the search's first gradient, so that the objective does not change along the
 * line. */
static taper_status regularise_line(train_nested_run *r) {
    train_nested_network *net = r->net;
    double *value = net->losses + 3;
    TAPER_TRY(train_copy(&net->stream, value, net->losses, sizeof *value));
    train_decay rows = trained_rows(r);
    rows.lambda = r->lambda, rows.value = value;
    if (!r->line_begins) rows.coefficient = TRAIN_COEFFICIENT_GIVEN;
    return train_regularise(&r->options->regulariser, &net->stream, rows);
}

static taper_status line_objective(void *user, double *value) {
    train_nested_run *r = user;
    train_stream *s = &r->net->stream;
    double losses[4];
    TAPER_TRY(train_zero(s, r->net->losses, sizeof losses));
    TAPER_TRY(add_rows(r, r->net->losses));
    TAPER_TRY(regularise_line(r));
    TAPER_TRY(train_download(s, losses, r->net->losses, sizeof losses));
    if (r->line_begins) r->line_loss = (train_nested_loss){losses[0], losses[1], losses[2]};
    r->line_begins = 0;
    *value = losses[3];
    return TAPER_OK;
}

static taper_status cg_step(train_nested_run *r) {
    train_cg_options options = train_cg_defaults();
    train_nested_loss loss = {0};
    for (uint32_t i = 0; i < r->options->line_searches; i++) {
        train_cg_result result;
        r->line_begins = 1;
        TAPER_TRY(train_cg_step(&r->cg, line_objective, r, &options, &result));
        if (!i) loss = r->line_loss;
        if (!(result.alpha > 0.0)) break;
    }
    return train_upload(&r->net->stream, r->losses, &loss, sizeof loss);
}

/* Removes a frozen unit from the vectors of conjugate gradients. */
static taper_status forget_frozen(train_nested_run *r, uint32_t before) {
    const train_weights *w = &r->net->weights;
    const uint32_t units = r->net->frozen - before;
    if (r->options->optimiser != TRAIN_CG || !units) return TAPER_OK;
    const train_nested_layer last = code_layer(r);
    const size_t rows = (size_t)before * last.inputs, n = (size_t)units * last.inputs;
    const struct {
        size_t first, n;
    } part[] = {{(size_t)(last.w - w->parameter) + rows, n},
                {(size_t)(last.v - w->parameter) + rows, n},
                {(size_t)(last.b - w->parameter) + before, units}};
    for (int i = 0; i < 3; i++) {
        TAPER_TRY(train_zero(&r->net->stream, w->m + part[i].first, part[i].n * sizeof *w->m));
        TAPER_TRY(train_zero(&r->net->stream, w->v + part[i].first, part[i].n * sizeof *w->v));
    }
    return TAPER_OK;
}

/* --- after the update -------------------------------------------------------------------- */

/* Those of the last rows, of which the first `end` units are in use. */
static taper_status take_last(train_nested_run *r, train_quantiles *rows, uint32_t *end) {
    const train_nested_activations *act = &r->net->act;
    train_nested_last *last = &r->part.last;
    *rows = (train_quantiles){.rows = act->last, .stride = act->active, .a = act->pre};
    rows->a += (act->n - act->last) * act->active;
    *end = act->last_active;
    if (!r->data->ranks) return TAPER_OK;
    *rows = (train_quantiles){.rows = last->rows, .stride = last->active, .a = last->there};
    *end = last->active;
    return train_nested_last_share(last, &r->net->stream, r->error);
}

/* Thresholds track the quantiles of the last rows of a step. */
static taper_status follow_thresholds(train_nested_run *r, const train_verdict *verdict) {
    train_nested_network *net = r->net;
    const uint32_t first = net->frozen;
    train_quantiles last;
    uint32_t end;
    if (!net->shape.binary) return TAPER_OK;
    TAPER_TRY(take_last(r, &last, &end));
    if (end <= first) return TAPER_OK;
    const train_quantiles units = {.rows = last.rows,
                                   .stride = last.stride,
                                   .units = end - first,
                                   .beta = r->options->beta,
                                   .a = last.a + first,
                                   .bias = code_layer(r).b + first,
                                   .spread = net->spread + first};
    return net->stream.ops->follow_quantiles(&net->stream, &units, verdict);
}

static taper_status sweep(train_nested_run *r) {
    const uint32_t before = r->net->frozen;
    TAPER_TRY(train_sweep_after_step(&r->sweep, r->step + 1, code_layer(r).w));
    if (r->sweep.options.on) /* of all ranks the first decides */
        TAPER_TRY(
            train_broadcast(r->data->ranks, &r->sweep.state, sizeof r->sweep.state, 0, r->error));
    r->net->frozen = (uint32_t)r->sweep.state.frozen;
    return forget_frozen(r, before);
}

taper_status train_nested_move(void *run, train_loop *loop, const double *losses,
                               taper_error *error) {
    train_nested_run *r = run;
    const int adam = r->options->optimiser == TRAIN_ADAM;
    (void)losses; /* set by compute */
    r->error = error;
    taper_status status = adam ? adam_step(r) : cg_step(r);
    if (status == TAPER_ERR_ARG && !adam) {
        loop->diverged = r->step + 1;
        return TAPER_OK;
    }
    if (status == TAPER_OK) status = follow_thresholds(r, adam ? loop->verdict : NULL);
    if (status == TAPER_OK) status = sweep(r);
    return say(status, r->step, error);
}
