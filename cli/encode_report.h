/* encode_report.h -- what `encode` tells about the container that it made. */
#ifndef CLI_ENCODE_REPORT_H
#define CLI_ENCODE_REPORT_H
#include "cli/encode_run.h"

/* Print sizes and quality in one line, and compare them with the input files. bytes: of the
 * container. */
void cli_encode_tell_result(const cli_encode_run *st, uint64_t bytes);
/* Warnings about the names in the container, before it is written. Returns an exit code. */
int cli_encode_look_at_names(const cli_encode_run *st);

#endif
