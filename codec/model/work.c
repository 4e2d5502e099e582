/* work.c -- see work.h. The products of matrices and of the contexts of a bit are counted. The
 * ranges of a legal model bound all factors, so nothing overflows. */
#include "codec/model/work.h"
#include "codec/bitplane/conditional.h"

enum {
    MIDDLES = CODEC_CONDITIONAL_MIDDLES,
    /* of the gradients of a pixel, and of a value of a cell, in time */
    GRADIENT = 40,
    OF_VALUE = 8
};

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

static uint64_t layer_work(const codec_layer *l) {
    const uint64_t places = l->map.width ? codec_map_places(l->map) : 1;
    return places * codec_layer_weights(l);
}

static uint64_t stack_work(const codec_stack *stack) {
    uint64_t sum = 0;
    for (uint32_t l = 0; l < stack->depth; l++) sum += layer_work(&stack->layer[l]);
    return sum;
}

/* One input (a and |a|) of the first layer, for all windows that use it. */
static uint64_t input_work(const codec_conditional *c, uint32_t unit) {
    uint64_t windows = unit < c->neighbour_units ? CODEC_CONDITIONAL_SIDES : 1;
    return 2 * windows * c->hidden;
}

static uint64_t layers_work(const codec_conditional *c) {
    return MIDDLES * (uint64_t)c->hidden * c->hidden;
}

static uint64_t head_work(const codec_conditional *c) {
    uint64_t sum = layers_work(c) + (uint64_t)c->units * c->hidden;
    for (uint32_t u = 0; u < c->own; u++) sum += input_work(c, u);
    return sum;
}

/* The layers at each stage, and a logit at each pass. */
static uint64_t predicting_work(const codec_conditional *c) {
    return c->stages * layers_work(c) + (uint64_t)c->end * c->hidden;
}

/* The work that depends on the image, at most. At each pass: the logit of a sign or a refinement,
 * and a changed input, at the last fraction of a plane. At each stage: the changed inputs. */
static uint64_t most_predicting_work(const codec_code_tables *t) {
    const codec_conditional *c = t->conditional;
    uint64_t sum = predicting_work(c) + (uint64_t)c->end * c->hidden;
    for (uint32_t i = 0; i < c->end; i++)
        if (t->pass[i].unit < c->own && t->pass[i].fraction + 1u == t->fractions)
            sum += input_work(c, t->pass[i].unit);
    return sum;
}

static uint64_t most_passes(const codec_code_tables *t) {
    return t->density ? t->n_passes : (uint64_t)t->units * CODEC_MAX_PLANES * t->fractions;
}

/* Counted per patch, not per window. */
static uint64_t restoring_work(const codec_restoration *r) {
    uint64_t sum = 0;
    for (uint32_t l = 0; l < r->layers; l++)
        sum += (uint64_t)CODEC_RESTORATION_TAPS * r->layer[l].inputs * r->layer[l].outputs;
    return sum;
}

static uint64_t gradients_work(const taper_model *m) {
    return (uint64_t)GRADIENT * m->window.width * m->window.height +
           OF_VALUE * (uint64_t)m->network.inputs;
}

static uint64_t divide_up(uint64_t n, uint64_t by) { return (n + by - 1) / by; }

codec_work codec_work_of(const taper_model *m) {
    const codec_code_tables *t = &m->tables;
    const codec_network *net = &m->network;
    uint64_t linear = net->synthesis ? (uint64_t)net->inputs * net->units : 0;
    uint64_t triangle = net->mixing ? (uint64_t)net->units * (net->units - 1) / 2 : 0;
    uint64_t decode = linear + triangle + stack_work(&net->decoder);
    uint64_t encode = linear + triangle + stack_work(&net->encoder);
    uint64_t fixed = t->head ? head_work(t->head) : 0;
    uint64_t usual = (codec_network_has_decoder(net) ? decode : encode) + fixed +
                     (uint64_t)CODEC_FEATURES * t->n_passes;
    uint64_t most = larger(decode, encode) + fixed + CODEC_FEATURES * most_passes(t);
    if (t->conditional) usual += predicting_work(t->conditional), most += most_predicting_work(t);
    uint64_t pixels = (uint64_t)m->window.width * m->window.height;
    if (m->cells.across) usual += gradients_work(m), most += gradients_work(m);
    uint64_t restoring = divide_up(restoring_work(&m->restoration),
                                   CODEC_RESTORATION_PATCH * CODEC_RESTORATION_PATCH);
    return (codec_work){divide_up(usual, pixels) + restoring, divide_up(most, pixels) + restoring};
}

taper_status codec_work_check(const taper_model *m, uint64_t max_work, taper_error *error) {
    codec_work work = codec_work_of(m);
    if (work.most <= max_work) return TAPER_OK;
    return formats_fail_fact(error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_WORK, work.most,
                             "model can take %llu multiply-adds a pixel, more than the limit of "
                             "%llu",
                             (unsigned long long)work.most, (unsigned long long)max_work);
}

taper_status codec_weights_check(uint64_t weights, uint64_t max_model, taper_error *error) {
    if (weights <= max_model / sizeof(float)) return TAPER_OK;
    return formats_fail_fact(error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_MODEL_BYTES,
                             weights * sizeof(float),
                             "model has %llu weights, more than the limit of %llu bytes holds",
                             (unsigned long long)weights, (unsigned long long)max_model);
}
