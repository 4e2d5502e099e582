/* orthonormal.c -- see orthonormal.h. */
#include "train/nested/orthonormal.h"
#include <math.h>
#include <stdlib.h>

void train_orthonormal_lay_out(train_orthonormal *o, train_arena *arena, size_t units,
                               size_t inputs) {
    *o = (train_orthonormal){.units = units, .inputs = inputs};
    for (int i = 0; i < 3; i++) o->square[i] = train_arena_floats(arena, units, units);
    o->scratch = train_arena_floats(arena, units, inputs);
    o->norms = train_arena_take(arena, 2, 1, sizeof *o->norms);
}

taper_status train_orthonormal_begin(train_orthonormal *o, train_stream *stream) {
    const size_t k = o->units;
    float *identity = calloc(k, k * sizeof *identity);
    if (!identity) return TAPER_ERR_NOMEM;
    for (size_t i = 0; i < k; i++) identity[i * k + i] = 1.0f;
    o->stream = stream;
    taper_status status = train_upload(stream, o->square[2], identity, k * k * sizeof *identity);
    free(identity);
    return status;
}

taper_status train_orthonormal_project(const train_orthonormal *o, const float *v,
                                       float *gradient) {
    train_stream *s = o->stream;
    const size_t k = o->units, d = o->inputs;
    float *product = o->square[0], *turned = o->square[1];
    TAPER_TRY(s->ops->gemm(s, 0, 1, k, k, d, gradient, v, 0.0f, product));
    TAPER_TRY(s->ops->transpose(s, 1, k, k, product, turned));
    TAPER_TRY(s->ops->combine(s, k * k, 0.5, product, 0.5, turned, product));
    TAPER_TRY(s->ops->gemm(s, 0, 0, k, d, k, product, v, 0.0f, o->scratch));
    return s->ops->combine(s, k * d, 1.0, gradient, -1.0, o->scratch, gradient);
}

/* V V^T into square[0]; *off = |V V^T - I| (Frobenius), an upper bound of the largest eigenvalue
 * minus 1. */
static taper_status look(const train_orthonormal *o, const float *v, double *off) {
    train_stream *s = o->stream;
    const size_t k = o->units;
    double norms[2];
    TAPER_TRY(s->ops->gemm(s, 0, 1, k, k, o->inputs, v, v, 0.0f, o->square[0]));
    TAPER_TRY(s->ops->distance(s, k * k, o->square[0], o->square[2], o->norms));
    TAPER_TRY(train_download(s, norms, o->norms, sizeof norms));
    *off = sqrt(norms[0]);
    return TAPER_OK;
}

taper_status train_orthonormal_retract(const train_orthonormal *o, float *v) {
    enum { MOST = 60 };
    train_stream *s = o->stream;
    const size_t k = o->units, d = o->inputs;
    /* rounding errors of single precision in products of k rows */
    const double enough = 1e-6 * (double)k + 1e-5;
    for (int i = 0; i < MOST; i++) {
        double off;
        TAPER_TRY(look(o, v, &off));
        if (!(off > enough) || !isfinite(off)) return TAPER_OK;
        if (!i && off >= 1.0) /* scales singular values to at most 1, where they remain */
            TAPER_TRY(s->ops->scale(s, k * d, (float)(1.0 / sqrt(1.0 + off)), v, v));
        else {
            TAPER_TRY(s->ops->gemm(s, 0, 0, k, d, k, o->square[0], v, 0.0f, o->scratch));
            TAPER_TRY(s->ops->combine(s, k * d, 1.5, v, -0.5, o->scratch, v));
        }
    }
    return TAPER_OK;
}
