/* report.h -- the folder that `compare -o` writes: rd.csv, rd.svg, rd.png (with rd.gp), the same
 * for MS-SSIM, and index.html with everything inside. */
#ifndef CLI_COMPARE_REPORT_H
#define CLI_COMPARE_REPORT_H
#include "cli/compare/comparison.h"
#include "cli/compare/own_report.h"
#include "cli/compare/examples.h"
#include "cli/compare/subject.h"
#include "formats/atomic_file.h"

typedef struct cli_report {
    const cli_comparison *comparison;
    const cli_subject *subject;
    const cli_originals *originals;
    const char *what;              /* for a person: "model photo", "container set.taper" */
    const char *command;           /* the command line that makes the report anew */
    const taper_model_info *model; /* NULL: not known */
    const formats_atomic_watch *watch;
    cli_examples examples;
} cli_report;

/* Write the report into an existing folder. Existing files are replaced, each whole or not at all;
 * own_report.h says which may be.
 * If only the plots fail (no gnuplot), the rest is written, the status is TAPER_OK and
 * *plot_failure has the reason; otherwise it is empty. */
taper_status cli_report_write(const cli_report *report, const char *folder,
                              taper_error *plot_failure, taper_error *error);
#endif
