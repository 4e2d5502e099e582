/* bench_crops.c -- squares of a photograph, as a set of small images:
 *
 *     bench_crops IMAGE STEM SIDE       writes STEM-1.png .. STEM-16.png, from a grid of 4 x 4 */
#include "formats/atomic_file.h"
#include "formats/imageset/imageset.h"
#include "formats/images/png.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int fail(const char *what, const taper_error *error) {
    fprintf(stderr, "bench_crops: %s: %s\n", what, error->text);
    return 1;
}

static taper_status write_crop(const taper_image *image, uint32_t x0, uint32_t y0, uint32_t side,
                               const char *path, taper_error *error) {
    size_t pixel = (size_t)image->channels * (image->depth / 8u);
    taper_image crop = {side, side, image->channels, image->depth, malloc(side * side * pixel)};
    uint8_t *bytes = NULL;
    size_t size = 0;
    if (!crop.pixels) return TAPER_ERR_NOMEM;
    for (uint32_t y = 0; y < side; y++)
        memcpy((uint8_t *)crop.pixels + y * side * pixel,
               (const uint8_t *)image->pixels + ((size_t)(y0 + y) * image->width + x0) * pixel,
               side * pixel);
    taper_status status = formats_png_encode(&crop, &bytes, &size, error);
    if (status == TAPER_OK)
        status = formats_file_write(path, bytes, size, FORMATS_ATOMIC_OVERWRITE, NULL, error);
    free(bytes), free(crop.pixels);
    return status;
}

int main(int argc, char **argv) {
    taper_error error = {0};
    formats_imageset *set;
    taper_image image;
    if (argc != 4) {
        fprintf(stderr, "usage: bench_crops IMAGE STEM SIDE\n");
        return 2;
    }
    uint32_t side = (uint32_t)strtoul(argv[3], NULL, 10);
    const char *path = argv[1];
    if (formats_imageset_open(&set, &path, 1, &(formats_imageset_options){0}, NULL, NULL, &error) ||
        formats_imageset_read(set, 0, &image, NULL, &error))
        return fail(argv[1], &error);
    formats_imageset_close(set);
    if (!side || image.width < side || image.height < side) return 0; /* nothing to cut */
    for (uint32_t i = 0; i < 16; i++) {
        char name[4096];
        snprintf(name, sizeof name, "%s-%u.png", argv[2], i + 1);
        if (write_crop(&image, (image.width - side) * (i % 4) / 3,
                       (image.height - side) * (i / 4) / 3, side, name, &error))
            return fail(name, &error);
    }
    free(image.pixels);
    return 0;
}
