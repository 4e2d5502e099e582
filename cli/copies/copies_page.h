/* copies_page.h -- groups of copies as a page: a row of pictures for each group. */
#ifndef CLI_COPIES_PAGE_H
#define CLI_COPIES_PAGE_H
#include "cli/copies/copies_found.h"

/* Write the page to a file. Returns an exit code; CLI_SOME_FAILED: it was written without some
 * pictures, which were named. */
int cli_copies_page_write(const cli_found_copies *found, const char *path);

#endif
