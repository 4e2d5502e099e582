/* label_line.h -- the output for one labelled image: a line of CSV, which --labels reads, or of
 * JSON. */
#ifndef CLI_LABEL_LINE_H
#define CLI_LABEL_LINE_H
#include "cli/search/code_set.h"
#include <stdio.h>

/* The heading of the CSV; with_truth: with the last column, truth. */
void cli_label_heading_csv(bool with_truth, FILE *to);

typedef struct cli_label_line {
    const cli_code_set *set;
    size_t image;      /* its number in the set */
    const char *label; /* NULL: none */
    size_t votes, of;  /* votes for the label, of how many; of == 0: not voted on, no neighbours */
    const cli_code_set *known;
    size_t nearest;  /* number of the nearest image in `known` */
    double distance; /* to that image */
    bool with_truth;
    const char *truth; /* NULL: unknown */
} cli_label_line;

void cli_label_line_csv(const cli_label_line *line, FILE *to);
/* {"schema":1,"kind":"label", ...}; kind is "given" for an image that was not voted on. */
void cli_label_line_json(const cli_label_line *line, FILE *to);

#endif
