/* webp.c -- lossy WebP by libwebp: method 6, the slowest and smallest; a grey image goes in as
 * colour, for WebP has no grey, and its chroma costs next to nothing. WebP is always 4:2:0. */
#include "cli/compare/rival.h"

#ifdef LATE_LIBRARY
#include <stdio.h>
#include <stdlib.h>
#include <webp/decode.h>
#include <webp/encode.h>

/* RIFF header 12, chunk header 8, VP8 frame header 10: no image data before that. */
enum { HEADER_BYTES = 30 };

/* clang-format off */
#define FUNCTIONS(ONE) ONE(WebPConfigInitInternal) ONE(WebPDecodeRGBInto) ONE(WebPEncode) \
    ONE(WebPGetEncoderVersion) ONE(WebPMemoryWrite) ONE(WebPMemoryWriterClear) \
    ONE(WebPMemoryWriterInit) ONE(WebPPictureFree) ONE(WebPPictureImportRGB) \
    ONE(WebPPictureInitInternal)
/* clang-format on */
FORMATS_LATE_LIBRARY(lib, LATE_LIBRARY, FUNCTIONS);

static const char *const k_settings[] = {"4:2:0"};
static const double k_ladder[] = {0, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95};

static taper_status compress(const taper_image *image, WebPMemoryWriter *writer,
                             cli_rival_coded *out) {
    WebPConfig config;
    WebPPicture picture;
    if (!lib.WebPConfigInitInternal(&config, WEBP_PRESET_DEFAULT, (float)out->quality,
                                    WEBP_ENCODER_ABI_VERSION) ||
        !lib.WebPPictureInitInternal(&picture, WEBP_ENCODER_ABI_VERSION)) {
        snprintf(out->why, sizeof out->why, "it is not the version that taper was built for");
        return TAPER_ERR_UNSUPPORTED;
    }
    config.method = 6;
    picture.width = (int)image->width;
    picture.height = (int)image->height;
    picture.writer = lib.WebPMemoryWrite;
    picture.custom_ptr = writer;
    taper_image colour = *image;
    if (image->channels == 1) {
        TAPER_TRY(cli_rival_new_image(image->width, image->height, 3, &colour, NULL));
        for (size_t i = 0; i < (size_t)image->width * image->height; i++)
            for (size_t c = 0; c < 3; c++)
                ((uint8_t *)colour.pixels)[3 * i + c] = ((const uint8_t *)image->pixels)[i];
    }
    int done = lib.WebPPictureImportRGB(&picture, colour.pixels, (int)image->width * 3) &&
               lib.WebPEncode(&config, &picture);
    int code = picture.error_code;
    lib.WebPPictureFree(&picture);
    if (image->channels == 1) free(colour.pixels);
    if (done) return TAPER_OK;
    snprintf(out->why, sizeof out->why, "its error %d", code);
    return TAPER_ERR_UNSUPPORTED;
}

static taper_status decode(cli_rival_coded *coded) {
    const taper_image *out = &coded->decoded;
    taper_image colour = {0};
    TAPER_TRY(cli_rival_new_image(out->width, out->height, 3, &colour, NULL));
    const size_t pixels = (size_t)out->width * out->height;
    if (!lib.WebPDecodeRGBInto(coded->file.data, coded->file.size, colour.pixels, pixels * 3,
                               (int)out->width * 3)) {
        free(colour.pixels);
        return TAPER_ERR_UNSUPPORTED;
    }
    const uint8_t *from = colour.pixels;
    uint8_t *to = out->pixels;
    /* the green channel is nearest to luma, and all three are the same but for rounding */
    if (out->channels == 1)
        for (size_t i = 0; i < pixels; i++) to[i] = from[3 * i + 1];
    else
        for (size_t i = 0; i < pixels * 3; i++) to[i] = from[i];
    free(colour.pixels);
    return TAPER_OK;
}

static taper_status encode(const taper_image *image, cli_rival_coded *out) {
    WebPMemoryWriter writer;
    lib.WebPMemoryWriterInit(&writer);
    taper_status status = compress(image, &writer, out);
    if (status == TAPER_OK) status = formats_write_bytes(&out->file, writer.mem, writer.size);
    lib.WebPMemoryWriterClear(&writer);
    out->payload_bytes = out->file.size > HEADER_BYTES ? out->file.size - HEADER_BYTES : 0;
    return status;
}

static void version(char *text, size_t room) {
    int v = lib.WebPGetEncoderVersion();
    snprintf(text, room, "libwebp %d.%d.%d", v >> 16, v >> 8 & 255, v & 255);
}
#endif

const cli_rival cli_rival_webp = {
    .name = "webp",
    .title = "WebP",
    .codec = "libwebp",
    .media_type = "image/webp",
    .package = "libwebp-dev",
    .payload_is = "file less its 30 header bytes",
#ifdef LATE_LIBRARY
    CLI_RIVAL_CODES,
    .library = &lib_library,
#endif
};
