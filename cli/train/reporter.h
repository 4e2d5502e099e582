/* reporter.h -- the output of `taper train` and `train-bits`: progress, the learning curve as JSON
 * lines, the report, and plots. */
#ifndef CLI_TRAIN_REPORTER_H
#define CLI_TRAIN_REPORTER_H
#include "cli/common/left_out.h"
#include "cli/common/progress.h"
#include "train/builtin_comparison.h"
#include "train/train.h"
#include <stdio.h>

typedef struct cli_train_reporter {
    const cli_common *common;
    const char *verb;     /* its name */
    const char *output;   /* path of the model */
    const char *log_path; /* file for JSON lines, or NULL; opened by begin */
    const char *plot;     /* stem of the plots, or NULL */
    cli_left_out left;
    int append; /* 1: append to the log of a resumed run */
    /* Private. */
    cli_progress progress;
    const char *stage; /* with its total */
    uint64_t total;
    FILE *log;
    struct {
        double epoch, training, validation, swept;
    } * curve;
    size_t epochs, room;
    int whole_units; /* 1: the curve has mean squared errors, and the unit that is swept */
} cli_train_reporter;

/* Open the log. The reporter's first members are filled in. */
void cli_train_reporter_begin(cli_train_reporter *reporter);
void cli_train_reporter_end(cli_train_reporter *reporter);

/* For train_dataset_load; user is the reporter. */
void cli_train_say_skip(void *user, const char *path, const taper_error *why);
void cli_train_say_read(void *user, uint64_t done, uint64_t total);
/* For train_model. */
train_hooks cli_train_hooks(cli_train_reporter *reporter);
/* For other hooks: start the progress line of a stage, if the stage changes; add an entry to the
 * learning curve. */
void cli_train_enter(cli_train_reporter *reporter, const char *stage, uint64_t total,
                     const char *unit);
void cli_train_keep(cli_train_reporter *reporter, double epoch, double training, double validation,
                    double swept);
/* Print the result, to standard error or as JSON to standard output. comparison: with the built-in
 * models, or NULL. */
void cli_train_report(const cli_train_reporter *reporter, const train_report *report,
                      const train_builtin_comparison *comparison);
/* Plot the learning curve, or rate and distortion if there is none, to STEM.svg, .png and .csv; and
 * the unit that is swept to STEM-sweep.*. report NULL: plots the curve only. */
void cli_train_draw(const cli_train_reporter *reporter, const train_report *report);
#endif
