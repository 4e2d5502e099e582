/* train_conditional_stage.c -- a conditional model and a head for a calibrated model; see
 * train_parts.h. */
#include "conditional_trainer.h"
#include "train_parts.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Passes up to a quality, by what validation has measured at the ends of layers. */
static uint32_t passes_up_to(const codec_code_tables *t, const train_rd_curve *curve, double psnr) {
    for (uint32_t l = 0; l < curve->n && l < t->n_layers; l++)
        if (curve->point[l].psnr_db >= psnr) return t->layer[l].pass;
    return t->n_passes;
}

/* PATH.head: the two networks have a checkpoint each. malloc'd, or NULL. */
static char *head_path(const char *path) {
    size_t size = path ? strlen(path) + sizeof ".head" : 0;
    char *out = path ? malloc(size) : NULL;
    if (out) snprintf(out, size, "%s.head", path);
    return out;
}

static taper_status learn(taper_model *m, const train_options *options, const train_dataset *data,
                          const train_codes *codes, const train_rd_curve *curve, codec_backend *be,
                          const train_hooks *hooks, taper_error *error) {
    train_conditional_options head = options->head;
    const train_conditional_options *bits = &options->conditional;
    uint32_t end = passes_up_to(&m->tables, curve, bits->psnr_end),
             head_end = passes_up_to(&m->tables, curve, head.psnr_end);
    void *user = hooks ? hooks->user : NULL;
    taper_status status = TAPER_OK;
    int stopped = 0;
    if (bits->hidden)
        status = train_conditional(m, bits, data, codes, end, be, hooks ? hooks->conditional : NULL,
                                   user, &stopped, error);
    if (status != TAPER_OK || stopped || !head.hidden) return status;
    char *path = head_path(head.checkpoint);
    head.head = 1;
    head.checkpoint = path;
    status = train_conditional(m, &head, data, codes, head_end, be, hooks ? hooks->head : NULL,
                               user, NULL, error);
    free(path);
    return status;
}

taper_status train_add_conditional(taper_model *m, const train_options *options,
                                   const train_dataset *data, codec_backend *be,
                                   const train_hooks *hooks, taper_error *error) {
    train_rd_curve curve;
    train_selection s;
    float *code = NULL;
    if (!options->conditional.hidden && !options->head.hidden) return TAPER_OK;
    train_say(hooks, "validation", -1);
    TAPER_TRY(train_evaluate_validation(m, data, be, &curve, error));
    if (train_select_for_calibration(&s, data, m->window, m->network.units) != TAPER_OK)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to select images");
    taper_status status = train_encode_selection(m, be, data, &s, &code, error);
    train_codes codes = {code, s.windows, s.grid, s.n};
    train_say(hooks, "learning to predict", -1);
    if (status == TAPER_OK) status = learn(m, options, data, &codes, &curve, be, hooks, error);
    free(code);
    train_selection_free(&s);
    return status;
}
