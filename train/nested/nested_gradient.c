/* nested_gradient.c -- one step's loss and gradient; see nested_gradient.h.
 *
 * The gradient adds up over blocks of rows. In a block, `active` is the longest truncation, rounded
 * up so that the products keep their fast shapes. */
#include "train/nested/nested_gradient.h"
#include "codec/backend/pool.h"
#include "train/sampling/corruption.h"
#include <math.h>
#include <string.h>

enum { ROUND = 16 };

/* --- forward --------------------------------------------------------------------------- */

/* The encoder's input: c with elements set to 0, and for equation 14 that plus noise. */
static void disturb_rows(void *context, size_t block) {
    const train_nested_rows *t = context;
    const train_nested_step *s = t->step;
    train_nested_activations *act = t->net->act;
    const size_t d = t->net->shape.inputs, first = block * TRAIN_NESTED_ROWS,
                 n = formats_smaller(act->n - first, TRAIN_NESTED_ROWS);
    float *to = act->input + first * d;
    train_noise noise = {s->seed, s->step, t->first_row + first};
    memcpy(to, act->centred + first * d, n * d * sizeof *to);
    train_corrupt_rows(&noise, s->corruption, n, d, d, to);
    if (act->encoded != act->n)
        train_perturb_rows(&noise, s->perturbation, n, d, d, to, to + act->n * d,
                           act->row_noise + first);
}

/* d x / d a; for a binary unit what stands for it. */
static float code_gradient(const train_nested_network *net, const train_nested_step *step,
                           uint32_t k, float a) {
    const train_nested_shape *s = &net->shape;
    if (s->binary) {
        if (!step->straight_through) return 0.0f;
        float steep = 2.0f / (net->spread[k] + 1e-12f),
              e = expf(-fabsf(steep * (a - train_nested_threshold(net, k))));
        return steep * e / ((1.0f + e) * (1.0f + e));
    }
    if (s->code == CODEC_RELU) return a > 0.0f ? 1.0f : 0.0f;
    if (s->code != CODEC_LOGISTIC) return 1.0f;
    float p = 1.0f / (1.0f + expf(-a));
    return p * (1.0f - p);
}

/* x of the block's rows, truncated. */
static void code_rows(void *context, size_t block) {
    const train_nested_rows *t = context;
    train_nested_activations *act = t->net->act;
    const uint32_t active = act->active;
    size_t end = formats_smaller(act->n, (block + 1) * TRAIN_NESTED_ROWS);
    for (size_t i = block * TRAIN_NESTED_ROWS; i < end; i++) {
        const float *a = act->pre + i * active;
        float *x = act->code + i * active;
        uint32_t kept = (uint32_t)formats_smaller(t->step->kept[t->first_row + i], active);
        for (uint32_t k = 0; k < kept; k++) x[k] = train_nested_code_value(t->net, k, a[k]);
        for (uint32_t k = kept; k < active; k++) x[k] = 0.0f;
    }
}

/* --- backward -------------------------------------------------------------------------- */

/* Back through the dropout and the activation of hidden layer l: dy on entry d loss / d (dropped
 * output). dbias += column sums. output is spoilt. */
static taper_status hidden_backward(train_nested_rows *task, int side, uint32_t l, size_t rows,
                                    float *output, float *dy, float *dbias) {
    train_nested_network *net = task->net;
    const size_t width = net->shape.width[l];
    float *sums = net->act->packed;
    if (task->step->dropout > 0.0f) {
        /* what was kept was divided by this, rounded as corruption.h says */
        const float undo = (float)((65536.0 - nearbyint(65536.0 * task->step->dropout)) / 65536.0);
        train_nested_drop(task, side, l, rows, dy);
        for (size_t i = 0; i < rows * width; i++) output[i] *= undo;
    }
    TAPER_TRY(
        net->be->ops->bias_backward(net->be, rows, width, net->shape.hidden, output, dy, sums));
    for (size_t j = 0; j < width; j++) dbias[j] += sums[j];
    return TAPER_OK;
}

/* packed[rows][active - first] = columns first .. of from[rows][active]. */
static void pack(const float *from, size_t rows, uint32_t active, uint32_t first, float *packed) {
    size_t width = active - first;
    for (size_t i = 0; i < rows; i++)
        memcpy(packed + i * width, from + i * active + first, width * sizeof *packed);
}

/* Gradient of V_l, from its input's columns `first` on. */
static taper_status decoder_weights(train_nested_network *net, uint32_t l, const float *x,
                                    const float *dy) {
    train_nested_activations *act = net->act;
    const train_nested_layer *y = &net->layer[l];
    const int last = l + 1 == net->shape.layers;
    const uint32_t first = last ? net->frozen : 0, end = last ? act->active : y->outputs;
    if (first >= end) return TAPER_OK;
    if (first) pack(x, act->n, end, first, act->packed), x = act->packed;
    return net->be->ops->gemm(net->be, 1, 0, end - first, y->inputs, act->n, x, dy, 1.0f,
                              net->layer_gradient[l].v + (size_t)first * y->inputs);
}

/* From g_0's error down to x: gradients of all V and c, and d loss / d x of the units from `first`
 * on, [n][active - first], in wide[]; returns where. */
static taper_status decode_backward(train_nested_rows *task, uint32_t first, float **dx) {
    train_nested_network *net = task->net;
    train_nested_activations *act = net->act;
    codec_backend *be = net->be;
    const size_t n = act->n, d = net->shape.inputs;
    float *dy = act->back_hidden[0];
    const float factor = (float)(2.0 / ((double)task->of * (double)d));
    for (size_t i = 0; i < n * d; i++) dy[i] *= factor;
    TAPER_TRY(be->ops->bias_backward(be, n, d, CODEC_LINEAR, NULL, dy, act->wide[0]));
    for (size_t j = 0; j < d; j++) net->layer_gradient[0].c[j] += act->wide[0][j];
    for (uint32_t l = 0;; l++) {
        const train_nested_layer *y = &net->layer[l];
        const int last = l + 1 == net->shape.layers;
        const uint32_t from = last ? first : 0, k = (last ? act->active : y->outputs) - from;
        float *next = *dx = act->wide[l & 1];
        TAPER_TRY(decoder_weights(net, l, last ? act->code : act->back_hidden[l + 1], dy));
        if (k)
            TAPER_TRY(be->ops->gemm(be, 0, 1, n, k, y->inputs, dy, y->v + (size_t)from * y->inputs,
                                    0.0f, next));
        if (last) return TAPER_OK;
        TAPER_TRY(hidden_backward(task, 1, l, n, act->back_hidden[l + 1], next,
                                  net->layer_gradient[l + 1].c));
        dy = next;
    }
}

typedef struct code_task {
    const train_nested_rows *rows;
    const float *dx; /* [n][active - first] */
    float *da;       /* [encoded][active - first] */
    uint32_t first;
} code_task;

/* d loss / d a: of the reconstruction through x, and of equation 14 through a itself, whose terms
 * are +-2 weight (a' - a) / (N |epsilon|^2). Logistic and ReLU codes are compared as x. */
static void code_backward_rows(void *context, size_t block) {
    const code_task *t = context;
    const train_nested_rows *r = t->rows;
    const train_nested_network *net = r->net;
    train_nested_activations *act = net->act;
    const uint32_t active = act->active, first = t->first, width = active - first;
    const int twice = act->encoded != act->n, binary = net->shape.binary;
    size_t end = formats_smaller(act->n, (block + 1) * TRAIN_NESTED_ROWS);
    for (size_t i = block * TRAIN_NESTED_ROWS; i < end; i++) {
        const float *a = act->pre + i * active, *near = act->pre + (act->n + i) * active;
        const float *dx = t->dx + i * width;
        float *da = t->da + i * width, *dnear = t->da + (act->n + i) * width;
        uint32_t kept = r->step->kept[r->first_row + i];
        float pull =
            twice
                ? (float)(2.0 * r->step->invariance / ((double)r->of * (act->row_noise[i] + 1e-30)))
                : 0.0f;
        for (uint32_t j = 0; j < width; j++) {
            uint32_t k = first + j;
            float gradient = code_gradient(net, r->step, k, a[k]);
            da[j] = k < kept ? dx[j] * gradient : 0.0f;
            if (!twice) continue;
            float at = binary ? 1.0f : gradient,
                  at_near = binary ? 1.0f : code_gradient(net, r->step, k, near[k]);
            float move = binary ? near[k] - a[k]
                                : train_nested_code_value(net, k, near[k]) -
                                      train_nested_code_value(net, k, a[k]);
            da[j] -= pull * move * at;
            dnear[j] = pull * move * at_near;
        }
    }
}

/* From da [encoded][active - first] down to W_1. */
static taper_status encode_backward(train_nested_rows *task, uint32_t first, float *da) {
    train_nested_network *net = task->net;
    train_nested_activations *act = net->act;
    codec_backend *be = net->be;
    const size_t rows = act->encoded;
    uint32_t last = net->shape.layers - 1, k = act->active - first;
    float *dy = da;
    if (!k) return TAPER_OK;
    if (!net->shape.binary) { /* thresholds are the binariser's */
        TAPER_TRY(be->ops->bias_backward(be, rows, k, CODEC_LINEAR, NULL, dy, act->packed));
        uint32_t skip = net->frozen > first ? net->frozen - first : 0;
        for (uint32_t j = skip; j < k; j++)
            net->layer_gradient[last].b[first + j] += act->packed[j];
    }
    for (uint32_t l = last;; l--) {
        const train_nested_layer *y = &net->layer[l];
        const float *x = l ? act->hidden[l - 1] : act->input;
        uint32_t from = l == last ? (first > net->frozen ? first : net->frozen) : 0;
        uint32_t outputs = l == last ? act->active : y->outputs;
        const float *trained = dy;
        if (l == last && from > first)
            pack(dy, rows, outputs - first, from - first, act->packed), trained = act->packed;
        if (outputs > from)
            TAPER_TRY(be->ops->gemm(be, 1, 0, outputs - from, y->inputs, rows, trained, x, 1.0f,
                                    net->layer_gradient[l].w + (size_t)from * y->inputs));
        if (!l) return TAPER_OK;
        float *next = act->wide[dy == act->wide[0]];
        TAPER_TRY(be->ops->gemm(be, 0, 0, rows, y->inputs, l == last ? k : outputs, dy,
                                y->w + (l == last ? (size_t)first * y->inputs : 0), 0.0f, next));
        TAPER_TRY(hidden_backward(task, 0, l - 1, rows, act->hidden[l - 1], next,
                                  net->layer_gradient[l - 1].b));
        dy = next;
    }
}

/* --- a block of rows ------------------------------------------------------------------- */

static uint32_t active_units(const train_nested_network *net, const train_nested_step *step,
                             size_t first_row, size_t n) {
    uint32_t longest = net->frozen;
    if (step->invariance > 0.0f) return net->units;
    for (size_t i = 0; i < n; i++)
        longest = step->kept[first_row + i] > longest ? step->kept[first_row + i] : longest;
    longest = (longest + ROUND - 1) / ROUND * ROUND;
    return longest < net->units ? longest : net->units;
}

static void sum_losses(const train_nested_rows *task, train_nested_loss *loss) {
    const train_nested_network *net = task->net;
    const train_nested_activations *act = net->act;
    double error = 0.0, moved = 0.0, of = (double)task->of;
    for (size_t i = 0; i < act->n; i++) {
        error += act->row_error[i];
        if (act->encoded == act->n) continue;
        const float *a = act->pre + i * act->active, *near = a + act->n * act->active;
        double sum = 0.0;
        for (uint32_t k = 0; k < act->active; k++) {
            double move = net->shape.binary ? (double)near[k] - a[k]
                                            : (double)train_nested_code_value(net, k, near[k]) -
                                                  train_nested_code_value(net, k, a[k]);
            sum += move * move;
        }
        moved += sum / (act->row_noise[i] + 1e-30);
    }
    loss->mse += error / of * (double)net->scale * net->scale;
    loss->invariance += moved / of;
    loss->loss += (error + (double)task->step->invariance * moved) / of;
    loss->rows += (double)act->n;
}

static taper_status add_block(train_nested_network *net, train_nested_rows *task, size_t n,
                              train_nested_loss *loss) {
    train_nested_activations *act = net->act;
    const train_nested_step *s = task->step;
    int twice = s->invariance > 0.0f;
    train_nested_load(task, n, twice);
    codec_pool_run(net->be->pool, disturb_rows, task, train_nested_row_blocks(n));
    uint32_t active = active_units(net, s, task->first_row, n);
    TAPER_TRY(train_nested_encode_block(task, act->input, act->encoded, active));
    codec_pool_run(net->be->pool, code_rows, task, train_nested_row_blocks(n));
    TAPER_TRY(train_nested_decode_block(task, act->code, n, active));
    train_nested_error_block(task);
    sum_losses(task, loss);
    /* a deep encoder learns from frozen units too, a shallow one has nothing below them */
    uint32_t first = net->shape.layers > 1 ? 0 : net->frozen;
    float *dx = NULL;
    TAPER_TRY(decode_backward(task, first, &dx));
    if (net->shape.binary && !s->straight_through && !twice) return TAPER_OK;
    code_task code = {task, dx, dx == act->wide[0] ? act->wide[1] : act->wide[0], first};
    codec_pool_run(net->be->pool, code_backward_rows, &code, train_nested_row_blocks(n));
    return encode_backward(task, first, code.da);
}

taper_status train_nested_add(train_nested_network *net, const train_nested_step *step,
                              const train_pixels *data, const uint32_t *order, size_t n, size_t of,
                              size_t first_row, train_nested_loss *loss) {
    for (size_t i = 0; i < n; i += TRAIN_NESTED_BLOCK) {
        train_nested_rows task = {net, step, data, order + i, first_row + i, of};
        TAPER_TRY(add_block(net, &task, formats_smaller(TRAIN_NESTED_BLOCK, n - i), loss));
    }
    return TAPER_OK;
}
