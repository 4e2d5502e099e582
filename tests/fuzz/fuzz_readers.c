/* fuzz_readers.c -- any bytes as BMP, GIF, TIFF, WebP or animated PNG: what of their readers is our
 * own. Libraries are loaded where they are installed; inputs for others are passed over. Frames are
 * read in two orders, which must give the same pixels. */
#include "../image_equal.h"
#include "formats/bytes.h"
#include "formats/images/png.h"
#include "formats/metadata/metadata.h"
#include "formats/metadata/pieces.h"
#include "formats/readers/find_reader.h"
#include "formats/readers/av1_noise.h"
#include "formats/readers/vp8_noise.h"
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

enum { MOST_FRAMES = 4 };

static void must(int holds) {
    if (!holds) abort();
}

static int is_ours(const formats_reader *reader) {
    return reader == &formats_bmp_reader || reader == &formats_gif_reader ||
           reader == &formats_tiff_reader || reader == &formats_webp_reader;
}

/* Frame k, from a picture that is at any frame. */
static taper_status read_frame(formats_picture *p, uint32_t k, taper_image *image) {
    taper_error error = {.status = TAPER_OK};
    formats_metadata metadata;
    const taper_status status = formats_picture_read(p, k, image, &metadata, &error);
    must((status == TAPER_OK) == (image->pixels != NULL));
    must(status == TAPER_OK || (error.status == status && error.text[0] && !metadata.icc.bytes));
    formats_metadata_free(&metadata);
    return status;
}

static void read_frames(formats_picture *p) {
    const uint32_t n = p->frames < MOST_FRAMES ? p->frames : MOST_FRAMES;
    taper_image image[MOST_FRAMES] = {{0}}, again;
    for (uint32_t k = 0; k < n; k++)
        if (read_frame(p, k, &image[k]) != TAPER_OK) break;
    for (uint32_t k = n; k-- > 0;) {
        if (!image[k].pixels) continue;
        must(read_frame(p, k, &again) == TAPER_OK && image_equal(&image[k], &again));
        free(again.pixels), free(image[k].pixels);
    }
    must(read_frame(p, p->frames, &again) == TAPER_ERR_ARG);
}

/* A copy of a PNG whose chunks have right checksums. */
static uint8_t *mended(const uint8_t *bytes, size_t n) {
    uint8_t *copy = malloc(n);
    formats_piece c;
    must(copy != NULL);
    memcpy(copy, bytes, n);
    formats_walk w = formats_walk_png(copy, n);
    while (formats_next_chunk(&w, &c)) {
        uint8_t *at = copy + (c.at - copy);
        formats_set_u32be(at + c.size, (uint32_t)crc32(0, at - 4, (uInt)c.size + 4));
    }
    return copy;
}

static void try_file(const formats_reader *reader, const uint8_t *bytes, size_t n) {
    const taper_limits limits = {
        .size = sizeof(taper_limits), .max_pixels = 1 << 16, .max_memory = 1 << 22};
    formats_picture picture;
    taper_error error = {.status = TAPER_OK};
    if (formats_reader_load(reader, NULL) != TAPER_OK) return;
    const taper_status status = formats_picture_open(&picture, reader, bytes, n, &limits, &error);
    if (status != TAPER_OK) {
        must(error.status == status && error.text[0] && !picture.state);
        return;
    }
    must(picture.frames >= 1);
    read_frames(&picture);
    formats_picture_close(&picture);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    const formats_reader *reader = formats_reader_find(bytes, n);
    if (reader && is_ours(reader)) try_file(reader, bytes, n);
    if (reader == &formats_webp_reader) {
        const double mse = formats_webp_noise(bytes, n, n);
        must(mse >= 0 && mse < 1e6 && formats_webp_noise(bytes, n, 0) <= 0);
    }
    if (reader == &formats_avif_reader) {
        const double mse = formats_avif_noise(bytes, n, n);
        must(mse >= 0 && mse < 1e6 && formats_avif_noise(bytes, n, 0) <= 0);
    }
    if (!formats_png_detect(bytes, n)) return 0;
    uint8_t *copy = mended(bytes, n);
    must(formats_png_frames(copy, n) == 0 || formats_png_may_be_animated(copy, n));
    try_file(&formats_apng_reader, bytes, n);
    try_file(&formats_apng_reader, copy, n);
    free(copy);
    return 0;
}
