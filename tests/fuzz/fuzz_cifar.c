/* fuzz_cifar.c -- any bytes as CIFAR binary. */
#include "../image_equal.h"
#include "formats/images/cifar.h"
#include "formats/file.h"
#include "formats/image.h"
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* A record, written alone, is the same when it is read again. */
static void write_again(const taper_image *image, uint8_t label) {
    uint8_t *file, label_back;
    size_t size;
    formats_cifar cifar;
    taper_image back;
    if (formats_cifar_encode(image, &label, 1, &file, &size, NULL) != TAPER_OK) abort();
    formats_memory memory = {file, size};
    const taper_source source = formats_memory_source(&memory);
    if (formats_cifar_open(&source, NULL, &cifar, NULL) != TAPER_OK) abort();
    if (formats_cifar_read(&source, &cifar, 0, &back, NULL) != TAPER_OK) abort();
    if (formats_cifar_read_label(&source, &cifar, 0, &label_back, NULL) != TAPER_OK) abort();
    if (!image_equal(image, &back) || label != label_back) abort();
    formats_image_free(&back);
    free(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
    formats_memory memory = {bytes, n};
    const taper_source source = formats_memory_source(&memory);
    formats_cifar cifar;
    taper_error error = {.status = TAPER_OK};
    taper_status status = formats_cifar_open(&source, NULL, &cifar, &error);
    if (status != TAPER_OK) {
        if (error.status != status || !error.text[0]) abort();
        return 0;
    }
    taper_image none;
    uint8_t no_label;
    const taper_limits few = {.size = sizeof(taper_limits), .max_images = 1};
    formats_cifar again;
    if (formats_cifar_read(&source, &cifar, cifar.count, &none, NULL) != TAPER_ERR_ARG) abort();
    status = formats_cifar_read_label(&source, &cifar, cifar.count, &no_label, NULL);
    if (status != TAPER_ERR_ARG) abort();
    status = formats_cifar_open(&source, &few, &again, NULL);
    if (status != (cifar.count > 1 ? TAPER_ERR_LIMIT : TAPER_OK)) abort();
    for (uint32_t i = 0; i < cifar.count; i++) {
        taper_image image;
        uint8_t label;
        if (formats_cifar_read(&source, &cifar, i, &image, &error) != TAPER_OK) abort();
        if (formats_cifar_read_label(&source, &cifar, i, &label, &error) != TAPER_OK) abort();
        if (label >= cifar.classes) abort();
        if (cifar.classes == 10) write_again(&image, label);
        formats_image_free(&image);
    }
    return 0;
}
