/* common.h -- the settings that `taper train`, `train-bits` and `train-labels` share.
 *
 * Directory cli/train/: parts of these verbs. Each verb is one file, cli/cmd_train*.c: its
 * settings, options, checks, and the options of training made from them; cli/training.c runs it.
 *   common         the shared settings, their options and checks
 *   processes      those of MPI that train one model; request: checkpoints that signals ask for
 *   targets        the output files, checked before training
 *   reporter       progress, learning curve, report
 *   labels_report  the same for embeddings; labels_errors: errors by class, and warnings
 *   recipe_lines   the options of an embedding as words; trials, each as it ends
 *   labelled_set   the classes of the images, and warnings about them */
#ifndef CLI_TRAIN_COMMON_H
#define CLI_TRAIN_COMMON_H
#include "cli/common/options.h"
#include "train/train.h"

/* The first member, `run`, of the settings of each verb. */
typedef struct cli_train_run {
    cli_common common;
    const char *output, *filelist, *labels, *checkpoint, *log, *plot;
    const char *window;
    uint32_t side; /* from window, by cli_train_check */
    int alpha, follow_links, frames, null_list, resume, precision, optimiser;
    int64_t units, epochs, batch, seed, set_images;
    double rate, weight_error;
    cli_numbers hidden;
} cli_train_run;

extern const char *const cli_train_optimisers[], *const cli_train_precisions[];

/* Entries of the three tables, whose settings begin with a cli_train_run. */
/* clang-format off: it writes the entries of a macro one word a line */
#define CLI_TRAIN_MEMBER(MEMBER) offsetof(cli_train_run, MEMBER)
#define CLI_TRAIN_OUTPUT_OPTION \
    { "output", 'o', CLI_STRING, "MODEL", CLI_TRAIN_MEMBER(output), .help = "write the model here" }
#define CLI_TRAIN_WINDOW_OPTION(HELP) \
    { "window", 'w', CLI_STRING, "W", CLI_TRAIN_MEMBER(window), .initial = "auto", .help = HELP }
#define CLI_TRAIN_UNITS_OPTION(HELP)                                                      \
    {                                                                                     \
        "units", 'k', CLI_INT, "N", CLI_TRAIN_MEMBER(units), .min = 0, .max = 65535,      \
                                                             .initial = "0", .help = HELP \
    }
#define CLI_TRAIN_EPOCHS_OPTION(HELP, USES)                                      \
    {                                                                            \
        "epochs", 'e', CLI_INT, "N", CLI_TRAIN_MEMBER(epochs),                   \
            .min = 0, .max = 100000, .initial = "40", .help = HELP, .uses = USES \
    }
#define CLI_TRAIN_HIDDEN_OPTION(USES)                                                        \
    {                                                                                        \
        "hidden", 0, CLI_NUMBERS, "N,N", CLI_TRAIN_MEMBER(hidden),                           \
            .min = 1, .max = 65536,                                                          \
            .help = "widths of the hidden layers, from the pixels to the code", .uses = USES \
    }
#define CLI_TRAIN_STEP_OPTIONS(BATCH, USES, RATE, USES_OF_RATE)                         \
    {"batch",                                                                           \
     0,                                                                                 \
     CLI_INT,                                                                           \
     "N",                                                                               \
     CLI_TRAIN_MEMBER(batch),                                                           \
     .min = 1,                                                                          \
     .max = 65536,                                                                      \
     .initial = "256",                                                                  \
     .help = BATCH,                                                                     \
     .uses = USES,                                                                      \
     .group = "training"},                                                              \
    {                                                                                   \
        "rate", 0, CLI_DOUBLE, "R", CLI_TRAIN_MEMBER(rate),                             \
            .min = 0, .max = 1, .initial = "0", .help = "peak learning rate; 0: " RATE, \
            .uses = USES_OF_RATE, .group = "training"                                   \
    }
#define CLI_TRAIN_OPTIMISER_OPTION(USES)                                                           \
    {                                                                                              \
        "optimiser", 0, CLI_CHOICE, "NAME", CLI_TRAIN_MEMBER(optimiser),                           \
            .choices = cli_train_optimisers, .initial = "adam", .uses = USES, .group = "training", \
            .help = "adam, or cg for conjugate gradients"                                          \
    }
#define CLI_TRAIN_SIZE_OPTIONS(USES_OF_AUTO)                                          \
    {"set-images",                                                                    \
     0,                                                                               \
     CLI_INT,                                                                         \
     "N",                                                                             \
     CLI_TRAIN_MEMBER(set_images),                                                    \
     .min = 0,                                                                        \
     .max = 1e15,                                                                     \
     .initial = "0",                                                                  \
     .uses = USES_OF_AUTO,                                                            \
     .group = "size of the model",                                                    \
     .help = "choose the window for sets of N images; 0: as many as given"},          \
    {                                                                                 \
        "weight-error", 0, CLI_DOUBLE, "MSE", CLI_TRAIN_MEMBER(weight_error),         \
            .min = 1e-4, .max = 100, .initial = "0.25", .group = "size of the model", \
            .help = "mean squared error that rounding the weights may add"            \
    }
#define CLI_TRAIN_LABELS_OPTION(USES)                                                        \
    {                                                                                        \
        "labels", 0, CLI_STRING, "FILE", CLI_TRAIN_MEMBER(labels),                           \
            .uses = USES,                                                                    \
            .help = "class labels: IDX, CSV `name,label`, or one label per line; else from " \
                    "folders or "                                                            \
                    "CIFAR"                                                                  \
    }
/* The end of each table. STEPS: uses with which networks are trained in steps. */
#define CLI_TRAIN_RUN_OPTIONS(STEPS)                                                        \
    {"seed",                                                                                \
     0,                                                                                     \
     CLI_INT,                                                                               \
     "N",                                                                                   \
     CLI_TRAIN_MEMBER(seed),                                                                \
     .min = 0,                                                                              \
     .max = 9e15,                                                                           \
     .initial = "1",                                                                        \
     .help = "seed of the random numbers; equal seeds give equal results"},                 \
        {"checkpoint",                                                                      \
         0,                                                                                 \
         CLI_STRING,                                                                        \
         "FILE",                                                                            \
         CLI_TRAIN_MEMBER(checkpoint),                                                      \
         .uses = STEPS,                                                                     \
         .help = "save a long run here; if the file exists, give --resume or -f"},          \
        {"resume",      0,                                                                  \
         CLI_FLAG,      .offset = CLI_TRAIN_MEMBER(resume),                                 \
         .uses = STEPS, .help = "continue from the checkpoint"},                            \
        CLI_OUTPUT_OPTIONS(cli_train_run), CLI_MESSAGE_OPTIONS(cli_train_run),              \
        CLI_JSON_OPTION(cli_train_run), CLI_WORK_OPTIONS(cli_train_run),                    \
        {"precision",                                                                       \
         0,                                                                                 \
         CLI_CHOICE,                                                                        \
         "NAME",                                                                            \
         CLI_TRAIN_MEMBER(precision),                                                       \
         .group = "run",                                                                    \
         .choices = cli_train_precisions,                                                   \
         .initial = "float32",                                                              \
         .help = "precision of matrix products on a GPU"},                                  \
        {"log",                                                                             \
         0,                                                                                 \
         CLI_STRING,                                                                        \
         "FILE",                                                                            \
         CLI_TRAIN_MEMBER(log),                                                             \
         .uses = STEPS,                                                                     \
         .group = "run",                                                                    \
         .help = "write the learning curve here, as JSON lines; --resume appends"},         \
        {"plot",                                                                            \
         0,                                                                                 \
         CLI_STRING,                                                                        \
         "STEM",                                                                            \
         CLI_TRAIN_MEMBER(plot),                                                            \
         .group = "run",                                                                    \
         .help = "plot curves as STEM.png, .svg, .csv and .gp"},                            \
        {"filelist",                                                                        \
         0,                                                                                 \
         CLI_STRING,                                                                        \
         "FILE",                                                                            \
         CLI_TRAIN_MEMBER(filelist),                                                        \
         .group = "inputs",                                                                 \
         .help = "read paths of inputs from this file, one per line; - is standard input"}, \
        CLI_NULL_OPTION(cli_train_run), CLI_FOLLOW_OPTION(cli_train_run),                   \
        CLI_FRAMES_OPTION(cli_train_run), CLI_ALPHA_OPTION(cli_train_run, "refuse"),        \
        CLI_LIMIT_OPTIONS(cli_train_run)
/* clang-format on */

/* Set side from window, and check that the options of the last cli_options_parse are consistent.
 * TAPER_ERR_ARG: they are not; the text has the reason. */
taper_status cli_train_check(cli_train_run *run, taper_error *error);

/* "auto", or a number of pixels from min to max; false: neither. */
bool cli_train_parse_pixels(const char *text, uint32_t automatic, int64_t min, int64_t max,
                            uint32_t *pixels);

/* Copy the widths of --hidden; returns their number. */
uint32_t cli_train_widths(const cli_train_run *run, uint32_t width[CODEC_MAX_LAYERS]);
train_saving cli_train_saving(const cli_train_run *run);
/* Lengths at which codes may be cut: those of --nested, and all units; empty without --nested. */
train_prefix_list cli_train_lengths(const cli_numbers *nested, uint32_t units);
#endif
