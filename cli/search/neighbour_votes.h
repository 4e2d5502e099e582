/* neighbour_votes.h -- who is nearest among labelled images, and which label they vote for: of some
 * rows at a time, in rooms that are taken once. */
#ifndef CLI_NEIGHBOUR_VOTES_H
#define CLI_NEIGHBOUR_VOTES_H
#include "cli/search/labelled_codes.h"

typedef struct cli_neighbour_votes {
    const cli_labelled_codes *known; /* these by the caller: who votes; borrowed, as all of them */
    const size_t *k;                 /* [n_k] numbers of votes; the first one's labels are told */
    size_t n_k, most_k;              /* the largest is searched for */
    size_t classes;                  /* labels are 0 .. classes - 1 */
    /* of the rows searched for last */
    size_t room;         /* at most so many at a time */
    uint32_t *neighbour; /* [room][most_k] rows of known, nearest first */
    double *distance;    /* [room][most_k], squared */
    int32_t *label;      /* [n_k][room] */
    /* of codes of bits: many are at one distance, of which those first in the set, of its first
     * class maybe, would vote alone. They are searched for in another order. */
    float *mixed;    /* [known->n][width]; NULL: in the set's */
    uint32_t *order; /* [known->n] the row that each is */
    uint32_t *found; /* [room][most_k + 1], and their distances */
    double *found_distance;
} cli_neighbour_votes;

/* TAPER_ERR_NOMEM. To be closed on failure, too. */
taper_status cli_neighbour_votes_open(cli_neighbour_votes *votes);
void cli_neighbour_votes_close(cli_neighbour_votes *votes); /* a zeroed one is fine */

/* For n <= room codes[n][known->width]; codes NULL: for the labelled rows from `first` on, by the
 * others. As of taper_nearest. */
taper_status cli_neighbour_votes_find(cli_neighbour_votes *votes, const float *codes, size_t first,
                                      size_t n, taper_error *error);

/* Row i: how many of the first k[0] neighbours voted for its label. */
size_t cli_neighbour_votes_for(const cli_neighbour_votes *votes, size_t i);

#endif
