/* search_page.h -- a page with pictures of each query and of the images found for it. A
 * self-contained HTML file. */
#ifndef CLI_SEARCH_PAGE_H
#define CLI_SEARCH_PAGE_H
#include "cli/index/indexed_pictures.h"
#include "cli/index/query_codes.h"

/* Results of all queries: one row per query; for neighbourhoods several rows, of which those
 * without a label are unused. */
typedef struct cli_found {
    const taper_index *index;
    const cli_index_list *list; /* the files of the index, if they are several; else NULL */
    const cli_query_codes *queries;
    size_t k, rows_a_query; /* columns; rows per query */
    uint32_t *image;        /* [rows][k] numbers in the index; UINT32_MAX: no further result */
    uint32_t *distance;     /* [rows][k] */
    bool is_filtered;       /* only some images may be results (--where) */
    uint64_t least;         /* size of the smallest neighbourhood; 0: nearest neighbours */
    char (*label)[48];      /* [rows] for neighbourhoods */
} cli_found;

/* Write the page to the file `path`. set: the indexed set, open; its images are found by name.
 * NULL: shows names only. On failure prints a message and returns an exit code. CLI_SOME_FAILED:
 * the page was written without some pictures, which were named. */
int cli_search_page_write(const cli_found *found, const cli_code_set *set, const char *path,
                          const cli_common *common);

#endif
