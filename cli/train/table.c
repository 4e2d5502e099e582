/* table.c -- see table.h. */
#include "cli/train/table.h"

typedef cli_train_settings settings;

static const char *const families[] = {"pca", "dense", "conv", NULL}; /* as in taper_family */
static const char *const activations[] = {"relu", "logistic", "linear", NULL};
static const char *const bases[] = {"sparse", "principal", NULL};
static const char *const gradients[] = {"through", "stop", NULL};
static const char *const optimisers[] = {"adam", "cg", NULL};
static const char *const precisions[] = {"float32", "tf32", "bf16", NULL}; /* train_precision */
static const char *const presets[] = {"none", "fast", "best", "paper", "labels", NULL};

/* Uses of options; cli_train_uses_of gives those of a run. */
enum {
    USE_NEW = 1 << 0,
    USE_LAPS = 1 << 1,
    USE_PLANES = 1 << 2,
    USE_AUTO = 1 << 3,
    USE_DENSE = 1 << 4,
    USE_DENSE_PLANES = 1 << 5,
    USE_TRUNCATED = 1 << 6,
    USE_ADAM = 1 << 7,
    USE_WHOLE = 1 << 8,
    USE_HIDDEN = 1 << 9,
    USE_UNITS = 1 << 10,
    USE_BINARY = 1 << 11,
    USE_SLOW = 1 << 12,
    USE_PREDICT = 1 << 13,
    USE_RESTORE = 1 << 14,
    USE_ORTHONORMAL = 1 << 15,
    USE_EMBED = 1 << 16,
    USE_STUDENT = 1 << 17,
    USE_PRETRAINED = 1 << 18,
    USE_LAYERS = 1 << 19,
    USE_SEARCH = 1 << 20,
    USE_MOTION = 1 << 21,
    USE_CLASSES = 1 << 22,
    USE_TAUGHT = 1 << 23,
    USE_COMPARED = 1 << 24,
    USE_STEPS = USE_DENSE | USE_PREDICT | USE_RESTORE | USE_EMBED
};
const char *const cli_train_uses[] = {"a model that is not made --from another",
                                      "--family pca or conv",
                                      "codes of planes",
                                      "--window auto",
                                      "--family dense",
                                      "--family dense with --code planes",
                                      "--truncated above 0",
                                      "--family dense with --optimiser adam",
                                      "--code units or binary",
                                      "--code units or binary with --hidden",
                                      "--code units",
                                      "--code binary",
                                      "a run without --fast",
                                      "--conditional or --head",
                                      "--family conv",
                                      "--code units --unit linear without --hidden",
                                      "--objective",
                                      "--objective dt-nca, dt-mcml or dt-log-nca",
                                      "--objective with --start rbm or denoising",
                                      "--objective with --hidden",
                                      "--preset labels",
                                      "--objective with --motion",
                                      "--class-units",
                                      "--objective with --guess-labels or --start taught",
                                      "codes of planes, new or --from another",
                                      NULL};

const cli_option cli_train_table[] = {
    {"output", 'o', CLI_STRING, "MODEL", offsetof(settings, output),
     .help = "write the model here"},
    {"preset", 0, CLI_CHOICE, "NAME", offsetof(settings, preset), .choices = presets,
     .initial = "none", .help = "a group of settings; other options override them",
     .uses = USE_NEW | USE_SEARCH},
    {"from", 0, CLI_STRING, "MODEL", offsetof(settings, from),
     .help = "adapt this model: a file, or the built-in photo or tiny"},
    {"fast", 0, CLI_FLAG, .offset = offsetof(settings, fast),
     .help = "predict bits by contexts only, without networks: much faster", .uses = USE_PLANES},
    {"quick", 0, CLI_FLAG, .offset = offsetof(settings, quick), .uses = USE_COMPARED,
     .help = "do not compare the model with the built-in ones; saves some seconds"},
    {"family", 0, CLI_CHOICE, "NAME", offsetof(settings, family), .choices = families,
     .initial = "pca", .help = "kind of model"},
    {"window", 'w', CLI_STRING, "W", offsetof(settings, window), .initial = "auto",
     .help = "side of the square that a code covers, 'whole' for the image, or 'auto'; embedding: "
             "of the square to which images are scaled"},
    {"lap", 0, CLI_STRING, "N", offsetof(settings, lap), .initial = "auto",
     .help = "pca, conv: overlap of windows in pixels; 0: none; auto: half a window",
     .uses = USE_LAPS},
    {"basis", 0, CLI_CHOICE, "NAME", offsetof(settings, basis), .choices = bases,
     .initial = "sparse", .help = "sparse or plain principal components", .uses = USE_PLANES},
    {"loss", 0, CLI_CHOICE, "NAME", offsetof(settings, loss), .choices = cli_train_losses,
     .initial = "mse", .help = "pca, conv: the error that cuts minimise", .uses = USE_LAPS},
    {"units", 'k', CLI_INT, "N", offsetof(settings, units), .min = 0, .max = 65535, .initial = "0",
     .help = "length of a code; 0: all values of the window, at most 4096"},
    {"set-images", 0, CLI_INT, "N", offsetof(settings, set_images), .min = 0, .max = 1e15,
     .initial = "0", .help = "choose the window for sets of N images; 0: as many as given",
     .uses = USE_AUTO},
    {"weight-error", 0, CLI_DOUBLE, "MSE", offsetof(settings, weight_error), .min = 1e-4,
     .max = 100, .initial = "0.25", .help = "mean squared error that rounding the weights may add"},
    {"code", 0, CLI_CHOICE, "KIND", offsetof(settings, code), .choices = cli_train_codes,
     .initial = "planes",
     .help = "dense: what a cut drops: bit planes or units, real or binary; embedding: binary for "
             "an index",
     .uses = USE_DENSE | USE_EMBED | USE_SEARCH},
    {"conditional", 0, CLI_INT, "N", offsetof(settings, conditional), .min = 0, .max = 256,
     .initial = "0", .help = "hidden units of a network that predicts bits; 0: contexts only",
     .uses = USE_SLOW},
    {"head", 0, CLI_INT, "N", offsetof(settings, head), .min = 0, .max = 256, .initial = "0",
     .help = "hidden units of a network that refines decoded images; 0: none", .uses = USE_SLOW},
    {"predict-epochs", 0, CLI_INT, "N", offsetof(settings, predict_epochs), .min = 1, .max = 100000,
     .initial = "12", .help = "passes over the images for each of these two networks",
     .uses = USE_PREDICT},
    {"restore", 0, CLI_INT, "N", offsetof(settings, restore), .min = 8,
     .max = CODEC_RESTORATION_MOST_HIDDEN, .initial = "32",
     .help = "conv: channels of the network that restores pixels, a multiple of 8; with --from: "
             "learn that network anew, and keep the rest of the model",
     .uses = USE_RESTORE},
    {"restore-steps", 0, CLI_INT, "N", offsetof(settings, restore_steps), .min = 1, .max = 10000000,
     .initial = "6000", .help = "conv: training steps of that network, of 65,536 pixels each",
     .uses = USE_RESTORE},
    {"epochs", 'e', CLI_INT, "N", offsetof(settings, epochs), .min = 0, .max = 100000,
     .initial = "40",
     .help = "dense, embedding: passes over the images; embedding, 0: keep the starting weights",
     .uses = USE_DENSE | USE_EMBED},
    {"hidden", 0, CLI_NUMBERS, "N,N", offsetof(settings, hidden), .min = 1, .max = 65536,
     .help = "dense, embedding: widths of the hidden layers, from the pixels to the code",
     .uses = USE_DENSE | USE_EMBED},
    {"batch", 0, CLI_INT, "N", offsetof(settings, batch), .min = 1, .max = 65536, .initial = "256",
     .help = "windows per step; embedding: images per step, adapted to their number",
     .uses = USE_DENSE | USE_EMBED},
    {"rate", 0, CLI_DOUBLE, "R", offsetof(settings, rate), .min = 0, .max = 1, .initial = "0",
     .help = "dense, embedding: peak learning rate; 0: by kind of model, 0.0004 to 0.02",
     .uses = USE_ADAM},
    {"lambda", 0, CLI_DOUBLE, "L", offsetof(settings, lambda), .min = 0, .max = 100,
     .initial = "0.2", .help = "dense: weight of bits against squared error",
     .uses = USE_DENSE_PLANES},
    {"rho", 0, CLI_DOUBLE, "R", offsetof(settings, rho), .min = 1e-6, .max = 0.999999,
     .initial = "0.95", .help = "dense: parameter of the geometric truncation over units",
     .uses = USE_TRUNCATED},
    {"truncated", 0, CLI_DOUBLE, "S", offsetof(settings, truncated), .min = 0, .max = 1,
     .initial = "0",
     .help = "dense: share of examples with geometric truncation; the others are cut by threshold",
     .uses = USE_DENSE_PLANES},
    {"quality", 0, CLI_NUMBERS, "LOW,HIGH", offsetof(settings, quality), .min = 1, .max = 99,
     .help = "range of PSNR in dB that cuts are trained for",
     .uses = USE_DENSE_PLANES | USE_PREDICT},
    {"jitter", 0, CLI_DOUBLE, "S", offsetof(settings, jitter), .min = 0, .max = 1, .initial = "0",
     .help = "dense: share of examples that are zoomed, sheared and shifted a little in each step",
     .uses = USE_DENSE_PLANES},
    {"truncation", 0, CLI_STRING, "SPEC", offsetof(settings, truncation),
     .help = "distribution of the truncation: geometric:R, power:A,E, log-uniform:E, uniform, "
             "file:F, ladder:N,N, none",
     .uses = USE_DENSE},
    {"sweep", 0, CLI_FLAG, .offset = offsetof(settings, sweep),
     .help = "units, binary: freeze units one after the other, from the first", .uses = USE_WHOLE},
    {"orthonormal", 0, CLI_FLAG, .offset = offsetof(settings, orthonormal),
     .help = "units, linear: keep the decoder orthonormal, as principal components are",
     .uses = USE_ORTHONORMAL},
    {"regularise", 0, CLI_STRING, "SPEC", offsetof(settings, regularise), .initial = "none",
     .help = "units, binary: regularisation: l1:LAMBDA, l2:L, adaptive-l1:RATIO, adaptive-l2:R",
     .uses = USE_WHOLE},
    {"corrupt", 0, CLI_DOUBLE, "P", offsetof(settings, corrupt), .min = 0, .max = 0.99,
     .initial = "0", .help = "units, binary, embedding: share of pixels that are set to zero",
     .uses = USE_WHOLE | USE_EMBED},
    {"dropout", 0, CLI_DOUBLE, "P", offsetof(settings, dropout), .min = 0, .max = 0.99,
     .initial = "0", .help = "units, binary, embedding: share of hidden units that are dropped",
     .uses = USE_HIDDEN | USE_LAYERS},
    {"invariance", 0, CLI_DOUBLE, "W", offsetof(settings, invariance), .min = 0, .max = 1e6,
     .initial = "0",
     .help = "units, binary: weight of the loss for different codes of similar images",
     .uses = USE_WHOLE},
    {"beta", 0, CLI_DOUBLE, "B", offsetof(settings, beta), .min = 0.001, .max = 0.999,
     .initial = "0.5", .help = "binary: target share of ones in each unit", .uses = USE_BINARY},
    {"centre", 0, CLI_DOUBLE, "C", offsetof(settings, centre), .min = -1, .max = 1, .initial = "-1",
     .help = "binary: value subtracted from each sent bit; -1: beta", .uses = USE_BINARY},
    {"gradient", 0, CLI_CHOICE, "HOW", offsetof(settings, gradient), .choices = gradients,
     .initial = "through",
     .help = "binary: gradient at thresholds: pass it through, or stop it as in the paper",
     .uses = USE_BINARY},
    {"activation", 0, CLI_CHOICE, "NAME", offsetof(settings, activation), .choices = activations,
     .initial = "relu", .help = "units, binary: activation of the hidden layers",
     .uses = USE_HIDDEN},
    {"unit", 0, CLI_CHOICE, "NAME", offsetof(settings, unit), .choices = activations,
     .initial = "linear", .help = "units: activation of the code", .uses = USE_UNITS},
    {"independent", 0, CLI_FLAG, .offset = offsetof(settings, independent),
     .help = "binary: units do not see the residual of earlier units", .uses = USE_BINARY},
    {"class-units", 0, CLI_INT, "N", offsetof(settings, class_units), .min = 0, .max = 65535,
     .initial = "0", .uses = USE_BINARY,
     .help = "binary: number of first units that are also trained on labels"},
    {"class-weight", 0, CLI_DOUBLE, "W", offsetof(settings, class_weight), .min = 0, .max = 1e6,
     .initial = "1", .help = "binary: weight of their loss relative to the squared error",
     .uses = USE_CLASSES},
    {"untied", 0, CLI_FLAG, .offset = offsetof(settings, untied),
     .help = "units, binary: the decoder has its own weights", .uses = USE_WHOLE},
    {"optimiser", 0, CLI_CHOICE, "NAME", offsetof(settings, optimiser), .choices = optimisers,
     .initial = "adam", .help = "units, binary, embedding: adam, or cg for conjugate gradients",
     .uses = USE_WHOLE | USE_EMBED},
    {"patience", 0, CLI_INT, "N", offsetof(settings, patience), .min = 0, .max = 100000,
     .initial = "0", .help = "dense: stop after N epochs without improvement; 0: never",
     .uses = USE_DENSE_PLANES},
    {"objective", 0, CLI_CHOICE, "NAME", offsetof(settings, embedding.objective),
     .choices = cli_objectives, .initial = "none",
     .help = "train an embedding model with this objective"},
    {"minutes", 0, CLI_DOUBLE, "M", offsetof(settings, embedding.minutes), .min = 0.05,
     .max = 100000, .initial = "10", .uses = USE_SEARCH,
     .help = "preset labels: time to find the best embedding and train it"},
    {"start", 0, CLI_CHOICE, "HOW", offsetof(settings, embedding.start),
     .choices = cli_embedding_starts, .initial = "auto",
     .help = "embedding: how to find the starting weights", .uses = USE_EMBED},
    {"guess-labels", 0, CLI_FLAG, .offset = offsetof(settings, embedding.guess_labels),
     .uses = USE_EMBED,
     .help = "embedding: label unlabelled images by a network that is trained on all"},
    {"degrees", 0, CLI_STRING, "A", offsetof(settings, embedding.degrees), .initial = "auto",
     .help = "dt-: degrees of freedom, 'learned', or 'auto': units - 1", .uses = USE_STUDENT},
    {"hinge", 0, CLI_DOUBLE, "W", offsetof(settings, embedding.hinge), .min = 0, .max = 1e6,
     .initial = "0", .help = "embedding: weight of the loss for classes nearer than 1",
     .uses = USE_EMBED},
    {"numbers-first", 0, CLI_DOUBLE, "S", offsetof(settings, embedding.numbers_first),
     .initial = "0", .min = 0, .max = 1,
     .help = "binary embedding: share of first steps in which codes are real numbers",
     .uses = USE_EMBED},
    {"nested", 0, CLI_NUMBERS, "N,N", offsetof(settings, embedding.nested), .min = 1, .max = 65535,
     .help = "embedding, --class-units: lengths at which truncated codes should search well",
     .uses = USE_EMBED | USE_CLASSES},
    {"motion", 0, CLI_DOUBLE, "S", offsetof(settings, embedding.motion), .min = 0, .max = 10,
     .initial = "0", .uses = USE_EMBED,
     .help =
         "embedding: move images in each step, by S/50 of a side; rotate or shear them by S/10"},
    {"mirror", 0, CLI_FLAG, .offset = offsetof(settings, embedding.mirrors), .uses = USE_MOTION,
     .help = "embedding: also mirror half of the moved images"},
    {"l2", 0, CLI_DOUBLE, "W", offsetof(settings, embedding.l2), .min = 0, .max = 1e6,
     .initial = "0", .help = "embedding: weight of the squared weights in the loss",
     .uses = USE_EMBED},
    {"reconstruct", 0, CLI_DOUBLE, "S", offsetof(settings, embedding.reconstruct), .min = 0,
     .max = 1, .initial = "0", .uses = USE_EMBED,
     .help = "embedding: share of the loss that is a decoder's; also uses unlabelled images"},
    {"free-units", 0, CLI_INT, "N", offsetof(settings, embedding.free_units), .min = 0,
     .max = 65535, .initial = "0", .uses = USE_EMBED,
     .help = "embedding: units for reconstruction only, which are not kept in the model"},
    {"neighbours", 0, CLI_INT, "K", offsetof(settings, embedding.neighbours), .min = 1,
     .max = 10000, .initial = "5", .help = "embedding: neighbours that vote on a held-out image",
     .uses = USE_EMBED | USE_SEARCH},
    {"hold-out", 0, CLI_DOUBLE, "S", offsetof(settings, embedding.hold_out), .min = 0, .max = 0.9,
     .initial = "0.0625", .uses = USE_EMBED,
     .help = "embedding: share of images that are held out to choose the epoch; 0: none"},
    {"pretrain-epochs", 0, CLI_INT, "N", offsetof(settings, embedding.pretrain_epochs), .min = 1,
     .max = 100000, .initial = "50",
     .help = "embedding: passes to pretrain each layer, without labels", .uses = USE_PRETRAINED},
    {"teacher-epochs", 0, CLI_INT, "N", offsetof(settings, embedding.teacher_epochs), .min = 0,
     .max = 100000, .initial = "0", .uses = USE_TAUGHT,
     .help =
         "--start taught, --guess-labels: passes over all images; 0: 15, or more if there are few"},
    {"teacher-reach", 0, CLI_DOUBLE, "R", offsetof(settings, embedding.teacher_reach), .min = 0,
     .max = 1, .initial = "0.035", .uses = USE_TAUGHT,
     .help = "--start taught, --guess-labels: radius within which an image keeps its class, as a "
             "share of the pixel range; 0: train on labels only"},
    {"seed", 0, CLI_INT, "N", offsetof(settings, seed), .min = 0, .max = 9e15, .initial = "1",
     .help = "seed of the random numbers; equal seeds give equal results"},
    {"precision", 0, CLI_CHOICE, "NAME", offsetof(settings, precision), .choices = precisions,
     .initial = "float32", .help = "precision of matrix products on a GPU"},
    {"checkpoint", 0, CLI_STRING, "FILE", offsetof(settings, checkpoint),
     .help = "save a long run here; if the file exists, give --resume or -f", .uses = USE_STEPS},
    {"resume", 0, CLI_FLAG, .offset = offsetof(settings, resume),
     .help = "continue from the checkpoint", .uses = USE_STEPS},
    {"log", 0, CLI_STRING, "FILE", offsetof(settings, log),
     .help = "write the learning curve here, as JSON lines; --resume appends", .uses = USE_STEPS},
    {"plot", 0, CLI_STRING, "STEM", offsetof(settings, plot),
     .help = "plot curves as STEM.png, .svg, .csv and .gp; of --sweep also as STEM-sweep.png and "
             "so on"},
    {"filelist", 0, CLI_STRING, "FILE", offsetof(settings, filelist),
     .help = "read paths of inputs from this file, one per line; - is standard input"},
    CLI_NULL_OPTION(settings),
    CLI_FOLLOW_OPTION(settings),
    {"labels", 0, CLI_STRING, "FILE", offsetof(settings, labels),
     .help =
         "class labels: IDX, CSV `name,label`, or one label per line; else from folders or CIFAR",
     .uses = USE_EMBED | USE_SEARCH | USE_CLASSES},
    {"alpha", 0, CLI_CHOICE, "HOW", offsetof(settings, alpha), .choices = cli_alphas,
     .initial = "refuse", .help = "how to handle transparency"},
    CLI_OUTPUT_OPTIONS(settings),
    CLI_MESSAGE_OPTIONS(settings),
    CLI_JSON_OPTION(settings),
    CLI_WORK_OPTIONS(settings),
    CLI_LIMIT_OPTIONS(settings),
    {0}};

/* --- presets --------------------------------------------------------------------------- */

/* The options of each preset, as on a command line; figures in README, "Training well". */
static const char *const fast[] = {"--family", "pca", NULL};
static const char *const labels[] = {"--objective", "auto", NULL};
static const char *const best[] = {"--family", "dense",  "--epochs", "110", "--conditional",
                                   "64",       "--head", "64",       NULL};
/* clang-format off */
static const char *const paper[] = {
    "--family", "dense", "--code", "binary", "--independent",
    "--truncation", "geometric:0.97", "--sweep",
    "--regularise", "adaptive-l1:0.01", "--corrupt", "0.1", "--dropout", "0.2",
    "--invariance", "0.01", "--beta", "0.2", "--gradient", "stop", "--centre", "0",
    "--batch", "250", "--rate", "0.02", "--epochs", "120", NULL};
/* clang-format on */
const char *const *const cli_train_presets[] = {NULL, fast, best, paper, labels};

/* --- which options count --------------------------------------------------------------- */

static bool has_hidden(const settings *s) {
    return s->hidden.count || cli_embedding_is_deep(&s->embedding);
}

static unsigned uses_of_embedding(const settings *s) {
    if (cli_embedding_is_searched(&s->embedding)) return USE_SEARCH;
    return USE_EMBED | (has_hidden(s) ? USE_LAYERS : 0) |
           (s->embedding.motion > 0 ? USE_MOTION : 0) | (s->optimiser ? 0 : USE_ADAM) |
           (cli_embedding_is_student(&s->embedding) ? USE_STUDENT : 0) |
           (cli_embedding_is_pretrained(&s->embedding, has_hidden(s)) ? USE_PRETRAINED : 0) |
           (cli_embedding_is_taught(&s->embedding) ? USE_TAUGHT : 0);
}

unsigned cli_train_uses_of(const settings *s, const taper_model_info *from) {
    int whole = s->code != 0, cg = whole && s->optimiser;
    if (from)
        return USE_COMPARED | (from->conditional_hidden || from->head_hidden ? USE_PREDICT : 0) |
               (from->restoration_hidden || cli_options_given("restore") ? USE_RESTORE : 0);
    if (s->embedding.objective) return uses_of_embedding(s);
    unsigned u =
        USE_NEW | (s->fast ? 0 : USE_SLOW) | (whole ? USE_WHOLE : USE_PLANES | USE_COMPARED);
    if (s->side == TRAIN_WINDOW_AUTO) u |= USE_AUTO;
    if (!s->fast && (s->conditional || s->head)) u |= USE_PREDICT;
    if (s->family != TAPER_FAMILY_DENSE) u |= USE_LAPS;
    if (s->family == TAPER_FAMILY_CONV) u |= USE_RESTORE;
    if (s->family != TAPER_FAMILY_DENSE) return u;
    u |= USE_DENSE | (cg ? 0 : USE_ADAM) | (whole ? 0 : USE_DENSE_PLANES);
    if (!whole && s->truncated > 0) u |= USE_TRUNCATED;
    if (whole && s->hidden.count) u |= USE_HIDDEN;
    if (s->code == TRAIN_CODE_UNITS && !s->hidden.count) u |= USE_ORTHONORMAL;
    return u | (s->code == TRAIN_CODE_UNITS ? USE_UNITS : 0) |
           (s->code == TRAIN_CODE_BINARY ? USE_BINARY | (s->class_units ? USE_CLASSES : 0) : 0);
}
