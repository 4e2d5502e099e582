/* small_set.h -- all images of a set in the size in which they are compared. */
#ifndef CLI_COPIES_SMALL_SET_H
#define CLI_COPIES_SMALL_SET_H
#include "cli/copies/grey.h"
#include "cli/search/code_set.h"

typedef struct cli_small_set {
    size_t n;                         /* images of the set */
    size_t read;                      /* of these, that were read */
    uint8_t (*grey)[CLI_GREY_PIXELS]; /* [n] */
    uint32_t *width, *height;         /* [n] of the images; 0: not read */
    /* [n] of all pixels, size and kind: equal for equal images. Of containers it is that of the
     * small picture. */
    uint64_t *digest;
    uint64_t held; /* bytes charged by cli_memory_hold */
} cli_small_set;

/* Read all images of an open set. Those that cannot be read are reported, and counted in set->left.
 * model: of containers, see cli_container_set_show. On failure prints a message and returns an exit
 * code: CLI_LIMIT: --max-memory is too little. *out needs cli_small_set_free in any case. */
int cli_small_set_read(cli_small_set *out, cli_code_set *set, const taper_model *model);
void cli_small_set_free(cli_small_set *small); /* a zeroed one is fine */

/* first[images]: for each image the first one that is equal to it, perhaps itself; UINT32_MAX: not
 * read. TAPER_ERR_NOMEM. */
taper_status cli_small_set_find_equal(const cli_small_set *set, uint32_t *first);

#endif
