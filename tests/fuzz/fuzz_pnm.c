/* fuzz_pnm.c -- any bytes as a stream of PNMs; what decodes must survive encoding and decoding
 * again. */
#include "../image_equal.h"
#include "formats/images/pnm.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void round_trip(const taper_image *image, const taper_limits *limits) {
    uint8_t *again;
    size_t size, consumed;
    taper_image back;
    if (formats_pnm_encode(image, &again, &size, NULL) != TAPER_OK) abort();
    if (formats_pnm_decode(again, size, limits, &back, &consumed, NULL) != TAPER_OK) abort();
    if (consumed != size || !image_equal(image, &back)) abort();
    free(again);
    formats_image_free(&back);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    const taper_limits limits = {
        .size = sizeof(taper_limits), .max_pixels = 1 << 20, .max_memory = 1 << 24};
    for (size_t at = 0; at < n;) {
        taper_image image;
        taper_error error = {.status = TAPER_OK};
        size_t consumed;
        taper_status status =
            formats_pnm_decode(bytes + at, n - at, &limits, &image, &consumed, &error);
        if (status != TAPER_OK) {
            if (image.pixels || consumed || error.status != status || !error.text[0]) abort();
            return 0;
        }
        if (consumed == 0 || consumed > n - at) abort();
        round_trip(&image, &limits);
        formats_image_free(&image);
        at += consumed;
    }
    return 0;
}
