/* labelling.h -- labels images by votes of their nearest labelled images: searches, writes a line
 * per image, and counts errors.
 *
 *     int code = cli_labelling_begin(&labelling, images);
 *     ... cli_labelling_take of some images at a time, or cli_labelling_leave_one_out ...
 *     status = cli_labelling_report(&labelling, &error);
 *     cli_labelling_free(&labelling);
 *
 * Functions that return int return an exit code; CLI_DONE is 0. On failure they print a message and
 * close an output that failed. */
#ifndef CLI_LABELLING_H
#define CLI_LABELLING_H
#include "cli/common/outputs.h"
#include "cli/search/class_links.h"
#include "cli/search/error_page.h"
#include "cli/search/neighbour_votes.h"

typedef struct cli_labelling {
    /* Set by the verb; pointers are borrowed. */
    const cli_labelled_codes *known; /* the voting images */
    const cli_class_names *classes;  /* of the labelled set and of the inputs */
    const size_t *k;                 /* [n_k] numbers of votes; written labels use the first */
    size_t n_k, most_k;              /* most_k: the largest of k */
    const double *weights;           /* [classes->count] of votes, as in taper_votes; or NULL */
    bool has_truth;                  /* inputs have true labels, to count errors */
    cli_output *out;                 /* NULL: standard output */
    cli_error_page *page;            /* receives examples; or NULL */
    const char *about;               /* for the page: what was compared */
    cli_class_links *links;          /* receives each labelled input; or NULL */

    /* Private. */
    cli_neighbour_votes votes;
    int32_t *truth, *guess; /* [room], [n_k][room] of images with a true label */
    size_t tested, room;
    size_t unknown; /* tested images of a class that no labelled image has */
} cli_labelling;

/* Begin, for at most `images` images; writes the heading. Free it also after a failure. */
int cli_labelling_begin(cli_labelling *labelling, size_t images);
/* Label n images of a set, by number, by their codes[n][known->width]. */
int cli_labelling_take(cli_labelling *labelling, const cli_code_set *set, const size_t *image,
                       size_t n, const float *codes);
/* Label each labelled image by the others. */
int cli_labelling_leave_one_out(cli_labelling *labelling);
/* If true labels are known, print error rates to standard error, or as JSON after the labels, and
 * to the page; warn if they are of few images. TAPER_ERR_NOMEM, or an error of the output. */
taper_status cli_labelling_report(cli_labelling *labelling, taper_error *error);
void cli_labelling_free(cli_labelling *labelling); /* a zeroed one is fine */

#endif
