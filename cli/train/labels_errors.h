/* labels_errors.h -- the errors of an embedding on held-out images by class, and warnings about
 * them, for the report of `train-labels`. */
#ifndef CLI_TRAIN_LABELS_ERRORS_H
#define CLI_TRAIN_LABELS_ERRORS_H
#include "cli/common/json.h"
#include "cli/train/labelled_set.h"
#include "cli/train/reporter.h"
#include "train/supervised/train_embedding.h"

/* Notes: the balanced error and the errors of classes (cli/labels/class_errors.h). */
void cli_labels_errors_say(const cli_train_reporter *reporter, const train_embedding_report *report,
                           const cli_labelled_set *labels);
/* Members "balanced_error_percent", "balanced_error_percent_low", "..._high", "class_errors" and
 * what the warnings are about: "small_classes", "images_under_two_labels", "few_tested",
 * "more_epochs_may_help", "pixels_are_as_good", "classifier_is_better". */
void cli_labels_errors_json(const train_embedding_report *report, const cli_labelled_set *labels,
                            cli_json *to);
/* Warnings with the remedy: an interval of few images, a best epoch at the end, pixels that are as
 * good. */
void cli_labels_errors_warn(const cli_train_reporter *reporter,
                            const train_embedding_report *report);

#endif
