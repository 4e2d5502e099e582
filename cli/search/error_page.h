/* error_page.h -- a page about errors: error rates, confusions, and examples with their nearest
 * neighbours. A self-contained HTML file.
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

enum { CLI_PAGE_NEIGHBOURS = 5 }; /* neighbours that are shown; search for at least these */

typedef struct cli_error_page cli_error_page;

/* All arguments are borrowed until closing. On failure prints a message and returns an exit code;
 * nothing is allocated then. */
int cli_error_page_open(cli_error_page **page, const cli_labelled_codes *known,
                        const cli_class_names *classes, const char *path);
/* Add image `image` of the set, of class `truth`, which is row `row` of the last search in votes.
 * TAPER_ERR_NOMEM. */
taper_status cli_error_page_take(cli_error_page *page, const cli_code_set *set, size_t image,
                                 int32_t truth, const cli_neighbour_votes *votes, size_t row);
/* Write the page; reads the pictures. about: a sentence on what was compared. A failure is reported
 * by cli_error_page_close. */
void cli_error_page_write(cli_error_page *page, const cli_error_report *report, const char *about);
/* Write all bytes, before any output appears (cli_output_finish). NULL is fine. */
int cli_error_page_finish(cli_error_page *page);
/* With CLI_DONE put the finished page in place, else remove it. NULL is fine. Returns `code`, or
 * the exit code of a failure here; CLI_SOME_FAILED: some pictures could not be read, which was
 * printed.
 */
int cli_error_page_close(cli_error_page *page, int code);

#endif
