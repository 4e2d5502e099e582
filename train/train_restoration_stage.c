/* train_restoration_stage.c -- family conv: a restoration network for a model of family pca; see
 * train_parts.h. */
#include "train/optimise/checkpoint.h"
#include "train/restoration/restoration_trainer.h"
#include "train/train_parts.h"
#include "train/train_stages.h"
#include <stdlib.h>

static taper_status learn(taper_model *m, const train_job *j, const train_codes *codes,
                          taper_error *error) {
    train_restoration_options options = j->options.restoration;
    char *path;
    TAPER_TRY(train_checkpoint_suffixed(&path, options.saving.path, ".conv", error));
    options.saving.path = path;
    train_say(j, "learning to restore", -1);
    taper_status status = train_restoration(m, &options, j->data, codes, j->be, j->device,
                                            j->hooks->restoration, j->hooks->user, NULL, error);
    free(path);
    return status;
}

taper_status train_add_restoration(taper_model *m, const train_job *j, taper_error *error) {
    train_sample s;
    train_rd_curve without, with;
    TAPER_TRY(train_sample_take(&s, m, j, error));
    train_say(j, "validation", -1);
    taper_status status = train_evaluate_validation(m, j, &without, error);
    if (status == TAPER_OK) status = learn(m, j, &s.codes, error);
    train_say(j, "validation", -1);
    if (status == TAPER_OK) status = train_evaluate_validation(m, j, &with, error);
    if (status == TAPER_OK && train_compare_curves(&with, &without) >= 0) {
        codec_restoration_free(&m->restoration);
        m->info.family = TAPER_FAMILY_PCA;
    }
    train_sample_free(&s);
    return status;
}
