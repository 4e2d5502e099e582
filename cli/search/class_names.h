/* class_names.h -- the classes of two sets of images, joined by their names.
 *
 * The room cli/search/: codes of images, and labels by neighbours, for people and programs.
 *   code_set               images whose codes are wanted, block by block
 *   container_set          containers as such a set: codes as they stand in the file
 *   labelled_codes         codes of a labelled set
 *   neighbour_votes        who of them is nearest, and what these vote for
 *   labelling              labels of images by these votes, and errors
 *   suggestions            labels for the images of a set that have none
 *   label_line             what is told of one image that was labelled
 *   image_choice           which images are meant by numbers, names and patterns
 *   class_names            classes of two sets, by name
 *   map                    a page with a point for each image
 *   error_page             the same as a page, with examples and their neighbours
 *   thumbnail              an image of a set, small
 *   error_report           how many labels are wrong, and which class is taken for which */
#ifndef CLI_CLASS_NAMES_H
#define CLI_CLASS_NAMES_H
#include "cli/search/code_set.h"
#include <stdbool.h>

typedef struct cli_class_names {
    const char **name; /* [count], of the sets, which must stay open */
    size_t count;      /* classes of the first set, then those that the second alone has */
    size_t of_first;
    size_t shared;   /* classes that both have */
    int32_t *second; /* [classes of the second set]: their numbers here */
} cli_class_names;

/* second may be NULL: there is none. TAPER_ERR_NOMEM: nothing is held. */
taper_status cli_class_names_join(cli_class_names *out, const cli_code_set *first,
                                  const cli_code_set *second, taper_error *error);
void cli_class_names_free(cli_class_names *names); /* a zeroed one is fine */

#endif
