/* class_errors.h -- the errors of each class and their mean, as text or JSON.
 *
 * Directory cli/labels/: what `classify` and `train-labels` say of labelled images.
 *   class_errors     the errors of each class, and their mean
 *   label_warnings   classes of few images, equal images under two labels, few tested images
 *
 *     cli_class_errors e;
 *     bool done = cli_class_errors_open(&e, classes);
 *     cli_class_errors_add(&e, name, wrong, tested);          each class
 *     if (done && cli_class_errors_balance(&e, &error) == TAPER_OK) cli_class_errors_say(...);
 *     cli_class_errors_free(&e); */
#ifndef CLI_CLASS_ERRORS_H
#define CLI_CLASS_ERRORS_H
#include "cli/common/json.h"
#include "codec/taper_search.h"

enum { CLI_CLASS_LINE = 400 };

typedef struct cli_class_errors {
    const char **name;        /* [n] borrowed */
    uint64_t *wrong, *tested; /* [n] tested 0: the class's error is unknown */
    size_t n;
    size_t unknown;            /* classes with tested 0 */
    taper_error_rate balanced; /* by cli_class_errors_balance */
} cli_class_errors;

/* Room for so many classes. False: no memory. Free it in any case. */
bool cli_class_errors_open(cli_class_errors *errors, size_t classes);
void cli_class_errors_free(cli_class_errors *errors); /* a zeroed one is fine */
void cli_class_errors_add(cli_class_errors *errors, const char *name, uint64_t wrong,
                          uint64_t tested);
/* Compute the balanced error (taper_balance_errors); at least one class has been tested. */
taper_status cli_class_errors_balance(cli_class_errors *errors, taper_error *error);

/* Receives a line of text, without its end. */
typedef void cli_class_line_fn(void *user, const char *line);
/* The balanced error, and a line for each class: of all classes if they are at most twenty or if
 * `all`, else of the five with the highest errors. */
void cli_class_errors_say_balanced(const cli_class_errors *errors, cli_class_line_fn *put,
                                   void *user);
void cli_class_errors_say_classes(const cli_class_errors *errors, bool all, cli_class_line_fn *put,
                                  void *user);

/* "balanced_percent", "balanced_low_percent", "balanced_high_percent" */
void cli_class_errors_json_balanced(const taper_error_rate *balanced, cli_json *to);
/* "class_errors": [{"class", "tested", "wrong", "percent", "low_percent", "high_percent"}, ...];
 * without percentages where none was tested. */
void cli_class_errors_json_classes(const cli_class_errors *errors, cli_json *to);
#endif
