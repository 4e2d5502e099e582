/* rival.c -- see rival.h. */
#include "cli/compare/rival.h"
#include <stdio.h>
#include <stdlib.h>

taper_status cli_rival_load(const cli_rival *rival, taper_error *error) {
    if (!rival->encode)
        return formats_fail(error, TAPER_ERR_UNSUPPORTED,
                            "built without %s; install %s and build again", rival->codec,
                            rival->package);
    return rival->library ? formats_late_library_load(rival->library, error) : TAPER_OK;
}

void cli_rival_coded_free(cli_rival_coded *coded) {
    formats_buffer_free(&coded->file);
    free(coded->decoded.pixels);
    *coded = (cli_rival_coded){0};
}

taper_status cli_rival_new_image(uint32_t width, uint32_t height, int channels, taper_image *out,
                                 taper_error *error) {
    *out = (taper_image){width, height, (uint8_t)channels, 8, NULL};
    uint64_t bytes = (uint64_t)width * height;
    if (bytes > SIZE_MAX / 8 || !(out->pixels = malloc((size_t)bytes * (size_t)channels)))
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for %ux%u pixels", width, height);
    return TAPER_OK;
}

taper_status cli_rival_prepare(const taper_image *image, taper_image *out, taper_error *error) {
    const size_t from = image->channels, to = from < 3 ? 1 : 3;
    TAPER_TRY(cli_rival_new_image(image->width, image->height, (int)to, out, error));
    const size_t pixels = (size_t)image->width * image->height;
    uint8_t *byte = out->pixels;
    for (size_t i = 0; i < pixels; i++)
        for (size_t c = 0; c < to; c++)
            if (image->depth == 8)
                *byte++ = ((const uint8_t *)image->pixels)[i * from + c];
            else
                *byte++ =
                    (uint8_t)((((const uint16_t *)image->pixels)[i * from + c] + 128u) / 257u);
    return TAPER_OK;
}

static taper_status explain(const cli_rival *rival, taper_status status, const char *cannot,
                            const cli_rival_coded *coded, taper_error *error) {
    if (status == TAPER_OK) return TAPER_OK;
    if (status == TAPER_ERR_UNSUPPORTED)
        return formats_fail(error, status, "%s cannot %s%s%s", rival->codec, cannot,
                            *coded->why ? ": " : "", coded->why);
    return formats_fail(error, TAPER_ERR_NOMEM, "no memory for the file of %s", rival->codec);
}

taper_status cli_rival_decode(const cli_rival *rival, const taper_image *like,
                              cli_rival_coded *coded, taper_error *error) {
    TAPER_TRY(
        cli_rival_new_image(like->width, like->height, like->channels, &coded->decoded, error));
    return explain(rival, rival->decode(coded), "decode what it wrote", coded, error);
}

taper_status cli_rival_code(const cli_rival *rival, const taper_image *image, size_t setting,
                            double quality, cli_rival_coded *out, taper_error *error) {
    char cannot[64];
    snprintf(cannot, sizeof cannot, "encode %ux%u pixels", image->width, image->height);
    *out = (cli_rival_coded){.setting = setting, .quality = quality};
    out->file = formats_buffer_make(FORMATS_MOST_BYTES);
    taper_status status = explain(rival, rival->encode(image, out), cannot, out, error);
    if (status == TAPER_OK) status = cli_rival_decode(rival, image, out, error);
    if (status != TAPER_OK) cli_rival_coded_free(out);
    return status;
}
