/* groups.h -- groups of images that are copies of each other.
 *
 * An image with many candidates is the centre of a group; the images that the check finds to be
 * copies of it join. What is then left alone, but is a copy of an image that joined, joins that
 * image's group. So no two images of a group are more than four copies apart, and every image
 * that the check finds to have a copy is in a group. */
#ifndef CLI_COPIES_GROUPS_H
#define CLI_COPIES_GROUPS_H
#include "cli/copies/candidates.h"
#include "cli/copies/small_set.h"

enum { CLI_NO_GROUP = UINT32_MAX };

typedef struct cli_groups {
    uint32_t *group; /* [n] from 0, in the order of their first images; CLI_NO_GROUP: none */
    uint32_t
        *keep; /* [count] of each group the image to keep: of most pixels, the first of these */
    size_t count;
} cli_groups;

/* Find the groups. are_turned: also of copies that are mirrored or turned. Images without structure
 * are in a group only with equal ones. The result does not depend on the number of threads. Limits
 * and failures as for cli_candidates_find; on failure *out is empty. */
taper_status cli_groups_find(cli_groups *out, const cli_small_set *set, bool are_turned,
                             const cli_common *common, taper_error *error);
void cli_groups_free(cli_groups *groups); /* a zeroed one is fine */

/* How well image b agrees with image a. */
typedef struct cli_agreement {
    float score;   /* as cli_check; 1 for equal images, and for others where all blocks agree */
    uint8_t turn;  /* how a must be turned to look like b (cli_grey_turn) */
    bool is_equal; /* by their digests */
} cli_agreement;
/* The agreement for the best turn. */
cli_agreement cli_agreement_of(const cli_small_set *set, const cli_cosines *cosines, size_t a,
                               size_t b, bool are_turned);

#endif
