/* train_conditional_stage.c -- a conditional model and a head for a calibrated model; see
 * train_parts.h. */
#include "train/conditional/conditional_trainer.h"
#include "train/optimise/checkpoint.h"
#include "train/train_parts.h"
#include "train/train_stages.h"
#include <stdlib.h>

/* Passes up to a quality, by what validation has measured at the ends of layers. */
static uint32_t passes_up_to(const codec_code_tables *t, const train_rd_curve *curve, double psnr) {
    for (uint32_t l = 0; l < curve->n && l < t->n_layers; l++)
        if (curve->point[l].psnr_db >= psnr) return t->layer[l].pass;
    return t->n_passes;
}

typedef struct lesson {
    taper_model *model;
    const train_dataset *data;
    const train_codes *codes;
    codec_backend *be;
    void *user;
    train_rd_curve curve; /* on the validation part, as the model is */
    int stopped;
} lesson;

static void drop_head(codec_code_tables *t) {
    codec_conditional_free(t->head);
    free(t->head), free(t->head_depth);
    t->head = NULL, t->head_depth = NULL;
}

/* Learn one of the two. A head is kept only where validation says that it gains. */
static taper_status learn(lesson *l, const train_conditional_options *options,
                          train_steps_progress_fn *progress, taper_error *error) {
    train_rd_curve with;
    uint32_t end = passes_up_to(&l->model->tables, &l->curve, options->psnr_end);
    if (!options->hidden || l->stopped) return TAPER_OK;
    TAPER_TRY(train_conditional(l->model, options, l->data, l->codes, end, l->be, progress, l->user,
                                &l->stopped, error));
    TAPER_TRY(train_evaluate_validation(l->model, l->data, l->be, &with, error));
    if (options->head && train_compare_curves(&with, &l->curve) >= 0)
        drop_head(&l->model->tables);
    else
        l->curve = with;
    return TAPER_OK;
}

static taper_status learn_both(lesson *l, const train_options *options, const train_hooks *hooks,
                               taper_error *error) {
    train_conditional_options head = options->head;
    char *path = train_checkpoint_beside(head.checkpoint, ".head");
    if (head.checkpoint && !path)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for a checkpoint's name");
    head.head = 1;
    head.checkpoint = path;
    taper_status status = learn(l, &options->conditional, hooks ? hooks->conditional : NULL, error);
    if (status == TAPER_OK) status = learn(l, &head, hooks ? hooks->head : NULL, error);
    free(path);
    return status;
}

taper_status train_add_conditional(taper_model *m, const train_options *options,
                                   const train_dataset *data, codec_backend *be,
                                   const train_hooks *hooks, taper_error *error) {
    train_selection s;
    float *code = NULL;
    lesson l = {.model = m, .data = data, .be = be, .user = hooks ? hooks->user : NULL};
    int asked = options->conditional.hidden || options->head.hidden;
    if (train_select_for_calibration(&s, data, m->window, m->network.units) != TAPER_OK)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to select images");
    taper_status status = train_encode_selection(m, be, data, &s, &code, error);
    train_codes codes = {code, s.windows, s.grid, s.n};
    l.codes = &codes;
    if (status == TAPER_OK && options->from) status = train_refit_contexts(m, &codes, error);
    train_say(hooks, "validation", -1);
    if (status == TAPER_OK && asked)
        status = train_evaluate_validation(m, data, be, &l.curve, error);
    train_say(hooks, "learning to predict", -1);
    if (status == TAPER_OK && asked) status = learn_both(&l, options, hooks, error);
    free(code);
    train_selection_free(&s);
    return status;
}
