/* fuzz_png.c -- any bytes as a PNG; what decodes must survive encoding and decoding again. */
#include "../image_equal.h"
#include "formats/images/png.h"
#include "formats/metadata/metadata.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* What is said beside the pixels, in its range. */
static void look_at_metadata(const uint8_t *bytes, size_t n) {
    formats_orientation orientation;
    if (formats_png_orientation(bytes, n, &orientation, NULL) != TAPER_OK) abort();
    const int has_profile = formats_png_has_profile(bytes, n);
    if (orientation.how < 1 || orientation.how > 8 || has_profile < 0 || has_profile > 1) abort();
    if (formats_png_end(bytes, n) > n || formats_png_data_end(bytes, n) > n) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    look_at_metadata(bytes, n);
    const taper_limits limits = {
        .size = sizeof(taper_limits), .max_pixels = 1 << 20, .max_memory = 1 << 24};
    taper_image image, back;
    taper_error error = {.status = TAPER_OK};
    taper_status status = formats_png_decode(bytes, n, &limits, &image, NULL, &error);
    if (status != TAPER_OK) {
        if (image.pixels || error.status != status || !error.text[0]) abort();
        return 0;
    }
    uint8_t *again;
    size_t size;
    if (formats_png_encode(&image, &again, &size, NULL) != TAPER_OK) abort();
    if (formats_png_decode(again, size, &limits, &back, NULL, NULL) != TAPER_OK) abort();
    if (!image_equal(&image, &back)) abort();
    free(again);
    formats_image_free(&image);
    formats_image_free(&back);
    return 0;
}
