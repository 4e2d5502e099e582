/* cmd_train_labels.c -- `taper train-labels`: trains an embedding on labelled images. */
#include "cli/cli.h"
#include "cli/train/labels_report.h"
#include "cli/training.h"
#include <string.h>

typedef struct settings {
    cli_train_run run;
    int objective, start, code;
    int mirrors, guess_labels, votes;
    double minutes; /* for objective auto */
    const char *degrees;
    cli_numbers nested, convolutions;
    double hinge, l2, hold_out, motion, reconstruct, numbers_first, corrupt, dropout;
    double teacher_reach;
    int64_t free_units, neighbours, pretrain_epochs, teacher_epochs, cells;
} settings;

static const char *const codes[] = {"numbers", "binary", NULL};
static const char *const names[] = {"auto",    "nca",        "log-nca", "mcml",    "dt-nca",
                                    "dt-mcml", "dt-log-nca", "dg-nca",  "dg-mcml", NULL};
static const char *const starts[] = {"auto", "random",    "identity", "pca", "lda",
                                     "rbm",  "denoising", "taught",   NULL};
static const char *const votes[] = {"equal", "balanced", NULL};
enum { EQUAL, BALANCED };
enum { AUTO, RANDOM, IDENTITY, PCA, LDA, RBM, DENOISING, TAUGHT };

/* Of each name. */
static const struct objective {
    train_neighbour_loss loss;
    int all_pairs, student, deep;
} objectives[] = {{TRAIN_NCA, 0, 1, 0},     {TRAIN_NCA, 0, 0, 0}, {TRAIN_LOG_NCA, 0, 0, 0},
                  {TRAIN_MCML, 0, 0, 0},    {TRAIN_NCA, 0, 1, 1}, {TRAIN_MCML, 1, 1, 1},
                  {TRAIN_LOG_NCA, 0, 1, 1}, {TRAIN_NCA, 0, 0, 1}, {TRAIN_MCML, 1, 0, 1}};

/* All settings are found by trials. */
static bool is_searched(const settings *s) { return s->objective == AUTO; }
/* The network has hidden layers. */
static bool is_deep(const settings *s) {
    return s->convolutions.count || s->run.hidden.count || objectives[s->objective].deep;
}

static bool is_pretrained(const settings *s) {
    const bool by_layers = s->start == RBM || s->start == DENOISING;
    return is_deep(s) && !s->convolutions.count &&
           ((s->start == AUTO && !s->guess_labels) || by_layers);
}

/* --- options --------------------------------------------------------------------------- */

enum {
    USE_SEARCH = 1 << 0,
    USE_CHOSEN = 1 << 1,
    USE_STUDENT = 1 << 2,
    USE_LAYERS = 1 << 3,
    USE_PRETRAINED = 1 << 4,
    USE_TAUGHT = 1 << 5,
    USE_ADAM = 1 << 6
};
static const char *const uses[] = {"--objective auto",
                                   "another --objective than auto",
                                   "--objective dt-nca, dt-mcml or dt-log-nca",
                                   "--hidden",
                                   "--start rbm or denoising with --hidden",
                                   "--guess-labels or --start taught",
                                   "another --objective than auto with --optimiser adam",
                                   NULL};

static const cli_option options[] = {
    CLI_TRAIN_OUTPUT_OPTION,
    {"objective", 0, CLI_CHOICE, "NAME", offsetof(settings, objective), .choices = names,
     .initial = "auto", .help = "what to minimise; auto: the best of several, with their settings"},
    {"minutes", 0, CLI_DOUBLE, "M", offsetof(settings, minutes), .min = 0.05, .max = 100000,
     .initial = "10", .uses = USE_SEARCH,
     .help = "auto: time to find the best embedding and train it"},
    {"code", 0, CLI_CHOICE, "KIND", offsetof(settings, code), .choices = codes,
     .initial = "numbers", .help = "codes of numbers, or of bits for an index"},
    CLI_TRAIN_UNITS_OPTION("length of a code; 0: 30, or 64 bits"),
    CLI_TRAIN_WINDOW_OPTION("side of the square to which images are scaled, 'whole' for none, or "
                            "'auto'"),
    CLI_TRAIN_LABELS_OPTION(0),
    {"cells", 0, CLI_INT, "N", offsetof(settings, cells), .min = 0, .max = 64, .initial = "0",
     .uses = USE_CHOSEN, .help = "learn from gradient orientations in N x N cells; 0: from pixels"},
    {"convolutions", 0, CLI_NUMBERS, "N,N", offsetof(settings, convolutions), .min = 1, .max = 4096,
     .uses = USE_CHOSEN,
     .help = "channels of 3x3 convolutions, each with 2x2 pooling, before hidden layers"},
    CLI_TRAIN_HIDDEN_OPTION(USE_CHOSEN),
    CLI_TRAIN_EPOCHS_OPTION("passes over the images, by default 40, or 600 steps; 0: keep the "
                            "starting weights",
                            USE_CHOSEN),
    {"start", 0, CLI_CHOICE, "HOW", offsetof(settings, start), .choices = starts, .initial = "auto",
     .help = "how to find the starting weights; auto: rbm or pca, unless random ones are better",
     .uses = USE_CHOSEN},
    {"guess-labels", 0, CLI_FLAG, .offset = offsetof(settings, guess_labels), .uses = USE_CHOSEN,
     .help = "label unlabelled images by a network that is trained on all"},
    {"nested", 0, CLI_NUMBERS, "N,N", offsetof(settings, nested), .min = 1, .max = 65535,
     .help = "lengths at which truncated codes should search well", .uses = USE_CHOSEN},
    {"motion", 0, CLI_DOUBLE, "S", offsetof(settings, motion), .min = 0, .max = 10, .initial = "0",
     .help = "move images in each step, by S/50 of a side; rotate or shear them by S/10",
     .uses = USE_CHOSEN},
    {"mirror", 0, CLI_FLAG, .offset = offsetof(settings, mirrors), .uses = USE_CHOSEN,
     .with = "motion", .help = "also mirror half of the moved images"},
    CLI_TRAIN_STEP_OPTIONS("images per step, adapted to their number", USE_CHOSEN,
                           "by objective and units, 0.0004 to 0.02", USE_ADAM),
    CLI_TRAIN_OPTIMISER_OPTION(USE_CHOSEN),
    {"neighbours", 0, CLI_INT, "K", offsetof(settings, neighbours), .min = 1, .max = 10000,
     .initial = "5", .help = "neighbours that vote on a held-out image", .group = "training"},
    {"votes", 0, CLI_CHOICE, "HOW", offsetof(settings, votes), .choices = votes, .initial = "equal",
     .group = "training",
     .help = "balanced: a vote counts 1 / (images of its class), and the mean over classes of the "
             "error chooses"},
    {"hold-out", 0, CLI_DOUBLE, "S", offsetof(settings, hold_out), .min = 0, .max = 0.9,
     .initial = "0.0625", .uses = USE_CHOSEN,
     .help = "share of images that are held out to choose the epoch; 0: none", .group = "training"},
    {"degrees", 0, CLI_STRING, "A", offsetof(settings, degrees), .initial = "auto",
     .help = "dt-: degrees of freedom, 'learned', or 'auto': units - 1", .uses = USE_STUDENT,
     .group = "training"},
    {"corrupt", 0, CLI_DOUBLE, "P", offsetof(settings, corrupt), .min = 0, .max = 0.99,
     .initial = "0", .help = "share of pixels that are set to zero", .uses = USE_CHOSEN,
     .group = "training"},
    {"dropout", 0, CLI_DOUBLE, "P", offsetof(settings, dropout), .min = 0, .max = 0.99,
     .initial = "0", .help = "share of hidden units that are dropped", .uses = USE_LAYERS,
     .group = "training"},
    {"numbers-first", 0, CLI_DOUBLE, "S", offsetof(settings, numbers_first), .initial = "0",
     .min = 0, .max = 1, .help = "binary: share of first steps in which codes are real numbers",
     .uses = USE_CHOSEN, .group = "training"},
    {"hinge", 0, CLI_DOUBLE, "W", offsetof(settings, hinge), .min = 0, .max = 1e6, .initial = "0",
     .help = "weight of the loss for classes nearer than 1", .uses = USE_CHOSEN,
     .group = "training"},
    {"l2", 0, CLI_DOUBLE, "W", offsetof(settings, l2), .min = 0, .max = 1e6, .initial = "0",
     .help = "weight of the squared weights in the loss", .uses = USE_CHOSEN, .group = "training"},
    {"reconstruct", 0, CLI_DOUBLE, "S", offsetof(settings, reconstruct), .min = 0, .max = 1,
     .initial = "0", .uses = USE_CHOSEN, .group = "training",
     .help = "share of the loss that is a decoder's; also uses unlabelled images"},
    {"free-units", 0, CLI_INT, "N", offsetof(settings, free_units), .min = 0, .max = 65535,
     .initial = "0", .uses = USE_CHOSEN, .group = "training",
     .help = "units for reconstruction only, which are not kept in the model"},
    {"pretrain-epochs", 0, CLI_INT, "N", offsetof(settings, pretrain_epochs), .min = 1,
     .max = 100000, .initial = "50", .help = "passes to pretrain each layer, without labels",
     .uses = USE_PRETRAINED, .group = "starting weights"},
    {"teacher-epochs", 0, CLI_INT, "N", offsetof(settings, teacher_epochs), .min = 0, .max = 100000,
     .initial = "0", .uses = USE_TAUGHT, .group = "starting weights",
     .help = "passes of the teacher over all images; 0: 15, or more if there are few"},
    {"teacher-reach", 0, CLI_DOUBLE, "R", offsetof(settings, teacher_reach), .min = 0, .max = 1,
     .initial = "0.035", .uses = USE_TAUGHT, .group = "starting weights",
     .help = "radius within which an image keeps its class, as a share of the pixel range; 0: "
             "train on labels only"},
    CLI_TRAIN_RUN_OPTIONS(USE_CHOSEN),
    {0}};

const cli_verb cli_verb_train_labels = {
    .name = "train-labels",
    .run = cmd_train_labels,
    .what = "train an embedding on labelled images",
    .synopsis = "[options] -o MODEL INPUT...",
    .options = options,
    .uses = uses,
    .about =
        "Makes an embedding model from labelled images. `taper embed` computes its codes, and "
        "`taper classify` labels images by them: images of one class have near codes. With --code "
        "binary the codes are bits, for an index (`taper index`) or a container (`taper encode "
        "--embed-with`).\n\n"
        "Without --objective it tries several embeddings within --minutes, keeps the best, and "
        "prints the error to expect: of all images, the mean over classes (balanced), and that of "
        "each class.\n\n"
        "nca, log-nca and mcml train a linear map; the objectives with dg- and dt- (Student's "
        "t-distribution) train a deep network. Use dt-nca with 30 units for search and "
        "classification, and dt-mcml with 2 units for maps. With random starting weights, or for "
        "natural images, dt-log-nca has the lowest error. Without --start, pretrained layers "
        "(linear maps: principal components) are compared with random weights by short training, "
        "and the better start is kept.\n\n"
        "`mpirun -n N taper train-labels --objective ...` trains on N processes of MPI, as `taper "
        "train` does.",
    .examples = "taper train-labels -o classes.tpm folder-of-classes/\n"
                "taper train-labels -o map.tpm --objective dt-mcml -k 2 folder-of-classes/\n"};

static unsigned uses_of(const cli_train_run *run, const taper_model_info *from) {
    const settings *s = (const settings *)run;
    (void)from;
    if (is_searched(s)) return USE_SEARCH;
    return USE_CHOSEN | (objectives[s->objective].student ? USE_STUDENT : 0) |
           (is_deep(s) ? USE_LAYERS : 0) | (is_pretrained(s) ? USE_PRETRAINED : 0) |
           (s->guess_labels || s->start == TAUGHT ? USE_TAUGHT : 0) |
           (s->run.optimiser ? 0 : USE_ADAM);
}

/* --- options of training --------------------------------------------------------------- */

/* "auto", "learned", or a number above 0. */
static taper_status choose_degrees(const settings *s, train_embedding_choice *c,
                                   taper_error *error) {
    train_neighbour_objective *o = &c->training.objective;
    o->alpha = c->units > 1 ? c->units - 1 : 1;
    o->learns_alpha = !strcmp(s->degrees, "learned") && o->student;
    if (o->learns_alpha || !strcmp(s->degrees, "auto")) return TAPER_OK;
    if (cli_parse_double(s->degrees, &o->alpha) && o->alpha >= TRAIN_LEAST_ALPHA && o->alpha <= 1e6)
        return TAPER_OK;
    return formats_fail(error, TAPER_ERR_ARG,
                        "--degrees is auto, learned or a number from 0.001 on, not '%s'",
                        s->degrees);
}

/* Convolutional layers begin with random weights. */
static taper_status check_convolutions(const settings *s, const train_embedding_choice *c,
                                       taper_error *error) {
    if (!c->convolutions) return TAPER_OK;
    if (s->start != AUTO && s->start != RANDOM)
        return formats_fail(error, TAPER_ERR_ARG,
                            "--convolutions begin with random weights: omit --start %s",
                            starts[s->start]);
    if (c->training.reconstruct > 0.0 || s->guess_labels)
        return formats_fail(error, TAPER_ERR_ARG,
                            "--convolutions learn from labels alone: omit --%s",
                            s->guess_labels ? "guess-labels" : "reconstruct");
    return TAPER_OK;
}

static taper_status choose_start(const settings *s, train_embedding_choice *c, taper_error *error) {
    static const train_linear_kind kind[] = {TRAIN_START_PCA, TRAIN_START_RANDOM,
                                             TRAIN_START_IDENTITY, TRAIN_START_PCA,
                                             TRAIN_START_LDA};
    const int how = is_searched(s) ? AUTO : s->start, deep = train_embedding_is_deep(c);
    TAPER_TRY(check_convolutions(s, c, error));
    if (deep && how > RANDOM && how < RBM)
        return formats_fail(error, TAPER_ERR_ARG, "--start %s is for a linear map; omit --hidden",
                            starts[how]);
    if (!deep && how >= RBM)
        return formats_fail(error, TAPER_ERR_ARG,
                            "--start %s is for a network with hidden layers: give --hidden",
                            starts[how]);
    c->guess_labels = s->guess_labels && !is_searched(s);
    if (!c->n_hidden && c->guess_labels)
        return formats_fail(error, TAPER_ERR_ARG,
                            "--guess-labels is for a network with hidden layers: give --hidden");
    c->teaching = train_teaching_defaults();
    c->teaching.epochs = (uint32_t)s->teacher_epochs;
    c->teaching.reach = (float)s->teacher_reach;
    c->start = is_pretrained(s)                                   ? TRAIN_EMBEDDING_PRETRAINED
               : c->n_hidden && how != RANDOM && !c->convolutions ? TRAIN_EMBEDDING_TAUGHT
                                                                  : TRAIN_EMBEDDING_DRAWN;
    c->rbm = train_rbm_defaults();
    c->rbm.method = how == DENOISING ? TRAIN_DENOISE : TRAIN_CONTRASTIVE;
    c->rbm.epochs = (uint32_t)s->pretrain_epochs;
    c->rbm.seed = c->training.seed;
    /* scale at which neighbours influence each other from the start (linear_start.h) */
    const double spread = how <= RANDOM || how == PCA ? 10.0 : 0.0;
    c->compares_starts = how == AUTO && !is_searched(s) && !c->guess_labels;
    if (!deep) c->linear = (train_linear_options){kind[how], spread, 0, c->training.seed};
    return TAPER_OK;
}

/* Larger steps destroy the layers that a teacher trained on all images. Codes of a few units, for
 * maps, need larger steps (bench/results/README.md). */
static float rate_of(const struct objective *o, const train_embedding_choice *c) {
    enum { FEW = 3 };
    const uint32_t units = c->units;
    if (c->n_hidden && c->start == TRAIN_EMBEDDING_TAUGHT) return 4e-4f;
    if (o->deep && o->loss == TRAIN_LOG_NCA) return 2e-3f;
    if (units > FEW || !o->deep) return train_embedding_defaults().rate;
    return o->loss == TRAIN_MCML ? 2e-2f : 1e-2f;
}

/* With default epochs: sets of some hundred images have one step an epoch, and 40 steps are too few
 * (bench/results/README.md). Pretrained layers need no more. */
enum { LEAST_STEPS = 600 };

static train_embedding_options training_of(const settings *s) {
    const struct objective *how = &objectives[s->objective];
    train_embedding_options o = train_embedding_defaults();
    o.objective = (train_neighbour_objective){
        .loss = how->loss, .all_pairs = how->all_pairs, .student = how->student, .hinge = s->hinge};
    o.binary = s->code;
    o.epochs = (uint32_t)s->run.epochs;
    if (!cli_options_given("epochs")) o.least_steps = LEAST_STEPS;
    if (cli_options_given("batch")) o.batch = (uint32_t)s->run.batch;
    o.rate = (float)s->run.rate;
    o.optimiser = s->run.optimiser ? TRAIN_CG : TRAIN_ADAM;
    o.noise.corrupt = (float)s->corrupt;
    o.noise.dropout = (float)s->dropout;
    o.l2 = s->l2;
    o.numbers_first = s->numbers_first;
    o.reconstruct = s->reconstruct;
    o.free_units = (uint32_t)s->free_units;
    o.k = (uint32_t)s->neighbours;
    o.balanced = s->votes == BALANCED;
    o.validation_fraction = (float)s->hold_out;
    o.threads = cli_threads(&s->run.common);
    o.seed = (uint64_t)s->run.seed;
    o.saving = cli_train_saving(&s->run);
    return o;
}

static taper_status choose(const settings *s, uint32_t hidden[CODEC_MAX_LAYERS],
                           train_embedding_choice *c, taper_error *error) {
    static const uint32_t papers[] = {500, 500, 2000};
    const struct objective *o = &objectives[s->objective];
    const bool whole = s->run.side == TRAIN_WINDOW_WHOLE;
    *c = (train_embedding_choice){.units = (uint32_t)s->run.units,
                                  .hidden = hidden,
                                  .n_hidden = cli_train_widths(&s->run, hidden),
                                  .objective = names[s->objective],
                                  .minutes = is_searched(s) ? s->minutes : 0.0,
                                  .cells = (uint32_t)s->cells,
                                  .motion = (float)s->motion,
                                  .mirrors = s->mirrors,
                                  .training = training_of(s),
                                  .side = whole ? TRAIN_EMBEDDING_WHOLE : s->run.side,
                                  .max_work = s->run.common.max_work,
                                  .max_model = s->run.common.max_model};
    if (!c->units) { /* unchanged with -k */
        c->units = c->training.binary ? 64 : 30;
        c->most_units = 4 * c->units;
    }
    const size_t convolutions = formats_smaller(s->convolutions.count, CODEC_MAX_LAYERS);
    for (; c->convolutions < convolutions; c->convolutions++)
        c->channels[c->convolutions] = (uint32_t)s->convolutions.item[c->convolutions];
    if (c->convolutions) c->training.most_batch = TRAIN_EMBEDDING_CONVOLUTION_BATCH;
    if (!train_embedding_is_deep(c) && o->deep) c->hidden = papers, c->n_hidden = 3;
    TAPER_TRY(choose_degrees(s, c, error));
    c->training.prefixes = cli_train_lengths(&s->nested, c->units);
    if (c->training.binary && !s->nested.count && !c->training.objective.learns_alpha)
        c->training.prefixes = train_prefix_halves(c->units);
    TAPER_TRY(choose_start(s, c, error));
    if (!(c->training.rate > 0.0f)) c->training.rate = rate_of(o, c);
    return TAPER_OK;
}

static taper_status check(cli_train_run *run, taper_error *error) {
    uint32_t hidden[CODEC_MAX_LAYERS];
    train_embedding_choice unused;
    TAPER_TRY(cli_train_check(run, error));
    return choose((const settings *)run, hidden, &unused, error);
}

/* Processes would measure the time of a recipe differently, and a teacher sees all images. */
static const char *alone(const cli_train_run *run) {
    const settings *s = (const settings *)run;
    if (is_searched(s))
        return "without --objective recipes are tried in one process: give --objective, or start "
               "it without mpirun";
    if (s->guess_labels || s->start == TAUGHT)
        return "a teacher learns in one process: omit --guess-labels and --start taught, or start "
               "it without mpirun";
    return NULL;
}

static int make(cli_training *t) {
    const settings *s = (const settings *)t->run;
    uint32_t hidden[CODEC_MAX_LAYERS];
    train_embedding_choice c;
    train_embedding_report r = {0};
    taper_error error = {0};
    const train_embedding_hooks hooks = cli_labels_hooks(&t->reporter);
    taper_status status = choose(s, hidden, &c, &error);
    if (status == TAPER_OK)
        status = train_embedding_model(&c, &t->data, &t->backend, &t->device.train, &hooks,
                                       &t->file, &r, &error);
    const int code = cli_training_put(t, status, &error);
    if (code == CLI_DONE && train_is_first(t->ranks))
        cli_labels_report(&t->reporter, &c, &r, &t->labels);
    train_embedding_report_free(&r);
    if (code != CLI_DONE) return code;
    if (!train_is_first(t->ranks)) return CLI_DONE;
    if (s->run.plot) cli_train_draw(&t->reporter, NULL);
    return CLI_DONE;
}

int cmd_train_labels(int argc, char **argv) {
    settings s = {0};
    int first, stop = cli_options_parse(&cli_verb_train_labels, argc, argv, &s, &first);
    cli_training t = {.verb = &cli_verb_train_labels,
                      .run = &s.run,
                      .from_labels = true,
                      .by_votes = true,
                      .equal_votes = s.votes == EQUAL,
                      .check = check,
                      .uses = uses_of,
                      .alone = alone,
                      .make = make};
    return stop >= 0 ? stop : cli_training_run(&t, argc, argv, first);
}
