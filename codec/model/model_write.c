/* model_write.c -- writing models; see model.h. */
#include "codec/bitplane/conditional.h"
#include "codec/entropy/weights_coder.h"
#include "codec/model/embedding_record.h"
#include "codec/model/linear_rows.h"
#include "codec/model/model_payload.h"
#include "formats/model_file.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Write a matrix of a layer; the largest weight of each row has `bits` bits. */
static taper_status write_matrix(float *weight, uint32_t rows, uint32_t columns, int bits,
                                 formats_buffer *out) {
    float *step = malloc((size_t)rows * sizeof *step);
    if (!step) return TAPER_ERR_NOMEM;
    for (uint32_t r = 0; r < rows; r++) {
        float top = 1e-12f;
        for (uint32_t i = 0; i < columns; i++)
            top = fmaxf(top, fabsf(weight[(size_t)r * columns + i]));
        step[r] = top / (float)((1 << (bits - 1)) - 1);
    }
    taper_status status = codec_weights_write(weight, rows, columns, 1, step, out);
    free(step);
    return status;
}

static void write_floats(formats_buffer *out, const float *v, size_t n) {
    for (size_t i = 0; i < n; i++) codec_write_float(out, v[i]);
}

/* without_weights: write only the biases. */
static taper_status write_stack(const codec_stack *stack, int bits, int without_weights,
                                formats_buffer *out) {
    for (uint32_t l = 0; l < stack->depth; l++) {
        const codec_layer *layer = &stack->layer[l];
        if (!without_weights)
            TAPER_TRY(write_matrix(layer->weight, codec_layer_rows(layer),
                                   (uint32_t)codec_layer_columns(layer), bits, out));
        write_floats(out, layer->bias, codec_layer_rows(layer));
    }
    return out->status;
}

/* Write T or M (network.h). Elements on and above the diagonal are set to 0. */
static taper_status write_triangle(float *matrix, uint32_t units, int bits, formats_buffer *out) {
    for (size_t r = 0; r < units; r++)
        memset(matrix + r * units + r, 0, (units - r) * sizeof *matrix);
    return write_matrix(matrix, units, units, bits, out);
}

static int bits_of(const taper_model *m, const codec_weight_precision *precision) {
    enum { USUAL = 8, OF_EMBEDDINGS = 12 };
    int usual = codec_network_has_decoder(&m->network) ? USUAL : OF_EMBEDDINGS;
    int bits = precision->layer_bits ? precision->layer_bits : usual;
    return bits > m->layer_bits ? bits : m->layer_bits;
}

static void write_mean(taper_model *m, formats_buffer *out) {
    codec_network *net = &m->network;
    for (uint32_t i = 0; i < net->inputs; i++) {
        long v = lrintf(fminf(fmaxf(net->mean[i], -500), 500) * CODEC_MEAN_ONE);
        formats_write_u16le(out, (uint16_t)(int16_t)v);
        net->mean[i] = (float)v / CODEC_MEAN_ONE;
    }
}

/* The stacks and triangles, which only models of one set have. */
static taper_status write_stacks(taper_model *m, const codec_weight_precision *precision,
                                 formats_buffer *out) {
    codec_network *net = &m->network;
    const int bits = bits_of(m, precision);
    TAPER_TRY(write_stack(&net->encoder, bits, 0, out));
    if (net->tied_gain > 0)
        TAPER_TRY(codec_network_tie(net, net->tied_gain)); /* with the rounded weights */
    TAPER_TRY(write_stack(&net->decoder, bits, net->tied_gain > 0, out));
    if (!codec_network_has_feedback(net)) return out->status;
    TAPER_TRY(write_triangle(net->feedback, net->units, bits, out));
    return write_triangle(net->mixing, net->units, bits, out);
}

static uint8_t flags_of(const taper_model *m) {
    return (uint8_t)((m->tied ? CODEC_FLAG_TIED : 0) |
                     (codec_network_is_direct(&m->network) ? CODEC_FLAG_DIRECT : 0) |
                     (codec_model_is_binary(m) ? CODEC_FLAG_BINARY : 0) |
                     (m->network.tied_gain > 0 ? CODEC_FLAG_TIED_STACKS : 0) |
                     (m->tables.conditional ? CODEC_FLAG_CONDITIONAL : 0) |
                     (m->tables.head ? CODEC_FLAG_HEAD : 0) |
                     (m->window.lap ? CODEC_FLAG_LAPPED : 0) |
                     (codec_network_has_feedback(&m->network) ? CODEC_FLAG_FEEDBACK : 0));
}

static void write_architecture(const taper_model *m, formats_buffer *out) {
    const codec_network *net = &m->network;
    formats_write_u8(out, (uint8_t)m->info.family);
    formats_write_u8(out, (uint8_t)m->window.channels);
    formats_write_u16le(out, (uint16_t)m->window.width);
    formats_write_u16le(out, (uint16_t)m->window.height);
    formats_write_u16le(out, (uint16_t)net->units);
    formats_write_u8(out, flags_of(m));
    formats_write_u8(out, (uint8_t)net->hidden);
    formats_write_u8(out, (uint8_t)net->code);
    if (net->tied_gain > 0) write_floats(out, &net->tied_gain, 1);
    const codec_stack *stacks[2] = {&net->encoder, &net->decoder};
    for (int s = 0; s < 2; s++) {
        const uint32_t first = codec_stack_convolutions(stacks[s]);
        formats_write_u8(out, (uint8_t)(stacks[s]->depth - first));
        for (uint32_t l = first; l + 1 < stacks[s]->depth; l++)
            formats_write_u32le(out, stacks[s]->layer[l].outputs);
    }
    if (m->window.lap) {
        formats_write_u8(out, (uint8_t)m->lap.reach);
        for (uint32_t i = 0; i < m->lap.reach * m->lap.reach; i++)
            formats_write_u16le(out, (uint16_t)m->lap.stored[i]);
    }
    if (m->info.family < TAPER_FAMILY_GRADIENTS) return;
    formats_write_u8(out, (uint8_t)m->cells.across);
    formats_write_u8(out, (uint8_t)m->cells.down);
    if (m->info.family != TAPER_FAMILY_POOLING) return;
    const uint32_t n = codec_stack_convolutions(&net->encoder);
    formats_write_u8(out, (uint8_t)n);
    for (uint32_t l = 0; l < n; l++)
        formats_write_u16le(out, (uint16_t)codec_layer_rows(&net->encoder.layer[l]));
}

/* --- the parts of the payload (SPEC.md, 6.1) -------------------------------------------- */

typedef struct payload {
    formats_buffer bytes;
    formats_model_stages stages;
    codec_unit_sets sets;
    float *step; /* [units] of the linear path */
} payload;

/* A stage ends here. */
static void end_stage(payload *p) { p->stages.end[p->stages.n++] = p->bytes.size; }

static taper_status choose_sets(const taper_model *m, codec_unit_sets *sets) {
    const codec_code_tables *t = &m->tables;
    return codec_model_is_linear(m) && m->tied && !t->density && !m->network.encoder.depth
               ? codec_unit_sets_choose(sets, t)
               : codec_unit_sets_whole(sets, t);
}

static void write_sets(const codec_unit_sets *sets, formats_buffer *out) {
    formats_write_u8(out, (uint8_t)sets->n);
    for (uint32_t s = 0; s + 1 < sets->n; s++) {
        formats_write_varint(out, sets->end[s] - (s ? sets->end[s - 1] : 0));
        formats_write_u8(out, sets->coarse[s]);
    }
}

static taper_status write_set(taper_model *m, const codec_weight_precision *precision, uint32_t s,
                              payload *p) {
    codec_unit_set set = codec_unit_sets_get(&p->sets, s);
    TAPER_TRY(codec_linear_rows_write(m, p->step, &p->sets, s, &p->bytes));
    if (s == 0) TAPER_TRY(write_stacks(m, precision, &p->bytes));
    if (m->tables.conditional)
        TAPER_TRY(codec_conditional_write_set(m->tables.conditional, set, &p->bytes));
    end_stage(p);
    return p->bytes.status;
}

/* All parts of a model with a decoder after its mean. */
static taper_status write_parts(taper_model *m, const codec_weight_precision *precision,
                                payload *p) {
    const codec_code_tables *t = &m->tables;
    TAPER_TRY(codec_code_tables_write(t, &p->bytes));
    TAPER_TRY(choose_sets(m, &p->sets));
    write_sets(&p->sets, &p->bytes);
    if (t->conditional) TAPER_TRY(codec_conditional_write_common(t->conditional, &p->bytes));
    p->step = malloc((size_t)m->network.units * sizeof *p->step);
    if (!p->step) return TAPER_ERR_NOMEM;
    if (!codec_network_is_direct(&m->network))
        codec_linear_rows_steps(m, precision->linear_mse, p->step);
    for (uint32_t s = 0; s < p->sets.n; s++) {
        TAPER_TRY(write_set(m, precision, s, p));
        if (s > 0 || m->info.family != TAPER_FAMILY_CONV) continue;
        TAPER_TRY(codec_restoration_write(&m->restoration, &p->bytes)); /* much for few bytes */
        end_stage(p);
    }
    if (!t->head) return TAPER_OK;
    TAPER_TRY(codec_conditional_write(t->head, &p->bytes));
    end_stage(p);
    return TAPER_OK;
}

static taper_status write_payload(taper_model *m, const codec_weight_precision *precision,
                                  payload *p) {
    write_architecture(m, &p->bytes);
    write_mean(m, &p->bytes);
    if (codec_network_has_decoder(&m->network)) return write_parts(m, precision, p);
    TAPER_TRY(write_stacks(m, precision, &p->bytes));
    TAPER_TRY(codec_embedding_record_write(&m->info, &p->bytes));
    end_stage(p);
    return p->bytes.status;
}

static void free_payload(payload *p) {
    formats_buffer_free(&p->bytes);
    codec_unit_sets_free(&p->sets);
    free(p->step);
}

/* Convolutional layers have the model's inputs as their map, and as many channels as a file can
 * hold. */
static int convolutions_are_legal(const taper_model *m) {
    const codec_stack *f = &m->network.encoder;
    const codec_map map = codec_model_map(m->window, m->cells), *first = &f->layer[0].map;
    for (uint32_t l = 0; l < codec_stack_convolutions(f); l++)
        if (codec_layer_rows(&f->layer[l]) > CODEC_MAX_CHANNELS) return 0;
    return !first->width || (first->width == map.width && first->height == map.height &&
                             first->channels == map.channels && first->planar == map.planar);
}

/* Check that an embedding model has only legal parts. */
static taper_status check_embedding(const taper_model *m, taper_error *error) {
    const char *fault = codec_embedding_record_fault(&m->info);
    if (m->info.family != codec_model_embedding_family(m) || !convolutions_are_legal(m) ||
        (m->cells.across && !codec_cells_are_legal(m->window, m->cells)) ||
        (flags_of(m) & ~CODEC_FLAG_BINARY) != CODEC_FLAG_DIRECT ||
        (m->info.binary && m->network.code != CODEC_LINEAR))
        return formats_fail(error, TAPER_ERR_ARG,
                            "a model without a decoder, but with parts of a decoder");
    if (!*fault) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_ARG, "the model's %s cannot be stored", fault);
}

static taper_status check_is_not_constant(const taper_model *m, taper_error *error) {
    if (!m->is_constant) return TAPER_OK;
    return formats_fail(error, TAPER_ERR_ARG,
                        "a built-in model cannot be changed; load its bytes "
                        "(taper_model_builtin_bytes) for a model that can");
}

static taper_status check_can_change(const taper_model *m, taper_error *error) {
    TAPER_TRY(check_is_not_constant(m, error));
    return codec_model_need_whole(m, "writing a model", error);
}

taper_status codec_model_write(taper_model *m, const codec_weight_precision *precision,
                               formats_buffer *out, taper_error *error) {
    TAPER_TRY(check_can_change(m, error));
    if (!codec_network_has_decoder(&m->network)) TAPER_TRY(check_embedding(m, error));
    payload p = {.bytes = formats_buffer_make(FORMATS_MOST_BYTES)};
    size_t start = out->size;
    taper_status status = write_payload(m, precision, &p);
    if (status == TAPER_OK) {
        m->info.id = formats_model_id(p.bytes.data, p.bytes.size);
        m->info.binary = codec_model_is_binary(m);
        codec_model_describe(m);
        m->info.stages = m->info.stages_known = p.stages.n;
        m->info.passes_known = m->tables.n_passes;
        status = formats_model_pack(p.bytes.data, &p.stages, out, error);
        m->info.file_bytes = out->size - start;
    } else {
        formats_fail(error, status, "no memory to write the model");
    }
    free_payload(&p);
    return status;
}

taper_status codec_model_round_weights(taper_model *m, const codec_weight_precision *precision,
                                       taper_error *error) {
    TAPER_TRY(check_can_change(m, error));
    formats_buffer scratch = formats_buffer_make(FORMATS_MOST_BYTES);
    codec_network *net = &m->network;
    float *step = malloc((size_t)net->units * sizeof *step);
    codec_unit_sets all = {.n = 1, .first = {0, net->units}};
    all.unit = malloc((size_t)net->units * sizeof *all.unit);
    taper_status status = step && all.unit ? TAPER_OK : TAPER_ERR_NOMEM;
    write_mean(m, &scratch);
    for (uint32_t u = 0; all.unit && u < net->units; u++) all.unit[u] = u;
    if (status == TAPER_OK && !codec_network_is_direct(net)) {
        codec_linear_rows_steps(m, precision->linear_mse, step);
        status = codec_linear_rows_write(m, step, &all, 0, &scratch);
    }
    if (status == TAPER_OK) status = write_stacks(m, precision, &scratch);
    formats_buffer_free(&scratch);
    free(step);
    codec_unit_sets_free(&all);
    return status == TAPER_OK
               ? status
               : formats_fail(error, status, "no memory to round the model's weights");
}
