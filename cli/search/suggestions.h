/* suggestions.h -- labels for the images of a set that have none, by the votes of those that have:
 * lines (label_line.h) for people to correct, and for --labels to read.
 *
 * What people should look at stands on top: the images without a label, those with the fewest votes
 * first, in the order of the set otherwise. Behind these come the labels that were given, without
 * votes, and images that cannot be used and have no label, so that a label file of the whole set
 * results. */
#ifndef CLI_SUGGESTIONS_H
#define CLI_SUGGESTIONS_H
#include "cli/common/outputs.h"
#include "cli/search/labelled_codes.h"

/* Each by k votes, to out, or NULL: to standard output. Prints what went wrong and returns an exit
 * code; an output that failed is closed by then. */
int cli_suggest(const cli_labelled_codes *known, size_t k, cli_output *out);

#endif
