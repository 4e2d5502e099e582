/* labelled_codes.h -- the codes of a labelled set, in memory, for search. */
#ifndef CLI_LABELLED_CODES_H
#define CLI_LABELLED_CODES_H
#include "cli/search/code_set.h"
#include "cli/labels/label_warnings.h"

typedef struct cli_labelled_codes {
    size_t n, width, room;
    uint64_t held; /* bytes charged by cli_memory_hold */
    bool are_bits;
    float *codes;   /* [n][width] */
    int32_t *label; /* [n] class of the set, 0.. */
    size_t *image;  /* [n] number in the set, ascending */
    const cli_code_set *set;
    size_t unlabelled;  /* number of images without a label */
    float *rest;        /* [unlabelled][width] their codes, stored at the end of `codes` */
    size_t *rest_image; /* [unlabelled] number in the set, descending */
    /* The labelled images, as set 0, to find equal ones; none of containers, whose pixels are not
     * decoded. Other sets may be added. */
    cli_seen_images seen;
} cli_labelled_codes;

/* Read the codes of an open set, which must stay open. Prints a message and returns an exit code if
 * no image has a label, all have the same label, or the codes exceed --max-memory. wants_rest: also
 * keeps codes of unlabelled images, and fails if there are none; otherwise their number is printed.
 * On failure *out needs no free. */
int cli_labelled_codes_read(cli_labelled_codes *out, cli_code_set *set,
                            const cli_embedder *embedder, bool wants_rest);
void cli_labelled_codes_free(cli_labelled_codes *codes); /* a zeroed one is fine */

/* Number of codes of each class; the caller's to free, NULL without memory. */
size_t *cli_labelled_codes_members(const cli_labelled_codes *codes);
/* weights[classes] of votes such that classes are equal: the inverse of their number of codes, for
 * all classes of the set; 1 for others. False: no memory. */
bool cli_labelled_codes_weights(const cli_labelled_codes *codes, double *weights, size_t classes);

#endif
