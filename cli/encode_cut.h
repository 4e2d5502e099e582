/* encode_cut.h -- writes a container with a limit. It was spooled; with a target quality, the
 * largest prefix that fits is written. */
#ifndef CLI_ENCODE_CUT_H
#define CLI_ENCODE_CUT_H
#include "cli/encode_run.h"

/* Write the container of st->spool, with --psnr its cut, and measure it (st->found and
 * st->no_psnr). */
taper_status cli_encode_write_limited(cli_encode_run *st, const taper_sink *sink,
                                      taper_error *error);

#endif
