/* conditional_loss.c -- see conditional_loss.h. */
#include "train/conditional/conditional_loss.h"
#include "codec/bitplane/head.h"
#include <stdlib.h>

enum { KINDS = TRAIN_BIT_KINDS };
/* the operations and the codec have the same constants */
_Static_assert((int)TRAIN_BIT_KINDS == CODEC_CONDITIONAL_KINDS, "kinds of bits");
_Static_assert((int)TRAIN_SIDES == CODEC_CONDITIONAL_SIDES, "sides");
_Static_assert((int)TRAIN_SELF == CODEC_CONDITIONAL_SELF, "the row itself");
_Static_assert(CODEC_CONDITIONAL_INPUT_ONE == 32, "the scale of inputs");

/* --- memory ---------------------------------------------------------------------------- */

static int is_head(const codec_conditional *shape) { return shape->kinds == 1; }

static uint32_t longest_of(const codec_conditional *shape, const uint32_t *begin) {
    uint32_t longest = 0;
    for (uint32_t s = 0; s < shape->stages; s++)
        if (begin[s + 1] - begin[s] > longest) longest = begin[s + 1] - begin[s];
    return longest;
}

size_t train_conditional_asked(const codec_conditional *shape, const codec_code_tables *tables,
                               const uint32_t *begin) {
    return is_head(shape) ? tables->units : longest_of(shape, begin);
}

static taper_status make(train_conditional_loss *l, train_conditional_array *a, size_t n,
                         size_t size) {
    a->host = calloc(n, size);
    return a->host ? train_mirror_open(&a->mirror, &l->net->stream, a->host, n * size)
                   : TAPER_ERR_NOMEM;
}

static taper_status send(train_conditional_loss *l, train_conditional_array *a) {
    return train_mirror_update(&a->mirror, &l->net->stream, a->host);
}

static void drop(train_conditional_array *a) {
    train_mirror_free(&a->mirror);
    free(a->host);
}

static taper_status make_shared(train_conditional_loss *l) {
    const codec_conditional *c = &l->net->shape;
    size_t capacity = l->net->capacity, units = l->tables->units;
    TAPER_TRY(make(l, &l->seen, capacity * c->own, sizeof(int8_t)));
    TAPER_TRY(make(l, &l->neighbour, TRAIN_SIDES * capacity, sizeof(uint32_t)));
    TAPER_TRY(make(l, &l->unit, l->net->asked, sizeof(uint32_t)));
    if (!is_head(c)) return make(l, &l->bit, capacity * l->longest, sizeof(train_bit));
    TAPER_TRY(make(l, &l->missing, capacity * units, sizeof(float)));
    TAPER_TRY(make(l, &l->more, capacity * units, sizeof(uint8_t)));
    TAPER_TRY(make(l, &l->uncertainty, 2 * units, sizeof(float)));
    for (uint32_t u = 0; u < units; u++) ((uint32_t *)l->unit.host)[u] = u;
    TAPER_TRY(send(l, &l->unit));
    return make(l, &l->worth, units, sizeof(double));
}

static void lay_out(train_conditional_loss *l) {
    size_t capacity = l->net->capacity, blocks = train_sum_blocks(capacity);
    l->output = train_arena_floats(&l->arena, capacity, l->net->asked * l->net->shape.kinds);
    l->sums = train_arena_take(&l->arena, blocks, 2, sizeof *l->sums);
    if (!is_head(&l->net->shape))
        l->column_sums = train_arena_floats(&l->arena, blocks, KINDS * (size_t)l->longest);
}

taper_status train_conditional_loss_create(train_conditional_loss *l,
                                           train_conditional_network *net,
                                           const codec_code_tables *tables, const uint32_t *begin,
                                           codec_pool *pool) {
    *l = (train_conditional_loss){.net = net, .tables = tables, .begin = begin, .pool = pool};
    l->longest = longest_of(&net->shape, begin);
    l->sum = malloc(train_sum_blocks(net->capacity) * sizeof *l->sum);
    taper_status status = l->sum ? make_shared(l) : TAPER_ERR_NOMEM;
    lay_out(l);
    if (status == TAPER_OK) status = train_arena_alloc(&l->arena, net->stream.device);
    if (status == TAPER_OK) lay_out(l);
    if (status != TAPER_OK) train_conditional_loss_free(l);
    return status;
}

void train_conditional_loss_free(train_conditional_loss *l) {
    train_stream *s = l->net ? &l->net->stream : NULL;
    if (s && s->device) (void)s->device->memory->sync(s); /* a batch may be in progress */
    drop(&l->seen), drop(&l->neighbour), drop(&l->unit), drop(&l->bit);
    drop(&l->missing), drop(&l->more), drop(&l->uncertainty), drop(&l->worth);
    train_arena_free(&l->arena);
    free(l->sum);
    *l = (train_conditional_loss){0};
}

/* --- inputs ---------------------------------------------------------------------------- */

taper_status train_conditional_loss_begin(train_conditional_loss *l,
                                          const train_conditional_batch *batch) {
    train_conditional_neighbours(batch, l->neighbour.host);
    return send(l, &l->neighbour);
}

/* Runs the hidden layers on the group's present state. */
static taper_status forward(train_conditional_loss *l, const train_conditional_batch *batch,
                            uint32_t stage) {
    train_stream *s = &l->net->stream;
    const codec_conditional *c = &l->net->shape;
    size_t rows = batch->coder.group.n;
    TAPER_TRY(send(l, &l->seen));
    TAPER_TRY(s->ops->conditional_inputs(s, rows, c->own, c->neighbour_units, l->seen.mirror.at,
                                         l->neighbour.mirror.at, l->net->x));
    return train_conditional_forward(l->net, stage, rows);
}

/* --- bits ------------------------------------------------------------------------------ */

taper_status train_conditional_add_bits(train_conditional_loss *l, train_conditional_batch *batch,
                                        uint32_t stage, double weight, double *losses) {
    train_conditional_network *net = l->net;
    train_stream *s = &net->stream;
    uint32_t first = l->begin[stage], passes = l->begin[stage + 1] - first;
    train_conditional_see(batch, l->pool, first, net->shape.own, l->seen.host);
    for (uint32_t i = 0; i < passes; i++)
        ((uint32_t *)l->unit.host)[i] = l->tables->pass[first + i].unit;
    train_conditional_bits(batch, l->pool, first + passes, l->bit.host);
    TAPER_TRY(send(l, &l->unit));
    TAPER_TRY(send(l, &l->bit));
    TAPER_TRY(forward(l, batch, stage));
    TAPER_TRY(train_conditional_logits(net, l->unit.mirror.at, passes, l->output));
    const train_bits bits = {.rows = net->rows,
                             .passes = passes,
                             .weight = (float)weight,
                             .bit = l->bit.mirror.at,
                             .bias = net->w.pass_bias + first,
                             .stride = net->shape.end,
                             .logit = l->output,
                             .dbias = net->w_gradient.pass_bias + first,
                             .losses = losses,
                             .column_sums = l->column_sums,
                             .sums = l->sums};
    TAPER_TRY(s->ops->bits(s, &bits));
    return train_conditional_backward(net, stage, l->unit.mirror.at, passes, l->output);
}

/* --- errors ---------------------------------------------------------------------------- */

typedef struct missing_task {
    const train_conditional_loss *l;
    const train_conditional_batch *batch;
} missing_task;

/* The weight of a unit's error in steps: its effect on pixels decreases with the step's square. */
static inline double worth(const codec_code_tables *t, uint32_t u) {
    return 1.0 / ((double)t->step[u] * (double)t->step[u]);
}

/* The errors of decoded codes, and their weights. */
static void find_missing(void *context, size_t block) {
    const missing_task *t = context;
    const train_conditional_loss *l = t->l;
    const codec_group *g = &t->batch->coder.group;
    float *missing = l->missing.host;
    uint8_t *more = l->more.host;
    size_t units = l->tables->units, p = block * TRAIN_SUM_ROWS, end = p + TRAIN_SUM_ROWS;
    double sum = 0;
    for (; p < end && p < g->n; p++)
        for (uint32_t u = 0; u < units; u++) {
            size_t at = p * units + u;
            double e = (double)t->batch->x[at] - (double)missing[at];
            sum += worth(l->tables, u) * e * e;
            missing[at] = t->batch->x[at] - missing[at];
            more[at] = g->plane_known[u * g->stride + p];
        }
    l->sum[block] = sum;
}

taper_status train_conditional_energy(const train_conditional_loss *l, double own, double *energy,
                                      taper_error *error) {
    *energy = own;
    return train_sum_doubles(l->ranks, energy, 1, error);
}

/* Fills the arrays of a head from the batch as decoded after its passes. */
static taper_status find_errors(train_conditional_loss *l, const train_conditional_batch *batch) {
    const codec_code_tables *t = l->tables;
    const codec_group *g = &batch->coder.group;
    float *uncertainty = l->uncertainty.host;
    double energy = 0, *value = l->worth.host;
    missing_task task = {l, batch};
    codec_head_dequantise(g, 0, g->n, l->missing.host);
    codec_pool_run(l->pool, find_missing, &task, train_sum_blocks(g->n));
    for (size_t b = 0; b < train_sum_blocks(g->n); b++) energy += l->sum[b];
    TAPER_TRY(train_conditional_energy(l, energy, &energy, NULL));
    energy += 1e-9;
    for (uint32_t u = 0; u < t->units; u++) {
        value[u] = worth(t, u) / energy;
        for (uint32_t more = 0; more < 1u + (g->fraction[u] > 0); more++)
            uncertainty[2 * u + more] =
                t->step[u] * codec_head_uncertainty(t, u, g->depth[u] + more);
    }
    TAPER_TRY(send(l, &l->missing));
    TAPER_TRY(send(l, &l->more));
    TAPER_TRY(send(l, &l->uncertainty));
    return send(l, &l->worth);
}

taper_status train_conditional_add_errors(train_conditional_loss *l, train_conditional_batch *batch,
                                          uint32_t stage, uint32_t pass, double weight,
                                          double *losses) {
    train_conditional_network *net = l->net;
    train_stream *s = &net->stream;
    uint32_t units = l->tables->units;
    train_conditional_see(batch, l->pool, pass, net->shape.own, l->seen.host);
    TAPER_TRY(find_errors(l, batch));
    TAPER_TRY(forward(l, batch, stage));
    TAPER_TRY(train_conditional_logits(net, l->unit.mirror.at, units, l->output));
    const train_head head = {.rows = net->rows,
                             .units = units,
                             .weight = weight,
                             .missing = l->missing.mirror.at,
                             .more = l->more.mirror.at,
                             .uncertainty = l->uncertainty.mirror.at,
                             .worth = l->worth.mirror.at,
                             .z = l->output,
                             .loss = losses,
                             .sums = l->sums};
    TAPER_TRY(s->ops->head(s, &head));
    return train_conditional_backward(net, stage, l->unit.mirror.at, units, l->output);
}
