/* spool.h -- temporary files for bytes from a pipe and for intermediate containers. The file is
 * unlinked at once, so none remains however the process ends. It is in TMPDIR, else in /tmp. */
#ifndef CLI_COMMON_SPOOL_H
#define CLI_COMMON_SPOOL_H
#include "formats/status.h"
#include <stdio.h>

/* *out is the caller's to fclose; NULL on failure. */
taper_status cli_spool_open(FILE **out, taper_error *error);

/* Append to the spool, or to another stream. */
taper_sink cli_spool_sink(FILE *spool);
/* Append all remaining bytes of a descriptor. */
taper_status cli_spool_fill(FILE *spool, int descriptor, taper_error *error);

/* Flush the file and make a source of it; several threads may read at once. Fails if the disk is
 * full. */
taper_status cli_spool_source(FILE *spool, taper_source *out, taper_error *error);

/* Copy all bytes of a source to a sink. */
taper_status cli_source_copy(const taper_source *from, const taper_sink *to, taper_error *error);

#endif
