/* train_restoration_stage.c -- family conv: a restoration network for a model of family pca; see
 * train_parts.h. */
#include "train/optimise/checkpoint.h"
#include "train/restoration/restoration_network.h"
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
    options.progress = j->hooks->restoration, options.user = j->hooks->user;
    train_say(j, "learning to restore", -1);
    taper_status status =
        train_restoration(m, &options, j->data, codes, j->be, j->device, NULL, error);
    free(path);
    return status;
}

/* Chooses the scale of the activations by validation, from the scale as trained on: twice as much
 * each time, as long as that helps. *curve: of the network as it is. */
static taper_status choose_scale(taper_model *m, const train_job *j, train_rd_curve *curve,
                                 taper_error *error) {
    enum { MOST = 4 };
    uint32_t k = 0;
    TAPER_TRY(train_evaluate_validation(m, j, curve, error));
    for (; k < MOST && train_restoration_scale(&m->restoration, 1) == TAPER_OK; k++) {
        train_rd_curve more;
        TAPER_TRY(train_evaluate_validation(m, j, &more, error));
        if (train_compare_curves(&more, curve) < 0)
            *curve = more;
        else
            return train_restoration_scale(&m->restoration, -1);
    }
    return TAPER_OK;
}

taper_status train_add_restoration(taper_model *m, const train_job *j, taper_error *error) {
    train_sample s;
    train_rd_curve without, with;
    TAPER_TRY(train_sample_take(&s, m, j, error));
    train_say(j, "validation", -1);
    taper_status status = train_evaluate_validation(m, j, &without, error);
    if (status == TAPER_OK) status = learn(m, j, &s.codes, error);
    train_say(j, "validation", -1);
    if (status == TAPER_OK) status = choose_scale(m, j, &with, error);
    if (status == TAPER_OK && train_compare_curves(&with, &without) >= 0) {
        codec_restoration_free(&m->restoration);
        m->info.family = TAPER_FAMILY_PCA;
    }
    train_sample_free(&s);
    return status;
}
