/* conditional_loss.c -- see conditional_loss.h. */
#include "train/conditional/conditional_loss.h"
#include "codec/bitplane/head.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { KINDS = CODEC_CONDITIONAL_KINDS, ROW_BLOCK = 64 };
static const double ln2 = 0.6931471805599453;

/* --- memory ---------------------------------------------------------------------------- */

taper_status train_conditional_loss_create(train_conditional_loss *l,
                                           train_conditional_network *net,
                                           const codec_code_tables *tables, const uint32_t *begin) {
    *l = (train_conditional_loss){.net = net, .tables = tables, .begin = begin};
    int head = net->shape.kinds == 1;
    for (uint32_t s = 0; s < net->shape.stages; s++)
        if (begin[s + 1] - begin[s] > l->longest) l->longest = begin[s + 1] - begin[s];
    size_t room = net->room, units = tables->units, blocks = room / ROW_BLOCK + 1,
           asked = head ? units : l->longest;
    l->seen = malloc((room + 1) * net->shape.own);
    l->bit = malloc((head ? 1 : room * l->longest) * sizeof *l->bit);
    l->output = malloc(room * asked * net->shape.kinds * sizeof *l->output);
    l->unit = malloc(asked * sizeof *l->unit);
    l->sum = malloc(blocks * sizeof *l->sum);
    l->dbias = malloc(blocks * KINDS * l->longest * sizeof *l->dbias);
    l->known = malloc((head ? room * units : 1) * sizeof *l->known);
    l->uncertainty = malloc(2 * units * sizeof *l->uncertainty);
    if (!l->seen || !l->bit || !l->output || !l->unit || !l->sum || !l->dbias || !l->known ||
        !l->uncertainty) {
        train_conditional_loss_free(l);
        return TAPER_ERR_NOMEM;
    }
    for (uint32_t u = 0; head && u < units; u++) l->unit[u] = u;
    return TAPER_OK;
}

void train_conditional_loss_free(train_conditional_loss *l) {
    free(l->seen), free(l->bit), free(l->output), free(l->unit);
    free(l->sum), free(l->dbias), free(l->known), free(l->uncertainty);
    *l = (train_conditional_loss){0};
}

/* --- bits ------------------------------------------------------------------------------ */

/* Bits of a decision of this logit, and their gradient. */
static float bits_of(float logit, int bit, float *gradient) {
    float z = bit ? logit : -logit, e = expf(-fabsf(z)); /* odds of the less likely answer */
    float wrong = (z > 0 ? e : 1.0f) / (1.0f + e);       /* probability of the other answer */
    *gradient = (bit ? -wrong : wrong) * (float)(1.0 / ln2);
    return (log1pf(e) + (z > 0 ? 0.0f : -z)) * (float)(1.0 / ln2);
}

typedef struct bits_task {
    train_conditional_loss *l;
    uint32_t stage;
    size_t rows;
    float weight;
} bits_task;

/* Logits to gradients times weight, in place; the sums of a block of rows. */
static void price_rows(void *context, size_t block) {
    const bits_task *t = context;
    const train_conditional_loss *l = t->l;
    size_t first = l->begin[t->stage], passes = l->begin[t->stage + 1] - first;
    size_t i = block * ROW_BLOCK * passes, end = i + ROW_BLOCK * passes;
    const float *bias = l->net->w.pass_bias + first;
    const size_t kind = l->net->shape.end; /* from one kind's biases to the next one's */
    float *dbias = l->dbias + block * KINDS * l->longest, unused;
    train_steps_sums sum = {0, 0};
    memset(dbias, 0, KINDS * l->longest * sizeof *dbias);
    if (end > t->rows * passes) end = t->rows * passes;
    for (size_t pass = 0; i < end; i++, pass = pass + 1 < passes ? pass + 1 : 0) {
        const train_conditional_bit *b = &l->bit[i];
        float *logit = l->output + i * KINDS, gradient[KINDS] = {0};
        size_t k = b->kind;
        if (k != 1) {
            sum.now +=
                bits_of(b->offset[0] + logit[k] + bias[k * kind + pass], b->bit, &gradient[k]);
            sum.before += bits_of(b->offset[0], b->bit, &unused);
        }
        if (b->sign) {
            float z = b->offset[1] + logit[1] + bias[kind + pass];
            sum.now += bits_of(z, b->sign > 0, &gradient[1]);
            sum.before += bits_of(b->offset[1], b->sign > 0, &unused);
        }
        for (k = 0; k < KINDS; k++)
            dbias[k * l->longest + pass] += logit[k] = gradient[k] * t->weight;
    }
    l->sum[block] = sum;
}

/* The blocks' sums, in their order. */
static void gather_prices(const bits_task *t, size_t blocks, train_steps_sums *sum) {
    const train_conditional_loss *l = t->l;
    uint32_t first = l->begin[t->stage], passes = l->begin[t->stage + 1] - first;
    for (size_t b = 0; b < blocks; b++) {
        sum->now += l->sum[b].now * (double)t->weight;
        sum->before += l->sum[b].before * (double)t->weight;
        for (size_t k = 0; k < KINDS; k++)
            for (uint32_t i = 0; i < passes; i++)
                l->net->w_gradient.pass_bias[k * l->net->shape.end + first + i] +=
                    l->dbias[(b * KINDS + k) * l->longest + i];
    }
}

taper_status train_conditional_add_bits(train_conditional_loss *l, train_conditional_batch *batch,
                                        uint32_t stage, double weight, train_steps_sums *sum) {
    size_t rows = batch->coder.group.n, blocks = (rows + ROW_BLOCK - 1) / ROW_BLOCK;
    uint32_t first = l->begin[stage], end = l->begin[stage + 1];
    codec_pool *pool = l->net->be->pool;
    bits_task task = {l, stage, rows, (float)weight};
    train_conditional_inputs(l->net, batch, first, l->seen);
    for (uint32_t i = first; i < end; i++) l->unit[i - first] = l->tables->pass[i].unit;
    train_conditional_bits(batch, pool, end, l->bit);
    TAPER_TRY(train_conditional_forward(l->net, stage, rows));
    TAPER_TRY(train_conditional_logits(l->net, l->unit, end - first, l->output));
    codec_pool_run(pool, price_rows, &task, blocks);
    gather_prices(&task, blocks, sum);
    return train_conditional_backward(l->net, stage, l->unit, end - first, l->output);
}

/* --- errors ---------------------------------------------------------------------------- */

typedef struct error_task {
    train_conditional_loss *l;
    const train_conditional_batch *batch;
    double energy; /* of the batch's errors without a head */
    double weight;
} error_task;

/* A unit whose step is small is worth more in pixels. */
static inline double worth(const codec_code_tables *t, uint32_t u) {
    return 1.0 / ((double)t->step[u] * (double)t->step[u]);
}

static void sum_errors(void *context, size_t block) {
    const error_task *t = context;
    const train_conditional_loss *l = t->l;
    size_t units = l->tables->units, p = block * ROW_BLOCK, end = p + ROW_BLOCK;
    double sum = 0;
    for (; p < end && p < t->batch->coder.group.n; p++)
        for (uint32_t u = 0; u < units; u++) {
            double e = (double)t->batch->x[p * units + u] - (double)l->known[p * units + u];
            sum += worth(l->tables, u) * e * e;
        }
    l->sum[block].before = sum;
}

/* Outputs to gradients, in place. */
static void price_errors(void *context, size_t block) {
    const error_task *t = context;
    const train_conditional_loss *l = t->l;
    const codec_group *g = &t->batch->coder.group;
    size_t units = l->tables->units, p = block * ROW_BLOCK, end = p + ROW_BLOCK;
    double sum = 0;
    for (; p < end && p < g->n; p++)
        for (uint32_t u = 0; u < units; u++) {
            size_t plane_known = g->plane_known[u * g->stride + p];
            float *z = &l->output[p * units + u], uncertainty = l->uncertainty[2 * u + plane_known];
            float e = t->batch->x[p * units + u] - l->known[p * units + u] - uncertainty * *z;
            double fraction = worth(l->tables, u) / t->energy;
            sum += fraction * (double)e * (double)e;
            *z = (float)(-2.0 * fraction * t->weight) * uncertainty * e;
        }
    l->sum[block].now = sum;
}

taper_status train_conditional_add_errors(train_conditional_loss *l, train_conditional_batch *batch,
                                          uint32_t stage, uint32_t pass, double weight,
                                          train_steps_sums *sum) {
    const codec_code_tables *t = l->tables;
    size_t rows = batch->coder.group.n, blocks = (rows + ROW_BLOCK - 1) / ROW_BLOCK;
    codec_pool *pool = l->net->be->pool;
    error_task task = {l, batch, 1e-9, weight};
    train_conditional_inputs(l->net, batch, pass, l->seen);
    codec_head_dequantise(&batch->coder.group, 0, (uint32_t)rows, l->known);
    for (uint32_t u = 0; u < t->units; u++)
        for (uint32_t more = 0; more < 1u + (batch->coder.group.fraction[u] > 0); more++)
            l->uncertainty[2 * u + more] =
                t->step[u] * codec_head_uncertainty(t, u, batch->coder.group.depth[u] + more);
    codec_pool_run(pool, sum_errors, &task, blocks);
    for (size_t b = 0; b < blocks; b++) task.energy += l->sum[b].before;
    TAPER_TRY(train_conditional_forward(l->net, stage, rows));
    TAPER_TRY(train_conditional_logits(l->net, l->unit, t->units, l->output));
    codec_pool_run(pool, price_errors, &task, blocks);
    for (size_t b = 0; b < blocks; b++) sum->now += weight * l->sum[b].now;
    sum->before += weight;
    return train_conditional_backward(l->net, stage, l->unit, t->units, l->output);
}
