/* webp.c -- lossy WebP by libwebp: method 6, the slowest and smallest; a grey image goes in as
 * colour, for WebP has no grey, and its chroma costs next to nothing. WebP is always 4:2:0. */
#include "cli/compare/late_library.h"
#include "cli/compare/rival.h"

#ifdef RIVAL_LIBRARY
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
CLI_LATE_LIBRARY(RIVAL_LIBRARY, FUNCTIONS);

static const char *const k_settings[] = {"4:2:0"};
static const double k_ladder[] = {0, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95};

static taper_status compress(const taper_image *image, double quality, WebPMemoryWriter *writer,
                             taper_error *error) {
    WebPConfig config;
    WebPPicture picture;
    if (!lib.WebPConfigInitInternal(&config, WEBP_PRESET_DEFAULT, (float)quality,
                                    WEBP_ENCODER_ABI_VERSION) ||
        !lib.WebPPictureInitInternal(&picture, WEBP_ENCODER_ABI_VERSION))
        return formats_fail(error, TAPER_ERR_UNSUPPORTED,
                            "libwebp is not the version that taper was built for");
    config.method = 6;
    picture.width = (int)image->width;
    picture.height = (int)image->height;
    picture.writer = lib.WebPMemoryWrite;
    picture.custom_ptr = writer;
    taper_image colour = *image;
    if (image->channels == 1) {
        TAPER_TRY(cli_rival_new_image(image->width, image->height, 3, &colour, error));
        for (size_t i = 0; i < (size_t)image->width * image->height; i++)
            for (size_t c = 0; c < 3; c++)
                ((uint8_t *)colour.pixels)[3 * i + c] = ((const uint8_t *)image->pixels)[i];
    }
    int done = lib.WebPPictureImportRGB(&picture, colour.pixels, (int)image->width * 3) &&
               lib.WebPEncode(&config, &picture);
    int code = picture.error_code;
    lib.WebPPictureFree(&picture);
    if (image->channels == 1) free(colour.pixels);
    if (!done)
        return formats_fail(error, TAPER_ERR_UNSUPPORTED,
                            "libwebp cannot encode %ux%u pixels (its error %d)", image->width,
                            image->height, code);
    return TAPER_OK;
}

static taper_status decode(cli_rival_coded *coded, taper_error *error) {
    const taper_image *out = &coded->decoded;
    taper_image colour = {0};
    TAPER_TRY(cli_rival_new_image(out->width, out->height, 3, &colour, error));
    const size_t pixels = (size_t)out->width * out->height;
    if (!lib.WebPDecodeRGBInto(coded->bytes, coded->file_bytes, colour.pixels, pixels * 3,
                               (int)out->width * 3)) {
        free(colour.pixels);
        return formats_fail(error, TAPER_ERR_UNSUPPORTED, "libwebp cannot decode what it wrote");
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

static taper_status encode(const taper_image *image, size_t setting, double quality,
                           cli_rival_coded *out, taper_error *error) {
    (void)setting;
    WebPMemoryWriter writer;
    lib.WebPMemoryWriterInit(&writer);
    taper_status status = compress(image, quality, &writer, error);
    if (status == TAPER_OK) status = cli_rival_keep_bytes(out, writer.mem, writer.size, error);
    lib.WebPMemoryWriterClear(&writer);
    out->payload_bytes = out->file_bytes > HEADER_BYTES ? out->file_bytes - HEADER_BYTES : 0;
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
    .payload_is = "file less its 30 header bytes",
#ifdef RIVAL_LIBRARY
    .library = &library,
    .version = version,
    .media_type = "image/webp",
    .settings = k_settings,
    .n_settings = 1,
    .ladder = k_ladder,
    .n_ladder = sizeof k_ladder / sizeof *k_ladder,
    .encode = encode,
    .decode = decode,
#else
    .absent = "built without libwebp; install libwebp-dev and build again",
#endif
};
