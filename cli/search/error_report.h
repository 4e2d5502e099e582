/* error_report.h -- how many labels are wrong, with the interval, and which class is taken for
 * which: for people, and as a line of JSON. */
#ifndef CLI_ERROR_REPORT_H
#define CLI_ERROR_REPORT_H
#include "codec/taper_search.h"
#include <stdio.h>

enum { CLI_MOST_CONFUSED = 1024 }; /* classes beyond which there is no matrix */

typedef struct cli_error_report {
    size_t n;                     /* numbers of votes that were tried */
    const size_t *k;              /* [n] */
    const taper_error_rate *rate; /* [n] */
    const char *const *name;      /* [classes] */
    size_t classes;
    const uint64_t *confusion; /* of k[0], as taper_count_errors has it; NULL: too many classes */
} cli_error_report;

/* The classes that occur, as true labels or as votes: their number, and the first `room` of them.
 * With a matrix alone. */
size_t cli_error_report_used(const cli_error_report *report, size_t *used, size_t room);

/* A line for each number of votes, then the matrix of the classes that are there; of more than
 * twenty the pairs that are confused most. */
void cli_error_report_print(const cli_error_report *report, FILE *to);
/* {"schema":1,"kind":"errors", ...}: percentages, classes and, where there is one, the matrix. */
void cli_error_report_json(const cli_error_report *report, FILE *to);

#endif
