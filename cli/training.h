/* training.h -- what `taper train`, `train-bits` and `train-labels` have in common: reads the
 * images, opens the device, trains, and writes the model. */
#ifndef CLI_TRAINING_H
#define CLI_TRAINING_H
#include "cli/common/inputs.h"
#include "cli/device.h"
#include "cli/train/labelled_set.h"
#include "cli/train/reporter.h"
#include "cli/train/targets.h"
#include "train/parallel/ranks.h"

/* A run. The verb fills in the first part. */
typedef struct cli_training {
    const cli_verb *verb;
    cli_train_run *run;   /* first member of the verb's settings */
    const char *from;     /* the model to adapt: a file or a name; or NULL */
    bool from_labels;     /* images need labels of at least two classes */
    bool from_neighbours; /* some class needs two images */
    bool by_votes;        /* classes are told by votes: warn of labels that do not serve */
    bool equal_votes;     /* of equal weight */
    /* Completes and checks the settings before anything is read. */
    taper_status (*check)(cli_train_run *run, taper_error *error);
    /* Bits of cli_verb.uses. from: the model to adapt, or NULL. */
    unsigned (*uses)(const cli_train_run *run, const taper_model_info *from);
    /* Why this run needs one process, with the remedy, or NULL; itself NULL: none does. */
    const char *(*alone)(const cli_train_run *run);
    /* Trains, calls cli_training_put, and reports; returns an exit code. */
    int (*make)(struct cli_training *training);
    /* Private: set by cli_training_run, for make. */
    cli_model model;    /* from; or empty */
    train_ranks *ranks; /* NULL: one process */
    bool is_quiet;      /* as asked; later processes are quiet in any case */
    codec_backend backend;
    cli_device device;
    cli_train_reporter reporter;
    train_dataset data;
    cli_labelled_set labels; /* of data, if by_votes */
    formats_buffer file;     /* the model's, made by make */
} cli_training;

/* Run it: operands are argv[first] .. argv[argc - 1]. Prints messages; returns an exit code. */
int cli_training_run(cli_training *training, int argc, char **argv, int first);

/* Write training->file to --output, complete or not at all, if it can be read again. status and
 * error: those of training, which are reported. Returns an exit code. */
int cli_training_put(cli_training *training, taper_status status, taper_error *error);

/* A `make` for train_model. compare: afterwards compare the model with the built-in ones. */
int cli_training_model(cli_training *training, const train_options *options, bool compare);
#endif
