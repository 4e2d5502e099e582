/* weights.h -- the vectors of a learner's parameters and of its optimiser, on the device. */
#ifndef TRAIN_WEIGHTS_H
#define TRAIN_WEIGHTS_H
#include "train/device/device.h"

typedef struct train_weights {
    size_t n;
    float *parameter, *gradient; /* [n] */
    /* [n] Adam's moments, or another optimiser's two vectors; NULL: they are not trained */
    float *m, *v;
    /* [n] the best parameters so far; NULL: only the last are kept */
    float *best;
} train_weights;

/* Which vectors there are. */
typedef enum train_weights_use {
    TRAIN_WEIGHTS_GRADIENT = 0, /* parameters and their gradient */
    TRAIN_WEIGHTS_TRAIN = 1,    /* also the moments */
    TRAIN_WEIGHTS_BEST = 2      /* also the best parameters */
} train_weights_use;

/* Lays out vectors of n numbers (train_arena in device.h: called twice). */
static inline void train_weights_lay_out(train_weights *w, train_arena *arena, size_t n,
                                         train_weights_use use) {
    *w = (train_weights){.n = n};
    w->parameter = train_arena_floats(arena, n, 1);
    w->gradient = train_arena_floats(arena, n, 1);
    if (use >= TRAIN_WEIGHTS_TRAIN) w->m = train_arena_floats(arena, n, 1);
    if (use >= TRAIN_WEIGHTS_TRAIN) w->v = train_arena_floats(arena, n, 1);
    if (use >= TRAIN_WEIGHTS_BEST) w->best = train_arena_floats(arena, n, 1);
}

/* Declares the parameters as weights that products read: train_keep. */
static inline taper_status train_weights_keep(const train_weights *w, train_device *on) {
    return train_keep(on, TRAIN_WEIGHTS, w->parameter, w->n);
}

/* *host: a copy of the parameters, malloc'd. TAPER_ERR_NOMEM, TAPER_ERR_DEVICE: NULL. */
taper_status train_weights_download(const train_weights *weights, train_stream *stream,
                                    float **host);

/* A part of a vector. */
typedef struct train_range {
    size_t first, n;
} train_range;

#endif
