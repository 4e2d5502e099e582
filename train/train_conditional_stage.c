/* train_conditional_stage.c -- a conditional model and a head for a calibrated model; see
 * train_parts.h. */
#include "train/conditional/conditional_trainer.h"
#include "train/optimise/checkpoint.h"
#include "train/train_parts.h"
#include "train/train_stages.h"
#include <stdlib.h>

/* Number of passes up to a quality, measured on the validation part at the ends of layers. */
static uint32_t passes_up_to(const codec_code_tables *t, const train_rd_curve *curve, double psnr) {
    for (uint32_t l = 0; l < curve->n && l < t->n_layers; l++)
        if (curve->point[l].psnr_db >= psnr) return t->layer[l].pass;
    return t->n_passes;
}

typedef struct training {
    taper_model *model;
    const train_job *job;
    train_sample sample;
    train_rd_curve curve; /* of the present model on the validation part */
    int stopped;
} training;

static void drop_head(codec_code_tables *t) {
    codec_conditional_free(t->head);
    free(t->head), free(t->head_depth);
    t->head = NULL, t->head_depth = NULL;
}

/* Trains one of the two. A head is kept only if the validation error falls. */
static taper_status learn(training *l, const train_conditional_options *options,
                          train_steps_progress_fn *progress, taper_error *error) {
    const train_job *j = l->job;
    train_rd_curve with;
    train_conditional_options own = *options;
    own.end = passes_up_to(&l->model->tables, &l->curve, options->psnr_end);
    own.progress = progress, own.user = j->hooks->user;
    if (!options->hidden || l->stopped) return TAPER_OK;
    TAPER_TRY(train_conditional(l->model, &own, j->data, &l->sample.codes, j->be, j->device,
                                &l->stopped, error));
    TAPER_TRY(train_evaluate_validation(l->model, j, &with, error));
    if (options->head && train_compare_curves(&with, &l->curve) >= 0)
        drop_head(&l->model->tables);
    else
        l->curve = with;
    return TAPER_OK;
}

static taper_status learn_both(training *l, taper_error *error) {
    const train_job *j = l->job;
    train_conditional_options head = j->options.head;
    char *path;
    TAPER_TRY(train_checkpoint_suffixed(&path, head.saving.path, ".head", error));
    head.head = 1;
    head.saving.path = path;
    taper_status status = learn(l, &j->options.conditional, j->hooks->conditional, error);
    if (status == TAPER_OK) status = learn(l, &head, j->hooks->head, error);
    free(path);
    return status;
}

taper_status train_add_conditional(taper_model *m, const train_job *j, taper_error *error) {
    training l = {.model = m, .job = j};
    int asked = j->options.conditional.hidden || j->options.head.hidden;
    TAPER_TRY(train_sample_take(&l.sample, m, j, error));
    taper_status status = TAPER_OK;
    if (j->options.from) status = train_refit_contexts(m, &l.sample.codes, error);
    train_say(j, "validation", -1);
    if (status == TAPER_OK && asked) status = train_evaluate_validation(m, j, &l.curve, error);
    train_say(j, "learning to predict", -1);
    if (status == TAPER_OK && asked) status = learn_both(&l, error);
    train_sample_free(&l.sample);
    return status;
}
