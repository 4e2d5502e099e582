/* fuzz_jpeg.c -- any bytes as a JPEG. */
#include "formats/image.h"
#include "formats/images/jpeg.h"
#include "formats/metadata/metadata.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* What is said beside the pixels, in its range. */
static void look_at_metadata(const uint8_t *bytes, size_t n) {
    const formats_orientation orientation = formats_jpeg_orientation(bytes, n);
    const int has_profile = formats_jpeg_has_profile(bytes, n);
    if (orientation.how < 1 || orientation.how > 8 || has_profile < 0 || has_profile > 1) abort();
    if (formats_jpeg_end(bytes, n) > n) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    look_at_metadata(bytes, n);
    const taper_limits limits = {
        .size = sizeof(taper_limits), .max_pixels = 1 << 18, .max_memory = 1 << 23};
    taper_image image;
    formats_metadata metadata;
    taper_error error = {.status = TAPER_OK};
    taper_status status = formats_jpeg_decode(bytes, n, &limits, &image, &metadata, &error);
    if (status != TAPER_OK) {
        if (image.pixels || error.status != status || !error.text[0]) abort();
        return 0;
    }
    if (!(metadata.quantisation_mse >= 0 && metadata.quantisation_mse < 1e9)) abort();
    formats_metadata_free(&metadata);
    unsigned sum = 0; /* touch every sample */
    for (size_t i = 0; i < formats_image_bytes(&image); i++)
        sum += ((const uint8_t *)image.pixels)[i];
    volatile unsigned sink = sum;
    (void)sink;
    formats_image_free(&image);
    return 0;
}
