/* labels_report.h -- the output of `taper train-labels`: progress and the report. */
#ifndef CLI_TRAIN_LABELS_REPORT_H
#define CLI_TRAIN_LABELS_REPORT_H
#include "cli/train/labelled_set.h"
#include "cli/train/reporter.h"
#include "train/supervised/train_embedding.h"

train_embedding_hooks cli_labels_hooks(cli_train_reporter *reporter);
/* Print the result, to standard error or as JSON to standard output, and warnings. */
void cli_labels_report(const cli_train_reporter *reporter, const train_embedding_choice *choice,
                       const train_embedding_report *report, const cli_labelled_set *labels);
#endif
