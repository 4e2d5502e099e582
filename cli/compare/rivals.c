/* rivals.c -- the table of rival codecs and what they share. */
#include "cli/compare/rival.h"
#include <stdlib.h>
#include <string.h>

const cli_rival *const cli_rivals[] = {&cli_rival_jpeg, &cli_rival_jpeg2000, &cli_rival_webp,
                                       &cli_rival_avif, &cli_rival_jxl,      NULL};

const cli_rival *cli_rival_find(const char *name) {
    for (size_t i = 0; cli_rivals[i]; i++)
        if (strcmp(cli_rivals[i]->name, name) == 0) return cli_rivals[i];
    return NULL;
}

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

int cli_rivals_have_room(void) {
    /* Half a gigabyte to work in and 32 MiB of code; taken and given back: it is address space that
     * is asked for. */
    enum { ROOM = 544 << 20 };
    void *volatile room = malloc(ROOM); /* so that compilers do not leave it out */
    free(room);
    return room != NULL;
}
