/* cifar.c -- reader and writer of CIFAR binary files; see cifar.h. */
#include "formats/images/cifar.h"
#include "formats/bytes.h"
#include "formats/file.h"
#include "formats/image.h"

enum { PLANE = FORMATS_CIFAR_SIDE * FORMATS_CIFAR_SIDE };

static uint64_t record_bytes(const formats_cifar *cifar) {
    return cifar->label_bytes + (uint64_t)FORMATS_CIFAR_PIXEL_BYTES;
}

/* *legal: 1 if all label bytes are legal. The status is that of reading. */
static taper_status check_labels(const taper_source *source, const formats_cifar *cifar, int *legal,
                                 taper_error *error) {
    for (uint32_t i = 0; i < cifar->count; i++) {
        uint8_t label[2] = {0, 0};
        TAPER_TRY(
            formats_source_read(source, i * record_bytes(cifar), label, cifar->label_bytes, error));
        *legal = cifar->label_bytes == 1 ? label[0] <= 9 : label[0] <= 19 && label[1] <= 99;
        if (!*legal) return TAPER_OK;
    }
    return TAPER_OK;
}

taper_status formats_cifar_open(const taper_source *source, const taper_limits *limits,
                                formats_cifar *out, taper_error *error) {
    *out = (formats_cifar){0};
    taper_limits l = formats_limits_or_default(limits);
    for (uint32_t label_bytes = 1; label_bytes <= 2; label_bytes++) {
        formats_cifar cifar = {0, label_bytes, label_bytes == 1 ? 10 : 100};
        uint64_t count = source->size / record_bytes(&cifar);
        if (!count || source->size % record_bytes(&cifar) != 0) continue;
        if (count > l.max_images || count > UINT32_MAX)
            return formats_fail_fact(error, TAPER_ERR_LIMIT, TAPER_FACT_MAX_IMAGES, count,
                                     "the file holds %llu images, more than the limit of %llu",
                                     (unsigned long long)count, (unsigned long long)l.max_images);
        cifar.count = (uint32_t)count;
        int legal = 0;
        TAPER_TRY(check_labels(source, &cifar, &legal, error));
        if (!legal) continue;
        *out = cifar;
        return TAPER_OK;
    }
    return formats_fail(
        error, TAPER_ERR_CORRUPT,
        "this is not CIFAR binary: %llu bytes are no whole records of 3073 or 3074 bytes "
        "that begin with class labels",
        (unsigned long long)source->size);
}

taper_status formats_cifar_read(const taper_source *source, const formats_cifar *cifar, uint32_t i,
                                taper_image *out, taper_error *error) {
    uint8_t planes[FORMATS_CIFAR_PIXEL_BYTES];
    *out = (taper_image){0};
    if (i >= cifar->count)
        return formats_fail(error, TAPER_ERR_ARG, "the CIFAR file has no image %u", i);
    uint64_t offset = i * record_bytes(cifar) + cifar->label_bytes;
    TAPER_TRY(formats_source_read(source, offset, planes, sizeof planes, error));
    TAPER_TRY(formats_image_make(out, FORMATS_CIFAR_SIDE, FORMATS_CIFAR_SIDE, 3, 8, NULL, error));
    uint8_t *to = out->pixels;
    for (size_t p = 0; p < PLANE; p++)
        for (size_t c = 0; c < 3; c++) *to++ = planes[c * PLANE + p];
    return TAPER_OK;
}

taper_status formats_cifar_read_label(const taper_source *source, const formats_cifar *cifar,
                                      uint32_t i, uint8_t *label, taper_error *error) {
    if (i >= cifar->count)
        return formats_fail(error, TAPER_ERR_ARG, "the CIFAR file has no image %u", i);
    uint64_t offset =
        i * record_bytes(cifar) + cifar->label_bytes - 1; /* the fine one is the last */
    return formats_source_read(source, offset, label, 1, error);
}

static void write_record(formats_buffer *buffer, const taper_image *image, uint8_t label) {
    const uint8_t *pixels = image->pixels;
    formats_write_u8(buffer, label);
    uint8_t *to = formats_buffer_extend(buffer, FORMATS_CIFAR_PIXEL_BYTES);
    if (!to) return;
    for (size_t c = 0; c < 3; c++)
        for (size_t p = 0; p < PLANE; p++) *to++ = pixels[3 * p + c];
}

taper_status formats_cifar_encode(const taper_image *images, const uint8_t *labels, size_t count,
                                  uint8_t **out, size_t *n, taper_error *error) {
    *out = NULL;
    *n = 0;
    if (count < 1) return formats_fail(error, TAPER_ERR_ARG, "no image to write as CIFAR");
    formats_buffer buffer = formats_buffer_make(FORMATS_MOST_BYTES);
    taper_status status = TAPER_OK;
    for (size_t i = 0; i < count && status == TAPER_OK; i++) {
        const taper_image *image = &images[i];
        if (image->width != FORMATS_CIFAR_SIDE || image->height != FORMATS_CIFAR_SIDE ||
            image->channels != 3 || image->depth != 8 || labels[i] > 9)
            status = formats_fail(
                error, TAPER_ERR_ARG,
                "CIFAR needs RGB images of 32 x 32 and 8 bits with labels 0 to 9; image %zu "
                "is not one",
                i + 1);
        else
            write_record(&buffer, image, labels[i]);
    }
    if (status == TAPER_OK && buffer.status != TAPER_OK)
        status = formats_fail(error, TAPER_ERR_NOMEM, "no memory to encode CIFAR");
    if (status == TAPER_OK) *out = formats_buffer_take(&buffer, n);
    formats_buffer_free(&buffer);
    return status;
}
