/* avif.c -- AVIF by libavif and libaom: 4:4:4 (4:0:0 for grey), full range, one quantiser for the
 * whole image, speed 2 (slow: 0.9 dB better on small images than avifenc's 6), one thread. */
#include "cli/compare/rival.h"

#ifdef LATE_LIBRARY
#include <avif/avif.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
#define FUNCTIONS(ONE) ONE(avifCodecVersions) ONE(avifDecoderCreate) ONE(avifDecoderDestroy) \
    ONE(avifDecoderReadMemory) ONE(avifEncoderCreate) ONE(avifEncoderDestroy) \
    ONE(avifEncoderWrite) ONE(avifImageAllocatePlanes) ONE(avifImageCreate) \
    ONE(avifImageCreateEmpty) ONE(avifImageDestroy) ONE(avifImageRGBToYUV) \
    ONE(avifImageYUVToRGB) ONE(avifRGBImageSetDefaults) ONE(avifRWDataFree) \
    ONE(avifResultToString) ONE(avifVersion)
/* clang-format on */
FORMATS_LATE_LIBRARY(lib, LATE_LIBRARY, FUNCTIONS);

static const char *const k_settings[] = {"4:4:4"};
static const double k_ladder[] = {62, 56, 50, 45, 40, 35, 30, 25, 18, 10};

static avifImage *picture_of(const taper_image *image) {
    avifPixelFormat format =
        image->channels == 1 ? AVIF_PIXEL_FORMAT_YUV400 : AVIF_PIXEL_FORMAT_YUV444;
    avifImage *picture = lib.avifImageCreate((int)image->width, (int)image->height, 8, format);
    if (!picture) return NULL;
    picture->yuvRange = AVIF_RANGE_FULL;
    picture->colorPrimaries = AVIF_COLOR_PRIMARIES_BT709;
    picture->transferCharacteristics = AVIF_TRANSFER_CHARACTERISTICS_SRGB;
    picture->matrixCoefficients = AVIF_MATRIX_COEFFICIENTS_BT601;
    return picture;
}

/* The pixels as libavif converts them from and to. */
static avifRGBImage rgb_view(const avifImage *picture, const taper_image *image) {
    avifRGBImage rgb;
    lib.avifRGBImageSetDefaults(&rgb, picture);
    rgb.format = AVIF_RGB_FORMAT_RGB;
    rgb.depth = 8;
    rgb.pixels = image->pixels;
    rgb.rowBytes = image->width * 3;
    return rgb;
}

static avifResult fill_picture(avifImage *picture, const taper_image *image) {
    if (image->channels == 3) {
        avifRGBImage rgb = rgb_view(picture, image);
        return lib.avifImageRGBToYUV(picture, &rgb);
    }
    lib.avifImageAllocatePlanes(picture, AVIF_PLANES_YUV);
    if (!picture->yuvPlanes[AVIF_CHAN_Y]) return AVIF_RESULT_UNKNOWN_ERROR;
    for (uint32_t y = 0; y < image->height; y++)
        memcpy(picture->yuvPlanes[AVIF_CHAN_Y] + (size_t)y * picture->yuvRowBytes[AVIF_CHAN_Y],
               (const uint8_t *)image->pixels + (size_t)y * image->width, image->width);
    return AVIF_RESULT_OK;
}

static avifResult compress(const taper_image *image, int quantiser, avifRWData *file) {
    avifImage *picture = picture_of(image);
    avifEncoder *encoder = lib.avifEncoderCreate();
    avifResult result = AVIF_RESULT_UNKNOWN_ERROR;
    if (picture && encoder) {
        encoder->codecChoice = AVIF_CODEC_CHOICE_AOM;
        encoder->maxThreads = 1;
        encoder->speed = 2;
        encoder->minQuantizer = encoder->maxQuantizer = quantiser;
        result = fill_picture(picture, image);
        if (result == AVIF_RESULT_OK) result = lib.avifEncoderWrite(encoder, picture, file);
    }
    if (encoder) lib.avifEncoderDestroy(encoder);
    if (picture) lib.avifImageDestroy(picture);
    return result;
}

static avifResult read_pixels(const avifImage *picture, taper_image *out) {
    if (out->channels == 3) {
        avifRGBImage rgb = rgb_view(picture, out);
        return lib.avifImageYUVToRGB(picture, &rgb);
    }
    for (uint32_t y = 0; y < out->height; y++)
        memcpy((uint8_t *)out->pixels + (size_t)y * out->width,
               picture->yuvPlanes[AVIF_CHAN_Y] + (size_t)y * picture->yuvRowBytes[AVIF_CHAN_Y],
               out->width);
    return AVIF_RESULT_OK;
}

/* Bytes in the top-level mdat boxes, without the boxes' own headers. */
static size_t mdat_bytes(const uint8_t *p, size_t n) {
    size_t sum = 0, at = 0;
    while (n - at >= 8) {
        size_t size = formats_get_u32be(p + at);
        if (size == 0) size = n - at; /* to the end of the file */
        if (size < 8 || size > n - at) break;
        if (memcmp(p + at + 4, "mdat", 4) == 0) sum += size - 8;
        at += size;
    }
    return sum;
}

static taper_status status_of(avifResult result, cli_rival_coded *coded) {
    if (result == AVIF_RESULT_OK) return TAPER_OK;
    snprintf(coded->why, sizeof coded->why, "%s", lib.avifResultToString(result));
    return TAPER_ERR_UNSUPPORTED;
}

static taper_status encode(const taper_image *image, cli_rival_coded *out) {
    avifRWData file = AVIF_DATA_EMPTY;
    taper_status status = status_of(compress(image, (int)out->quality, &file), out);
    if (status == TAPER_OK) status = formats_write_bytes(&out->file, file.data, file.size);
    if (status == TAPER_OK) out->payload_bytes = mdat_bytes(file.data, file.size);
    lib.avifRWDataFree(&file);
    return status;
}

static taper_status decode(cli_rival_coded *coded) {
    avifDecoder *decoder = lib.avifDecoderCreate();
    avifImage *picture = lib.avifImageCreateEmpty();
    avifResult result = AVIF_RESULT_UNKNOWN_ERROR;
    if (decoder && picture) {
        decoder->maxThreads = 1;
        result = lib.avifDecoderReadMemory(decoder, picture, coded->file.data, coded->file.size);
        if (result == AVIF_RESULT_OK) result = read_pixels(picture, &coded->decoded);
    }
    if (picture) lib.avifImageDestroy(picture);
    if (decoder) lib.avifDecoderDestroy(decoder);
    return status_of(result, coded);
}

static void version(char *text, size_t room) {
    char codecs[256];
    lib.avifCodecVersions(codecs);
    snprintf(text, room, "libavif %s (%s)", lib.avifVersion(), codecs);
}
#endif

const cli_rival cli_rival_avif = {
    .name = "avif",
    .title = "AVIF",
    .codec = "libavif",
    .media_type = "image/avif",
    .package = "libavif-dev",
    .payload_is = "bytes in the mdat box",
#ifdef LATE_LIBRARY
    CLI_RIVAL_CODES,
    .library = &lib_library,
#endif
};
