/* weights.h -- the vectors that a learner's optimiser works on, all on the device. */
#ifndef TRAIN_WEIGHTS_H
#define TRAIN_WEIGHTS_H
#include "train/device/device.h"

typedef struct train_weights {
    size_t n;
    float *parameter, *gradient; /* [n] */
    /* [n] Adam's moments, or another optimiser's two vectors; NULL: they are not trained here */
    float *m, *v;
    float *best; /* [n] parameters as they were at their best; NULL: the last are kept */
} train_weights;

typedef enum train_weights_use {
    TRAIN_WEIGHTS_GRADIENT = 0, /* parameters and their gradient alone */
    TRAIN_WEIGHTS_TRAIN = 1,    /* and the moments */
    TRAIN_WEIGHTS_BEST = 2      /* and the best */
} train_weights_use;

/* Vectors of n numbers from an arena (device.h: first without memory). */
static inline void train_weights_lay_out(train_weights *w, train_arena *arena, size_t n,
                                         train_weights_use use) {
    *w = (train_weights){.n = n};
    w->parameter = train_arena_floats(arena, n, 1);
    w->gradient = train_arena_floats(arena, n, 1);
    if (use >= TRAIN_WEIGHTS_TRAIN) w->m = train_arena_floats(arena, n, 1);
    if (use >= TRAIN_WEIGHTS_TRAIN) w->v = train_arena_floats(arena, n, 1);
    if (use >= TRAIN_WEIGHTS_BEST) w->best = train_arena_floats(arena, n, 1);
}

/* Products read the parameters: train_keep. */
static inline taper_status train_weights_keep(const train_weights *w, train_device *on) {
    return train_keep(on, TRAIN_WEIGHTS, w->parameter, w->n);
}

/* *host: a copy of the parameters, malloc'd. TAPER_ERR_NOMEM, TAPER_ERR_DEVICE: NULL. */
taper_status train_weights_download(const train_weights *weights, train_stream *stream,
                                    float **host);

/* Part of a vector. */
typedef struct train_range {
    size_t first, n;
} train_range;

#endif
