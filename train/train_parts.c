/* train_parts.c -- see train_parts.h. */
#include "train/train_parts.h"
#include "codec/transform/pseudo_inverse.h"
#include <stdlib.h>

enum { EVALUATION_PIXELS = 1 << 22 };

void train_say(const train_job *j, const char *stage, double part) {
    if (j->hooks->stage) j->hooks->stage(j->hooks->user, stage, part);
}

/* Selects held-out images if the network may have overfitted the training images. */
static taper_status select_images(train_selection *s, const train_dataset *data,
                                  codec_window window, uint32_t units) {
    enum { WORK = 30000000, PASSES_PER_UNIT = 7, ROWS_PER_INPUT = 50, FEWEST = 200 };
    enum { IMAGES = 24, MOST_WORK = 5 }; /* also enough images if they are large */
    size_t most = WORK / ((size_t)units * PASSES_PER_UNIT) + FEWEST;
    TAPER_TRY(train_select(s, data, window, TRAIN_PART_TRAINING, SIZE_MAX / 2));
    size_t wanted = s->n ? s->windows / s->n * IMAGES : 0;
    if (wanted > most) most = wanted < most * MOST_WORK ? wanted : most * MOST_WORK;
    int plenty = s->windows >= (size_t)ROWS_PER_INPUT * codec_window_values(window);
    train_selection_free(s);
    TAPER_TRY(train_select(s, data, window, plenty ? TRAIN_PART_ALL : TRAIN_PART_VALIDATION, most));
    if (plenty || s->windows >= FEWEST) return TAPER_OK;
    train_selection_free(s);
    return train_select(s, data, window, TRAIN_PART_ALL, most);
}

taper_status train_sample_encode(train_sample *s, const taper_model *m, const train_job *j,
                                 taper_error *error) {
    free(s->code), s->code = NULL;
    TAPER_TRY(train_encode_selection(m, j->be, j->data, &s->images, &s->code, error));
    s->codes = (train_codes){s->code, s->images.windows, s->images.grid, s->images.n};
    return TAPER_OK;
}

taper_status train_sample_take(train_sample *s, const taper_model *m, const train_job *j,
                               taper_error *error) {
    *s = (train_sample){0};
    if (select_images(&s->images, j->data, m->window, m->network.units) != TAPER_OK)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to select images");
    taper_status status = train_sample_encode(s, m, j, error);
    if (status != TAPER_OK) train_sample_free(s);
    return status;
}

void train_sample_free(train_sample *s) {
    train_selection_free(&s->images);
    free(s->code), s->code = NULL;
}

/* Recomputes the analysis from the rounded synthesis. For tied models. */
taper_status train_renew_analysis(taper_model *m, const train_job *j, taper_error *error) {
    codec_network *net = &m->network;
    if (!m->tied) return TAPER_OK;
    if (net->analysis == net->synthesis)
        net->analysis = malloc((size_t)net->units * net->inputs * sizeof(float));
    if (!net->analysis) {
        net->analysis = net->synthesis;
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for the analysis");
    }
    taper_status status =
        codec_pseudo_inverse(j->be, net->synthesis, net->units, net->inputs, net->analysis);
    return status == TAPER_OK
               ? status
               : formats_fail(error, status,
                              "the rounded weights cannot be inverted; lower --weight-error");
}

/* Sets the quantiser for the scales, rounds the weights as in the file, then computes all tables
 * from codes of the rounded network. */
taper_status train_round_and_calibrate(taper_model *m, const train_job *j, const double *unit_gain,
                                       taper_error *error) {
    train_sample s;
    codec_weight_precision precision = train_stored_precision(j);
    train_calibrate_options calibrate = {j->options.step > 0 ? j->options.step : 2, unit_gain};
    TAPER_TRY(train_sample_take(&s, m, j, error));
    taper_status status = train_set_quantiser(m, &s.codes, &calibrate, error);
    if (status == TAPER_OK) status = codec_model_round_weights(m, &precision, error);
    if (status == TAPER_OK) status = train_renew_analysis(m, j, error);
    if (status == TAPER_OK) status = train_sample_encode(&s, m, j, error);
    if (status == TAPER_OK) status = train_calibrate(m, &s.codes, &calibrate, error);
    train_sample_free(&s);
    return status;
}

codec_weight_precision train_stored_precision(const train_job *j) {
    return (codec_weight_precision){j->options.linear_mse > 0 ? j->options.linear_mse : 0.25, 8};
}

taper_status train_evaluate_validation(const taper_model *m, const train_job *j,
                                       train_rd_curve *curve, taper_error *error) {
    train_selection s;
    if (train_select(&s, j->data, m->window, TRAIN_PART_VALIDATION,
                     EVALUATION_PIXELS / (m->window.width * m->window.height) + 1))
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to select images");
    taper_status status = train_evaluate(m, j->be, j->data, &s, curve, error);
    train_selection_free(&s);
    return status;
}
