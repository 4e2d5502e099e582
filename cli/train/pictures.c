/* pictures.c -- see pictures.h. */
#include "cli/train/pictures.h"
#include <string.h>

typedef cli_pictures settings;

static const char *const families[] = {"pca", "dense", "conv", NULL}; /* as in taper_family */
static const char *const bases[] = {"sparse", "principal", NULL};
static const char *const losses[] = {"mse", "ms-ssim", NULL};
static const char *const presets[] = {"none", "fast", "best", NULL};

/* --- options --------------------------------------------------------------------------- */

enum {
    USE_NEW = 1 << 0,
    USE_LAPS = 1 << 1,
    USE_AUTO = 1 << 2,
    USE_DENSE = 1 << 3,
    USE_SLOW = 1 << 4,
    USE_PREDICT = 1 << 5,
    USE_RESTORE = 1 << 6,
    USE_STEPS = USE_DENSE | USE_PREDICT | USE_RESTORE
};
const char *const cli_pictures_uses[] = {"a model that is not made --from another",
                                         "--family pca or conv",
                                         "--window auto",
                                         "--family dense",
                                         "a run without --fast",
                                         "--conditional or --head",
                                         "--family conv",
                                         NULL};

const cli_option cli_pictures_table[] = {
    CLI_TRAIN_OUTPUT_OPTION,
    {"from", 0, CLI_STRING, "MODEL", offsetof(settings, from),
     .help = "adapt this model: a file, or the built-in photo or tiny"},
    {"family", 0, CLI_CHOICE, "NAME", offsetof(settings, family), .choices = families,
     .initial = "pca", .help = "kind of model"},
    {"preset", 0, CLI_CHOICE, "NAME", offsetof(settings, preset), .choices = presets,
     .initial = "none", .help = "a group of settings; other options override them",
     .uses = USE_NEW},
    CLI_TRAIN_WINDOW_OPTION("side of the square that a code covers, 'whole' for the image, or "
                            "'auto'"),
    CLI_TRAIN_UNITS_OPTION("length of a code; 0: all values of the window, at most 4096"),
    {"conditional", 0, CLI_INT, "N", offsetof(settings, conditional), .min = 0, .max = 256,
     .initial = "0", .help = "hidden units of a network that predicts bits; 0: contexts only",
     .uses = USE_SLOW},
    {"head", 0, CLI_INT, "N", offsetof(settings, head), .min = 0, .max = 256, .initial = "0",
     .help = "hidden units of a network that refines decoded images; 0: none", .uses = USE_SLOW},
    {"restore", 0, CLI_INT, "N", offsetof(settings, restore), .min = 8,
     .max = CODEC_RESTORATION_MOST_HIDDEN, .initial = "32",
     .help = "conv: channels of the network that restores pixels, a multiple of 8; with --from: "
             "learn that network anew, and keep the rest of the model",
     .uses = USE_RESTORE},
    CLI_TRAIN_HIDDEN_OPTION(USE_DENSE),
    CLI_TRAIN_EPOCHS_OPTION("dense: passes over the images", USE_DENSE),
    {"fast", 0, CLI_FLAG, .offset = offsetof(settings, fast),
     .help = "predict bits by contexts only, without networks: much faster", .uses = USE_NEW},
    {"quick", 0, CLI_FLAG, .offset = offsetof(settings, quick),
     .help = "do not compare the model with the built-in ones; saves some seconds"},
    {"lap", 0, CLI_STRING, "N", offsetof(settings, lap), .initial = "auto",
     .help = "overlap of windows in pixels; 0: none; auto: half a window", .uses = USE_LAPS,
     .group = "transform"},
    {"loss", 0, CLI_CHOICE, "NAME", offsetof(settings, loss), .choices = losses, .initial = "mse",
     .help = "the error that cuts minimise", .uses = USE_LAPS, .group = "transform"},
    {"basis", 0, CLI_CHOICE, "NAME", offsetof(settings, basis), .choices = bases,
     .initial = "sparse", .help = "sparse or plain principal components", .uses = USE_NEW,
     .group = "transform"},
    CLI_TRAIN_STEP_OPTIONS("dense: windows per step", USE_DENSE, "0.001 for dense", USE_DENSE),
    {"quality", 0, CLI_NUMBERS, "LOW,HIGH", offsetof(settings, quality), .min = 1, .max = 99,
     .help = "range of PSNR in dB that cuts are trained for", .uses = USE_DENSE | USE_PREDICT,
     .group = "training"},
    {"predict-epochs", 0, CLI_INT, "N", offsetof(settings, predict_epochs), .min = 1, .max = 100000,
     .initial = "12", .help = "passes over the images for --conditional and for --head",
     .uses = USE_PREDICT, .group = "training"},
    {"restore-steps", 0, CLI_INT, "N", offsetof(settings, restore_steps), .min = 1, .max = 10000000,
     .initial = "6000", .help = "training steps for --restore, of 65,536 pixels each",
     .uses = USE_RESTORE, .group = "training"},
    {"jitter", 0, CLI_DOUBLE, "S", offsetof(settings, jitter), .min = 0, .max = 1, .initial = "0",
     .help = "share of examples that are zoomed, sheared and shifted a little in each step",
     .uses = USE_DENSE, .group = "family dense"},
    {"lambda", 0, CLI_DOUBLE, "L", offsetof(settings, lambda), .min = 0, .max = 100,
     .initial = "0.2", .help = "weight of bits against squared error", .uses = USE_DENSE,
     .group = "family dense"},
    {"patience", 0, CLI_INT, "N", offsetof(settings, patience), .min = 0, .max = 100000,
     .initial = "0", .help = "stop after N epochs without improvement; 0: never", .uses = USE_DENSE,
     .group = "family dense"},
    {"truncated", 0, CLI_DOUBLE, "S", offsetof(settings, truncated), .min = 0, .max = 1,
     .initial = "0",
     .help = "share of examples with geometric truncation; the others are cut by threshold",
     .uses = USE_DENSE, .group = "family dense"},
    {"rho", 0, CLI_DOUBLE, "R", offsetof(settings, rho), .min = 1e-6, .max = 0.999999,
     .initial = "0.95", .help = "parameter of the geometric truncation over units",
     .uses = USE_DENSE, .with = "truncated", .group = "family dense"},
    {"truncation", 0, CLI_STRING, "SPEC", offsetof(settings, truncation),
     .help = "distribution of the truncation in bytes: geometric:R, power:A,E, log-uniform:E, "
             "uniform, file:F, ladder:N,N, none",
     .uses = USE_DENSE, .group = "family dense"},
    CLI_TRAIN_SIZE_OPTIONS(USE_AUTO),
    CLI_TRAIN_RUN_OPTIONS(USE_STEPS),
    {0}};

/* Figures are in docs/training.md, "Training well". */
static const char *const fast[] = {"--family", "pca", NULL};
static const char *const best[] = {"--family", "dense",  "--epochs", "110", "--conditional",
                                   "64",       "--head", "64",       NULL};
const char *const *const cli_pictures_presets[] = {NULL, fast, best};

unsigned cli_pictures_uses_of(const settings *s, const taper_model_info *from) {
    if (from)
        return (from->conditional_hidden || from->head_hidden ? USE_PREDICT : 0) |
               (from->restoration_hidden || cli_options_given("restore") ? USE_RESTORE : 0);
    return USE_NEW | (s->fast ? 0 : USE_SLOW) | (s->run.side == TRAIN_WINDOW_AUTO ? USE_AUTO : 0) |
           (!s->fast && (s->conditional || s->head) ? USE_PREDICT : 0) |
           (s->family == TAPER_FAMILY_DENSE ? USE_DENSE : USE_LAPS) |
           (s->family == TAPER_FAMILY_CONV ? USE_RESTORE : 0);
}

/* --- checks ---------------------------------------------------------------------------- */

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

taper_status cli_pictures_check(settings *s, taper_error *error) {
    TAPER_TRY(cli_train_check(&s->run, error));
    if (!cli_train_parse_pixels(s->lap, TRAIN_LAP_AUTO, 0, CODEC_LAP_MOST, &s->reach))
        return formats_fail(error, TAPER_ERR_ARG, "--lap is auto or 0 to %d, not '%s'",
                            CODEC_LAP_MOST, s->lap);
    if (s->loss && s->family == TAPER_FAMILY_DENSE)
        return formats_fail(error, TAPER_ERR_ARG, "--loss %s needs --family pca or conv",
                            losses[s->loss]);
    if (s->fast && s->family == TAPER_FAMILY_CONV)
        return formats_fail(error, TAPER_ERR_ARG,
                            "--fast is without networks, --family conv with one");
    if (s->restore % 8)
        return formats_fail(error, TAPER_ERR_ARG, "--restore is a multiple of 8, not %lld",
                            (long long)s->restore);
    return s->from ? check_from(error) : TAPER_OK;
}

/* --- options of training --------------------------------------------------------------- */

static train_dense_options dense_of(const settings *s) {
    train_dense_options o = train_dense_defaults();
    o.epochs = (uint32_t)s->run.epochs;
    o.batch = (uint32_t)s->run.batch;
    if (s->run.rate > 0) o.rate = (float)s->run.rate;
    o.lambda = (float)s->lambda;
    o.rho = (float)s->rho;
    o.truncated_fraction = (float)s->truncated;
    o.jitter = (float)s->jitter;
    if (s->quality.count) {
        o.psnr_low = s->quality.item[0];
        o.psnr_high = s->quality.item[s->quality.count - 1];
    }
    if (s->truncation && strcmp(s->truncation, "none")) o.truncation = s->truncation;
    o.patience = (uint32_t)s->patience;
    o.seed = (uint64_t)s->run.seed;
    o.saving = cli_train_saving(&s->run);
    return o;
}

train_options cli_pictures_options(const settings *s, uint32_t hidden[CODEC_MAX_LAYERS]) {
    train_options o = {.family = (taper_family)s->family,
                       .window = s->run.side,
                       .lap = s->reach,
                       .basis = (train_basis)s->basis,
                       .loss = (train_metric)s->loss,
                       .units = (uint32_t)s->run.units,
                       .linear_mse = s->run.weight_error,
                       .set_images = (uint64_t)s->run.set_images,
                       .restore_anew = s->from && cli_options_given("restore"),
                       .dense = dense_of(s),
                       .conditional = train_conditional_defaults(),
                       .restoration = train_restoration_defaults()};
    o.conditional.hidden = s->fast ? 0 : (uint32_t)s->conditional;
    o.conditional.epochs = (uint32_t)s->predict_epochs;
    o.conditional.seed = o.restoration.seed = (uint64_t)s->run.seed;
    o.conditional.saving = o.restoration.saving = cli_train_saving(&s->run);
    if (s->quality.count) o.conditional.psnr_end = s->quality.item[s->quality.count - 1];
    o.head = o.conditional;
    o.head.hidden = s->fast ? 0 : (uint32_t)s->head;
    o.restoration.hidden = (uint32_t)s->restore;
    o.restoration.steps = (uint32_t)s->restore_steps;
    o.n_hidden = cli_train_widths(&s->run, hidden);
    if (o.n_hidden) o.hidden = hidden;
    return o;
}
