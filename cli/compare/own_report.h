/* own_report.h -- the report in a folder is as `compare` wrote it: its page ends with the hashes of
 * all files beside it, and of itself. */
#ifndef CLI_COMPARE_OWN_REPORT_H
#define CLI_COMPARE_OWN_REPORT_H
#include "formats/status.h"

/* The page; then the names of all files of a report, NULL-ended. */
extern const char *const cli_report_files[];

/* Append to the whole text of the page what it says of the files in its folder and of itself. text:
 * malloc'd; moves. TAPER_ERR_NOMEM */
taper_status cli_own_report_seal(char **text, size_t *n, const char *folder, taper_error *error);

/* The first file of a report in the folder that is not as the page there says it was, or NULL. */
const char *cli_own_report_foreign(const char *folder);

#endif
