/* cmd_train.c -- `taper train`: images in, a model out. */
#include "cli/cli.h"
#include "cli/code_set.h"
#include "cli/common/signals.h"
#include "cli/device.h"
#include "cli/common/inputs.h"
#include "cli/common/options.h"
#include "cli/train_settings.h"
#include "cli/train_talk.h"
#include "codec/taper_model.h"
#include "formats/imageset.h"
#include "train/train.h"
#include <stdlib.h>
#include <string.h>

typedef cli_train_settings settings;

static const char *const families[] = {"pca", "dense", "conv", NULL}; /* as in taper_family */
static const char *const codes[] = {"planes", "units", "binary", NULL};
static const char *const activations[] = {"relu", "logistic", "linear", NULL};
static const char *const bases[] = {"sparse", "principal", NULL};
static const char *const losses[] = {"mse", "ms-ssim", NULL};
static const char *const gradients[] = {"through", "stop", NULL};
static const char *const optimisers[] = {"adam", "cg", NULL};
static const char *const precisions[] = {"float32", "tf32", "bf16", NULL}; /* train_precision */
static const char *const presets[] = {"none", "fast", "best", "paper", NULL};

/* What options are for: those that hold for a run are what `uses_of` says. */
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
    USE_STEPS = USE_DENSE | USE_PREDICT | USE_RESTORE | USE_EMBED
};
static const char *const uses[] = {"a model that is not made --from another",
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
                                   "--objective dt-nca or dt-mcml",
                                   "--objective with --start rbm or denoising",
                                   NULL};

static const cli_option options[] = {
    {"output", 'o', CLI_STRING, "MODEL", offsetof(settings, output),
     .help = "write the model here"},
    {"preset", 0, CLI_CHOICE, "NAME", offsetof(settings, preset), .choices = presets,
     .initial = "none", .help = "settings for a purpose; other options win", .uses = USE_NEW},
    {"from", 0, CLI_STRING, "MODEL", offsetof(settings, from),
     .help = "adapt this model: a file, or photo or tiny, which are built in"},
    {"fast", 0, CLI_FLAG, .offset = offsetof(settings, fast),
     .help = "contexts alone predict, without networks: far sooner done", .uses = USE_PLANES},
    {"family", 0, CLI_CHOICE, "NAME", offsetof(settings, family), .choices = families,
     .initial = "pca", .help = "kind of model"},
    {"window", 'w', CLI_STRING, "W", offsetof(settings, window), .initial = "auto",
     .help = "side of the square a code covers, 'whole' image, or 'auto'"},
    {"lap", 0, CLI_STRING, "N", offsetof(settings, lap), .initial = "auto",
     .help = "pca, conv: pixels by which windows lap; 0: none; auto: half", .uses = USE_LAPS},
    {"basis", 0, CLI_CHOICE, "NAME", offsetof(settings, basis), .choices = bases,
     .initial = "sparse", .help = "components made sparse, or as they are", .uses = USE_PLANES},
    {"loss", 0, CLI_CHOICE, "NAME", offsetof(settings, loss), .choices = losses, .initial = "mse",
     .help = "pca, conv: what a cut keeps small", .uses = USE_LAPS},
    {"units", 'k', CLI_INT, "N", offsetof(settings, units), .min = 0, .max = 65535, .initial = "0",
     .help = "length of a code; 0: all values of the window, at most 4096"},
    {"set-images", 0, CLI_INT, "N", offsetof(settings, set_images), .min = 0, .max = 1e15,
     .initial = "0", .help = "choose the window for sets of so many images; 0: as many as given",
     .uses = USE_AUTO},
    {"weight-error", 0, CLI_DOUBLE, "MSE", offsetof(settings, weight_error), .min = 1e-4,
     .max = 100, .initial = "0.25", .help = "squared error that rounding the weights may add"},
    {"code", 0, CLI_CHOICE, "KIND", offsetof(settings, code), .choices = codes, .initial = "planes",
     .help = "dense: what a cut drops", .uses = USE_DENSE},
    {"conditional", 0, CLI_INT, "N", offsetof(settings, conditional), .min = 0, .max = 256,
     .initial = "0", .help = "hidden units of a network that predicts bits; 0: contexts alone",
     .uses = USE_SLOW},
    {"head", 0, CLI_INT, "N", offsetof(settings, head), .min = 0, .max = 256, .initial = "0",
     .help = "hidden units of a network that refines what is decoded; 0: none", .uses = USE_SLOW},
    {"predict-epochs", 0, CLI_INT, "N", offsetof(settings, predict_epochs), .min = 1, .max = 100000,
     .initial = "12", .help = "passes over the images for each of these two", .uses = USE_PREDICT},
    {"restore", 0, CLI_INT, "N", offsetof(settings, restore), .min = 8,
     .max = CODEC_RESTORATION_MOST_HIDDEN, .initial = "32",
     .help = "conv: channels of the network that restores pixels, in steps of 8",
     .uses = USE_RESTORE},
    {"restore-steps", 0, CLI_INT, "N", offsetof(settings, restore_steps), .min = 1, .max = 10000000,
     .initial = "6000", .help = "conv: steps of its training, of 65,536 pixels each",
     .uses = USE_RESTORE},
    {"epochs", 'e', CLI_INT, "N", offsetof(settings, epochs), .min = 1, .max = 100000,
     .initial = "40", .help = "dense, embedding: passes over the images",
     .uses = USE_DENSE | USE_EMBED},
    {"hidden", 0, CLI_NUMBERS, "N,N", offsetof(settings, hidden), .min = 1, .max = 65536,
     .help = "dense, embedding: widths of the hidden layers, from the pixels inwards",
     .uses = USE_DENSE | USE_EMBED},
    {"batch", 0, CLI_INT, "N", offsetof(settings, batch), .min = 1, .max = 65536, .initial = "256",
     .help = "dense: windows in a step; embedding: images, 5000 unless given",
     .uses = USE_DENSE | USE_EMBED},
    {"rate", 0, CLI_DOUBLE, "R", offsetof(settings, rate), .min = 0, .max = 1, .initial = "0",
     .help = "dense: peak learning rate; 0: by kind, 0.001 to 0.005", .uses = USE_ADAM},
    {"lambda", 0, CLI_DOUBLE, "L", offsetof(settings, lambda), .min = 0, .max = 100,
     .initial = "0.2", .help = "dense: weight of bits against squared error",
     .uses = USE_DENSE_PLANES},
    {"rho", 0, CLI_DOUBLE, "R", offsetof(settings, rho), .min = 1e-6, .max = 0.999999,
     .initial = "0.95", .help = "dense: geometric truncation over units", .uses = USE_TRUNCATED},
    {"truncated", 0, CLI_DOUBLE, "S", offsetof(settings, truncated), .min = 0, .max = 1,
     .initial = "0", .help = "dense: share of the examples truncated so; the others by threshold",
     .uses = USE_DENSE_PLANES},
    {"quality", 0, CLI_NUMBERS, "LOW,HIGH", offsetof(settings, quality), .min = 1, .max = 99,
     .help = "PSNRs in dB between which cuts are trained for",
     .uses = USE_DENSE_PLANES | USE_PREDICT},
    {"jitter", 0, CLI_DOUBLE, "S", offsetof(settings, jitter), .min = 0, .max = 1, .initial = "0",
     .help = "dense: share of the examples that are moved a little in every step",
     .uses = USE_DENSE_PLANES},
    {"truncation", 0, CLI_STRING, "SPEC", offsetof(settings, truncation),
     .help = "geometric:R, power:A,E, log-uniform:E, uniform, file:F, ladder:N,N, none",
     .uses = USE_DENSE},
    {"sweep", 0, CLI_FLAG, .offset = offsetof(settings, sweep),
     .help = "units, binary: freeze units one after the other, from the front", .uses = USE_WHOLE},
    {"orthonormal", 0, CLI_FLAG, .offset = offsetof(settings, orthonormal),
     .help = "units, linear: the decoder stays orthonormal, as principal components are",
     .uses = USE_ORTHONORMAL},
    {"regularise", 0, CLI_STRING, "SPEC", offsetof(settings, regularise), .initial = "none",
     .help = "units, binary: l1:LAMBDA, l2:L, adaptive-l1:RATIO, adaptive-l2:R", .uses = USE_WHOLE},
    {"corrupt", 0, CLI_DOUBLE, "P", offsetof(settings, corrupt), .min = 0, .max = 0.99,
     .initial = "0", .help = "units, binary: share of the pixels set to the mean",
     .uses = USE_WHOLE},
    {"dropout", 0, CLI_DOUBLE, "P", offsetof(settings, dropout), .min = 0, .max = 0.99,
     .initial = "0", .help = "units, binary: share of hidden units left out", .uses = USE_HIDDEN},
    {"invariance", 0, CLI_DOUBLE, "W", offsetof(settings, invariance), .min = 0, .max = 1e6,
     .initial = "0", .help = "units, binary: price of codes that differ for alike images",
     .uses = USE_WHOLE},
    {"beta", 0, CLI_DOUBLE, "B", offsetof(settings, beta), .min = 0.001, .max = 0.999,
     .initial = "0.5", .help = "binary: share of ones in every unit", .uses = USE_BINARY},
    {"centre", 0, CLI_DOUBLE, "C", offsetof(settings, centre), .min = -1, .max = 1, .initial = "-1",
     .help = "binary: what a bit that is sent counts less; -1: beta", .uses = USE_BINARY},
    {"gradient", 0, CLI_CHOICE, "HOW", offsetof(settings, gradient), .choices = gradients,
     .initial = "through", .help = "binary: at thresholds; the paper stops it", .uses = USE_BINARY},
    {"activation", 0, CLI_CHOICE, "NAME", offsetof(settings, activation), .choices = activations,
     .initial = "relu", .help = "units, binary: of the hidden layers", .uses = USE_HIDDEN},
    {"unit", 0, CLI_CHOICE, "NAME", offsetof(settings, unit), .choices = activations,
     .initial = "linear", .help = "units: activation of the code", .uses = USE_UNITS},
    {"independent", 0, CLI_FLAG, .offset = offsetof(settings, independent),
     .help = "binary: units do not see what those before them left", .uses = USE_BINARY},
    {"untied", 0, CLI_FLAG, .offset = offsetof(settings, untied),
     .help = "units, binary: the decoder has weights of its own", .uses = USE_WHOLE},
    {"optimiser", 0, CLI_CHOICE, "NAME", offsetof(settings, optimiser), .choices = optimisers,
     .initial = "adam", .help = "units, binary, embedding: adam, or conjugate gradients",
     .uses = USE_WHOLE | USE_EMBED},
    {"patience", 0, CLI_INT, "N", offsetof(settings, patience), .min = 0, .max = 100000,
     .initial = "0", .help = "dense: stop after so many epochs without gain; 0: never",
     .uses = USE_DENSE_PLANES},
    CLI_EMBEDDING_OPTIONS(settings, USE_EMBED, USE_STUDENT, USE_PRETRAINED),
    {"seed", 0, CLI_INT, "N", offsetof(settings, seed), .min = 0, .max = 9e15, .initial = "1",
     .help = "random numbers repeat with the seed"},
    {"precision", 0, CLI_CHOICE, "NAME", offsetof(settings, precision), .choices = precisions,
     .initial = "float32", .help = "of factors in matrix products, on a GPU"},
    {"checkpoint", 0, CLI_STRING, "FILE", offsetof(settings, checkpoint),
     .help = "save a long run here", .uses = USE_STEPS},
    {"resume", 0, CLI_FLAG, .offset = offsetof(settings, resume),
     .help = "go on from the checkpoint", .uses = USE_STEPS},
    {"log", 0, CLI_STRING, "FILE", offsetof(settings, log), .help = "learning curve as JSON lines",
     .uses = USE_STEPS},
    {"plot", 0, CLI_STRING, "STEM", offsetof(settings, plot),
     .help = "curves as STEM.png, STEM.svg, STEM.csv"},
    {"filelist", 0, CLI_STRING, "FILE", offsetof(settings, filelist),
     .help = "inputs, one path a line; - is standard input"},
    CLI_FOLLOW_OPTION(settings),
    {"labels", 0, CLI_STRING, "FILE", offsetof(settings, labels),
     .help = "classes: IDX, CSV 'name,label', or one a line; else folders and CIFAR say",
     .uses = USE_EMBED},
    {"alpha", 0, CLI_CHOICE, "HOW", offsetof(settings, alpha), .choices = cli_alphas,
     .initial = "refuse", .help = "images with transparency"},
    CLI_OUTPUT_OPTIONS(settings),
    CLI_TALK_OPTIONS(settings),
    CLI_JSON_OPTION(settings),
    CLI_WORK_OPTIONS(settings),
    CLI_LIMIT_OPTIONS(settings),
    {0}};

const cli_verb cli_verb_train = {
    .name = "train",
    .run = cmd_train,
    .what = "learn a model from images",
    .synopsis = "[options] -o MODEL INPUT...",
    .options = options,
    .uses = uses,
    .about =
        "Learns how images of this kind are best cut into ordered codes. One image in sixteen "
        "is held "
        "out; choices are made on these.\n\n"
        "Family pca is linear: a minute or a few. Family conv is pca with a convolutional network "
        "that restores what is decoded: minutes more, and a few percent smaller at equal quality. "
        "Family dense trains an autoencoder by "
        "nested "
        "dropout, started from pca, and keeps it only where it gains. With --code units or "
        "binary it is the autoencoder of the nested-dropout paper: whole units are dropped, "
        "real-valued or of one bit each.\n\n"
        "--conditional and --head add small networks that predict bits and refine what is decoded: "
        "smaller files of more quality, for minutes of training.\n\n"
        "--from photo adapts the model for photographs that is built in to images of yours, in "
        "minutes.\n\n"
        "--objective dt-nca, and the like, makes an embedding model of labelled images instead: "
        "`taper embed` makes codes with it, whose nearest neighbours share their class, and `taper "
        "classify` names classes. nca, log-nca and mcml learn a linear map; dg- and dt- (Student's "
        "t-distribution) a deep network. dt-nca with 30 units serves search and classification, "
        "dt-mcml with 2 units pictures.\n\n"
        "--preset fast is pca; best is dense with bit planes, which falls back to pca where "
        "that is better, with both of these networks; paper is a binary code as in the "
        "paper.\n\n",
    .examples = "taper train -o cats.tpm cats/    # a folder of PNG files\n"
                "taper train -o digits.tpm --family dense --window whole -k 64 "
                "train-images-idx3-ubyte.gz\n"
                "taper train -o classes.tpm --objective dt-nca -k 30 folder-of-classes/\n"
                "taper train -o bits.tpm --preset paper -w whole -k 1024 data_batch_*.bin\n"};

/* --- presets --------------------------------------------------------------------------- */

/* What each preset stands for, as one would type it; figures in README, "Training well". */
static const char *const fast[] = {"--family", "pca", NULL};
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
static const char *const *const preset_words[] = {NULL, fast, best, paper};

/* --- the verb -------------------------------------------------------------------------- */

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

/* The model is read again, by the rules of every verb, before it takes the place of anything. */
static taper_status read_again(const formats_buffer *file, const cli_common *common,
                               taper_error *error) {
    taper_limits limits = cli_limits(common);
    taper_model *again;
    taper_error why = {0};
    taper_status status = taper_model_load(&again, file->data, file->size, &limits, &why);
    taper_model_free(again);
    if (status == TAPER_OK) return status;
    return formats_fail(error, status, "the model cannot be read again, so it is not written: %s",
                        why.text);
}

/* What reading or writing a checkpoint returns, and learning itself does not. */
static bool is_of_a_file(taper_status status) {
    return status == TAPER_ERR_IO || status == TAPER_ERR_CORRUPT || status == TAPER_ERR_TRUNCATED ||
           status == TAPER_ERR_VERSION;
}

/* What a run works with, and the file that it makes. */
typedef struct making {
    const settings *settings;
    const cli_model *from;
    codec_backend *backend;
    cli_device *device;
    cli_train_talk *talk;
    const train_dataset *data;
    formats_buffer file;
} making;

/* The model's file whole, or nothing: status and error are those of making it. */
static int put(making *m, taper_status status, taper_error *error) {
    const settings *s = m->settings;
    const char *about = s->output;
    cli_device_explain(m->device, status, s->checkpoint, error);
    if (m->talk->stage) cli_progress_end(&m->talk->progress);
    if (s->from && status == TAPER_ERR_ARG) about = s->from;
    if (s->checkpoint && is_of_a_file(status)) about = s->checkpoint;
    if (status == TAPER_OK) status = read_again(&m->file, &s->common, error);
    if (status == TAPER_OK)
        status = formats_file_write(s->output, m->file.data, m->file.size,
                                    s->common.force ? FORMATS_ATOMIC_OVERWRITE : 0,
                                    cli_signals_watch(), error);
    return status == TAPER_OK ? CLI_DONE : cli_fail("train", about, status, error);
}

static int make_model(making *m) {
    const settings *s = m->settings;
    uint32_t hidden[CODEC_MAX_LAYERS];
    taper_error error = {0};
    train_options o = cli_train_options(s, hidden);
    const formats_buffer from = {.data = m->from->bytes, .size = m->from->size};
    train_hooks hooks = cli_train_hooks(m->talk);
    train_report r;
    taper_status status =
        train_regulariser_parse(&o.nested.training.regulariser, s->regularise, &error);
    if (status != TAPER_OK) return cli_fail("train", "--regularise", status, &error);
    o.window = s->side, o.lap = s->reach;
    if (s->from) o.from = &from;
    status = train_model(&o, m->data, m->backend, &m->device->train, &hooks, &m->file, &r, &error);
    const int code = put(m, status, &error);
    if (code != CLI_DONE) return code;
    cli_train_report(m->talk, &r);
    if (s->plot) cli_train_draw(m->talk, &r);
    return CLI_DONE;
}

static int make_embedding(making *m) {
    const settings *s = m->settings;
    uint32_t hidden[CODEC_MAX_LAYERS];
    train_embedding_choice c;
    train_embedding_report r;
    taper_error error = {0};
    const train_embedding_hooks hooks = cli_embedding_hooks(m->talk);
    if (cli_train_embedding(s, hidden, &c) != CLI_DONE) return CLI_USAGE;
    const taper_status status = train_embedding_model(&c, m->data, m->backend, &m->device->train,
                                                      &hooks, &m->file, &r, &error);
    const int code = put(m, status, &error);
    if (code != CLI_DONE) return code;
    cli_embedding_report(m->talk, &c, &r);
    if (s->plot) cli_train_draw(m->talk, NULL);
    return CLI_DONE;
}

static int learn(const settings *s, const cli_model *from, codec_backend *backend,
                 cli_device *device, cli_train_talk *t, const train_dataset *data) {
    making m = {s, from, backend, device, t, data, formats_buffer_make(FORMATS_MOST_BYTES)};
    const int code = s->embedding.objective ? make_embedding(&m) : make_model(&m);
    formats_buffer_free(&m.file);
    if (code != CLI_DONE) return code;
    return t->left.failed ? CLI_SOME_FAILED : CLI_DONE;
}

/* Refuse before hours of work what would fail after them. */
static int check_target(const settings *s) {
    formats_atomic_file *file;
    taper_error error = {0};
    taper_status status =
        formats_atomic_file_open(&file, s->output, s->common.force ? FORMATS_ATOMIC_OVERWRITE : 0,
                                 cli_signals_watch(), &error);
    if (status != TAPER_OK) return cli_fail("train", s->output, status, &error);
    formats_atomic_file_abort(file);
    return CLI_DONE;
}

/* There is nothing to learn from: say why, and with which exit code. */
static int no_images(cli_train_talk *t, const formats_imageset *set, bool is_labels,
                     taper_status status, const taper_error *error) {
    bool all_failed = status == TAPER_ERR_ARG && t->left.failed && !is_labels;
    if (status == TAPER_ERR_ARG) cli_left_out_tell(&t->left, set);
    int code = cli_fail("train", NULL, status, error);
    return all_failed ? (int)t->left.code : code;
}

static int read_and_learn(const settings *s, const cli_model *from, codec_backend *backend,
                          cli_device *device, const char *const *paths, size_t n) {
    cli_train_talk t = {.common = &s->common,
                        .output = s->output,
                        .log_path = s->log,
                        .plot = s->plot,
                        .append = s->resume,
                        .left = {.common = &s->common, .verb = "train", .output = s->output}};
    taper_limits limits = cli_limits(&s->common);
    formats_imageset_options open = {.filelist = s->filelist,
                                     .labels = s->labels,
                                     .limits = &limits,
                                     .follow_links = s->follow_links};
    formats_imageset *set;
    train_dataset data;
    taper_error error = {0};
    taper_status status =
        formats_imageset_open(&set, paths, n, &open, cli_left_out_file, &t.left, &error);
    if (status != TAPER_OK) return no_images(&t, NULL, s->labels, status, &error);
    if (s->embedding.objective && cli_refuse_negative(set, "train", s->labels) != CLI_DONE) {
        formats_imageset_close(set);
        return CLI_USAGE;
    }
    cli_progress_start(&t.progress, &s->common, "reading", formats_imageset_count(set), "images");
    status = train_dataset_load(&data, set, limits.max_memory / 4, (formats_alpha)s->alpha,
                                cli_train_say_skip, cli_train_say_read, &t, &error);
    cli_progress_end(&t.progress);
    int none = status == TAPER_OK ? CLI_DONE : no_images(&t, set, false, status, &error);
    if (status == TAPER_OK) cli_left_out_tell(&t.left, set);
    formats_imageset_close(set);
    if (none != CLI_DONE) return none;
    if (data.n + t.left.failed - t.left.files < data.available)
        cli_note(&s->common, "train",
                 "learning from %zu of %zu image%s, evenly chosen, to stay within --max-memory",
                 data.n, data.available, formats_plural(data.available, "s"));
    cli_detail(&s->common, 1, "train", "%zu image%s of %llu pixels in all, %s, on %u thread%s",
               data.n, formats_plural(data.n, "s"), (unsigned long long)data.pixels,
               data.channels == 1 ? "grey" : "in colour", cli_threads(&s->common),
               formats_plural(cli_threads(&s->common), "s"));
    if (s->sweep && s->hidden.count)
        cli_note(&s->common, "train",
                 "with --hidden the layers below frozen units go on learning, and short codes get "
                 "worse; --truncation log-uniform:0.5 without --sweep trains all lengths");
    cli_train_talk_begin(&t);
    int code = learn(s, from, backend, device, &t, &data);
    cli_train_talk_end(&t);
    train_dataset_free(&data);
    return code;
}

/* The device comes first: without it images would be read in vain. */
static int run(const settings *s, const cli_model *from, const char *const *paths, size_t n) {
    codec_backend backend;
    cli_device device;
    taper_error error = {0};
    codec_backend_cpu(&backend);
    codec_backend_set_threads(&backend, cli_threads(&s->common));
    taper_status status =
        cli_device_open(&device, &s->common, &backend, (train_precision)s->precision, &error);
    if (status == TAPER_OK && s->precision && !device.is_cuda)
        cli_warning("train", NULL, "without effect here: --precision (for a GPU)");
    int code = status == TAPER_OK ? read_and_learn(s, from, &backend, &device, paths, n)
                                  : cli_fail("train", s->common.device, status, &error);
    cli_device_close(&device);
    codec_backend_close(&backend);
    return code;
}

static bool has_hidden(const settings *s) {
    return s->hidden.count || cli_embedding_is_deep(&s->embedding);
}

static unsigned uses_of_embedding(const settings *s) {
    return USE_EMBED | (s->optimiser ? 0 : USE_ADAM) |
           (cli_embedding_is_student(&s->embedding) ? USE_STUDENT : 0) |
           (cli_embedding_is_pretrained(&s->embedding, has_hidden(s)) ? USE_PRETRAINED : 0);
}

/* The settings that hold for this run. from: the model to adapt, or NULL. */
static unsigned uses_of(const settings *s, const taper_model_info *from) {
    int whole = s->code != 0, cg = whole && s->optimiser;
    if (from)
        return (from->conditional_hidden || from->head_hidden ? USE_PREDICT : 0) |
               (from->restoration_hidden ? USE_RESTORE : 0);
    if (s->embedding.objective) return uses_of_embedding(s);
    unsigned u = USE_NEW | (s->fast ? 0 : USE_SLOW) | (whole ? USE_WHOLE : USE_PLANES);
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
           (s->code == TRAIN_CODE_BINARY ? USE_BINARY : 0);
}

/* What the model that is adapted brings along. */
static int check_from(void) {
    static const char *const fixed[] = {"window",      "lap",  "basis", "loss",   "units",
                                        "conditional", "head", "fast",  "family", "restore"};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        if (cli_options_given(fixed[i]))
            return cli_usage(&cli_verb_train, "--from keeps the model's shape: leave --%s out",
                             fixed[i]);
    return CLI_DONE;
}

/* What an embedding model is not. Its choices are checked before images are read. */
static int check_embedding(const settings *s) {
    static const char *const others[] = {"family", "code", "preset", "from", "fast"};
    uint32_t hidden[CODEC_MAX_LAYERS];
    train_embedding_choice unused;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (cli_options_given(others[i]))
            return cli_usage(&cli_verb_train,
                             "--objective makes an embedding model: leave --%s out", others[i]);
    if (cli_options_given("window") && s->side != TRAIN_WINDOW_WHOLE)
        return cli_usage(&cli_verb_train, "an embedding is of whole images: leave --window out");
    return cli_train_embedding(s, hidden, &unused);
}

static int check_device(const settings *s) {
    const char *name = s->common.device;
    if (cli_device_is_missing(name))
        return cli_usage(&cli_verb_train, "this build has no CUDA; give --device cpu");
    if (cli_device_is_name(name)) return CLI_DONE;
    return cli_usage(&cli_verb_train, "--device is auto, cpu, shadow, cuda or cuda:N, not '%s'",
                     name);
}

static int check_and_run(settings *s, int argc, char **argv, int first) {
    int code;
    if (!s->output) return cli_usage(&cli_verb_train, "name the model to write with -o MODEL");
    if (first == argc && !s->filelist)
        return cli_usage(&cli_verb_train, "name images or folders to learn from");
    if (!parse_window(s->window, &s->side))
        return cli_usage(&cli_verb_train, "--window is auto, whole or 2 to 64, not '%s'",
                         s->window);
    if (!parse_pixels(s->lap, TRAIN_LAP_AUTO, 0, CODEC_LAP_MOST, &s->reach))
        return cli_usage(&cli_verb_train, "--lap is auto or 0 to %d, not '%s'", CODEC_LAP_MOST,
                         s->lap);
    if (s->resume && !s->checkpoint)
        return cli_usage(&cli_verb_train, "--resume needs --checkpoint FILE");
    if (s->code && s->family != TAPER_FAMILY_DENSE)
        return cli_usage(&cli_verb_train, "--code %s needs --family dense", codes[s->code]);
    if (s->code && (s->conditional || s->head))
        return cli_usage(&cli_verb_train, "--conditional and --head need --code planes");
    if (s->loss && s->family == TAPER_FAMILY_DENSE)
        return cli_usage(&cli_verb_train, "--loss %s needs --family pca or conv", losses[s->loss]);
    if (s->fast && s->family == TAPER_FAMILY_CONV)
        return cli_usage(&cli_verb_train, "--fast is without networks, --family conv with one");
    if (s->restore % 8)
        return cli_usage(&cli_verb_train, "--restore is a multiple of 8, not %lld",
                         (long long)s->restore);
    if (s->embedding.objective && (code = check_embedding(s)) != CLI_DONE) return code;
    if (s->from && (code = check_from()) != CLI_DONE) return code;
    if ((code = check_device(s)) != CLI_DONE || (code = check_target(s)) != CLI_DONE) return code;
    cli_model from = {0};
    if (s->from) code = cli_coder_open(&from, "train", s->from, &s->common);
    if (code != CLI_DONE) return code;
    taper_model_info info = from.model ? taper_model_get_info(from.model) : (taper_model_info){0};
    cli_options_name_idle(&cli_verb_train, uses_of(s, from.model ? &info : NULL));
    code = run(s, &from, (const char *const *)argv + first, (size_t)(argc - first));
    cli_model_close(&from);
    return code;
}

int cmd_train(int argc, char **argv) {
    settings s = {0};
    int first, stop = cli_options_parse(&cli_verb_train, argc, argv, &s, &first);
    if (stop < 0 && s.preset && !s.from) { /* again, with what it stands for */
        const char *const *words = preset_words[s.preset];
        cli_options_free(&cli_verb_train, &s);
        s = (settings){0};
        stop = cli_options_parse_over(&cli_verb_train, words, argc, argv, &s, &first);
    }
    int code = stop >= 0 ? stop : check_and_run(&s, argc, argv, first);
    if (stop < 0) cli_options_free(&cli_verb_train, &s);
    return code;
}
