/* model_parts.c -- what a model consists of, and what computes with it, for those who ask; see
 * taper_model.h. */
#include "codec/model/model.h"
#include "codec/backend/backend.h"
#include "codec/taper.h"
#include "formats/sized.h"
#include <math.h>
#include <stdio.h>

void taper_kernels(char *text, size_t room) {
    codec_backend cpu;
    codec_backend_cpu(&cpu);
    if (text) snprintf(text, room, "%s", cpu.kernels);
}

taper_status taper_model_get_layer(const taper_model *m, uint32_t l, taper_model_layer *out,
                                   taper_error *error) {
    if (!m || l >= m->tables.n_layers)
        return formats_fail(error, TAPER_ERR_ARG, "the model has no layer %u", l);
    const codec_layer_end *end = &m->tables.layer[l];
    const taper_model_layer own = {.passes = end->pass,
                                   .bytes_per_megapixel = end->bytes_per_mpixel};
    return formats_sized_give(out, &own, sizeof own, "taper_model_layer", error);
}

taper_status taper_model_get_unit(const taper_model *m, uint32_t u, taper_model_unit *out,
                                  taper_error *error) {
    if (!m || codec_model_is_binary(m) || u >= m->tables.units)
        return formats_fail(error, TAPER_ERR_ARG, "the model has no unit %u with bit planes", u);
    const codec_code_tables *t = &m->tables;
    const taper_model_unit own = {.planes = t->planes[u],
                                  .step = (double)t->step[u],
                                  .usual_size = exp2(t->log_scale[u] / 16.0)};
    return formats_sized_give(out, &own, sizeof own, "taper_model_unit", error);
}

uint32_t taper_model_layer_width(const taper_model *m, uint32_t layer) {
    if (!m || layer > m->network.encoder.depth) return 0;
    return layer ? m->network.encoder.layer[layer - 1].outputs : m->network.inputs;
}
