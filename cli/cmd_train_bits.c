/* cmd_train_bits.c -- `taper train-bits`: trains a code of whole units on images. */
#include "cli/cli.h"
#include "cli/training.h"
#include <string.h>

typedef struct settings {
    cli_train_run run;
    const char *truncation, *regularise;
    int preset, code, activation, unit, gradient;
    int untied, independent, sweep, orthonormal;
    int64_t class_units, cells;
    double class_weight, corrupt, dropout, invariance, beta, centre;
    cli_numbers nested;
} settings;

static const char *const codes[] = {"binary", "units", NULL};
enum { BINARY, UNITS };
static const char *const activations[] = {"relu", "logistic", "linear", NULL};
static const char *const gradients[] = {"through", "stop", NULL};
static const char *const presets[] = {"none", "paper", NULL};

/* --- options --------------------------------------------------------------------------- */

enum {
    USE_AUTO = 1 << 0,
    USE_HIDDEN = 1 << 1,
    USE_UNITS = 1 << 2,
    USE_BINARY = 1 << 3,
    USE_ORTHONORMAL = 1 << 4,
    USE_CLASSES = 1 << 5,
    USE_ADAM = 1 << 6
};
static const char *const uses[] = {"--window auto",
                                   "--hidden",
                                   "--code units",
                                   "--code binary",
                                   "--code units --unit linear without --hidden",
                                   "--class-units",
                                   "--optimiser adam",
                                   NULL};

static const cli_option options[] = {
    CLI_TRAIN_OUTPUT_OPTION,
    {"code", 0, CLI_CHOICE, "KIND", offsetof(settings, code), .choices = codes, .initial = "binary",
     .help = "units of one bit, or real numbers"},
    CLI_TRAIN_WINDOW_OPTION("side of the square that a code covers, 'whole' for the image, or "
                            "'auto'"),
    CLI_TRAIN_UNITS_OPTION("length of a code; 0: all values of the window, at most 4096"),
    CLI_TRAIN_HIDDEN_OPTION(0),
    CLI_TRAIN_EPOCHS_OPTION("passes over the images", 0),
    {"independent", 0, CLI_FLAG, .offset = offsetof(settings, independent),
     .help = "units do not see the residual of earlier units", .uses = USE_BINARY},
    {"untied", 0, CLI_FLAG, .offset = offsetof(settings, untied),
     .help = "the decoder has its own weights"},
    {"cells", 0, CLI_INT, "N", offsetof(settings, cells), .min = 0, .max = 16, .initial = "0",
     .uses = USE_BINARY,
     .help = "learn from gradient orientations in N x N cells; 0: from pixels. For search only"},
    {"class-units", 0, CLI_INT, "N", offsetof(settings, class_units), .min = 0, .max = 65535,
     .initial = "0", .uses = USE_BINARY, .help = "number of first units that also learn labels"},
    {"nested", 0, CLI_NUMBERS, "N,N", offsetof(settings, nested), .min = 1, .max = 65535,
     .help = "lengths at which these units should search well", .uses = USE_CLASSES},
    CLI_TRAIN_LABELS_OPTION(USE_CLASSES),
    CLI_TRAIN_STEP_OPTIONS("windows per step", 0, "by kind of code, 0.0015 to 0.01", USE_ADAM),
    CLI_TRAIN_OPTIMISER_OPTION(0),
    {"truncation", 0, CLI_STRING, "SPEC", offsetof(settings, truncation), .group = "training",
     .help = "distribution of the truncation: geometric:R, power:A,E, log-uniform:E, uniform, "
             "file:F, ladder:N,N, none"},
    {"corrupt", 0, CLI_DOUBLE, "P", offsetof(settings, corrupt), .min = 0, .max = 0.99,
     .initial = "0", .help = "share of pixels that are set to zero", .group = "training"},
    {"dropout", 0, CLI_DOUBLE, "P", offsetof(settings, dropout), .min = 0, .max = 0.99,
     .initial = "0", .help = "share of hidden units that are dropped", .uses = USE_HIDDEN,
     .group = "training"},
    {"class-weight", 0, CLI_DOUBLE, "W", offsetof(settings, class_weight), .min = 0, .max = 1e6,
     .initial = "1", .help = "weight of the loss of --class-units relative to the squared error",
     .uses = USE_CLASSES, .group = "training"},
    CLI_TRAIN_SIZE_OPTIONS(USE_AUTO),
    {"preset", 0, CLI_CHOICE, "NAME", offsetof(settings, preset), .choices = presets,
     .initial = "none", .help = "the settings of the paper; other options override them",
     .group = "paper"},
    {"sweep", 0, CLI_FLAG, .offset = offsetof(settings, sweep),
     .help = "freeze units one after the other, from the first; --plot also draws STEM-sweep",
     .group = "paper"},
    {"regularise", 0, CLI_STRING, "SPEC", offsetof(settings, regularise), .initial = "none",
     .help = "regularisation: l1:LAMBDA, l2:L, adaptive-l1:RATIO, adaptive-l2:R", .group = "paper"},
    {"invariance", 0, CLI_DOUBLE, "W", offsetof(settings, invariance), .min = 0, .max = 1e6,
     .initial = "0", .help = "weight of the loss for different codes of similar images",
     .group = "paper"},
    {"beta", 0, CLI_DOUBLE, "B", offsetof(settings, beta), .min = 0.001, .max = 0.999,
     .initial = "0.5", .help = "target share of ones in each unit", .uses = USE_BINARY,
     .group = "paper"},
    {"centre", 0, CLI_DOUBLE, "C", offsetof(settings, centre), .min = -1, .max = 1, .initial = "-1",
     .help = "value subtracted from each sent bit; -1: beta", .uses = USE_BINARY, .group = "paper"},
    {"gradient", 0, CLI_CHOICE, "HOW", offsetof(settings, gradient), .choices = gradients,
     .initial = "through",
     .help = "gradient at thresholds: pass it through, or stop it as in the paper",
     .uses = USE_BINARY, .group = "paper"},
    {"activation", 0, CLI_CHOICE, "NAME", offsetof(settings, activation), .choices = activations,
     .initial = "relu", .help = "activation of the hidden layers", .uses = USE_HIDDEN,
     .group = "paper"},
    {"unit", 0, CLI_CHOICE, "NAME", offsetof(settings, unit), .choices = activations,
     .initial = "linear", .help = "activation of the code", .uses = USE_UNITS, .group = "paper"},
    {"orthonormal", 0, CLI_FLAG, .offset = offsetof(settings, orthonormal),
     .help = "keep a linear decoder orthonormal, as principal components are",
     .uses = USE_ORTHONORMAL, .group = "paper"},
    CLI_TRAIN_RUN_OPTIONS(0),
    {0}};

const cli_verb cli_verb_train_bits = {
    .name = "train-bits",
    .run = cmd_train_bits,
    .what = "train a code of whole units, such as bits for an index",
    .synopsis = "[options] -o MODEL INPUT...",
    .options = options,
    .uses = uses,
    .about =
        "Learns codes of which a cut keeps the first units: single bits, or real numbers with "
        "--code units. It is the autoencoder of the nested-dropout paper. A binary model makes "
        "indexes (`taper index`) and codes in containers (`taper encode --embed-with`).\n\n"
        "Use --independent --untied -w whole for search, and --truncation log-uniform:0.5 for good "
        "short codes.\n\n"
        "--class-units 32 also trains the first 32 bits on labels: images of one class then share "
        "most of them. The later bits describe the image.\n\n"
        "`mpirun -n N taper train-bits ...` trains on N processes of MPI, as `taper train` "
        "does.\n\n"
        "The options of the group paper are for the experiments of that paper, which --preset "
        "paper repeats. The defaults train better models.",
    .examples = "taper train-bits -o bits.tpm -w whole -k 256 --independent --untied photos/\n"
                "taper train-bits -o paper.tpm --preset paper -w whole -k 1024 "
                "data_batch_*.bin\n"};

/* clang-format off */
static const char *const paper[] = {
    "--code", "binary", "--independent", "--truncation", "geometric:0.97", "--sweep",
    "--regularise", "adaptive-l1:0.01", "--corrupt", "0.1", "--dropout", "0.2",
    "--invariance", "0.01", "--beta", "0.2", "--gradient", "stop", "--centre", "0",
    "--batch", "250", "--rate", "0.02", "--epochs", "120", NULL};
/* clang-format on */

static unsigned uses_of(const cli_train_run *run, const taper_model_info *from) {
    const settings *s = (const settings *)run;
    (void)from;
    const bool linear = s->code == UNITS && !s->run.hidden.count;
    return (s->run.side == TRAIN_WINDOW_AUTO ? USE_AUTO : 0) | (s->run.optimiser ? 0 : USE_ADAM) |
           (s->run.hidden.count ? USE_HIDDEN : 0) | (linear ? USE_ORTHONORMAL : 0) |
           (s->code == UNITS ? USE_UNITS : USE_BINARY | (s->class_units ? USE_CLASSES : 0));
}

static taper_status check(cli_train_run *run, taper_error *error) {
    const settings *s = (const settings *)run;
    TAPER_TRY(cli_train_check(run, error));
    if (s->class_units && s->code != BINARY)
        return formats_fail(error, TAPER_ERR_ARG, "--class-units needs --code binary");
    if (s->cells && (s->code != BINARY || !s->independent || s->run.side != TRAIN_WINDOW_WHOLE))
        return formats_fail(error, TAPER_ERR_ARG,
                            "--cells is for bits of whole images: add --independent and "
                            "--window whole, and omit --code units");
    return TAPER_OK;
}

/* --- options of training --------------------------------------------------------------- */

/* If units see the residual of earlier units, one bad unit damages all later ones: at 0.006 the
 * error of 1,024 units jumped during a run. A tied decoder also changes what its units see: at
 * 0.003 three seeds ended at 363 +- 29. */
static const float rate_with_feedback = 0.003f, rate_tied_with_feedback = 0.0015f;

static train_nested_choice nested_of(const settings *s) {
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
    o->orthonormal = s->orthonormal != 0 && s->code == UNITS;
    o->corruption = (float)s->corrupt;
    o->dropout = (float)s->dropout;
    o->invariance = (float)s->invariance;
    o->beta = s->beta;
    o->straight_through = s->gradient == 0;
    o->class_units = (uint32_t)s->class_units;
    o->class_weight = (float)s->class_weight;
    o->class_lengths = cli_train_lengths(&s->nested, o->class_units);
    o->optimiser = s->run.optimiser ? TRAIN_CG : TRAIN_ADAM;
    o->epochs = (uint32_t)s->run.epochs;
    o->batch = (uint32_t)s->run.batch;
    if (s->code == BINARY && !c.independent)
        o->rate = c.tied ? rate_tied_with_feedback : rate_with_feedback;
    if (s->run.rate > 0) o->rate = (float)s->run.rate;
    o->seed = (uint64_t)s->run.seed;
    o->saving = cli_train_saving(&s->run);
    return c;
}

static int make(cli_training *t) {
    const settings *s = (const settings *)t->run;
    uint32_t hidden[CODEC_MAX_LAYERS];
    taper_error error = {0};
    train_options o = {.family = TAPER_FAMILY_DENSE,
                       .code = s->code == UNITS ? TRAIN_CODE_UNITS : TRAIN_CODE_BINARY,
                       .window = s->run.side,
                       .units = (uint32_t)s->run.units,
                       .linear_mse = s->run.weight_error,
                       .set_images = (uint64_t)s->run.set_images,
                       .nested = nested_of(s),
                       .cells = (uint32_t)s->cells,
                       .n_hidden = cli_train_widths(&s->run, hidden)};
    if (o.n_hidden) o.hidden = hidden;
    if (s->sweep && s->run.hidden.count)
        cli_note(&s->run.common, t->verb->name,
                 "with --hidden the layers below frozen units continue to change, and short codes "
                 "get worse; --truncation log-uniform:0.5 without --sweep trains all lengths");
    const taper_status status =
        train_regulariser_parse(&o.nested.training.regulariser, s->regularise, &error);
    if (status != TAPER_OK) return cli_fail(t->verb->name, "--regularise", status, &error);
    return cli_training_model(t, &o, false);
}

int cmd_train_bits(int argc, char **argv) {
    settings s = {0};
    int first, stop = cli_options_parse(&cli_verb_train_bits, argc, argv, &s, &first);
    if (stop < 0 && s.preset) { /* parse again, with the options of the preset */
        s = (settings){0};
        stop = cli_options_parse_over(&cli_verb_train_bits, paper, argc, argv, &s, &first);
    }
    cli_training t = {.verb = &cli_verb_train_bits,
                      .run = &s.run,
                      .from_labels = s.class_units > 0,
                      .from_neighbours = s.class_units > 0,
                      .check = check,
                      .uses = uses_of,
                      .make = make};
    return stop >= 0 ? stop : cli_training_run(&t, argc, argv, first);
}
