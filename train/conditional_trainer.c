/* conditional_trainer.c -- see conditional_trainer.h. All that is random is numbered by (seed,
 * step), so that step, weights and moments are all that a checkpoint needs. */
#include "conditional_trainer.h"
#include "../codec/backend/pool.h"
#include "../codec/head.h"
#include "adam.h"
#include "checkpoint.h"
#include "conditional_batch.h"
#include "philox.h"
#include "run.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KINDS = CODEC_CONDITIONAL_KINDS, STAGES_A_STEP = 2, SQUARE_SIDE = 16 };
static const double ln2 = 0.6931471805599453, checkpoint_seconds = 60.0;

typedef struct sums sums;

typedef struct run {
    const train_conditional_options *options;
    const taper_model *model;
    const train_dataset *data;
    codec_backend *be;
    train_selection images;
    train_conditional_network net;
    train_adam adam;
    uint32_t *begin; /* [stages + 1] */
    double *share;   /* [stages] how often a stage is drawn */
    uint32_t most;   /* passes of the longest stage */
    /* of a stage at work */
    int8_t *seen;
    train_conditional_bit *bit; /* [room][most] */
    float *logit;               /* [room][most][KINDS], then their slopes */
    uint32_t *unit;             /* [most] */
    struct sums *sum;           /* [blocks of rows] */
    float *dbias;               /* [blocks of rows][KINDS][most] */
    uint64_t step, steps;
    uint64_t fingerprint;
    double now, before; /* running means of the sums */
    float *known;       /* head: [room][units] codes as decoded */
    float *open;        /* head: [units] of the state at work */
} run;

train_conditional_options train_conditional_defaults(void) {
    return (train_conditional_options){.stages = 36,
                                       .own = 160,
                                       .beside = 64,
                                       .epochs = 12,
                                       .windows = 2048,
                                       .rate = 2e-3f,
                                       .psnr_end = 40.0,
                                       .seed = 1};
}

/* --- plan: stages and sizes ------------------------------------------------------------ */

/* Stages end where the square root of the size has grown by equal steps; begin[] gets one more
 * entry, `end`. Returns how many there are. */
static uint32_t divide(const double *bits, uint32_t end, uint32_t most, uint32_t *begin) {
    double total = 0, sum = 0;
    uint32_t stages = 0;
    for (uint32_t i = 0; i < end; i++) total += bits[i];
    for (uint32_t i = 0; i < end; sum += bits[i++])
        if (!stages || sum >= total * pow((double)stages / most, 2)) begin[stages++] = i;
    begin[stages] = end;
    return stages;
}

static taper_status plan(run *r, const double *bits, uint32_t end, codec_conditional *shape) {
    const train_conditional_options *o = r->options;
    const codec_code_tables *t = &r->model->tables;
    uint32_t reached = 1;
    if (end > t->n_passes) end = t->n_passes;
    for (uint32_t i = 0; i < end; i++)
        if (t->pass[i].unit >= reached) reached = t->pass[i].unit + 1u;
    uint32_t own = o->own;
    if (own > reached) own = reached;
    *shape = (codec_conditional){.kinds = o->head ? 1 : KINDS,
                                 .hidden = o->hidden,
                                 .own = own,
                                 .beside = o->beside < own ? o->beside : own,
                                 .units = t->units,
                                 .end = end};
    r->begin = calloc(o->stages + 1, sizeof *r->begin);
    r->share = calloc(o->stages, sizeof *r->share);
    if (!r->begin || !r->share) return TAPER_ERR_NOMEM;
    shape->stages = divide(bits, end, o->stages, r->begin);
    double sum = 0;
    for (uint32_t s = 0; s < shape->stages; s++) {
        double of_stage = 0;
        for (uint32_t i = r->begin[s]; i < r->begin[s + 1]; i++) of_stage += bits[i];
        sum += r->share[s] = o->head ? 1.0 : sqrt(of_stage + 1.0);
        uint32_t length = r->begin[s + 1] - r->begin[s];
        r->most = length > r->most ? length : r->most;
    }
    for (uint32_t s = 0; s < shape->stages; s++) r->share[s] /= sum;
    return TAPER_OK;
}

static uint32_t draw_stage(const run *r, uint32_t random) {
    uint32_t s = 0;
    double at = (double)train_philox_uniform(random);
    while (s + 1 < r->net.shape.stages && at >= r->share[s]) at -= r->share[s++];
    return s;
}

/* --- one step -------------------------------------------------------------------------- */

enum { ROW_BLOCK = 64 };

struct sums { /* of what is made smaller, and of the same without a network */
    double now, before;
};

/* Bits of a decision of this logit, and their slope. */
static float bits_of(float logit, int bit, float *slope) {
    float z = bit ? logit : -logit, e = expf(-fabsf(z)); /* of the smaller probability's odds */
    float wrong = (z > 0 ? e : 1.0f) / (1.0f + e);       /* probability of the other answer */
    *slope = (bit ? -wrong : wrong) * (float)(1.0 / ln2);
    return (log1pf(e) + (z > 0 ? 0.0f : -z)) * (float)(1.0 / ln2);
}

typedef struct price_task {
    run *r;
    uint32_t stage;
    size_t rows;
    float weight;
    sums *sum;    /* [blocks] */
    float *dbias; /* [blocks][KINDS][most] */
} price_task;

/* Logits to slopes times weight, in place; the sums of a block of rows. */
static void price_rows(void *context, size_t block) {
    const price_task *t = context;
    const run *r = t->r;
    size_t first = r->begin[t->stage], passes = r->begin[t->stage + 1] - first;
    size_t i = block * ROW_BLOCK * passes, end = i + ROW_BLOCK * passes;
    const float *bias = r->net.w.pass_bias + first;
    const size_t kind = r->net.shape.end; /* from one kind's biases to the next one's */
    float *dbias = t->dbias + block * KINDS * r->most, unused;
    sums sum = {0, 0};
    memset(dbias, 0, KINDS * r->most * sizeof *dbias);
    if (end > t->rows * passes) end = t->rows * passes;
    for (size_t pass = 0; i < end; i++, pass = pass + 1 < passes ? pass + 1 : 0) {
        const train_conditional_bit *b = &r->bit[i];
        float *logit = r->logit + i * KINDS, slope[KINDS] = {0};
        size_t k = b->kind;
        sum.now += bits_of(b->offset[0] + logit[k] + bias[k * kind + pass], b->bit, &slope[k]);
        sum.before += bits_of(b->offset[0], b->bit, &unused);
        if (b->sign) {
            float z = b->offset[1] + logit[1] + bias[kind + pass];
            sum.now += bits_of(z, b->sign > 0, &slope[1]);
            sum.before += bits_of(b->offset[1], b->sign > 0, &unused);
        }
        for (k = 0; k < KINDS; k++) dbias[k * r->most + pass] += logit[k] = slope[k] * t->weight;
    }
    t->sum[block] = sum;
}

static sums price(run *r, uint32_t stage, size_t rows, float weight) {
    size_t blocks = (rows + ROW_BLOCK - 1) / ROW_BLOCK, first = r->begin[stage];
    price_task task = {r, stage, rows, weight, r->sum, r->dbias};
    sums all = {0, 0};
    codec_pool_run(r->be->pool, price_rows, &task, blocks);
    for (size_t b = 0; b < blocks; b++) {
        all.now += r->sum[b].now, all.before += r->sum[b].before;
        for (size_t k = 0; k < KINDS; k++)
            for (size_t i = 0; i < r->begin[stage + 1] - first; i++)
                r->net.slope.pass_bias[k * r->net.shape.end + first + i] +=
                    r->dbias[(b * KINDS + k) * r->most + i];
    }
    return all;
}

/* Gradient of one stage of the batch. */
static taper_status add_stage(run *r, train_conditional_batch *batch, uint32_t stage, sums *sum) {
    size_t rows = batch->group.n;
    uint32_t first = r->begin[stage], end = r->begin[stage + 1];
    double weight = 1.0 / (r->share[stage] * (double)rows * STAGES_A_STEP);
    train_conditional_inputs(&r->net, batch, first, r->seen);
    for (uint32_t i = first; i < end; i++) r->unit[i - first] = r->model->tables.pass[i].unit;
    train_conditional_bits(batch, r->be->pool, end, r->bit);
    TAPER_TRY(train_conditional_forward(&r->net, stage, rows));
    TAPER_TRY(train_conditional_logits(&r->net, r->unit, end - first, r->logit));
    sums now = price(r, stage, rows, (float)weight);
    sum->now += now.now * weight;
    sum->before += now.before * weight;
    return train_conditional_backward(&r->net, stage, r->unit, end - first, r->logit);
}

/* --- a head's step --------------------------------------------------------------------- */

typedef struct error_task {
    run *r;
    const train_conditional_batch *batch;
    double energy; /* of the batch's errors without a head; 0: to be found */
} error_task;

/* Errors weigh as pixels do: units whose step is small count for more. */
static inline double weight_of(const run *r, uint32_t u) {
    double step = r->model->tables.step[u];
    return 1.0 / (step * step);
}

static void sum_errors(void *context, size_t block) {
    const error_task *t = context;
    const run *r = t->r;
    size_t units = r->model->tables.units, p = block * ROW_BLOCK, end = p + ROW_BLOCK;
    double sum = 0;
    for (; p < end && p < t->batch->group.n; p++)
        for (uint32_t u = 0; u < units; u++) {
            double e = (double)t->batch->x[p * units + u] - (double)r->known[p * units + u];
            sum += weight_of(r, u) * e * e;
        }
    r->sum[block] = (sums){0, sum};
}

/* Outputs to slopes, in place. */
static void price_errors(void *context, size_t block) {
    const error_task *t = context;
    const run *r = t->r;
    size_t units = r->model->tables.units, p = block * ROW_BLOCK, end = p + ROW_BLOCK;
    double sum = 0;
    for (; p < end && p < t->batch->group.n; p++)
        for (uint32_t u = 0; u < units; u++) {
            float *z = &r->logit[p * units + u], open = r->open[u];
            float e = t->batch->x[p * units + u] - r->known[p * units + u] - open * *z;
            double weight = weight_of(r, u) / t->energy;
            sum += weight * (double)e * (double)e;
            *z = (float)(-2.0 * weight / STAGES_A_STEP) * open * e;
        }
    r->sum[block].now = sum;
}

/* Gradient of one state within a stage, as a decoder might stand there. */
static taper_status add_state(run *r, train_conditional_batch *batch, uint32_t stage,
                              uint32_t random, sums *sum) {
    const codec_code_tables *t = &r->model->tables;
    size_t rows = batch->group.n, blocks = (rows + ROW_BLOCK - 1) / ROW_BLOCK;
    uint32_t length = r->begin[stage + 1] - r->begin[stage];
    error_task task = {r, batch, 1e-9};
    train_conditional_inputs(&r->net, batch, r->begin[stage] + train_philox_below(random, length),
                             r->seen);
    codec_group_dequantise(&batch->group, 0, (uint32_t)rows, r->known);
    for (uint32_t u = 0; u < t->units; u++)
        r->open[u] = t->step[u] * codec_head_open(t, u, batch->group.depth[u]);
    codec_pool_run(r->be->pool, sum_errors, &task, blocks);
    for (size_t b = 0; b < blocks; b++) task.energy += r->sum[b].before;
    TAPER_TRY(train_conditional_forward(&r->net, stage, rows));
    TAPER_TRY(train_conditional_logits(&r->net, r->unit, t->units, r->logit));
    codec_pool_run(r->be->pool, price_errors, &task, blocks);
    for (size_t b = 0; b < blocks; b++) sum->now += r->sum[b].now / STAGES_A_STEP;
    sum->before += 1.0 / STAGES_A_STEP;
    return train_conditional_backward(&r->net, stage, r->unit, t->units, r->logit);
}

/* --- the steps ------------------------------------------------------------------------- */

static taper_status one_step(run *r, taper_error *error) {
    const train_conditional_options *o = r->options;
    train_conditional_batch batch;
    sums sum = {0, 0};
    TAPER_TRY(train_conditional_batch_make(&batch, r->model, r->be, r->data, r->images.image,
                                           r->images.n, o->windows, SQUARE_SIDE, o->seed, r->step,
                                           error));
    memset(r->net.gradient, 0, r->net.n * sizeof *r->net.gradient);
    taper_status status = TAPER_OK;
    uint32_t random[4];
    train_philox(o->seed, r->step, TRAIN_STREAM_STAGE, random);
    for (uint32_t i = 0; i < STAGES_A_STEP && status == TAPER_OK; i++) {
        uint32_t stage = draw_stage(r, random[i]);
        status = o->head ? add_state(r, &batch, stage, random[STAGES_A_STEP + i], &sum)
                         : add_stage(r, &batch, stage, &sum);
    }
    train_conditional_batch_free(&batch);
    float rate =
        train_cosine_rate(o->rate, r->step, r->steps, r->steps / 20 < 100 ? r->steps / 20 : 100);
    if (status == TAPER_OK)
        status =
            train_adam_step(&r->adam, r->be, rate, 100.0f, r->net.gradient, r->net.parameter, NULL);
    if (status == TAPER_ERR_ARG)
        return formats_fail(error, status,
                            "training the conditional model diverged in step %llu; lower its rate",
                            (unsigned long long)r->step + 1);
    if (status != TAPER_OK) return formats_fail(error, status, "no memory for a training step");
    double keep = r->step < 200 ? (double)r->step / (double)(r->step + 1) : 0.995;
    r->now = keep * r->now + (1 - keep) * sum.now;
    r->before = keep * r->before + (1 - keep) * sum.before;
    r->step++;
    return TAPER_OK;
}

/* --- checkpoints ----------------------------------------------------------------------- */

static uint64_t fingerprint_of(const run *r) {
    const train_conditional_options *o = r->options;
    const codec_conditional *c = &r->net.shape;
    const codec_code_tables *t = &r->model->tables;
    const double numbers[] = {o->head,
                              c->hidden,
                              c->own,
                              c->beside,
                              c->units,
                              c->end,
                              c->stages,
                              (double)o->rate,
                              (double)o->seed,
                              o->epochs,
                              o->windows,
                              (double)r->data->n,
                              (double)r->data->pixels};
    uint64_t hash = train_fingerprint(3, numbers, sizeof numbers);
    hash = train_fingerprint(hash, t->slope, t->n_passes);
    hash = train_fingerprint(hash, t->weight, sizeof t->weight);
    return train_fingerprint(hash, r->net.parameter, r->net.n * sizeof(float));
}

static train_checkpoint checkpoint_of(run *r) {
    float *rest = r->net.gradient; /* the fourth vector is not needed */
    return (train_checkpoint){.fingerprint = r->fingerprint,
                              .step = r->step,
                              .adam_step = r->adam.step,
                              .sum_bits = r->now,
                              .sum_distortion = r->before,
                              .n = r->net.n,
                              .vector = {r->net.parameter, r->adam.m, r->adam.v, rest}};
}

static taper_status save(run *r, taper_error *error) {
    train_checkpoint c = checkpoint_of(r);
    return r->options->checkpoint ? train_checkpoint_write(r->options->checkpoint, &c, error)
                                  : TAPER_OK;
}

static taper_status resume(run *r, taper_error *error) {
    const char *path = r->options->checkpoint;
    if (!r->options->resume || !path || access(path, F_OK) != 0) return TAPER_OK;
    train_checkpoint c = checkpoint_of(r);
    TAPER_TRY(train_checkpoint_read(path, &c, error));
    free(c.history);
    if (c.step > r->steps)
        return formats_fail(error, TAPER_ERR_CORRUPT,
                            "the checkpoint contradicts itself; start without --resume");
    r->step = c.step, r->adam.step = c.adam_step;
    r->now = c.sum_bits, r->before = c.sum_distortion;
    return TAPER_OK;
}

/* --- the loop -------------------------------------------------------------------------- */

static taper_status loop(run *r, train_conditional_progress_fn *progress, void *user, int *stopped,
                         taper_error *error) {
    double started = train_seconds(), saved = started;
    uint64_t first = r->step;
    int stop = 0;
    while (r->step < r->steps && !stop) {
        TAPER_TRY(one_step(r, error));
        double now = train_seconds();
        double left = (now - started) / (double)(r->step - first) * (double)(r->steps - r->step);
        train_conditional_progress p = {r->step, r->steps, r->now, r->before, left};
        stop = progress && progress(user, &p);
        if (stop || r->step == r->steps || now - saved > checkpoint_seconds) {
            TAPER_TRY(save(r, error));
            saved = train_seconds();
        }
    }
    if (stopped) *stopped = stop;
    return TAPER_OK;
}

static taper_status begin(run *r, const double *bits, uint32_t end, taper_error *error) {
    const train_conditional_options *o = r->options;
    enum { LARGEST = SQUARE_SIDE * SQUARE_SIDE };
    codec_conditional shape;
    size_t room = o->windows + LARGEST;
    taper_status status =
        train_select(&r->images, r->data, r->model->window, TRAIN_PART_TRAINING, SIZE_MAX / 2);
    if (status == TAPER_OK) status = plan(r, bits, end, &shape);
    if (status == TAPER_OK)
        status = train_conditional_create(&r->net, &shape, r->be, room, o->seed);
    if (status == TAPER_ERR_ARG)
        return formats_fail(error, status,
                            "a network of %u hidden units to predict with: 8 to 256, in steps of 8",
                            o->hidden);
    if (status == TAPER_OK) status = train_adam_create(&r->adam, r->net.n);
    if (status != TAPER_OK)
        return formats_fail(error, status, "no memory for training a conditional model");
    size_t units = r->model->tables.units, cells = room * r->most, outputs = cells * KINDS;
    if (o->head) outputs = room * units;
    r->seen = malloc((room + 1) * shape.own);
    r->bit = malloc(cells * sizeof *r->bit);
    r->logit = malloc(outputs * sizeof *r->logit);
    r->unit = malloc((o->head ? units : r->most) * sizeof *r->unit);
    r->known = malloc((o->head ? room * units : 1) * sizeof *r->known);
    r->open = malloc(units * sizeof *r->open);
    for (uint32_t u = 0; o->head && r->unit && u < units; u++) r->unit[u] = u;
    r->sum = malloc((room / ROW_BLOCK + 1) * sizeof *r->sum);
    r->dbias = malloc((room / ROW_BLOCK + 1) * KINDS * r->most * sizeof *r->dbias);
    if (!r->seen || !r->bit || !r->logit || !r->unit || !r->sum || !r->dbias || !r->known ||
        !r->open)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for training a conditional model");
    double windows = 0; /* of large images a square is a visit */
    for (size_t i = 0; i < r->images.n; i++)
        windows += (double)r->images.grid[i].columns * r->images.grid[i].rows;
    r->steps = (uint64_t)(windows * o->epochs / o->windows) + 1;
    r->fingerprint = fingerprint_of(r);
    return resume(r, error);
}

static void end_run(run *r) {
    train_selection_free(&r->images);
    train_conditional_free(&r->net);
    train_adam_free(&r->adam);
    free(r->begin), free(r->share), free(r->seen), free(r->bit), free(r->logit), free(r->unit);
    free(r->sum), free(r->dbias), free(r->known), free(r->open);
}

/* The trained network into the model's tables, which keep *to. */
static taper_status finish(const run *r, taper_model *model, const train_codes *codes,
                           taper_error *error) {
    codec_conditional *c = calloc(1, sizeof *c);
    taper_status status = c ? train_conditional_export(&r->net, c) : TAPER_ERR_NOMEM;
    if (status != TAPER_OK) {
        free(c);
        return formats_fail(error, status, "no memory for a conditional model");
    }
    memcpy(c->begin, r->begin, c->stages * sizeof *c->begin);
    if (r->options->head) {
        status = codec_head_attach(&model->tables, c);
        return status == TAPER_OK ? status : formats_fail(error, status, "no memory for a head");
    }
    model->tables.conditional = c;
    return train_refit_contexts(model, codes, NULL, error);
}

taper_status train_conditional(taper_model *model, const train_conditional_options *options,
                               const train_dataset *data, const train_codes *codes, uint32_t end,
                               codec_backend *be, train_conditional_progress_fn *progress,
                               void *user, int *stopped, taper_error *error) {
    run r = {.options = options, .model = model, .data = data, .be = be};
    if (!options->stages || options->stages > CODEC_CONDITIONAL_MOST_STAGES || !options->epochs ||
        options->windows < 1 || !(options->rate > 0))
        return formats_fail(error, TAPER_ERR_ARG,
                            "conditional model: stages 1 to 255; epochs, windows and rate above 0");
    double *bits = calloc(model->tables.n_passes + 1, sizeof *bits);
    taper_status status = bits ? train_refit_contexts(model, codes, bits, error)
                               : formats_fail(error, TAPER_ERR_NOMEM, "no memory for the order");
    if (status == TAPER_OK) status = begin(&r, bits, end, error);
    if (status == TAPER_OK) status = loop(&r, progress, user, stopped, error);
    if (status == TAPER_OK) status = finish(&r, model, codes, error);
    free(bits);
    end_run(&r);
    return status;
}
