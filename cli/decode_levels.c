/* decode_levels.c -- `decode --levels`: prints decoded integers as text, to compare decoders. */
#include "cli/decoding.h"
#include "codec/decoder/levels.h"
#include <errno.h>
#include <stdio.h>

static taper_status write_text(void *user, const void *bytes, size_t n) {
    return fwrite(bytes, 1, n, user) == n ? TAPER_OK : TAPER_ERR_IO;
}

int cli_decode_levels(const cli_decode_request *q, const formats_front *front,
                      const taper_source *source) {
    taper_error error = {0};
    taper_model *inside = NULL;
    const taper_model *model = q->model;
    taper_status status = TAPER_OK;
    if (!model) {
        status = codec_front_model(front, &q->limits, &inside, &error);
        model = inside;
    }
    if (status == TAPER_OK) status = codec_front_match(front, model, &error);
    taper_sink sink = {stdout, write_text};
    if (status == TAPER_OK)
        status = codec_levels_write(front, model, source, q->limits.max_memory, &sink, &error);
    taper_model_free(inside);
    if (ferror(stdout) || fflush(stdout))
        return cli_fail("decode", "-", formats_fail_errno(&error, errno, "write"), &error);
    return status == TAPER_OK ? CLI_DONE : cli_fail("decode", q->input, status, &error);
}
