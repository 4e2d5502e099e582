/* spool.h -- bytes that wait on the disk: what came through a pipe, or a container on its way to a
 * smaller one. The file has no name, so nothing stays behind however the process ends. It lies in
 * the folder of TMPDIR, else /tmp. */
#ifndef CLI_COMMON_SPOOL_H
#define CLI_COMMON_SPOOL_H
#include "formats/status.h"
#include <stdio.h>

/* *out is the caller's to fclose; NULL on failure. */
taper_status cli_spool_open(FILE **out, taper_error *error);

/* Append to the spool. */
taper_sink cli_spool_sink(FILE *spool);
/* Append all that a descriptor still gives. */
taper_status cli_spool_fill(FILE *spool, int descriptor, taper_error *error);

/* Everything written so far, for reading from several threads. Fails when the disk is full. */
taper_status cli_spool_source(FILE *spool, taper_source *out, taper_error *error);

/* All bytes of a source into a sink. */
taper_status cli_source_copy(const taper_source *from, const taper_sink *to, taper_error *error);

#endif
