/* tiny_embedding_model.h -- embedding models with random weights, for tests. */
#ifndef TESTS_TINY_EMBEDDING_MODEL_H
#define TESTS_TINY_EMBEDDING_MODEL_H
#include "tiny_binary_model.h"

/* The model before it is written: the encoder of a tiny_shape (window, units, depth, hidden), with
 * a linear code, mean 0, and a complete record. The caller's to free (taper_model_free). */
static inline taper_model *tiny_embedding_unwritten(tiny_shape s, uint64_t seed) {
    static const uint32_t hidden[] = {24, 24};
    taper_model *m = calloc(1, sizeof *m);
    uint32_t inputs = codec_window_values(s.window);
    if (!m || codec_network_alloc(&m->network, inputs, s.units, CODEC_ENCODER, hidden, s.depth - 1,
                                  NULL, 0))
        abort();
    m->window = s.window;
    m->info.family = TAPER_FAMILY_DENSE;
    m->network.hidden = s.hidden;
    tiny_fill_stack(&m->network.encoder, 2, &seed);
    memcpy(m->info.objective, "dt-nca", sizeof "dt-nca");
    m->info.alpha = 29, m->info.classes = 10;
    return m;
}

/* Gives it another network, whose arrays are allocated, with random weights. */
static inline taper_model *tiny_embedding_with(taper_model *m, codec_network net,
                                               taper_family family, codec_cells cells,
                                               uint64_t seed) {
    net.hidden = m->network.hidden;
    codec_network_free(&m->network);
    m->network = net, m->info.family = family, m->cells = cells;
    tiny_fill_stack(&m->network.encoder, 2, &seed);
    return m;
}

/* The same of gradients in these cells, which are legal. */
static inline taper_model *tiny_gradients_unwritten(tiny_shape s, codec_cells cells,
                                                    uint64_t seed) {
    static const uint32_t hidden[] = {24, 24};
    codec_network net;
    if (codec_network_alloc(&net, codec_gradients_count(s.window, cells), s.units, CODEC_ENCODER,
                            hidden, s.depth - 1, NULL, 0))
        abort();
    return tiny_embedding_with(tiny_embedding_unwritten(s, seed), net, TAPER_FAMILY_GRADIENTS,
                               cells, seed);
}

/* The same with two convolutional layers on the pixels, or on these cells. */
static inline taper_model *tiny_convolutions_unwritten(tiny_shape s, codec_cells cells,
                                                       uint64_t seed) {
    static const uint32_t hidden[] = {24, 24}, channels[] = {3, 4};
    codec_network net;
    if (codec_network_alloc_convolutions(&net, codec_model_map(s.window, cells), channels, 2,
                                         s.units, hidden, s.depth - 1))
        abort();
    return tiny_embedding_with(tiny_embedding_unwritten(s, seed), net, TAPER_FAMILY_POOLING, cells,
                               seed);
}

/* The model after it was written (appended to file) and loaded again. */
static inline taper_model *tiny_embedding_written(taper_model *m, formats_buffer *file) {
    taper_model *out;
    codec_weight_precision precision = {0};
    size_t start = file->size;
    if (codec_model_write(m, &precision, file, NULL) != TAPER_OK) abort();
    taper_model_free(m);
    if (taper_model_load(&out, file->data + start, file->size - start, NULL, NULL)) abort();
    return out;
}
static inline taper_model *tiny_embedding_make(tiny_shape s, uint64_t seed, formats_buffer *file) {
    return tiny_embedding_written(tiny_embedding_unwritten(s, seed), file);
}
/* The same with binary codes. */
static inline taper_model *tiny_embedding_bits(tiny_shape s, uint64_t seed, formats_buffer *file) {
    taper_model *m = tiny_embedding_unwritten(s, seed);
    m->info.binary = 1;
    return tiny_embedding_written(m, file);
}

#endif
