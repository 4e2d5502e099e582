/* error_page.h -- a page on which people look at errors: how many labels are wrong, which class is
 * taken for which, and examples, beside their nearest neighbours. One HTML file with all that it
 * needs, which works offline.
 *
 *     int code = cli_error_page_open(&page, known, classes, path);
 *     ... cli_error_page_take of each image that has a true label ...
 *     cli_error_page_write(page, &report, about);
 *     code = cli_error_page_close(page, code); */
#ifndef CLI_ERROR_PAGE_H
#define CLI_ERROR_PAGE_H
#include "cli/search/class_names.h"
#include "cli/search/error_report.h"
#include "cli/search/neighbour_votes.h"

enum { CLI_PAGE_NEIGHBOURS = 5 }; /* that are shown; search for as many */

typedef struct cli_error_page cli_error_page;

/* All are borrowed until closing. Prints what is wrong and returns an exit code; nothing is then
 * held. */
int cli_error_page_open(cli_error_page **page, const cli_labelled_codes *known,
                        const cli_class_names *classes, const char *path);
/* Image `image` of the set, of class `truth`, is row `row` of what was searched for last.
 * TAPER_ERR_NOMEM. */
taper_status cli_error_page_take(cli_error_page *page, const cli_code_set *set, size_t image,
                                 int32_t truth, const cli_neighbour_votes *votes, size_t row);
/* Write the page; pictures are read now. about: a sentence on what was compared. A failure is told
 * when it is closed. */
void cli_error_page_write(cli_error_page *page, const cli_error_report *report, const char *about);
/* See that all of it is written, before any output appears (cli_output_finish). NULL is fine. */
int cli_error_page_finish(cli_error_page *page);
/* With CLI_DONE put the page in place, once settled, else leave none. NULL is fine. Returns the
 * exit code: `code`, or that of a failure here; CLI_SOME_FAILED where pictures could not be read,
 * which has been told. */
int cli_error_page_close(cli_error_page *page, int code);

#endif
