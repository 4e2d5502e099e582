/* suggestions.h -- suggests labels for the unlabelled images of a set, by votes of the labelled
 * ones. The lines (label_line.h) are for people to correct and for --labels to read.
 *
 * The suggestions come first: those with the fewest votes on top, otherwise in the order of the
 * set. Then come the given labels, without votes, and unlabelled images that cannot be used. The
 * output is thus a label file of the whole set. */
#ifndef CLI_SUGGESTIONS_H
#define CLI_SUGGESTIONS_H
#include "cli/common/outputs.h"
#include "cli/search/labelled_codes.h"

/* Suggest each label by k votes; weights: as in taper_votes. out NULL: standard output. On failure
 * prints a message, closes an output that failed, and returns an exit code. */
int cli_suggest(const cli_labelled_codes *known, size_t k, const double *weights, cli_output *out);

#endif
