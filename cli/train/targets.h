/* targets.h -- checks the output files of a run before training, so that a run does not
 * fail at its end, or replace the files of an earlier run. */
#ifndef CLI_TRAIN_TARGETS_H
#define CLI_TRAIN_TARGETS_H
#include "cli/train/common.h"

enum { CLI_TRAIN_DRAWN = 8, CLI_TRAIN_NAME = 4200 };

/* Path of file i < CLI_TRAIN_DRAWN of --plot, which must be given: STEM.csv and so on. Returns
 * name.
 */
const char *cli_train_drawn(const cli_train_run *run, size_t i, char name[CLI_TRAIN_NAME]);

/* Check that the model, the checkpoints, the log and the plots can be written, and that they
 * replace no file unless -f is given. A resumed run (--resume) may use its checkpoints and append
 * to its log. On failure prints a message and returns an exit code; CLI_IO: a file exists or cannot
 * be created. */
int cli_train_check_targets(const char *verb, const cli_train_run *run);
#endif
