/* label_line.h -- what is told of one image that was labelled: a line of CSV, which --labels reads,
 * or of JSON. */
#ifndef CLI_LABEL_LINE_H
#define CLI_LABEL_LINE_H
#include "cli/search/code_set.h"
#include <stdio.h>

/* The heading of the CSV; with_truth: of lines that have a last column for it. */
void cli_label_heading_csv(bool with_truth, FILE *to);

typedef struct cli_label_line {
    const cli_code_set *set;
    size_t image;      /* its number in the set */
    const char *label; /* or NULL: none */
    size_t votes, of;  /* for the label; of 0: it was not voted on, and has no neighbours here */
    const cli_code_set *known;
    size_t nearest;  /* image of `known` */
    double distance; /* from it */
    bool with_truth;
    const char *truth; /* NULL where it is not known */
} cli_label_line;

void cli_label_line_csv(const cli_label_line *line, FILE *to);
/* {"schema":1,"kind":"label", ...}; one that was not voted on has kind "given". */
void cli_label_line_json(const cli_label_line *line, FILE *to);

#endif
