/* architecture.h -- the first part of a model's payload (SPEC.md, 6.2): the kind of the model, its
 * window, and the sizes of all that follows. */
#ifndef CODEC_ARCHITECTURE_H
#define CODEC_ARCHITECTURE_H
#include "codec/model/model_payload.h"

typedef struct codec_architecture {
    uint32_t family, units, flags, depth[2], width[2][CODEC_MAX_LAYERS];
    uint32_t hidden, code; /* activations */
    float tied_gain;
    codec_window window;
    codec_lap lap;
    codec_cells cells;
    uint32_t convolutions, channels[CODEC_MAX_LAYERS]; /* the encoder's first layers */
} codec_architecture;

/* Read all fields. TAPER_ERR_CORRUPT, _TRUNCATED. */
taper_status codec_architecture_read(codec_architecture *a, formats_cursor *in, taper_error *error);
/* Check that the fields are legal together. *weights: the number of weights. TAPER_ERR_CORRUPT;
 * TAPER_ERR_UNSUPPORTED: an unknown family; TAPER_ERR_LIMIT: the weights exceed
 * limits->max_model_bytes. */
taper_status codec_architecture_check(const codec_architecture *a, const taper_limits *limits,
                                      uint64_t *weights, taper_error *error);

static inline codec_map codec_architecture_map(const codec_architecture *a) {
    return codec_model_map(a->window, a->cells);
}
/* The values that the network gets of a window. */
uint32_t codec_architecture_inputs(const codec_architecture *a);

/* Nonzero: there is only an encoder. */
static inline int codec_architecture_is_embedding(const codec_architecture *a) {
    return (a->flags & CODEC_FLAG_DIRECT) && a->depth[0] && !a->depth[1];
}
/* Nonzero: the units may be stored in several sets, as each of them is a row and nothing else. */
static inline int codec_architecture_has_sets(const codec_architecture *a) {
    return (a->flags & CODEC_FLAG_TIED) && !(a->flags & CODEC_FLAG_BINARY) && !a->depth[0] &&
           !a->depth[1];
}

#endif
