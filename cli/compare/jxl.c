/* jxl.c -- JPEG XL by libjxl: lossy at a given distance, effort 7 as cjxl has it, a bare codestream
 * without container, one thread. */
#include "cli/compare/rival.h"
#include "formats/image.h"

#ifdef LATE_LIBRARY
#include <jxl/decode.h>
#include <jxl/encode.h>
#include <stdio.h>

/* clang-format off */
#define FUNCTIONS(ONE) ONE(JxlColorEncodingSetToSRGB) ONE(JxlDecoderCloseInput) \
    ONE(JxlDecoderCreate) ONE(JxlDecoderDestroy) ONE(JxlDecoderProcessInput) \
    ONE(JxlDecoderSetImageOutBuffer) ONE(JxlDecoderSetInput) ONE(JxlDecoderSubscribeEvents) \
    ONE(JxlEncoderAddImageFrame) ONE(JxlEncoderCloseInput) ONE(JxlEncoderCreate) \
    ONE(JxlEncoderDestroy) ONE(JxlEncoderFrameSettingsCreate) \
    ONE(JxlEncoderFrameSettingsSetOption) ONE(JxlEncoderInitBasicInfo) \
    ONE(JxlEncoderProcessOutput) ONE(JxlEncoderSetBasicInfo) ONE(JxlEncoderSetColorEncoding) \
    ONE(JxlEncoderSetFrameDistance) ONE(JxlEncoderVersion)
/* clang-format on */
FORMATS_LATE_LIBRARY(lib, LATE_LIBRARY, FUNCTIONS);

static const char *const k_settings[] = {"effort 7"};
static const double k_ladder[] = {15, 10, 7, 5, 3.5, 2.5, 1.5, 1, 0.6, 0.3};

static JxlPixelFormat pixel_format(const taper_image *image) {
    return (JxlPixelFormat){image->channels, JXL_TYPE_UINT8, JXL_NATIVE_ENDIAN, 0};
}

static int add_image(JxlEncoder *encoder, const taper_image *image, double distance) {
    JxlBasicInfo info;
    lib.JxlEncoderInitBasicInfo(&info);
    info.xsize = image->width;
    info.ysize = image->height;
    info.bits_per_sample = 8;
    info.num_color_channels = image->channels;
    info.uses_original_profile = JXL_FALSE;
    JxlColorEncoding colour;
    lib.JxlColorEncodingSetToSRGB(&colour, image->channels == 1);
    JxlEncoderFrameSettings *frame = lib.JxlEncoderFrameSettingsCreate(encoder, NULL);
    const JxlPixelFormat format = pixel_format(image);
    if (!frame || lib.JxlEncoderSetBasicInfo(encoder, &info) != JXL_ENC_SUCCESS ||
        lib.JxlEncoderSetColorEncoding(encoder, &colour) != JXL_ENC_SUCCESS ||
        lib.JxlEncoderSetFrameDistance(frame, (float)distance) != JXL_ENC_SUCCESS ||
        lib.JxlEncoderFrameSettingsSetOption(frame, JXL_ENC_FRAME_SETTING_EFFORT, 7) !=
            JXL_ENC_SUCCESS ||
        lib.JxlEncoderAddImageFrame(frame, &format, image->pixels, formats_image_samples(image)) !=
            JXL_ENC_SUCCESS)
        return 0;
    lib.JxlEncoderCloseInput(encoder);
    return 1;
}

static int take_output(JxlEncoder *encoder, formats_buffer *file) {
    for (;;) {
        size_t left = file->size + 4096; /* twice as much each time */
        uint8_t *next = formats_buffer_extend(file, left);
        if (!next) return 0;
        const JxlEncoderStatus status = lib.JxlEncoderProcessOutput(encoder, &next, &left);
        file->size -= left;
        if (status != JXL_ENC_NEED_MORE_OUTPUT) return status == JXL_ENC_SUCCESS;
    }
}

static int decompress(JxlDecoder *decoder, const cli_rival_coded *coded) {
    const taper_image *out = &coded->decoded;
    const JxlPixelFormat format = pixel_format(out);
    if (lib.JxlDecoderSubscribeEvents(decoder, JXL_DEC_FULL_IMAGE) != JXL_DEC_SUCCESS ||
        lib.JxlDecoderSetInput(decoder, coded->file.data, coded->file.size) != JXL_DEC_SUCCESS)
        return 0;
    lib.JxlDecoderCloseInput(decoder);
    for (;;) {
        JxlDecoderStatus status = lib.JxlDecoderProcessInput(decoder);
        if (status == JXL_DEC_FULL_IMAGE) return 1;
        if (status != JXL_DEC_NEED_IMAGE_OUT_BUFFER ||
            lib.JxlDecoderSetImageOutBuffer(decoder, &format, out->pixels,
                                            formats_image_samples(out)) != JXL_DEC_SUCCESS)
            return 0;
    }
}

static taper_status encode(const taper_image *image, cli_rival_coded *out) {
    JxlEncoder *encoder = lib.JxlEncoderCreate(NULL);
    int done =
        encoder && add_image(encoder, image, out->quality) && take_output(encoder, &out->file);
    if (encoder) lib.JxlEncoderDestroy(encoder);
    return done ? TAPER_OK : TAPER_ERR_UNSUPPORTED;
}

static taper_status decode(cli_rival_coded *coded) {
    JxlDecoder *decoder = lib.JxlDecoderCreate(NULL);
    int done = decoder && decompress(decoder, coded);
    if (decoder) lib.JxlDecoderDestroy(decoder);
    return done ? TAPER_OK : TAPER_ERR_UNSUPPORTED;
}

static void version(char *text, size_t room) {
    uint32_t v = lib.JxlEncoderVersion();
    snprintf(text, room, "libjxl %u.%u.%u", v / 1000000, v / 1000 % 1000, v % 1000);
}
#endif

const cli_rival cli_rival_jxl = {
    .name = "jxl",
    .title = "JPEG XL",
    .codec = "libjxl",
    .package = "libjxl-dev",
#ifdef LATE_LIBRARY
    CLI_RIVAL_CODES,
    .library = &lib_library,
#endif
};
