/* labelling.h -- labels of images by the votes of their nearest labelled ones: searched for,
 * written line by line, and kept to count errors by.
 *
 *     int code = cli_labelling_begin(&labelling, images);
 *     ... cli_labelling_take of some images at a time, or cli_labelling_leave_one_out ...
 *     status = cli_labelling_report(&labelling, &error);
 *     cli_labelling_free(&labelling);
 *
 * Functions that return int print what went wrong and return an exit code; CLI_DONE is 0. An output
 * that failed is closed by then. */
#ifndef CLI_LABELLING_H
#define CLI_LABELLING_H
#include "cli/common/outputs.h"
#include "cli/search/error_page.h"
#include "cli/search/neighbour_votes.h"

typedef struct cli_labelling {
    const cli_labelled_codes *known; /* these by the verb: who votes; borrowed, as all of them */
    const cli_class_names *classes;  /* of the labelled set and of the inputs' */
    const size_t *k;                 /* [n_k] of votes; labels that are written are by the first */
    size_t n_k, most_k;              /* the largest is searched for */
    bool has_truth;                  /* images have labels of their own, to count errors by */
    cli_output *out;                 /* NULL: standard output */
    cli_error_page *page;            /* that examples go to, or NULL */
    const char *about;               /* of the page: what was compared */
    /* its own, of a search */
    cli_neighbour_votes votes;
    /* of those that have a true label */
    int32_t *truth, *guess; /* [room], [n_k][room] */
    size_t tested, room;
    size_t strangers; /* of a class that no labelled image has */
} cli_labelling;

/* Of at most so many images; writes the heading. On failure, too, free it. */
int cli_labelling_begin(cli_labelling *labelling, size_t images);
/* Label n images of a set, by number, by their codes[n][known->width]. */
int cli_labelling_take(cli_labelling *labelling, const cli_code_set *set, const size_t *image,
                       size_t n, const float *codes);
/* Label each labelled image by the others. */
int cli_labelling_leave_one_out(cli_labelling *labelling);
/* How often labels were wrong, where the truth is known: to standard error, or as JSON behind the
 * labels, and onto the page. TAPER_ERR_NOMEM, or as the output's sink. */
taper_status cli_labelling_report(cli_labelling *labelling, taper_error *error);
void cli_labelling_free(cli_labelling *labelling); /* a zeroed one is fine */

#endif
