/* labelled_set.h -- the classes of the images that `train-labels` has read: their names, how many
 * images they have, and warnings about them. */
#ifndef CLI_TRAIN_LABELLED_SET_H
#define CLI_TRAIN_LABELLED_SET_H
#include "formats/imageset/imageset.h"
#include "train/sampling/dataset.h"
#include <stdbool.h>

typedef struct cli_labelled_set {
    char **name;     /* [classes] */
    size_t *members; /* [classes] images that were read */
    size_t classes;
    size_t small; /* classes of few images; images with a twin of another class */
    size_t twins;
} cli_labelled_set;

/* Take the classes of the images read from a set; without labels there are none. The first process
 * warns of small and unequal classes, and of equal images under two labels; `equal_votes`: votes
 * are not weighted. TAPER_ERR_NOMEM; errors of train_sum_bytes. Free it after a failure too. */
taper_status cli_labelled_set_take(cli_labelled_set *out, const char *verb,
                                   const train_dataset *data, const formats_imageset *set,
                                   bool equal_votes, taper_error *error);
void cli_labelled_set_free(cli_labelled_set *set); /* a zeroed one is fine */

#endif
