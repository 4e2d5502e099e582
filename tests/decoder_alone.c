/* decoder_alone.c -- for tests/cli/decoder-alone.sh: `decoder_alone CONTAINER PIXELS MOST` renders
 * every image of a container that carries its model and compares with the pixels in a file, image
 * after image, 8 bits. They may differ by MOST levels. Only taper.h is used. */
#include "codec/taper.h"
#include <stdio.h>
#include <stdlib.h>

static unsigned char *read_file(const char *path, size_t *n) {
    FILE *f = fopen(path, "rb");
    unsigned char *bytes = malloc(1 << 24);
    *n = f && bytes ? fread(bytes, 1, 1 << 24, f) : 0;
    if (f) fclose(f);
    return bytes;
}

/* The greatest difference of image i from `expected`, or -1. */
static int difference(taper_decoder *decoder, uint64_t i, const unsigned char *expected,
                      size_t left, size_t *used) {
    taper_image_info info = {.size = sizeof info};
    taper_completeness done;
    int most = 0;
    if (taper_container_get_image(taper_decoder_container(decoder), i, &info, NULL) ||
        info.bytes > left)
        return -1;
    *used = (size_t)info.bytes;
    taper_image image = {.pixels = malloc(*used)};
    if (!image.pixels || taper_decoder_render(decoder, i, &image, &done, NULL) || !done.complete) {
        free(image.pixels);
        return -1;
    }
    for (size_t k = 0; k < *used; k++) {
        int d = abs(((unsigned char *)image.pixels)[k] - expected[k]);
        most = d > most ? d : most;
    }
    free(image.pixels);
    return most;
}

int main(int argc, char **argv) {
    if (argc != 4) return 2;
    size_t size, n_expected, at = 0, used = 0;
    unsigned char *bytes = read_file(argv[1], &size), *expected = read_file(argv[2], &n_expected);
    taper_decoder *decoder = NULL;
    taper_container_info info = {.size = sizeof info};
    taper_error error = {.status = TAPER_ERR_IO, .text = "no memory"};
    int most = 0;
    if (!bytes || !expected || taper_decoder_new_streaming(&decoder, NULL, &error) ||
        taper_decoder_push(decoder, bytes, size, &error) ||
        taper_container_get_info(taper_decoder_container(decoder), &info, NULL)) {
        fprintf(stderr, "decoder_alone: %s\n", error.text);
        return 1;
    }
    for (uint64_t i = 0; i < info.images && most >= 0; i++, at += used) {
        int d = difference(decoder, i, expected + at, n_expected - at, &used);
        most = d < 0 || d > most ? d : most;
    }
    printf("%d images, at most %d apart\n", (int)info.images, most);
    taper_decoder_free(decoder);
    free(bytes);
    free(expected);
    return most < 0 || most > strtol(argv[3], NULL, 10) || at != n_expected;
}
