/* own_report.h -- checks whether a report is unchanged since `compare` wrote it: its page ends with
 * hashes of the other files and of itself. */
#ifndef CLI_COMPARE_OWN_REPORT_H
#define CLI_COMPARE_OWN_REPORT_H
#include "formats/status.h"

/* Names of all files of a report, the page first; NULL-terminated. */
extern const char *const cli_report_files[];

/* Append the hashes of the files in the folder, and of the page, to the text of the page. text:
 * malloc'd; reallocated. TAPER_ERR_NOMEM. */
taper_status cli_own_report_seal(char **text, size_t *n, const char *folder, taper_error *error);

/* The first file of the report in the folder that differs from its hash on the page; NULL: none. */
const char *cli_own_report_foreign(const char *folder);

#endif
