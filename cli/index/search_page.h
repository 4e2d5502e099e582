/* search_page.h -- a page with each query and the images that were found for it, as pictures. One
 * HTML file with all that it needs, which works offline. */
#ifndef CLI_SEARCH_PAGE_H
#define CLI_SEARCH_PAGE_H
#include "cli/index/query_codes.h"

/* What was found for all queries. */
typedef struct cli_found {
    const taper_index *index;
    const cli_query_codes *queries;
    size_t k;                 /* columns; UINT32_MAX as an image: no more were found */
    const uint32_t *image;    /* [queries][k] numbers in the index */
    const uint32_t *distance; /* [queries][k] */
} cli_found;

/* pictures: the set that was indexed, open, whose images are found by their names; NULL: names are
 * shown alone. about: a sentence on what was searched. *shown: neighbours whose picture is there.
 * TAPER_ERR_NOMEM. */
taper_status cli_search_page(const cli_found *found, const cli_code_set *pictures,
                             const char *about, size_t *shown, FILE *to);

#endif
