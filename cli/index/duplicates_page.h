/* duplicates_page.h -- a page of near-duplicates: images that pairs join stand in a row. */
#ifndef CLI_DUPLICATES_PAGE_H
#define CLI_DUPLICATES_PAGE_H
#include "cli/index/indexed_pictures.h"

typedef struct cli_duplicate {
    uint32_t distance, a, b; /* images of the index, a < b */
} cli_duplicate;

typedef struct cli_duplicate_pairs {
    const taper_index *index;
    const cli_duplicate *pair; /* [n] sorted by distance */
    size_t n;
    uint32_t within; /* the largest distance that was looked for */
} cli_duplicate_pairs;

/* Write the page to the file `path`, with pictures of the indexed set; NULL: with names. Returns an
 * exit code, as cli_indexed_page_close. */
int cli_duplicates_page_write(const cli_duplicate_pairs *pairs, const cli_code_set *set,
                              const char *path, const cli_common *common);

#endif
