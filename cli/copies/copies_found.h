/* copies_found.h -- what is told of the images of groups, in the order of the groups. */
#ifndef CLI_COPIES_FOUND_H
#define CLI_COPIES_FOUND_H
#include "cli/copies/groups.h"

typedef enum cli_copy_kind {
    CLI_COPY, /* a file of its own, which the kept image can stand for */
    CLI_COPY_KEPT,
    CLI_COPY_LINK, /* another name of a file of the group */
    /* A copy of others of the group, which does not agree with the kept image: it is kept, too. */
    CLI_COPY_UNLIKE
} cli_copy_kind;

typedef struct cli_found_copy {
    uint32_t group, image; /* both from 0 */
    cli_copy_kind kind;
    uint32_t target;         /* CLI_COPY_LINK: the image that is its file */
    cli_agreement agreement; /* with the kept image */
} cli_found_copy;

typedef struct cli_found_copies {
    const cli_code_set *set;
    const cli_small_set *small;
    cli_found_copy
        *copy; /* [n] by group; within a group the kept one first, the others by number */
    size_t n, groups;
    size_t links; /* of kind CLI_COPY_LINK */
} cli_found_copies;

/* Describe the images of groups. TAPER_ERR_NOMEM; *out then needs no free. */
taper_status cli_found_copies_make(cli_found_copies *out, const cli_code_set *set,
                                   const cli_small_set *small, const cli_groups *groups,
                                   bool are_turned);
void cli_found_copies_free(cli_found_copies *found); /* a zeroed one is fine */

#endif
