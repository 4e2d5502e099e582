/* parts.h -- every part of a model in memory, as a list: for the program that writes the built-in
 * models as constants (unpack_model.c), and for the test that compares these with loaded ones
 * (tests/test_builtin_models.c).
 *
 * A new field of taper_model, its network, tables or restoration is one line here: VALUE, TABLE or
 * ARRAY with its number of elements. A field that is missing here is found by that test. An array
 * that loading makes must not depend on the processor, as it is made where taper is built. Not listed, as the built-in models have none: stacks of
 * layers, feedback, densities of binary units, and missing units. */
#ifndef MODELS_PARTS_H
#define MODELS_PARTS_H
#include "codec/bitplane/conditional.h"
#include "codec/model/model.h"

typedef enum models_type {
    MODELS_U8,
    MODELS_I8,
    MODELS_U16,
    MODELS_I16,
    MODELS_U32,
    MODELS_I32,
    MODELS_U64,
    MODELS_F32,
    MODELS_PASS /* codec_pass */
} models_type;

typedef struct models_part {
    const char *member; /* as it is written in C, e.g. "network.mean" */
    models_type type;
    int is_array;     /* 1: the member points to data; 0: it is data */
    size_t count;     /* elements */
    const void *data; /* NULL: an array that this model does not have */
    size_t at, size;  /* the member's place in its struct, in bytes */
} models_part;

enum { MODELS_MOST_PARTS = 192 };
typedef struct models_list {
    size_t n;
    models_part part[MODELS_MOST_PARTS];
} models_list;

#define MODELS_TYPE(element)          \
    _Generic((element), char          \
             : MODELS_I8, uint8_t     \
             : MODELS_U8, int8_t      \
             : MODELS_I8, uint16_t    \
             : MODELS_U16, int16_t    \
             : MODELS_I16, uint32_t   \
             : MODELS_U32, int32_t    \
             : MODELS_I32, uint64_t   \
             : MODELS_U64, float      \
             : MODELS_F32, codec_pass \
             : MODELS_PASS)
#define MODELS_ADD(o, member, is_array, element, count, data)                           \
    list->part[list->n++] = (models_part) {                                             \
#member, MODELS_TYPE(element), is_array, count, data,                           \
            (size_t)((const char *)&(o)->member - (const char *)(o)), sizeof(o)->member \
    }
/* A number; numbers within the struct, of which `element` is the first; an array of `count`. */
#define VALUE(o, member) MODELS_ADD(o, member, 0, (o)->member, 1, &(o)->member)
#define TABLE(o, member, element)                                                      \
    MODELS_ADD(o, member, 0, (o)->element, sizeof(o)->member / (sizeof((o)->element)), \
               &(o)->element)
#define ARRAY(o, member, count) MODELS_ADD(o, member, 1, *(o)->member, count, (o)->member)

/* A conditional model or a head. */
static inline void models_list_conditional(models_list *list, const codec_conditional *c) {
    const size_t h = c->hidden, outputs = (size_t)c->units * c->kinds;
    const size_t inputs = 2 * (size_t)codec_conditional_inputs(c->own, c->neighbour_units);
    list->n = 0;
    VALUE(c, kinds);
    VALUE(c, hidden);
    VALUE(c, own);
    VALUE(c, neighbour_units);
    VALUE(c, units);
    VALUE(c, end);
    VALUE(c, stages);
    ARRAY(c, begin, c->stages);
    ARRAY(c, first, inputs * h);
    ARRAY(c, first_shift, h);
    ARRAY(c, place, CODEC_CONDITIONAL_SIDES * h);
    ARRAY(c, stage, c->stages * h);
#define MIDDLE(l)                 \
    ARRAY(c, middle[l], h *h);    \
    ARRAY(c, middle_shift[l], h); \
    ARRAY(c, middle_bias[l], h);  \
    ARRAY(c, quads[l], h *h)
    MIDDLE(0);
    MIDDLE(1);
    _Static_assert(CODEC_CONDITIONAL_MIDDLES == 2, "a line for each of them");
#undef MIDDLE
    ARRAY(c, out, outputs * h);
    ARRAY(c, out_shift, outputs);
    ARRAY(c, bias, (size_t)c->kinds * c->end);
    ARRAY(c, pairs, inputs * h);
    ARRAY(c, out_quads, (outputs + 7) / 8 * 8 * h);
    ARRAY(c, wide, inputs * codec_sparse_lanes(c->hidden));
    ARRAY(c, border, CODEC_CONDITIONAL_BORDERS * h);
}

static inline void models_list_info(models_list *list, const taper_model *m) {
    VALUE(m, info.family);
    VALUE(m, info.channels);
    VALUE(m, info.window_width);
    VALUE(m, info.window_height);
    VALUE(m, info.units);
    VALUE(m, info.passes);
    VALUE(m, info.weights);
    VALUE(m, info.id);
    VALUE(m, info.file_bytes);
    VALUE(m, info.binary);
    VALUE(m, info.lap);
    VALUE(m, info.conditional_hidden);
    VALUE(m, info.head_hidden);
    VALUE(m, info.restoration_hidden);
    VALUE(m, info.work);
    VALUE(m, info.most_work);
    VALUE(m, info.feedback);
    VALUE(m, info.layers);
    VALUE(m, info.centre);
    VALUE(m, info.embedding);
    TABLE(m, info.objective, info.objective[0]);
    VALUE(m, info.alpha);
    VALUE(m, info.classes);
    VALUE(m, info.stages);
    VALUE(m, info.stages_known);
    VALUE(m, info.passes_known);
}

static inline void models_list_network(models_list *list, const taper_model *m) {
    const size_t values = m->network.inputs, weights = values * m->network.units;
    VALUE(m, window.width);
    VALUE(m, window.height);
    VALUE(m, window.channels);
    VALUE(m, lap.reach);
    TABLE(m, lap.stored, lap.stored[0]);
    TABLE(m, lap.prefilter, lap.prefilter[0]);
    TABLE(m, lap.postfilter, lap.postfilter[0]);
    VALUE(m, tied);
    VALUE(m, network.inputs);
    VALUE(m, network.units);
    ARRAY(m, network.mean, values);
    ARRAY(m, network.synthesis, weights);
    ARRAY(m, network.analysis, weights);
    VALUE(m, network.hidden);
    VALUE(m, network.code);
    VALUE(m, network.tied_gain);
    ARRAY(m, analysis, weights);
    VALUE(m, synthesis.units);
    VALUE(m, synthesis.inputs);
    VALUE(m, synthesis.lanes);
    VALUE(m, synthesis.known);
    ARRAY(m, synthesis.weight, (m->synthesis.units + 1) / 2 * 2 * (size_t)m->synthesis.lanes);
    ARRAY(m, synthesis.mean, m->synthesis.lanes);
    ARRAY(m, synthesis.bits, m->synthesis.units);
    VALUE(m, layer_bits);
}

static inline void models_list_tables(models_list *list, const taper_model *m) {
    const codec_code_tables *t = &m->tables;
    VALUE(m, tables.units);
    ARRAY(m, tables.step, t->units);
    ARRAY(m, tables.planes, t->units);
    ARRAY(m, tables.log_scale, t->units);
    VALUE(m, tables.fractions);
    TABLE(m, tables.least, tables.least[0]);
    VALUE(m, tables.n_rd_slopes);
    ARRAY(m, tables.rd_slope, t->n_rd_slopes);
    VALUE(m, tables.n_passes);
    ARRAY(m, tables.pass, t->n_passes);
    VALUE(m, tables.n_layers);
    TABLE(m, tables.layer, tables.layer[0].pass);
    TABLE(m, tables.recon, tables.recon[0][0]);
    TABLE(m, tables.zero_norm, tables.zero_norm[0]);
    TABLE(m, tables.weight, tables.weight[0][0]);
    TABLE(m, tables.bias, tables.bias[0]);
    TABLE(m, tables.prior, tables.prior[0][0]);
    TABLE(m, tables.signed_weight, tables.signed_weight[0][0][0]);
    VALUE(m, tables.causal);
    TABLE(m, tables.causal_weight, tables.causal_weight[0][0]);
    TABLE(m, tables.causal_logit, tables.causal_logit[0][0]);
    ARRAY(m, tables.head_depth, t->units);
    VALUE(m, tables.centre);
}

static inline size_t models_lanes(const codec_convolution *c) {
    return (c->outputs + CODEC_CONVOLVE_LANES - 1) / CODEC_CONVOLVE_LANES * CODEC_CONVOLVE_LANES;
}

static inline void models_list_restoration(models_list *list, const taper_model *m) {
    const codec_restoration *r = &m->restoration;
    VALUE(m, restoration.channels);
    VALUE(m, restoration.hidden);
    VALUE(m, restoration.layers);
    VALUE(m, restoration.stages);
    ARRAY(m, restoration.at, r->stages);
    ARRAY(m, restoration.stage, (size_t)r->stages * r->hidden);
    ARRAY(m, restoration.gain, r->stages);
#define LAYER(l)                                                                  \
    VALUE(m, restoration.layer[l].inputs);                                        \
    VALUE(m, restoration.layer[l].outputs);                                       \
    VALUE(m, restoration.layer[l].bytes);                                         \
    VALUE(m, restoration.layer[l].narrow);                                        \
    ARRAY(m, restoration.layer[l].weight,                                         \
          (size_t)r->layer[l].outputs *CODEC_CONVOLVE_TAPS * r->layer[l].inputs); \
    ARRAY(m, restoration.layer[l].shift, r->layer[l].outputs);                    \
    ARRAY(m, restoration.layer[l].bias, r->layer[l].outputs);                     \
    ARRAY(m, restoration.layer[l].packed,                                         \
          models_lanes(&r->layer[l]) * CODEC_CONVOLVE_TAPS * r->layer[l].inputs); \
    ARRAY(m, restoration.layer[l].quads,                                          \
          models_lanes(&r->layer[l]) * CODEC_CONVOLVE_TAPS * r->layer[l].inputs); \
    ARRAY(m, restoration.layer[l].shifts, models_lanes(&r->layer[l]))
    LAYER(0);
    LAYER(1);
    LAYER(2);
    LAYER(3);
    LAYER(4);
    _Static_assert(CODEC_RESTORATION_MOST_LAYERS == 5, "a line for each of them");
#undef LAYER
}

/* All but the conditional model and the head, which are structs of their own. */
static inline void models_list_model(models_list *list, const taper_model *m) {
    list->n = 0;
    models_list_info(list, m);
    models_list_network(list, m);
    models_list_tables(list, m);
    models_list_restoration(list, m);
}

#undef VALUE
#undef TABLE
#undef ARRAY

static inline size_t models_element_bytes(models_type type) {
    static const size_t bytes[] = {1, 1, 2, 2, 4, 4, 8, 4, sizeof(codec_pass)};
    return bytes[type];
}
#endif
