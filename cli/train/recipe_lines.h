/* recipe_lines.h -- the options of an embedding as words of a command line, and the trials of a
 * search, each as it ends. */
#ifndef CLI_TRAIN_RECIPE_LINES_H
#define CLI_TRAIN_RECIPE_LINES_H
#include "cli/train/reporter.h"
#include "train/supervised/train_embedding.h"

enum { CLI_RECIPE_BYTES = 512 };
/* Write the options of `taper train-labels` that repeat a training, without those of the user. */
void cli_recipe_words(const train_embedding_choice *choice, char words[CLI_RECIPE_BYTES]);

/* A train_embedding_hooks.trial, of a cli_train_reporter: print the last trial, to standard error
 * or as JSON to standard output; before the first one, what they are compared by. */
void cli_say_trial(void *reporter, const train_embedding_found *found,
                   const train_embedding_choice *choice);

#endif
