/* neighbour_votes.h -- the nearest labelled images of some rows at a time, and the labels that they
 * vote for. Buffers are allocated once. */
#ifndef CLI_NEIGHBOUR_VOTES_H
#define CLI_NEIGHBOUR_VOTES_H
#include "cli/search/labelled_codes.h"

typedef struct cli_neighbour_votes {
    /* Set by the caller; pointers are borrowed. */
    const cli_labelled_codes *known; /* the voting images */
    const size_t *k;                 /* [n_k] numbers of votes */
    size_t n_k, most_k;              /* most_k: the largest of k */
    size_t classes;                  /* labels are 0 .. classes - 1 */
    const double *weights;           /* [classes] of votes, as in taper_votes; or NULL */

    /* Results of the last search. */
    size_t room;         /* most rows at a time */
    uint32_t *neighbour; /* [room][most_k] rows of known, nearest first */
    double *distance;    /* [room][most_k] squared */
    int32_t *label;      /* [n_k][room] */

    /* For binary codes, which often have equal distances. In the order of the set, the first
     * images, often of one class, would always vote. So the search uses a random order. */
    float *mixed;    /* [known->n][width] codes in that order; NULL: order of the set */
    uint32_t *order; /* [known->n] row of each code in `mixed` */
    uint32_t *found; /* [room][most_k + 1] */
    double *found_distance;
} cli_neighbour_votes;

/* TAPER_ERR_NOMEM. Close it also after a failure. */
taper_status cli_neighbour_votes_open(cli_neighbour_votes *votes);
void cli_neighbour_votes_close(cli_neighbour_votes *votes); /* a zeroed one is fine */

/* Search for n <= room codes[n][known->width]. codes NULL: for the labelled rows first .. first + n
 * - 1, each among the others. Errors as taper_nearest. */
taper_status cli_neighbour_votes_find(cli_neighbour_votes *votes, const float *codes, size_t first,
                                      size_t n, taper_error *error);

/* How many of the first k[0] neighbours of row i voted for its label. */
size_t cli_neighbour_votes_for(const cli_neighbour_votes *votes, size_t i);

#endif
