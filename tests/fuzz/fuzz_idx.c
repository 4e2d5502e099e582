/* fuzz_idx.c -- any bytes as an IDX file of images, plain or gzip, and as a label file (IDX or
 * text). */
#include "../image_equal.h"
#include "formats/file.h"
#include "formats/images/gzip.h"
#include "formats/images/idx.h"
#include "formats/image.h"
#include "formats/imageset/labels.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static const taper_limits limits = {.size = sizeof(taper_limits),
                                    .max_pixels = 1 << 16,
                                    .max_images = 1 << 16,
                                    .max_memory = 1 << 22},
                          few = {.size = sizeof(taper_limits), .max_images = 2},
                          little = {.size = sizeof(taper_limits), .max_memory = 300};

/* An image, written alone, plain and packed, is the same when it is read again. */
static void write_again(const taper_image *image) {
    for (int gzip = 0; gzip <= 1; gzip++) {
        uint8_t *file, *plain = NULL;
        size_t n, size;
        if (formats_idx_encode_images(image, 1, gzip, &file, &n, NULL) != TAPER_OK) abort();
        if (gzip && formats_idx_unpack(file, n, NULL, &plain, &size, NULL) != TAPER_OK) abort();
        formats_memory memory = {gzip ? plain : file, gzip ? size : n};
        const taper_source source = formats_memory_source(&memory);
        formats_idx idx;
        taper_image back;
        if (formats_idx_open(&source, NULL, &idx, NULL) != TAPER_OK || idx.count != 1) abort();
        if (formats_idx_read(&source, &idx, 0, &back, NULL) != TAPER_OK) abort();
        if (!image_equal(image, &back)) abort();
        formats_image_free(&back);
        free(file);
        free(plain);
    }
}

static void read_images(const uint8_t *bytes, size_t n) {
    formats_memory memory = {bytes, n};
    const taper_source source = formats_memory_source(&memory);
    formats_idx idx;
    taper_error error = {.status = TAPER_OK};
    taper_status status = formats_idx_open(&source, &limits, &idx, &error);
    if (status != TAPER_OK) {
        if (error.status != status || !error.text[0]) abort();
        return;
    }
    for (uint32_t i = 0; i < idx.count && i < 64; i++) {
        taper_image image;
        if (formats_idx_read(&source, &idx, i, &image, &error) != TAPER_OK) abort();
        if (i < 2) write_again(&image);
        formats_image_free(&image);
    }
    taper_image none;
    if (formats_idx_read(&source, &idx, idx.count, &none, NULL) != TAPER_ERR_ARG) abort();
}

static void read_labels(const uint8_t *bytes, size_t n, const taper_limits *most) {
    formats_labels labels;
    taper_error error = {.status = TAPER_OK};
    taper_status status = formats_labels_decode(bytes, n, most, &labels, &error);
    if (status != TAPER_OK) {
        if (labels.classes || error.status != status || !error.text[0]) abort();
        return;
    }
    for (size_t i = 0; i < labels.count; i++) {
        const int32_t class = labels.classes[i]; /* -1: left empty */
        if (class < -1 || (class >= 0 && (size_t) class >= labels.class_count)) abort();
        if (!labels.names) continue;
        const char *key = labels.index.keys[i];
        const size_t line = formats_label_index_place(&labels.index, key, NULL);
        if (!formats_label_index_has(&labels.index, key) || line >= labels.count) abort();
    }
    if (formats_labels_check_count(&labels, labels.count + 1, NULL) != TAPER_ERR_ARG) abort();
    if (formats_labels_check_count(&labels, labels.count, NULL) != TAPER_OK) abort();
    formats_labels_free(&labels);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    read_images(bytes, n);
    read_labels(bytes, n, &limits);
    read_labels(bytes, n, &few);
    read_labels(bytes, n, &little);
    uint8_t *plain;
    size_t size;
    if (!formats_gzip_detect(bytes, n)) return 0;
    if (formats_idx_unpack(bytes, n, &limits, &plain, &size, NULL) != TAPER_OK) return 0;
    read_images(plain, size);
    free(plain);
    return 0;
}
