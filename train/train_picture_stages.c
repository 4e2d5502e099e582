/* train_picture_stages.c -- models with bit planes, linear or dense: begins with the linear
 * transform, calibrates it, and adds networks; see train_stages.h. */
#include "train/calibrate/ms_ssim_gain.h"
#include "train/linear/lap_design.h"
#include "train/optimise/checkpoint.h"
#include "train/train_parts.h"
#include "train/train_stages.h"
#include <stdlib.h>

/* Windows overlap if an image has several. */
static void set_lap(taper_model *m, const train_job *j) {
    uint32_t width = m->window.width, height = m->window.height, several = 0;
    uint32_t most = (width < height ? width : height) / 2, reach = j->options.lap;
    if (j->options.family == TAPER_FAMILY_DENSE) return;
    for (size_t i = 0; i < j->data->n; i++)
        several |= j->data->image[i].width > width || j->data->image[i].height > height;
    if (reach > most) reach = most; /* TRAIN_LAP_AUTO too */
    if (reach > CODEC_LAP_MOST) reach = CODEC_LAP_MOST;
    if (!several || !reach) return;
    train_lap_design(&m->lap, reach);
    m->window.lap = &m->lap;
}

static taper_status begin(taper_model *m, const train_job *j, taper_error *error) {
    const train_options *o = &j->options;
    const uint32_t inputs = codec_window_values(m->window);
    const uint32_t most = o->units ? o->units : TRAIN_MOST_UNITS;
    const uint32_t units = most < inputs ? most : inputs;
    m->tied = o->family != TAPER_FAMILY_DENSE;
    m->info.family = m->tied ? TAPER_FAMILY_PCA : TAPER_FAMILY_DENSE; /* conv: set later */
    if (codec_network_alloc(&m->network, inputs, units, CODEC_TIED, NULL, 0, NULL, 0))
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for %u units", units);
    set_lap(m, j);
    return train_fit_basis(m, j, error);
}

static taper_status calibrate_linear(taper_model *m, const train_job *j, taper_error *error) {
    int perceptual = j->options.loss == TRAIN_MS_SSIM;
    train_say(j, perceptual ? "errors of units" : "calibration", -1);
    if (!m->window.lap && !perceptual) return train_round_and_calibrate(m, j, NULL, error);
    double *gain = malloc(m->network.units * sizeof *gain);
    taper_status status = gain ? TAPER_OK : TAPER_ERR_NOMEM;
    for (uint32_t u = 0; u < m->network.units && gain; u++) gain[u] = 1; /* orthonormal */
    if (status == TAPER_OK && m->window.lap) status = train_lap_gains(m, gain);
    if (status == TAPER_OK && perceptual) {
        status = train_ms_ssim_gains(m, j->data, j->be->pool, gain);
        train_say(j, "calibration", -1);
    }
    status = status == TAPER_OK
                 ? train_round_and_calibrate(m, j, gain, error)
                 : formats_fail(error, status, "the gains of units could not be measured");
    free(gain);
    return status;
}

static taper_status end(taper_model *m, const train_job *j, taper_error *error) {
    return j->options.family == TAPER_FAMILY_DENSE ? train_dense_stages(m, j, error)
                                                   : calibrate_linear(m, j, error);
}

/* Adds conditional model and head. For family dense, their checkpoints have a suffix, because the
 * autoencoder has its own. */
static taper_status add_predictors(taper_model *m, const train_job *j, taper_error *error) {
    train_job with = *j;
    char *path;
    TAPER_TRY(train_checkpoint_suffixed(&path, j->options.conditional.saving.path,
                                        j->options.family == TAPER_FAMILY_DENSE ? ".bits" : "",
                                        error));
    with.options.conditional.saving.path = with.options.head.saving.path = path;
    taper_status status = train_add_conditional(m, &with, error);
    free(path);
    return status;
}

static taper_status extend(taper_model *m, const train_job *j, int *extended, taper_error *error) {
    const train_options *o = &j->options;
    const int predict = o->conditional.hidden || o->head.hidden;
    const int restore = o->family == TAPER_FAMILY_CONV;
    *extended = predict || restore;
    if (predict) TAPER_TRY(add_predictors(m, j, error));
    return restore ? train_add_restoration(m, j, error) : TAPER_OK;
}

const train_stages train_picture_stages = {begin, end, extend};
