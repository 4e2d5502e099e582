/* context_model.c -- see context_model.h. */
#include "codec/bitplane/context_model.h"
#include "codec/entropy/fixed_log.h"
#include <stdlib.h>

uint64_t codec_context_model_bytes(const codec_code_tables *tables, uint64_t positions) {
    enum { A_POSITION = 6 * sizeof(uint16_t) + 4 * sizeof(int32_t) };
    if (positions >= (uint64_t)1 << 40) return UINT64_MAX;
    return codec_group_stride(positions) * A_POSITION + sizeof(codec_context_model) +
           (tables->causal ? codec_causal_bytes(positions) : 0) +
           (tables->conditional ? codec_conditional_bytes(tables->conditional, positions) : 0);
}

/* Each bin starts with the probability of its logit plus the model's correction, which counts as
 * CONFIDENCE observations. Flags, and bits after a flag of 1, are more probable. */
static void set_priors(codec_context_model *m, const codec_code_tables *t) {
    enum { CONFIDENCE = 24, FLAG_CONFIDENCE = 12, FLAG_LOGIT = 128 };
    for (uint32_t c = 0; c < CODEC_CLASSES; c++)
        for (uint32_t b = 0; b < CODEC_BINS; b++) {
            int32_t logit = ((int32_t)b - CODEC_BINS / 2) * 16 + t->prior[c][b] * 2;
            m->bit[c][b] = (codec_bit){codec_squash(logit), CONFIDENCE};
            if (c < CODEC_BANDS) /* significance */
                m->flag[c][b] = m->within[c][b] =
                    (codec_bit){codec_squash(logit + FLAG_LOGIT), FLAG_CONFIDENCE};
        }
}

static int take_memory(codec_context_model *m, const codec_group *g) {
    size_t stride = g->stride;
    int linked = g->sides != NULL, ok = 1;
    m->context = calloc(stride, sizeof *m->context);
    m->most = calloc(stride / CODEC_BLOCK, sizeof *m->most);
    m->logit = calloc(stride, sizeof *m->logit);
    m->zeros = calloc(stride, sizeof *m->zeros);
    if (linked) {
        m->value = calloc(stride, sizeof *m->value);
        m->from_side = calloc(stride, sizeof *m->from_side);
        ok = m->value && m->from_side;
    }
    for (int i = 0; i < 4; i++) ok = (m->feature[i] = calloc(stride, sizeof(uint16_t))) && ok;
    return ok && m->context && m->most && m->logit && m->zeros;
}

taper_status codec_context_model_alloc(codec_context_model *m, const codec_group *g) {
    const codec_code_tables *t = g->tables;
    *m = (codec_context_model){0};
    if (t->density) return TAPER_OK;
    taper_status status = take_memory(m, g) ? TAPER_OK : TAPER_ERR_NOMEM;
    if (status == TAPER_OK && t->causal && g->sides) status = codec_causal_begin(&m->causal, g);
    if (status == TAPER_OK && t->conditional)
        status = codec_conditional_begin(&m->conditional, t->conditional, g->n);
    if (status == TAPER_OK)
        set_priors(m, t);
    else
        codec_context_model_free(m);
    return status;
}

void codec_context_model_free(codec_context_model *m) {
    free(m->context), free(m->most), free(m->logit), free(m->value), free(m->from_side),
        free(m->zeros);
    for (int i = 0; i < 4; i++) free(m->feature[i]);
    codec_causal_end(&m->causal);
    codec_conditional_end(&m->conditional);
    *m = (codec_context_model){0};
}

void codec_context_model_reset(codec_context_model *m, const codec_group *g) {
    if (g->tables->density) return;
    m->causal.on = 0;
    set_priors(m, g->tables);
    if (g->tables->conditional) codec_conditional_reset(&m->conditional, g->n);
}
