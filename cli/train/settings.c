/* settings.c -- see settings.h. */
#include "cli/train/settings.h"
#include "cli/common/signals.h"
#include <string.h>

const char *const cli_train_codes[] = {"planes", "units", "binary", NULL};
const char *const cli_train_losses[] = {"mse", "ms-ssim", NULL};

/* --- what it means ---------------------------------------------------------------------- */

static train_saving saving_of(const cli_train_settings *s) {
    return (train_saving){s->checkpoint, s->resume, cli_signals_watch()};
}

/* If units see the residual of earlier units, one bad unit damages all later ones: at 0.006 the
 * error of 1,024 units jumped during a run. A tied decoder also changes what its units see: at
 * 0.003 three seeds ended at 363 +- 29. */
static const float rate_with_feedback = 0.003f, rate_tied_with_feedback = 0.0015f;

static train_nested_choice nested_of(const cli_train_settings *s) {
    static const codec_activation activation[] = {CODEC_RELU, CODEC_LOGISTIC, CODEC_LINEAR};
    train_nested_choice c = train_nested_choice_defaults();
    train_nested_options *o = &c.training;
    if (s->truncation) c.truncation = strcmp(s->truncation, "none") ? s->truncation : NULL;
    c.tied = !s->untied;
    c.independent = s->independent;
    c.hidden_activation = activation[s->activation];
    c.unit_activation = activation[s->unit];
    c.centre = (float)s->centre;
    o->sweep.on = s->sweep != 0;
    o->orthonormal = s->orthonormal != 0 && s->code == TRAIN_CODE_UNITS;
    o->corruption = (float)s->corrupt;
    o->dropout = (float)s->dropout;
    o->invariance = (float)s->invariance;
    o->beta = s->beta;
    o->straight_through = s->gradient == 0;
    o->class_units = (uint32_t)s->class_units;
    o->class_weight = (float)s->class_weight;
    o->class_lengths = cli_embedding_lengths(&s->embedding, o->class_units);
    o->optimiser = s->optimiser ? TRAIN_CG : TRAIN_ADAM;
    o->epochs = (uint32_t)s->epochs;
    o->batch = (uint32_t)s->batch;
    if (s->code == TRAIN_CODE_BINARY && !c.independent)
        o->rate = c.tied ? rate_tied_with_feedback : rate_with_feedback;
    if (s->rate > 0) o->rate = (float)s->rate;
    o->seed = (uint64_t)s->seed;
    o->saving = saving_of(s);
    return c;
}

train_options cli_train_options(const cli_train_settings *s, uint32_t hidden[CODEC_MAX_LAYERS]) {
    train_options o = {.family = (taper_family)s->family,
                       .basis = (train_basis)s->basis,
                       .loss = (train_metric)s->loss,
                       .units = (uint32_t)s->units,
                       .linear_mse = s->weight_error,
                       .set_images = (uint64_t)s->set_images,
                       .code = (train_code)s->code,
                       .dense = train_dense_defaults(),
                       .nested = nested_of(s),
                       .conditional = train_conditional_defaults(),
                       .restoration = train_restoration_defaults()};
    o.conditional.hidden = s->fast ? 0 : (uint32_t)s->conditional;
    o.conditional.epochs = (uint32_t)s->predict_epochs;
    o.conditional.seed = (uint64_t)s->seed;
    o.conditional.saving = o.restoration.saving = o.dense.saving = saving_of(s);
    o.restoration.hidden = (uint32_t)s->restore;
    o.restore_anew = s->from && cli_options_given("restore");
    o.restoration.steps = (uint32_t)s->restore_steps;
    o.restoration.seed = (uint64_t)s->seed;
    if (s->quality.count) o.conditional.psnr_end = s->quality.item[s->quality.count - 1];
    o.head = o.conditional;
    o.head.hidden = s->fast ? 0 : (uint32_t)s->head;
    o.dense.epochs = (uint32_t)s->epochs;
    o.dense.batch = (uint32_t)s->batch;
    if (s->rate > 0) o.dense.rate = (float)s->rate;
    o.dense.lambda = (float)s->lambda;
    o.dense.rho = (float)s->rho;
    o.dense.truncated_fraction = (float)s->truncated;
    o.dense.jitter = (float)s->jitter;
    if (s->quality.count) {
        o.dense.psnr_low = s->quality.item[0];
        o.dense.psnr_high = s->quality.item[s->quality.count - 1];
    }
    if (s->truncation && strcmp(s->truncation, "none")) o.dense.truncation = s->truncation;
    o.dense.patience = (uint32_t)s->patience;
    o.dense.seed = (uint64_t)s->seed;
    for (size_t i = 0; i < s->hidden.count && i < CODEC_MAX_LAYERS; i++)
        hidden[i] = (uint32_t)s->hidden.item[i];
    o.n_hidden = (uint32_t)s->hidden.count;
    if (s->hidden.count) o.hidden = hidden;
    return o;
}

taper_status cli_train_embedding(const cli_train_settings *s, uint32_t hidden[CODEC_MAX_LAYERS],
                                 train_embedding_choice *c, taper_error *error) {
    *c = (train_embedding_choice){.units = (uint32_t)s->units,
                                  .hidden = hidden,
                                  .n_hidden = (uint32_t)s->hidden.count,
                                  .training = train_embedding_defaults(),
                                  .side = s->side == TRAIN_WINDOW_WHOLE ? TRAIN_EMBEDDING_WHOLE
                                                                        : s->side,
                                  .max_work = s->common.max_work,
                                  .max_model = s->common.max_model};
    train_embedding_options *o = &c->training;
    for (size_t i = 0; i < s->hidden.count && i < CODEC_MAX_LAYERS; i++)
        hidden[i] = (uint32_t)s->hidden.item[i];
    o->epochs = (uint32_t)s->epochs;
    if (cli_options_given("batch")) o->batch = (uint32_t)s->batch;
    o->rate = (float)s->rate;
    o->optimiser = s->optimiser ? TRAIN_CG : TRAIN_ADAM;
    o->noise.corrupt = (float)s->corrupt;
    o->noise.dropout = (float)s->dropout;
    o->threads = cli_threads(&s->common);
    o->seed = (uint64_t)s->seed;
    o->saving = saving_of(s);
    o->binary = s->code == TRAIN_CODE_BINARY;
    return cli_embedding_choose(&s->embedding, c, error);
}

/* --- does it go together? -------------------------------------------------------------- */

/* "auto", or a number of pixels from min to max. */
static bool parse_pixels(const char *text, uint32_t automatic, int64_t min, int64_t max,
                         uint32_t *pixels) {
    int64_t given = automatic;
    bool is_auto = !strcmp(text, "auto");
    if (!is_auto && (!cli_parse_int(text, &given) || given < min || given > max)) return false;
    *pixels = (uint32_t)given;
    return true;
}

static bool parse_window(const char *text, uint32_t *window) {
    if (strcmp(text, "whole")) return parse_pixels(text, TRAIN_WINDOW_AUTO, 2, 64, window);
    *window = TRAIN_WINDOW_WHOLE;
    return true;
}

/* Check options that the adapted model determines. */
static taper_status check_from(taper_error *error) {
    static const char *const fixed[] = {"window",      "lap",  "basis", "loss",  "units",
                                        "conditional", "head", "fast",  "family"};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        if (cli_options_given(fixed[i]))
            return formats_fail(error, TAPER_ERR_ARG, "--from keeps the model's shape: omit --%s",
                                fixed[i]);
    return TAPER_OK;
}

/* Check options that do not apply to embedding models. Done before images are read. */
static taper_status check_embedding(const cli_train_settings *s, taper_error *error) {
    static const char *const others[] = {"family", "preset", "from", "fast"};
    uint32_t hidden[CODEC_MAX_LAYERS];
    train_embedding_choice unused;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (cli_options_given(others[i]) &&
            !(cli_embedding_is_searched(&s->embedding) && !strcmp(others[i], "preset")))
            return formats_fail(error, TAPER_ERR_ARG,
                                "--objective makes an embedding model: omit --%s", others[i]);
    if (s->code == TRAIN_CODE_UNITS || (cli_options_given("code") && !s->code))
        return formats_fail(error, TAPER_ERR_ARG,
                            "--objective makes codes of numbers, or with --code binary of bits: "
                            "omit --code %s",
                            cli_train_codes[s->code]);
    return cli_train_embedding(s, hidden, &unused, error);
}

/* Check that all outputs have different names. */
static taper_status check_names(const cli_train_settings *s, taper_error *error) {
    static const char *const option[] = {"--output", "--checkpoint", "--log"};
    const char *const file[] = {s->output, s->checkpoint, s->log};
    for (int i = 0; i < 3; i++)
        for (int k = i + 1; k < 3; k++)
            if (file[i] && file[k] && !strcmp(file[i], file[k]))
                return formats_fail(error, TAPER_ERR_ARG, "%s and %s are the same; give two names",
                                    option[i], option[k]);
    return TAPER_OK;
}

taper_status cli_train_check(cli_train_settings *s, taper_error *error) {
    if (!parse_window(s->window, &s->side))
        return formats_fail(error, TAPER_ERR_ARG, "--window is auto, whole or 2 to 64, not '%s'",
                            s->window);
    if (!parse_pixels(s->lap, TRAIN_LAP_AUTO, 0, CODEC_LAP_MOST, &s->reach))
        return formats_fail(error, TAPER_ERR_ARG, "--lap is auto or 0 to %d, not '%s'",
                            CODEC_LAP_MOST, s->lap);
    if (s->resume && !s->checkpoint)
        return formats_fail(error, TAPER_ERR_ARG, "--resume needs --checkpoint FILE");
    TAPER_TRY(check_names(s, error));
    if (s->code && s->family != TAPER_FAMILY_DENSE && !s->embedding.objective)
        return formats_fail(error, TAPER_ERR_ARG, "--code %s needs --family dense",
                            cli_train_codes[s->code]);
    if (s->code && (s->conditional || s->head))
        return formats_fail(error, TAPER_ERR_ARG, "--conditional and --head need --code planes");
    if (s->class_units && (s->code != TRAIN_CODE_BINARY || s->embedding.objective))
        return formats_fail(error, TAPER_ERR_ARG,
                            "--class-units needs --family dense --code binary");
    if (s->loss && s->family == TAPER_FAMILY_DENSE)
        return formats_fail(error, TAPER_ERR_ARG, "--loss %s needs --family pca or conv",
                            cli_train_losses[s->loss]);
    if (s->fast && s->family == TAPER_FAMILY_CONV)
        return formats_fail(error, TAPER_ERR_ARG,
                            "--fast is without networks, --family conv with one");
    if (s->restore % 8)
        return formats_fail(error, TAPER_ERR_ARG, "--restore is a multiple of 8, not %lld",
                            (long long)s->restore);
    if (s->embedding.objective) TAPER_TRY(check_embedding(s, error));
    return s->from ? check_from(error) : TAPER_OK;
}
