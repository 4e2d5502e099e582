/* train_parts.c -- see train_parts.h. */
#include "train/train_parts.h"
#include "codec/transform/pseudo_inverse.h"
#include <stdlib.h>

enum { EVALUATION_PIXELS = 1 << 22 };

void train_say(const train_hooks *hooks, const char *stage, double part) {
    if (hooks && hooks->stage) hooks->stage(hooks->user, stage, part);
}

/* Images that calibration learns from: held-out ones where the network may have learned its own by
 * heart. */
taper_status train_select_for_calibration(train_selection *s, const train_dataset *data,
                                          codec_window window, uint32_t units) {
    enum { WORK = 30000000, PASSES_PER_UNIT = 7, ROWS_PER_INPUT = 50, FEWEST = 200 };
    enum { IMAGES = 24, MOST_WORK = 5 }; /* large images, too, are to be more than a few */
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

/* An analysis of the rounded synthesis. For tied models. */
taper_status train_renew_analysis(taper_model *m, codec_backend *be, taper_error *error) {
    codec_network *net = &m->network;
    if (!m->tied) return TAPER_OK;
    if (net->analysis == net->synthesis)
        net->analysis = malloc((size_t)net->units * net->inputs * sizeof(float));
    if (!net->analysis) {
        net->analysis = net->synthesis;
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for the analysis");
    }
    taper_status status =
        codec_pseudo_inverse(be, net->synthesis, net->units, net->inputs, net->analysis);
    return status == TAPER_OK
               ? status
               : formats_fail(error, status,
                              "the rounded weights cannot be inverted; lower --weight-error");
}

/* Quantiser for the scales, weights rounded to what the file holds, then all tables on codes of the
 * rounded network. */
taper_status train_round_and_calibrate(taper_model *m, const train_dataset *data, codec_backend *be,
                                       const train_options *options, const double *unit_gain,
                                       taper_error *error) {
    train_selection s;
    float *codes = NULL;
    codec_weight_precision precision = train_precision(options);
    train_calibrate_options calibrate = {options->step > 0 ? options->step : 2, unit_gain};
    taper_status status = train_select_for_calibration(&s, data, m->window, m->network.units);
    if (status != TAPER_OK) return formats_fail(error, status, "no memory to select images");
    status = train_encode_selection(m, be, data, &s, &codes, error);
    train_codes sample = {codes, s.windows, s.grid, s.n};
    if (status == TAPER_OK) status = train_set_quantiser(m, &sample, &calibrate, error);
    if (status == TAPER_OK) status = codec_model_round_weights(m, &precision, error);
    if (status == TAPER_OK) status = train_renew_analysis(m, be, error);
    free(codes), codes = NULL;
    if (status == TAPER_OK) status = train_encode_selection(m, be, data, &s, &codes, error);
    sample.code = codes;
    if (status == TAPER_OK) status = train_calibrate(m, &sample, &calibrate, error);
    free(codes);
    train_selection_free(&s);
    return status;
}

codec_weight_precision train_precision(const train_options *options) {
    return (codec_weight_precision){options->linear_mse > 0 ? options->linear_mse : 0.25, 8};
}

taper_status train_evaluate_validation(const taper_model *m, const train_dataset *data,
                                       codec_backend *be, train_rd_curve *curve,
                                       taper_error *error) {
    train_selection s;
    if (train_select(&s, data, m->window, TRAIN_PART_VALIDATION,
                     EVALUATION_PIXELS / (m->window.width * m->window.height) + 1))
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to select images");
    taper_status status = train_evaluate(m, be, data, &s, curve, error);
    train_selection_free(&s);
    return status;
}
