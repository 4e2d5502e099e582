/* cmd_train.c -- `taper train`: trains a model on images. */
#include "cli/cli.h"
#include "cli/training.h"
#include <string.h>

typedef struct settings {
    cli_train_run run;
    const char *from, *lap, *truncation;
    uint32_t reach; /* from lap, by check */
    int preset, fast, quick, family, basis, loss;
    int64_t conditional, head, predict_epochs, restore, restore_steps, patience;
    double lambda, rho, truncated, jitter;
    cli_numbers quality;
} settings;

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
static const char *const uses[] = {"a model that is not made --from another",
                                   "--family pca or conv",
                                   "--window auto",
                                   "--family dense",
                                   "a run without --fast",
                                   "--conditional or --head",
                                   "--family conv",
                                   NULL};

static const cli_option options[] = {
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

static const cli_verb *const relatives[] = {&cli_verb_train_bits, &cli_verb_train_labels, NULL};

const cli_verb cli_verb_train = {
    .name = "train",
    .run = cmd_train,
    .what = "train a model on images",
    .synopsis = "[options] -o MODEL INPUT...",
    .options = options,
    .uses = uses,
    .relatives = relatives,
    .about =
        "Learns to code images like the given ones, with the most important numbers first. One "
        "image in sixteen is held out; the settings are chosen by these.\n\n"
        "Family pca is linear and takes a minute or a few. Family conv is pca with a "
        "convolutional network that restores decoded images; it takes some minutes more and "
        "makes files a few percent smaller at equal quality. Family dense trains an autoencoder "
        "by nested dropout, starting from pca, and keeps it only if it is better.\n\n"
        "--conditional and --head add small networks that predict bits and refine decoded "
        "images. They take minutes of training and make smaller files of higher quality.\n\n"
        "--from photo adapts the built-in model for photographs to your images, in minutes.\n\n"
        "At the end, the model is compared with the built-in ones on held-out images: which needs "
        "fewer bytes at equal PSNR. --quick skips this.\n\n"
        "--preset fast is pca. best is dense with both networks; it uses pca instead if that is "
        "better.\n\n"
        "`mpirun -n N taper train ...` trains on N processes of MPI, each of which reads a part of "
        "the images. With --checkpoint, SIGUSR1 writes a checkpoint, and SIGTERM writes one and "
        "ends.\n\n"
        "`taper train-bits` makes codes of whole units, such as bits for an index; `taper "
        "train-labels` makes codes that tell classes apart.",
    .examples = "taper train -o cats.tpm cats/    # a folder of PNG files\n"
                "taper train -o digits.tpm --family dense --window whole -k 64 "
                "train-images-idx3-ubyte.gz\n"};

/* Figures are in docs/training.md, "Training well". */
static const char *const fast[] = {"--family", "pca", NULL};
static const char *const best[] = {"--family", "dense",  "--epochs", "110", "--conditional",
                                   "64",       "--head", "64",       NULL};
static const char *const *const preset_words[] = {NULL, fast, best};

static unsigned uses_of(const cli_train_run *run, const taper_model_info *from) {
    const settings *s = (const settings *)run;
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

static taper_status check(cli_train_run *run, taper_error *error) {
    settings *s = (settings *)run;
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

static train_options options_of(const settings *s, uint32_t hidden[CODEC_MAX_LAYERS]) {
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

static int make(cli_training *t) {
    const settings *s = (const settings *)t->run;
    uint32_t hidden[CODEC_MAX_LAYERS];
    const train_options o = options_of(s, hidden);
    return cli_training_model(t, &o, !s->quick);
}

/* --- spellings of the time when `taper train` was one verb ------------------------------- */

/* True if the words have this option, with this value (NULL: any). take: they are removed. */
static bool has(char **words, const char *option, const char *value, bool take) {
    const size_t n = strlen(option);
    for (; *words && strcmp(*words, "--") != 0; words++) {
        if (strncmp(*words, option, n) != 0 || !strchr("=", words[0][n])) continue;
        const bool joined = words[0][n] == '=';
        const char *found = joined ? *words + n + 1 : words[1];
        if (!found || (value && strcmp(found, value) != 0)) continue;
        char **rest = words + (joined ? 1 : 2);
        while (take && (*words++ = *rest++)) continue;
        return true;
    }
    return false;
}

/* The verb that these words now belong to; or NULL. *option: by which. Options that the verb does
 * not need are removed from the words. */
static const cli_verb *verb_of(char **words, const char **option) {
    has(words, "--objective", "none", true);
    has(words, "--code", "planes", true);
    *option = "--preset labels";
    if (has(words, "--preset", "labels", true)) return &cli_verb_train_labels;
    *option = "--objective";
    if (has(words, *option, NULL, false)) return &cli_verb_train_labels;
    *option = "--preset paper";
    const bool is_paper = has(words, "--preset", "paper", false);
    if (!is_paper && !has(words, *option = "--code", NULL, false)) return NULL;
    has(words, "--family", "dense", true);
    return &cli_verb_train_bits;
}

int cmd_train(int argc, char **argv) {
    settings s = {0};
    const char *option;
    const cli_verb *now = verb_of(argv + 1, &option);
    int first;
    for (argc = 0; argv[argc];) argc++;
    if (now) {
        cli_warning("train", NULL,
                    "`taper train %s` is now `taper %s`; the old spelling works until 2.0", option,
                    now->name);
        return now->run(argc, argv);
    }
    int stop = cli_options_parse(&cli_verb_train, argc, argv, &s, &first);
    if (stop < 0 && s.preset && !s.from) { /* parse again, with the options of the preset */
        const char *const *words = preset_words[s.preset];
        s = (settings){0};
        stop = cli_options_parse_over(&cli_verb_train, words, argc, argv, &s, &first);
    }
    cli_training t = {.verb = &cli_verb_train,
                      .run = &s.run,
                      .from = s.from,
                      .check = check,
                      .uses = uses_of,
                      .make = make};
    return stop >= 0 ? stop : cli_training_run(&t, argc, argv, first);
}
