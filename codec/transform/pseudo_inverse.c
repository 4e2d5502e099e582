/* pseudo_inverse.c -- see pseudo_inverse.h. */
#include "codec/transform/pseudo_inverse.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* square = 2 I - square. Returns the largest |entry| of I - square, before the change. */
static float reflect(float *square, uint32_t n) {
    float worst = 0;
    for (size_t i = 0; i < (size_t)n * n; i++) {
        float identity = i % (n + 1) == 0;
        float off = fabsf(identity - square[i]);
        if (!(off <= worst)) worst = off; /* also for NaN */
        square[i] = 2 * identity - square[i];
    }
    return worst;
}

taper_status codec_pseudo_inverse(codec_backend *be, const float *g, uint32_t units,
                                  uint32_t inputs, float *a) {
    enum { STEPS = 12 };
    size_t values = (size_t)units * inputs;
    float *square = malloc((size_t)units * units * sizeof *square);
    float *next = malloc(values * sizeof *next);
    taper_status status = square && next ? TAPER_OK : TAPER_ERR_NOMEM;
    if (status == TAPER_OK) memcpy(a, g, values * sizeof *a);
    /* Each step squares the distance: below 2e-3, the next step reaches the precision of float32.
     */
    float worst = 1;
    for (int i = 0; i < STEPS && status == TAPER_OK && worst >= 2e-3f; i++) {
        status = be->ops->gemm(be, 0, 1, units, units, inputs, a, g, 0, square);
        if (status != TAPER_OK) break;
        worst = reflect(square, units);
        if (!(worst < 8))
            status = TAPER_ERR_CORRUPT;
        else
            status = be->ops->gemm(be, 0, 0, units, inputs, units, square, a, 0, next);
        if (status == TAPER_OK) memcpy(a, next, values * sizeof *a);
    }
    if (status == TAPER_OK && !(worst < 2e-3f)) status = TAPER_ERR_CORRUPT;
    free(square), free(next);
    return status;
}

taper_status codec_make_analysis(const float *synthesis, uint32_t units, uint32_t inputs,
                                 unsigned threads, const char *cannot, float **analysis,
                                 taper_error *error) {
    *analysis = malloc((size_t)units * inputs * sizeof **analysis);
    if (!*analysis) return TAPER_ERR_NOMEM;
    codec_backend backend;
    codec_backend_cpu(&backend);
    if (threads > 1) codec_backend_set_threads(&backend, threads); /* on failure: one thread */
    taper_status status = codec_pseudo_inverse(&backend, synthesis, units, inputs, *analysis);
    codec_backend_close(&backend);
    if (status != TAPER_ERR_CORRUPT) return status;
    return formats_fail(error, status,
                        "the model's rows are not near orthonormal: %s; train it again", cannot);
}
