/* jxl.c -- JPEG XL by libjxl: lossy at a given distance, effort 7 as cjxl has it, a bare codestream
 * without container, one thread. */
#include "cli/compare/rival.h"

#if HAVE_LIBJXL
#include <jxl/decode.h>
#include <jxl/encode.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const k_settings[] = {"effort 7"};
static const double k_ladder[] = {15, 10, 7, 5, 3.5, 2.5, 1.5, 1, 0.6, 0.3};

static JxlPixelFormat pixel_format(const taper_image *image) {
    return (JxlPixelFormat){image->channels, JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 0};
}

static size_t pixel_bytes(const taper_image *image) {
    return (size_t)image->width * image->height * image->channels;
}

static int add_image(JxlEncoder *encoder, const taper_image *image, double distance) {
    JxlBasicInfo info;
    JxlEncoderInitBasicInfo(&info);
    info.xsize = image->width;
    info.ysize = image->height;
    info.bits_per_sample = 8;
    info.num_color_channels = image->channels;
    info.uses_original_profile = JXL_FALSE;
    JxlColorEncoding colour;
    JxlColorEncodingSetToSRGB(&colour, image->channels == 1);
    JxlEncoderFrameSettings *frame = JxlEncoderFrameSettingsCreate(encoder, NULL);
    const JxlPixelFormat format = pixel_format(image);
    if (!frame || JxlEncoderSetBasicInfo(encoder, &info) != JXL_ENC_SUCCESS ||
        JxlEncoderSetColorEncoding(encoder, &colour) != JXL_ENC_SUCCESS ||
        JxlEncoderSetFrameDistance(frame, (float)distance) != JXL_ENC_SUCCESS ||
        JxlEncoderFrameSettingsSetOption(frame, JXL_ENC_FRAME_SETTING_EFFORT, 7) !=
            JXL_ENC_SUCCESS ||
        JxlEncoderAddImageFrame(frame, &format, image->pixels, pixel_bytes(image)) !=
            JXL_ENC_SUCCESS)
        return 0;
    JxlEncoderCloseInput(encoder);
    return 1;
}

/* All output of the encoder into out->bytes. */
static int take_output(JxlEncoder *encoder, cli_rival_coded *out) {
    size_t room = 4096, used = 0;
    if (!(out->bytes = malloc(room))) return 0;
    for (;;) {
        uint8_t *next = out->bytes + used;
        size_t left = room - used;
        JxlEncoderStatus status = JxlEncoderProcessOutput(encoder, &next, &left);
        used = room - left;
        if (status == JXL_ENC_SUCCESS) break;
        if (status != JXL_ENC_NEED_MORE_OUTPUT || room > SIZE_MAX / 2) return 0;
        uint8_t *larger = realloc(out->bytes, room * 2);
        if (!larger) return 0;
        out->bytes = larger;
        room *= 2;
    }
    out->file_bytes = used;
    return 1;
}

static int decode(JxlDecoder *decoder, const cli_rival_coded *coded, taper_image *out) {
    const JxlPixelFormat format = pixel_format(out);
    if (JxlDecoderSubscribeEvents(decoder, JXL_DEC_FULL_IMAGE) != JXL_DEC_SUCCESS ||
        JxlDecoderSetInput(decoder, coded->bytes, coded->file_bytes) != JXL_DEC_SUCCESS)
        return 0;
    JxlDecoderCloseInput(decoder);
    for (;;) {
        JxlDecoderStatus status = JxlDecoderProcessInput(decoder);
        if (status == JXL_DEC_FULL_IMAGE) return 1;
        if (status != JXL_DEC_NEED_IMAGE_OUT_BUFFER ||
            JxlDecoderSetImageOutBuffer(decoder, &format, out->pixels, pixel_bytes(out)) !=
                JXL_DEC_SUCCESS)
            return 0;
    }
}

static taper_status code(const taper_image *image, size_t setting, double quality,
                         cli_rival_coded *out, taper_error *error) {
    (void)setting;
    *out = (cli_rival_coded){0};
    JxlEncoder *encoder = JxlEncoderCreate(NULL);
    int done = encoder && add_image(encoder, image, quality) && take_output(encoder, out);
    if (encoder) JxlEncoderDestroy(encoder);
    taper_status status = TAPER_OK;
    if (done) {
        status =
            cli_rival_new_image(image->width, image->height, image->channels, &out->decoded, error);
        JxlDecoder *decoder = status == TAPER_OK ? JxlDecoderCreate(NULL) : NULL;
        done = status != TAPER_OK || (decoder && decode(decoder, out, &out->decoded));
        if (decoder) JxlDecoderDestroy(decoder);
    }
    if (!done)
        status = formats_fail(error, TAPER_ERR_UNSUPPORTED,
                              "libjxl cannot code %ux%u pixels at distance %g", image->width,
                              image->height, quality);
    if (status != TAPER_OK) cli_rival_coded_free(out);
    return status;
}

static void version(char *text, size_t room) {
    uint32_t v = JxlEncoderVersion();
    snprintf(text, room, "libjxl %u.%u.%u", v / 1000000, v / 1000 % 1000, v % 1000);
}
#endif

const cli_rival cli_rival_jxl = {
    .name = "jxl",
    .title = "JPEG XL",
#if HAVE_LIBJXL
    .version = version,
    .settings = k_settings,
    .n_settings = 1,
    .n_settings_grey = 1,
    .ladder = k_ladder,
    .n_ladder = sizeof k_ladder / sizeof *k_ladder,
    .quality_is = "distance",
    .code = code,
#else
    .absent = "built without libjxl; install libjxl-dev and build again",
#endif
};
