/* srgb.c -- see srgb.h. */
#include "formats/late/srgb.h"
#include <stdlib.h>
#include <string.h>

/* Without a profile. For 8 and 16 bits: `one` is the largest value. */
static unsigned simple(unsigned ink, unsigned black, unsigned one) {
    return (unsigned)(((uint64_t)(one - ink) * (one - black) + one / 2) / one);
}

static void convert_simply(taper_image *image, int is_inverted) {
    const size_t pixels = (size_t)image->width * image->height;
    uint8_t *p8 = image->pixels;
    uint16_t *p16 = image->pixels;
    const unsigned one = image->depth == 8 ? 255 : 65535, flip = is_inverted ? one : 0;
    for (size_t i = 0; i < pixels; i++) {
        unsigned ink[4]; /* all are read before lower addresses are written */
        for (size_t c = 0; c < 4; c++)
            ink[c] = (image->depth == 8 ? p8[4 * i + c] : p16[4 * i + c]) ^ flip;
        for (size_t c = 0; c < 3; c++) {
            const unsigned value = simple(ink[c], ink[3], one);
            if (image->depth == 8)
                p8[3 * i + c] = (uint8_t)value;
            else
                p16[3 * i + c] = (uint16_t)value;
        }
    }
}

#ifdef LATE_LIBRARY
#include <lcms2.h>

/* clang-format off */
#define FUNCTIONS(ONE) ONE(cmsCreateContext) ONE(cmsDeleteContext) ONE(cmsOpenProfileFromMemTHR) \
    ONE(cmsCreate_sRGBProfileTHR) ONE(cmsCloseProfile) ONE(cmsGetColorSpace) \
    ONE(cmsCreateTransformTHR) ONE(cmsDoTransform) ONE(cmsDeleteTransform)
/* clang-format on */
FORMATS_LATE_LIBRARY(lib, LATE_LIBRARY, FUNCTIONS);

/* Row by row: the transform may not write over what it reads. */
static taper_status transform_rows(cmsHTRANSFORM transform, taper_image *image,
                                   taper_error *error) {
    const size_t bytes = image->depth / 8u, from = image->width * 4 * bytes;
    const size_t to = image->width * 3 * bytes;
    uint8_t *row = malloc(from), *pixels = image->pixels;
    if (!row) return formats_fail(error, TAPER_ERR_NOMEM, "no memory to convert CMYK");
    for (size_t y = 0; y < image->height; y++) {
        memcpy(row, pixels + y * from, from);
        lib.cmsDoTransform(transform, row, pixels + y * to, image->width);
    }
    free(row);
    return TAPER_OK;
}

/* *done: 0 if the profile is of no use; the image is then unchanged. */
static taper_status convert_by_profile(taper_image *image, int is_inverted, const void *profile,
                                       size_t size, int *done, taper_error *error) {
    const cmsUInt32Number bytes = image->depth / 8u;
    const cmsUInt32Number rgb = COLORSPACE_SH(PT_RGB) | CHANNELS_SH(3) | BYTES_SH(bytes);
    const cmsUInt32Number cmyk = COLORSPACE_SH(PT_CMYK) | CHANNELS_SH(4) | BYTES_SH(bytes) |
                                 FLAVOR_SH((cmsUInt32Number)(is_inverted != 0));
    taper_status status = TAPER_OK;
    *done = 0;
    cmsContext context = lib.cmsCreateContext(NULL, NULL);
    if (!context) return formats_fail(error, TAPER_ERR_NOMEM, "no memory to convert CMYK");
    cmsHPROFILE from = lib.cmsOpenProfileFromMemTHR(context, profile, (cmsUInt32Number)size);
    cmsHPROFILE to = lib.cmsCreate_sRGBProfileTHR(context);
    cmsHTRANSFORM transform = NULL;
    if (from && to && lib.cmsGetColorSpace(from) == cmsSigCmykData)
        transform = lib.cmsCreateTransformTHR(context, from, cmyk, to, rgb, INTENT_PERCEPTUAL, 0);
    if (transform) {
        status = transform_rows(transform, image, error);
        *done = status == TAPER_OK;
        lib.cmsDeleteTransform(transform);
    }
    if (from) lib.cmsCloseProfile(from);
    if (to) lib.cmsCloseProfile(to);
    lib.cmsDeleteContext(context);
    return status;
}

static taper_status load(taper_error *error) {
    return formats_late_library_load(&lib_library, error);
}
#else
static taper_status convert_by_profile(taper_image *image, int is_inverted, const void *profile,
                                       size_t size, int *done, taper_error *error) {
    (void)image, (void)is_inverted, (void)profile, (void)size, (void)error;
    *done = 0;
    return TAPER_OK;
}

static taper_status load(taper_error *error) {
    return formats_fail(error, TAPER_ERR_UNSUPPORTED,
                        "taper was built without liblcms2-dev: install it and build taper anew");
}
#endif

taper_status formats_cmyk_to_srgb(taper_image *image, int is_inverted, const void *profile,
                                  size_t size, taper_error *error) {
    int done = 0;
    if (profile && size && size <= UINT32_MAX) {
        taper_error why = {.status = TAPER_OK};
        if (load(&why) != TAPER_OK)
            return formats_fail(error, why.status, "CMYK with a colour profile is not read: %.200s",
                                why.text);
        TAPER_TRY(convert_by_profile(image, is_inverted, profile, size, &done, error));
    }
    if (!done) convert_simply(image, is_inverted);
    image->channels = 3;
    void *pixels =
        realloc(image->pixels, (size_t)image->width * image->height * 3 * (image->depth / 8u));
    if (pixels) image->pixels = pixels;
    return TAPER_OK;
}
