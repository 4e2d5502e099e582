/* train_conditional_stage.c -- a conditional model for a calibrated one; see train_parts.h. */
#include "conditional_trainer.h"
#include "train_parts.h"
#include <stdlib.h>

typedef struct talk {
    const train_hooks *hooks;
} talk;

static int tell(void *user, const train_conditional_progress *p) {
    const train_hooks *hooks = ((talk *)user)->hooks;
    return hooks && hooks->conditional ? hooks->conditional(hooks->user, p) : 0;
}

/* Passes up to a quality, by what validation has measured at the ends of layers. */
static uint32_t passes_up_to(const codec_code_tables *t, const train_rd_curve *curve, double psnr) {
    for (uint32_t l = 0; l < curve->n && l < t->n_layers; l++)
        if (curve->point[l].psnr_db >= psnr) return t->layer[l].pass;
    return t->n_passes;
}

taper_status train_add_conditional(taper_model *m, const train_options *options,
                                   const train_dataset *data, codec_backend *be,
                                   const train_hooks *hooks, taper_error *error) {
    train_rd_curve curve;
    train_selection s;
    float *code = NULL;
    talk to = {hooks};
    if (!options->conditional.hidden) return TAPER_OK;
    train_say(hooks, "validation", -1);
    TAPER_TRY(train_evaluate_validation(m, data, be, &curve, error));
    uint32_t end = passes_up_to(&m->tables, &curve, options->conditional.psnr_end);
    if (train_select_for_calibration(&s, data, m->window, m->network.units) != TAPER_OK)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to select images");
    taper_status status = train_encode_selection(m, be, data, &s, &code, error);
    train_codes codes = {code, s.windows, s.grid, s.n};
    train_say(hooks, "conditional model", -1);
    if (status == TAPER_OK)
        status = train_conditional(m, &options->conditional, data, &codes, end, be, tell, &to,
                                   error);
    free(code);
    train_selection_free(&s);
    return status;
}
