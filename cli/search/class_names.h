/* class_names.h -- the classes of two sets of images, matched by name.
 *
 * Directory cli/search/: codes of images, and labels by nearest neighbours.
 *   code_set         a set of images and their codes, read in blocks
 *   embedder         codes of images, by a model or of their pixels
 *   container_set    containers as such a set; codes are read from the files
 *   labelled_codes   codes of a labelled set
 *   neighbour_votes  the nearest labelled images, and their votes
 *   labelling        labels images by these votes, and counts errors
 *   suggestions      suggests labels for unlabelled images of a set
 *   label_line       output of one labelled image, as CSV or JSON
 *   class_links      links to the files of labelled images, in a folder for each class
 *   image_choice     selects images by numbers, names and patterns
 *   class_names      classes of two sets
 *   map              a page with a point for each image
 *   error_page       a page of errors, with examples and their neighbours
 *   error_report     error rates and the confusion matrix, as text or JSON
 *   thumbnail        small pictures */
#ifndef CLI_CLASS_NAMES_H
#define CLI_CLASS_NAMES_H
#include "cli/search/code_set.h"
#include <stdbool.h>

typedef struct cli_class_names {
    const char **name; /* [count] borrowed from the sets, which must stay open */
    size_t count;      /* classes of the first set, then those that only the second has */
    size_t of_first;   /* number of classes of the first set */
    size_t shared;     /* number of classes that both have */
    int32_t *second;   /* [classes of the second set] their numbers here */
} cli_class_names;

/* second may be NULL. TAPER_ERR_NOMEM: *out needs no free. */
taper_status cli_class_names_join(cli_class_names *out, const cli_code_set *first,
                                  const cli_code_set *second, taper_error *error);
void cli_class_names_free(cli_class_names *names); /* a zeroed one is fine */

#endif
