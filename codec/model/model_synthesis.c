/* model_synthesis.c -- the synthesis of a linear model in integers; see model.h. */
#include "codec/model/model.h"
#include <math.h>
#include <stdlib.h>

int codec_model_is_linear(const taper_model *m) {
    return m->network.synthesis && !m->network.decoder.depth && !m->tables.density;
}

taper_status codec_model_make_synthesis(const taper_model *m, codec_synthesis *out) {
    const codec_code_tables *t = &m->tables;
    float *top = malloc(t->units * sizeof *top);
    *out = (codec_synthesis){0};
    if (!top) return TAPER_ERR_NOMEM;
    for (uint32_t u = 0; u < t->units; u++) top[u] = ldexpf(t->step[u], t->planes[u]);
    taper_status status = codec_synthesis_make(&m->network, top, m->unit_is_missing, out);
    free(top);
    return status;
}

/* --- small versions ------------------------------------------------------------------------- */

int codec_model_has_small(const taper_model *m, uint32_t scale) {
    return codec_model_is_linear(m) && codec_small_basis_fits(m->window, scale);
}

taper_status codec_model_make_small(const taper_model *m, uint32_t scale, codec_small_basis *out) {
    codec_synthesis own = {0};
    *out = (codec_small_basis){0};
    taper_status status = m->synthesis.weight ? TAPER_OK : codec_model_make_synthesis(m, &own);
    if (status == TAPER_OK)
        status = codec_small_basis_make(m->synthesis.weight ? &m->synthesis : &own, m->window,
                                        scale, NULL, out);
    codec_synthesis_free(&own);
    return status;
}
