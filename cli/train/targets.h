/* targets.h -- the files that `taper train` writes. What would fail after hours of work, or cost
 * the work of an earlier run, is refused before them. */
#ifndef CLI_TRAIN_TARGETS_H
#define CLI_TRAIN_TARGETS_H
#include "cli/train/settings.h"

enum { CLI_TRAIN_DRAWN = 8, CLI_TRAIN_NAME = 4200 };

/* File i < CLI_TRAIN_DRAWN of --plot, which was given: STEM.csv and so on. Returns name. */
const char *cli_train_drawn(const cli_train_settings *settings, size_t i,
                            char name[CLI_TRAIN_NAME]);

/* The model, the checkpoints, the log and the pictures can be written, and replace nothing, but
 * with -f: a run that goes on (--resume) has its checkpoints and adds to its log. Prints what
 * stands against it; returns an exit code: CLI_IO when something is there already or cannot be
 * made. */
int cli_train_check_targets(const cli_train_settings *settings);
#endif
