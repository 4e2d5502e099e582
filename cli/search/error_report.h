/* error_report.h -- error rates with their intervals, and the confusion matrix, as text or as a
 * line of JSON. */
#ifndef CLI_ERROR_REPORT_H
#define CLI_ERROR_REPORT_H
#include "cli/labels/class_errors.h"
#include <stdio.h>

enum { CLI_MOST_CONFUSED = 1024 }; /* with more classes there is no matrix */

typedef struct cli_error_report {
    size_t n;                     /* how many numbers of votes were tried */
    const size_t *k;              /* [n] */
    const taper_error_rate *rate; /* [n] */
    const char *const *name;      /* [classes] */
    size_t classes;
    const uint64_t *confusion; /* for k[0], as from taper_count_errors; NULL: too many classes */
    const taper_error_rate *balanced; /* [n] */
    const cli_class_errors *by_class; /* for k[0] */
    bool all_classes;                 /* print them all */
} cli_error_report;

/* The classes that occur as true labels or as votes: returns their number, and writes the first
 * `room` of them to used. Requires the matrix. */
size_t cli_error_report_used(const cli_error_report *report, size_t *used, size_t room);

/* Print two lines per number of votes, the errors by class (class_errors.h), then the matrix of the
 * classes that occur; with more than twenty classes, the most frequent confusions instead. */
void cli_error_report_print(const cli_error_report *report, FILE *to);
/* {"schema":1,"kind":"errors", ...}: percentages, also by class, classes and, if there is one, the
 * matrix. */
void cli_error_report_json(const cli_error_report *report, FILE *to);

#endif
