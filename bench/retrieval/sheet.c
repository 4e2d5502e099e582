/* sheet.c -- a picture of variants, to see that they are right; see retrieval.h. */
#include "bench/retrieval/references.h"
#include "bench/retrieval/retrieval.h"
#include "formats/image.h"
#include "formats/images/png.h"
#include <stdlib.h>
#include <string.h>

enum { IMAGES = 12, VARIANTS = 16, ZOOM = 2, CELL = ZOOM * RETRIEVAL_SIDE + 4 };

/* A variant, each pixel ZOOM x ZOOM, at a place of the sheet. */
static void paste(taper_image *sheet, size_t row, size_t column, const uint8_t *pixels) {
    uint8_t *corner = (uint8_t *)sheet->pixels + 3 * CELL * (row * sheet->width + column);
    for (size_t y = 0; y < ZOOM * RETRIEVAL_SIDE; y++)
        for (size_t x = 0; x < ZOOM * RETRIEVAL_SIDE; x++)
            memcpy(corner + 3 * (y * sheet->width + x),
                   pixels + 3 * (y / ZOOM * RETRIEVAL_SIDE + x / ZOOM), 3);
}

void retrieval_part_sheet(const retrieval *r) {
    retrieval_images images;
    taper_image sheet;
    taper_error error = {0};
    uint8_t pixels[RETRIEVAL_PIXELS], *png;
    size_t size;
    char *path = figures_path(r->out, "sheet.png");
    retrieval_read_training(r->data, &images);
    figures_check(formats_image_make(&sheet, VARIANTS * CELL, IMAGES * CELL, 3, 8, NULL, &error),
                  path, &error);
    memset(sheet.pixels, 255, formats_image_bytes(&sheet));
    for (size_t i = 0; i < IMAGES; i++)
        for (size_t v = 0; v < VARIANTS; v++) {
            retrieval_variant(r->seed, i, v, images.pixels + i * RETRIEVAL_PIXELS, pixels);
            paste(&sheet, i, v, pixels);
        }
    figures_check(formats_png_encode(&sheet, &png, &size, &error), path, &error);
    figures_write(path, png, size);
    free(png), free(path);
    formats_image_free(&sheet);
    retrieval_images_free(&images);
}
