/* avif.c -- AVIF by libavif; still pictures and sequences. */
#include "formats/image.h"
#include "formats/readers/av1_noise.h"
#include "formats/readers/reader.h"
#include "formats/readers/samples.h"
#include <stdlib.h>
#include <string.h>

#ifdef LATE_LIBRARY
#include <avif/avif.h>

/* clang-format off */
#define FUNCTIONS(ONE) ONE(avifDecoderCreate) ONE(avifDecoderDestroy) \
    ONE(avifDecoderSetIOMemory) ONE(avifDecoderParse) ONE(avifDecoderNthImage) \
    ONE(avifImageYUVToRGB) ONE(avifRGBImageSetDefaults) ONE(avifResultToString) \
    ONE(avifCropRectConvertCleanApertureBox)
/* clang-format on */
FORMATS_LATE_LIBRARY(lib, LATE_LIBRARY, FUNCTIONS);
static const formats_late_library *const libraries[] = {&lib_library, NULL};

/* Bytes a pixel that decoding takes: planes of 16 bits in the decoder and in libavif, and the
 * image. */
enum { WORKING_BYTES = 24 };

static taper_status status_of(avifResult result, taper_error *error) {
    const char *why = lib.avifResultToString(result);
    if (result == AVIF_RESULT_OK) return TAPER_OK;
    if (result == AVIF_RESULT_OUT_OF_MEMORY)
        return formats_fail(error, TAPER_ERR_NOMEM, "no memory to decode an AVIF");
    if (result == AVIF_RESULT_NO_CODEC_AVAILABLE || result == AVIF_RESULT_NOT_IMPLEMENTED ||
        result == AVIF_RESULT_UNSUPPORTED_DEPTH)
        return formats_fail(error, TAPER_ERR_UNSUPPORTED,
                            "this kind of AVIF is not read (%s); convert it to PNG", why);
    if (result == AVIF_RESULT_TRUNCATED_DATA)
        return formats_fail(error, TAPER_ERR_TRUNCATED, "the AVIF ends early; fetch it anew");
    return formats_fail(error, TAPER_ERR_CORRUPT, "the AVIF is damaged (%s); fetch it anew", why);
}

static taper_status avif_open(formats_picture *p, taper_error *error) {
    avifDecoder *d = p->state = lib.avifDecoderCreate();
    if (!d) return formats_fail(error, TAPER_ERR_NOMEM, "no memory to decode an AVIF");
    d->maxThreads = 1;
    d->imageDimensionLimit = 0; /* our limits are tested below, before anything is decoded */
    d->strictFlags = AVIF_STRICT_DISABLED; /* viewers show what breaks the finer rules */
    TAPER_TRY(status_of(lib.avifDecoderSetIOMemory(d, p->bytes, p->size), error));
    TAPER_TRY(status_of(lib.avifDecoderParse(d), error));
    p->frames = d->imageCount > 0 ? (uint32_t)d->imageCount : 1;
    TAPER_TRY(
        formats_image_check(d->image->width, d->image->height, 4, 8, &p->limits, NULL, error));
    return formats_samples_check_room(d->image->width, d->image->height, WORKING_BYTES, &p->limits,
                                      error);
}

/* --- geometry --- */

/* Keep the rectangle of the clean aperture, if there is a legal one. */
static void crop(const avifImage *picture, taper_image *image) {
    avifCropRect r;
    avifDiagnostics unread;
    if (!(picture->transformFlags & AVIF_TRANSFORM_CLAP) ||
        !lib.avifCropRectConvertCleanApertureBox(&r, &picture->clap, image->width, image->height,
                                                 picture->yuvFormat, &unread) ||
        !r.width || !r.height || r.width > image->width || r.x > image->width - r.width ||
        r.height > image->height || r.y > image->height - r.height)
        return;
    const size_t pixel = (size_t)image->channels * (image->depth / 8u);
    uint8_t *pixels = image->pixels;
    for (size_t y = 0; y < r.height; y++)
        memmove(pixels + y * r.width * pixel, pixels + ((y + r.y) * image->width + r.x) * pixel,
                r.width * pixel);
    image->width = r.width, image->height = r.height;
}

/* Rotation first, then the mirror, as the standard orders them. */
static taper_status turn(const avifImage *picture, taper_image *image, const taper_limits *limits,
                         taper_error *error) {
    static const unsigned turned[4] = {1, 8, 3,
                                       6}; /* counterclockwise by 0, 90, 180, 270 degrees */
    if (picture->transformFlags & AVIF_TRANSFORM_IROT)
        TAPER_TRY(formats_image_orient(image, turned[picture->irot.angle & 3], limits, error));
    if (picture->transformFlags & AVIF_TRANSFORM_IMIR)
        TAPER_TRY(formats_image_orient(image, picture->imir.mode ? 2 : 4, limits, error));
    return TAPER_OK;
}

/* --- reading --- */

static taper_status take_metadata(const avifImage *picture, formats_metadata *m,
                                  taper_error *error) {
    TAPER_TRY(
        formats_samples_take(m, FORMATS_LEFT_ICC, picture->icc.data, picture->icc.size, error));
    TAPER_TRY(
        formats_samples_take(m, FORMATS_LEFT_XMP, picture->xmp.data, picture->xmp.size, error));
    TAPER_TRY(
        formats_samples_take(m, FORMATS_LEFT_EXIF, picture->exif.data, picture->exif.size, error));
    if (picture->icc.size || picture->colorPrimaries == AVIF_COLOR_PRIMARIES_UNSPECIFIED)
        return TAPER_OK;
    m->has_cicp = 1; /* of the pixels as they are decoded: RGB of full range */
    m->cicp[0] = (uint8_t)picture->colorPrimaries;
    m->cicp[1] = (uint8_t)picture->transferCharacteristics;
    m->cicp[2] = 0, m->cicp[3] = 1;
    return TAPER_OK;
}

static taper_status avif_read(formats_picture *p, uint32_t frame, taper_image *out,
                              formats_metadata *metadata, taper_error *error) {
    avifDecoder *d = p->state;
    TAPER_TRY(status_of(lib.avifDecoderNthImage(d, frame), error));
    const avifImage *picture = d->image;
    const unsigned depth = picture->depth > 8 ? 16 : 8, channels = picture->alphaPlane ? 4 : 3;
    TAPER_TRY(formats_image_make(out, picture->width, picture->height, channels, depth, &p->limits,
                                 error));
    avifRGBImage rgb;
    lib.avifRGBImageSetDefaults(&rgb, picture);
    rgb.format = channels == 4 ? AVIF_RGB_FORMAT_RGBA : AVIF_RGB_FORMAT_RGB;
    rgb.depth = depth;
    rgb.alphaPremultiplied = AVIF_FALSE;
    rgb.pixels = out->pixels;
    rgb.rowBytes = picture->width * channels * (depth / 8);
    TAPER_TRY(status_of(lib.avifImageYUVToRGB(picture, &rgb), error));
    TAPER_TRY(take_metadata(picture, metadata, error));
    if (p->frames == 1)
        metadata->quantisation_mse =
            formats_avif_noise(p->bytes, p->size, (uint64_t)picture->width * picture->height);
    if (picture->yuvFormat == AVIF_PIXEL_FORMAT_YUV400) formats_samples_keep_grey(out);
    crop(picture, out);
    return turn(picture, out, &p->limits, error);
}

static void avif_close(formats_picture *p) {
    if (p->state) lib.avifDecoderDestroy(p->state);
}
#endif

const formats_reader formats_avif_reader = {
    .name = "AVIF",
    .package = "libavif-dev",
#ifdef LATE_LIBRARY
    .libraries = libraries,
    .open = avif_open,
    .read = avif_read,
    .close = avif_close,
#endif
};
