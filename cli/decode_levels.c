/* decode_levels.c -- `decode --levels`: prints decoded integers as text, to compare decoders. */
#include "cli/decoding.h"
#include "cli/common/spool.h"
#include "codec/decoder/levels.h"
#include <errno.h>
#include <stdio.h>

int cli_decode_levels(const cli_decode_request *q, const taper_container *container, uint64_t cut) {
    taper_error error = {0};
    const taper_sink sink = cli_spool_sink(stdout);
    const taper_status status = codec_levels_write(container, cut, &sink, &error);
    if (ferror(stdout) || fflush(stdout))
        return cli_fail("decode", "-", formats_fail_errno(&error, errno, "write"), &error);
    return status == TAPER_OK ? CLI_DONE : cli_fail("decode", q->input, status, &error);
}
