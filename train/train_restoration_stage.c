/* train_restoration_stage.c -- family conv: a restoration network for a model of family pca; see
 * train_parts.h. */
#include "train/optimise/checkpoint.h"
#include "train/restoration/restoration_trainer.h"
#include "train/train_parts.h"
#include "train/train_stages.h"
#include <stdlib.h>

static taper_status learn(taper_model *m, const train_options *given, const train_dataset *data,
                          const train_codes *codes, codec_backend *be, const train_hooks *hooks,
                          taper_error *error) {
    train_restoration_options options = given->restoration;
    char *path = train_checkpoint_beside(options.checkpoint, ".conv");
    if (options.checkpoint && !path)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for a checkpoint's name");
    options.checkpoint = path;
    train_say(hooks, "learning to restore", -1);
    taper_status status =
        train_restoration(m, &options, data, codes, be, hooks ? hooks->restoration : NULL,
                          hooks ? hooks->user : NULL, NULL, error);
    free(path);
    return status;
}

taper_status train_add_restoration(taper_model *m, const train_options *options,
                                   const train_dataset *data, codec_backend *be,
                                   const train_hooks *hooks, taper_error *error) {
    train_selection s;
    float *code = NULL;
    train_rd_curve without, with;
    if (train_select_for_calibration(&s, data, m->window, m->network.units) != TAPER_OK)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to select images");
    taper_status status = train_encode_selection(m, be, data, &s, &code, error);
    train_codes codes = {code, s.windows, s.grid, s.n};
    train_say(hooks, "validation", -1);
    if (status == TAPER_OK) status = train_evaluate_validation(m, data, be, &without, error);
    if (status == TAPER_OK) status = learn(m, options, data, &codes, be, hooks, error);
    train_say(hooks, "validation", -1);
    if (status == TAPER_OK) status = train_evaluate_validation(m, data, be, &with, error);
    if (status == TAPER_OK && train_compare_curves(&with, &without) >= 0) {
        codec_restoration_free(&m->restoration);
        m->info.family = TAPER_FAMILY_PCA;
    }
    free(code);
    train_selection_free(&s);
    return status;
}
