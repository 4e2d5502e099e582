/* nested_gradient.c -- one step's loss and gradient; see nested_gradient.h.
 *
 * The gradient is accumulated over blocks of rows. `active` is the longest truncation of a block,
 * rounded up to a size for which matrix products are fast. */
#include "train/nested/nested_gradient.h"
#include "train/nested/nested_classes.h"
#include "train/nested/nested_part.h"
#include <math.h>

enum { ROUND = 16 };

/* --- forward --------------------------------------------------------------------------- */

/* For equation 14: a copy of the encoder's input with added noise. */
static taper_status perturb(const train_nested_rows *task) {
    train_stream *s = &task->net->stream;
    const train_nested_step *step = task->step;
    const train_nested_activations *act = &task->net->act;
    const size_t d = task->net->shape.inputs;
    const train_noise noise = {step->seed, step->step, task->first_row, step->position};
    if (act->encoded == act->n) return TAPER_OK;
    return s->ops->perturb(s, &noise, (double)step->perturbation, act->n, d, act->input,
                           act->input + act->n * d, act->row_noise);
}

uint32_t train_nested_active(const train_nested_network *net, const train_nested_step *step,
                             const uint32_t *kept, size_t n) {
    uint32_t longest = step->classes ? step->classes->units : net->frozen;
    if (step->invariance > 0.0f) return net->units;
    for (size_t i = 0; i < n; i++) longest = kept[i] > longest ? kept[i] : longest;
    longest = (longest + ROUND - 1) / ROUND * ROUND;
    return longest < net->units ? longest : net->units;
}

/* The last rows of a step have as many units on all ranks. */
static uint32_t active_in_block(const train_nested_rows *task, size_t n) {
    const train_nested_last *last = task->step->last;
    const uint32_t active =
        train_nested_active(task->net, task->step, task->step->kept + task->first_row, n);
    if (!last || !train_nested_last_among(last, task->first_row, n)) return active;
    return active > last->active ? active : last->active;
}

/* From bytes to the errors of the truncated reconstructions, in wide[0], and d loss / d g_0, in
 * wide[1]. */
static taper_status forward(train_nested_rows *task, size_t n) {
    train_nested_network *net = task->net;
    train_stream *s = &net->stream;
    train_nested_activations *act = &net->act;
    const double numbers = (double)task->of * (double)net->shape.inputs; /* of the step */
    const uint32_t active = active_in_block(task, n);
    act->last = (n - 1) % TRAIN_LEAST_ROWS + 1;
    act->last_active = train_nested_active(
        net, task->step, task->step->kept + task->first_row + n - act->last, act->last);
    TAPER_TRY(
        train_upload(s, act->kept, task->step->kept + task->first_row, n * sizeof *act->kept));
    TAPER_TRY(train_nested_load(task, n, task->step->invariance > 0.0f));
    TAPER_TRY(perturb(task));
    TAPER_TRY(train_nested_encode_block(task, act->input, act->encoded, active));
    TAPER_TRY(
        train_nested_decide(task, task->step->straight_through, n, active, act->kept, act->code));
    if (task->step->last)
        TAPER_TRY(train_nested_last_take(task->step->last, net, task->first_row, n));
    TAPER_TRY(train_nested_decode_block(task, act->code, n, active, act->wide[0]));
    return train_nested_error_block(task, (float)(2.0 / numbers), act->wide[0], act->wide[1]);
}

/* --- backward -------------------------------------------------------------------------- */

/* Backward through the dropout and the activation of hidden layer l. dy on entry: d loss /
 * d (output after dropout). dbias += column sums. output is overwritten. */
static taper_status hidden_backward(train_nested_rows *task, int side, uint32_t l, size_t rows,
                                    float *output, float *dy, float *dbias) {
    train_nested_network *net = task->net;
    train_stream *s = &net->stream;
    const size_t width = net->shape.width[l];
    if (task->step->dropout > 0.0f) {
        /* kept values were divided by this, rounded as corruption.h says */
        const float undo = (float)((65536.0 - nearbyint(65536.0 * task->step->dropout)) / 65536.0);
        TAPER_TRY(train_nested_drop(task, side, l, rows, dy));
        TAPER_TRY(s->ops->scale(s, rows * width, undo, output, output));
    }
    return s->ops->bias_backward(s, rows, width, net->shape.hidden, output, dy, 1, dbias);
}

/* Columns of x[rows][width] from `first` on, packed unless first is 0. */
static taper_status pack(train_nested_network *net, size_t rows, uint32_t width, uint32_t first,
                         float **x) {
    train_stream *s = &net->stream;
    float *packed = net->act.packed;
    if (!first) return TAPER_OK;
    TAPER_TRY(
        s->ops->copy_columns(s, rows, width - first, *x + first, width, packed, width - first));
    *x = packed;
    return TAPER_OK;
}

/* Gradient of the trained part of V_l, and for l = 0 of c; that of other c_l is already there. */
static taper_status decoder_weights(train_nested_network *net, uint32_t l, float *x,
                                    const float *dy) {
    train_stream *s = &net->stream;
    const train_nested_layer *y = &net->layer[l];
    const int last = l + 1 == net->shape.layers;
    const uint32_t first = last ? net->frozen : 0, end = last ? net->act.active : y->outputs;
    if (first < end) TAPER_TRY(pack(net, net->act.n, end, first, &x));
    const train_weight_gradient g = {.rows = net->act.n,
                                     .m = first < end ? end - first : 0,
                                     .n = y->inputs,
                                     .a = x,
                                     .b = dy,
                                     .c = net->layer_gradient[l].v + (size_t)first * y->inputs,
                                     .of_b = 1,
                                     .sums = l ? NULL : net->layer_gradient[0].c};
    return s->ops->weight_gradient(s, &g);
}

/* From d loss / d g_0 to x: gradients of all V and c. *dx: d loss / d x of the units from `first`
 * on, [n][active - first], in one of wide[]. */
static taper_status decode_backward(train_nested_rows *task, uint32_t first, float **dx) {
    train_nested_network *net = task->net;
    train_nested_activations *act = &net->act;
    train_stream *s = &net->stream;
    const size_t n = act->n;
    float *dy = act->wide[1];
    for (uint32_t l = 0;; l++) {
        const train_nested_layer *y = &net->layer[l];
        const int last = l + 1 == net->shape.layers;
        const uint32_t from = last ? first : 0, k = (last ? act->active : y->outputs) - from;
        float *next = *dx = act->wide[l & 1];
        TAPER_TRY(decoder_weights(net, l, last ? act->code : act->back_hidden[l + 1], dy));
        if (k)
            TAPER_TRY(s->ops->gemm(s, 0, 1, n, k, y->inputs, dy, y->v + (size_t)from * y->inputs,
                                   0.0f, next));
        if (last) return TAPER_OK;
        TAPER_TRY(hidden_backward(task, 1, l, n, act->back_hidden[l + 1], next,
                                  net->layer_gradient[l + 1].c));
        dy = next;
    }
}

/* From dx to da[encoded][active - first], d loss / d a of units from `first` on: of the
 * reconstruction, through x, and of equation 14. */
static taper_status code_backward(train_nested_rows *task, uint32_t first, const float *dx,
                                  float *da) {
    train_nested_network *net = task->net;
    const train_nested_activations *act = &net->act;
    train_stream *s = &net->stream;
    const size_t n = act->n;
    const uint32_t active = act->active;
    const train_units units =
        train_nested_units(net, n, active, act->kept, task->step->straight_through);
    TAPER_TRY(s->ops->unit_gradient(s, &units, first, act->pre, dx, da));
    if (task->step->classes) TAPER_TRY(train_nested_classes_pull(task, n, da));
    if (act->encoded == n) return TAPER_OK;
    const train_moves moves = {
        .units = train_nested_units(net, n, active, NULL, 1), /* spreads scale the changes */
        .first = first,
        .weight = (double)task->step->invariance,
        .of = (double)task->of,
        .noise = act->row_noise,
        .a = act->pre,
        .near = act->pre + n * active,
        .da = da,
        .dnear = da + n * (active - first),
        .moved = act->row_moved};
    return s->ops->unit_moves(s, &moves);
}

/* Gradient of the trained part of W_(l + 1), and in the code layer also of b. dy: of the units from
 * `first` on; x: the layer's input. */
static taper_status encoder_weights(train_nested_network *net, uint32_t l, uint32_t first,
                                    const float *x, float *dy) {
    train_stream *s = &net->stream;
    const size_t rows = net->act.encoded;
    const train_nested_layer *y = &net->layer[l], *own = &net->layer_gradient[l];
    const int last = l + 1 == net->shape.layers;
    const uint32_t from = last && net->frozen > first ? net->frozen : first,
                   end = last ? net->act.active : y->outputs;
    if (from >= end) return TAPER_OK;
    TAPER_TRY(pack(net, rows, end - first, from - first, &dy));
    const train_weight_gradient g = {.rows = rows,
                                     .m = end - from,
                                     .n = y->inputs,
                                     .a = dy,
                                     .b = x,
                                     .c = own->w + (size_t)from * y->inputs,
                                     /* thresholds of binary units have no gradient */
                                     .sums = last && !net->shape.binary ? own->b + from : NULL};
    return s->ops->weight_gradient(s, &g);
}

/* From da[encoded][active - first] to W_1. */
static taper_status encode_backward(train_nested_rows *task, uint32_t first, float *da) {
    train_nested_network *net = task->net;
    train_nested_activations *act = &net->act;
    train_stream *s = &net->stream;
    const size_t rows = act->encoded;
    float *dy = da;
    if (act->active == first) return TAPER_OK;
    for (uint32_t l = net->shape.layers - 1;; l--, first = 0) {
        const train_nested_layer *y = &net->layer[l];
        const uint32_t end = l + 1 == net->shape.layers ? act->active : y->outputs;
        TAPER_TRY(encoder_weights(net, l, first, l ? act->hidden[l - 1] : act->input, dy));
        if (!l) return TAPER_OK;
        float *next = act->wide[dy == act->wide[0]];
        TAPER_TRY(s->ops->gemm(s, 0, 0, rows, y->inputs, end - first, dy,
                               y->w + (size_t)first * y->inputs, 0.0f, next));
        TAPER_TRY(hidden_backward(task, 0, l - 1, rows, act->hidden[l - 1], next,
                                  net->layer_gradient[l - 1].b));
        dy = next;
    }
}

/* --- a block of rows ------------------------------------------------------------------- */

static taper_status add_block(train_nested_rows *task, size_t n, double *losses) {
    train_nested_network *net = task->net;
    train_stream *s = &net->stream;
    const train_nested_activations *act = &net->act;
    const train_nested_step *step = task->step;
    const int twice = step->invariance > 0.0f;
    /* Frozen units still have a gradient for the layers below them, if there are any. Units with
     * feedback are processed together. */
    const uint32_t first = net->shape.layers > 1 || net->shape.feedback ? 0 : net->frozen;
    float *dx = NULL;
    TAPER_TRY(forward(task, n));
    TAPER_TRY(decode_backward(task, first, &dx));
    if (!net->shape.binary || step->straight_through || twice) {
        float *da = act->wide[dx == act->wide[0]];
        TAPER_TRY(code_backward(task, first, dx, da));
        TAPER_TRY(encode_backward(task, first, da));
    }
    return s->ops->error_losses(s, n, act->row_error, twice ? act->row_moved : NULL,
                                (double)step->invariance, (double)net->scale, (double)task->of,
                                losses);
}

/* The rows given to train_nested_add, from row i on. */
static train_nested_rows rows_of(train_nested_rows all, size_t i) {
    if (all.order)
        all.order += i;
    else
        all.pixels += i * all.net->shape.inputs;
    all.first_row += i;
    return all;
}

/* The gradient by labels, for all rows of the step. */
static taper_status compare_classes(const train_nested_rows *all, size_t n, double *losses) {
    const size_t block = all->net->act.block;
    for (size_t i = 0; i < n; i += block) {
        train_nested_rows task = rows_of(*all, i);
        TAPER_TRY(train_nested_classes_collect(&task, formats_smaller(block, n - i)));
    }
    return train_nested_classes_compare(all->step->classes, &all->net->stream, n, all->of, losses);
}

taper_status train_nested_add(train_nested_network *net, const train_nested_step *step,
                              const uint8_t *pixels, const uint32_t *order, size_t n, size_t of,
                              size_t first_row, double *losses) {
    const size_t block = net->act.block;
    const train_nested_rows all = {net, step, pixels, order, first_row, of};
    if (step->classes) TAPER_TRY(compare_classes(&all, n, losses));
    for (size_t i = 0; i < n; i += block) {
        train_nested_rows task = rows_of(all, i);
        TAPER_TRY(add_block(&task, formats_smaller(block, n - i), losses));
    }
    return TAPER_OK;
}
