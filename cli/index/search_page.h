/* search_page.h -- a page with each query and the images that were found for it, as pictures. One
 * HTML file with all that it needs, which works offline. */
#ifndef CLI_SEARCH_PAGE_H
#define CLI_SEARCH_PAGE_H
#include "cli/index/query_codes.h"

/* What was found for all queries: a row each, or of neighbourhoods some, of which those without a
 * label are left out. */
typedef struct cli_found {
    const taper_index *index;
    const cli_query_codes *queries;
    size_t k, rows_a_query; /* columns; rows */
    uint32_t *image;        /* [rows][k] numbers in the index; UINT32_MAX: no more were found */
    uint32_t *distance;     /* [rows][k] */
    bool is_filtered;       /* some images alone may be found */
    uint64_t least;         /* of neighbourhoods: images of the smallest; 0: these are neighbours */
    char (*label)[48];      /* [rows] of neighbourhoods */
} cli_found;

/* Write the page to the file `path`; print what is wrong and return an exit code. pictures: the set
 * that was indexed, open, whose images are found by their names; NULL: names are shown alone.
 * CLI_SOME_FAILED: the page is there, without pictures that could not be read, which were named. */
int cli_search_page_write(const cli_found *found, const cli_code_set *pictures, const char *path,
                          const cli_common *common);

#endif
