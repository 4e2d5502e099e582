/* reporter.h -- what `taper train` says: progress while it works, the learning curve as JSON
 * lines, its report, and the curves as pictures. */
#ifndef CLI_TRAIN_REPORTER_H
#define CLI_TRAIN_REPORTER_H
#include "cli/common/left_out.h"
#include "cli/common/progress.h"
#include "train/builtin_comparison.h"
#include "train/train.h"
#include <stdio.h>

typedef struct cli_train_reporter {
    const cli_common *common;
    const char *output;   /* the model's path */
    const char *log_path; /* JSON lines, or NULL; opened by begin */
    const char *plot;     /* stem, or NULL */
    cli_left_out left;
    int append; /* go on with the log of a run that is resumed */
    /* its own */
    cli_progress progress;
    const char *stage;
    FILE *log;
    struct {
        double epoch, training, validation, swept;
    } * curve;
    size_t epochs, room;
    int whole_units; /* the curve is of mean squared errors, and units are swept */
} cli_train_reporter;

/* Open the log. The reporter's first members are filled in. */
void cli_train_reporter_begin(cli_train_reporter *reporter);
void cli_train_reporter_end(cli_train_reporter *reporter);

/* For train_dataset_load; user is the reporter. */
void cli_train_say_skip(void *user, const char *path, const taper_error *why);
void cli_train_say_read(void *user, uint64_t done, uint64_t total);
/* For train_model. */
train_hooks cli_train_hooks(cli_train_reporter *reporter);
/* For other hooks: the progress line of a stage, begun when the stage changes; an entry of the
 * learning curve. */
void cli_train_enter(cli_train_reporter *reporter, const char *stage, uint64_t total,
                     const char *unit);
void cli_train_keep(cli_train_reporter *reporter, double epoch, double training, double validation,
                    double swept);
/* What came out, to standard error or as JSON to standard output. comparison NULL: none was made.
 */
void cli_train_report(const cli_train_reporter *reporter, const train_report *report,
                      const train_builtin_comparison *comparison);
/* STEM.svg, .png, .csv of the learning curve, or of rate and distortion where there is none;
 * STEM-sweep.* of the unit being swept. report NULL: of the curve alone. */
void cli_train_draw(const cli_train_reporter *reporter, const train_report *report);
#endif
