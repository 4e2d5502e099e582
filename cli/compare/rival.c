/* rival.c -- see rival.h. */
#include "cli/compare/rival.h"
#include <stdlib.h>
#include <string.h>

taper_status cli_rival_load(const cli_rival *rival, taper_error *error) {
    if (rival->absent) return formats_fail(error, TAPER_ERR_UNSUPPORTED, "%s", rival->absent);
    return rival->library ? cli_late_library_load(rival->library, error) : TAPER_OK;
}

void cli_rival_coded_free(cli_rival_coded *coded) {
    free(coded->bytes);
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

taper_status cli_rival_keep_bytes(cli_rival_coded *out, const void *bytes, size_t n,
                                  taper_error *error) {
    free(out->bytes);
    out->bytes = malloc(n ? n : 1);
    if (!out->bytes)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory for %zu bytes of a rival", n);
    memcpy(out->bytes, bytes, n);
    out->file_bytes = n;
    return TAPER_OK;
}

taper_status cli_rival_code(const cli_rival *rival, const taper_image *image, size_t setting,
                            double quality, cli_rival_coded *out, taper_error *error) {
    *out = (cli_rival_coded){0};
    taper_status status = rival->encode(image, setting, quality, out, error);
    if (status == TAPER_OK)
        status =
            cli_rival_new_image(image->width, image->height, image->channels, &out->decoded, error);
    if (status == TAPER_OK) status = rival->decode(out, error);
    if (status != TAPER_OK) cli_rival_coded_free(out);
    return status;
}
