/* tiny_binary_model.h -- binary and direct models with random weights, for tests. Each unit is 1
 * for about the requested share of windows. */
#ifndef TESTS_TINY_BINARY_MODEL_H
#define TESTS_TINY_BINARY_MODEL_H
#include "dct_model.h"

typedef struct tiny_shape {
    codec_window window;
    uint32_t units, depth; /* depth of both stacks, 1 .. 3; hidden layers of 24 */
    codec_activation hidden;
    int real;      /* not binary: the usual tables, and a logistic code */
    int tied;      /* the stacks */
    float density; /* share of ones of each unit in the tables; that of codes may differ */
    float centre;
    int feedback; /* units use earlier units */
} tiny_shape;

static inline void tiny_fill_stack(codec_stack *stack, float gain, uint64_t *seed) {
    for (uint32_t l = 0; l < stack->depth; l++) {
        codec_layer *layer = &stack->layer[l];
        size_t n = codec_layer_weights(layer);
        for (size_t i = 0; i < n; i++)
            layer->weight[i] = gain * (float)((double)(picture_random(seed) >> 11) * 0x1p-52 - 1) /
                               sqrtf((float)codec_layer_columns(layer));
        for (uint32_t i = 0; i < codec_layer_rows(layer); i++)
            layer->bias[i] = 0.2f * (float)((double)(picture_random(seed) >> 11) * 0x1p-52 - 1);
    }
}

static inline void tiny_add_feedback(codec_network *net, uint64_t *seed) {
    if (codec_network_add_feedback(net)) abort();
    for (size_t k = 0; k < net->units; k++)
        for (size_t j = 0; j < k; j++) {
            net->feedback[k * net->units + j] = (float)(picture_random(seed) % 601) / 1000 - 0.3f;
            net->mixing[k * net->units + j] = (float)(picture_random(seed) % 801) / 1000 - 0.4f;
        }
}

static inline void tiny_fill_tables(taper_model *m, tiny_shape s) {
    uint32_t pixels = s.window.width * s.window.height;
    float density[256];
    for (int i = 0; i < 256; i++) density[i] = s.density;
    if (s.real) {
        if (codec_code_tables_alloc(&m->tables, s.units)) abort();
        dct_fill_tables(&m->tables, codec_window_values(s.window), 0.05f, 1);
    } else if (s.units > 256 || codec_code_tables_make_binary(&m->tables, s.units, pixels, density))
        abort();
    m->tables.centre = s.centre;
}

/* The model before it is written; the caller's to free (taper_model_free). Fills its tables. */
static inline taper_model *tiny_binary_unwritten(tiny_shape s, uint64_t seed) {
    static const uint32_t hidden[] = {24, 24};
    taper_model *m = calloc(1, sizeof *m);
    if (!m) abort();
    m->window = s.window;
    m->info.family = TAPER_FAMILY_DENSE;
    uint32_t inputs = codec_window_values(s.window);
    if (codec_network_alloc(&m->network, inputs, s.units, CODEC_DIRECT, hidden, s.depth - 1, hidden,
                            s.depth - 1))
        abort();
    m->network.hidden = s.hidden;
    m->network.code = s.real ? CODEC_LOGISTIC : CODEC_LINEAR;
    for (uint32_t i = 0; i < inputs; i++) m->network.mean[i] = 110 + (float)(i % 5);
    tiny_fill_stack(&m->network.encoder, 2, &seed);
    tiny_fill_stack(&m->network.decoder, 30, &seed);
    float *first = m->network.encoder.layer[0].weight; /* scales pixels to 0 .. 1 */
    for (size_t i = 0; i < (size_t)inputs * m->network.encoder.layer[0].outputs; i++)
        first[i] /= 40;
    if (s.tied && codec_network_tie(&m->network, 400)) abort();
    if (s.feedback) tiny_add_feedback(&m->network, &seed);
    tiny_fill_tables(m, s);
    return m;
}

/* The model after it was written (appended to file) and loaded again. */
static inline taper_model *tiny_binary_make(tiny_shape s, uint64_t seed, formats_buffer *file) {
    taper_model *m = tiny_binary_unwritten(s, seed), *out;
    codec_weight_precision precision = {0.05, 8};
    size_t start = file->size;
    if (codec_model_write(m, &precision, file, NULL) != TAPER_OK) abort();
    taper_model_free(m);
    if (taper_model_load(&out, file->data + start, file->size - start, NULL, NULL)) abort();
    return out;
}

#endif
