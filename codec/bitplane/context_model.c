/* context_model.c -- see context_model.h. */
#include "codec/bitplane/context_model.h"
#include "codec/entropy/fixed_log.h"

enum { LOGIT_MOST = 1024 }; /* (CODEC_BINS / 2) * 16 + 128 * 2 */

/* Each bin starts with the probability of its logit plus the model's correction, which counts as
 * CONFIDENCE observations. Flags, and bits after a flag of 1, are more probable. All logits are
 * even: a table of their probabilities is shorter than the list of bins. */
static void set_priors(codec_context_model *m, const codec_code_tables *t) {
    enum { CONFIDENCE = 24, FLAG_CONFIDENCE = 12, FLAG_LOGIT = 128 };
    uint16_t table[LOGIT_MOST + FLAG_LOGIT / 2], *p1 = table + LOGIT_MOST / 2;
    for (int32_t half = -LOGIT_MOST / 2; half < (LOGIT_MOST + FLAG_LOGIT) / 2; half++)
        p1[half] = codec_squash(2 * half);
    for (uint32_t c = 0; c < CODEC_CLASSES; c++)
        for (uint32_t b = 0; b < CODEC_BINS; b++) {
            int32_t half = ((int32_t)b - CODEC_BINS / 2) * 8 + t->prior[c][b];
            m->bit[c][b] = (codec_bit){p1[half], CONFIDENCE};
            if (c < CODEC_BANDS) /* significance */
                m->flag[c][b] = m->within[c][b] =
                    (codec_bit){p1[half + FLAG_LOGIT / 2], FLAG_CONFIDENCE};
        }
}

void codec_context_model_lay_out(codec_context_model *m, const codec_group *g,
                                 codec_group_layout *at) {
    const codec_code_tables *t = g->tables;
    const size_t stride = g->stride;
    if (t->density) return;
    m->context = formats_lay(&at->coding, stride, sizeof *m->context);
    m->most = formats_lay(&at->coding, stride / CODEC_BLOCK, sizeof *m->most);
    for (int i = 0; i < 4; i++)
        m->feature[i] = formats_lay(&at->coding, stride, sizeof *m->feature[i]);
    m->logit = formats_lay(&at->coding, stride, sizeof *m->logit);
    m->zeros = formats_lay(&at->coding, stride, sizeof *m->zeros);
    if (g->linked) {
        m->value = formats_lay(&at->coding, stride, sizeof *m->value);
        m->from_side = formats_lay(&at->coding, stride, sizeof *m->from_side);
        if (t->causal) codec_causal_lay_out(&m->causal, g, &at->coding);
    }
    if (t->conditional) codec_conditional_lay_out(&m->conditional, t->conditional, g->n, at);
}

void codec_context_model_reset(codec_context_model *m, const codec_group *g) {
    if (g->tables->density) return;
    m->causal.on = 0;
    set_priors(m, g->tables);
    if (g->tables->conditional) codec_conditional_reset(&m->conditional, g->n);
}
