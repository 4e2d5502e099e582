/* test_cifar.c -- CIFAR binary: layout, labels, recognition. */
#include "cmocka_all.h"
#include "formats/images/cifar.h"
#include "formats/file.h"
#include "pictures.h"
#include <string.h>

enum { COUNT = 4 };

static void encoding_loses_nothing(void **state) {
    (void)state;
    taper_image images[COUNT], back;
    static const uint8_t labels[COUNT] = {0, 9, 3, 3};
    for (unsigned i = 0; i < COUNT; i++) images[i] = picture_noise(32, 32, 3, 8, i + 1);
    uint8_t *bytes, label;
    size_t n;
    assert_int_equal(formats_cifar_encode(images, labels, COUNT, &bytes, &n, NULL), TAPER_OK);
    assert_int_equal(n, COUNT * 3073);
    formats_memory memory = {bytes, n};
    taper_source source = formats_memory_source(&memory);
    formats_cifar cifar;
    assert_int_equal(formats_cifar_open(&source, NULL, &cifar, NULL), TAPER_OK);
    assert_int_equal(cifar.count, COUNT);
    assert_int_equal(cifar.classes, 10);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(formats_cifar_read(&source, &cifar, i, &back, NULL), TAPER_OK);
        assert_true(image_equal(&images[i], &back));
        assert_int_equal(formats_cifar_read_label(&source, &cifar, i, &label, NULL), TAPER_OK);
        assert_int_equal(label, labels[i]);
        formats_image_free(&back);
        formats_image_free(&images[i]);
    }
    assert_int_equal(formats_cifar_read(&source, &cifar, COUNT, &back, NULL), TAPER_ERR_ARG);
    assert_int_equal(formats_cifar_read_label(&source, &cifar, COUNT, &label, NULL), TAPER_ERR_ARG);
    const taper_limits limits = {.size = sizeof(taper_limits), .max_images = COUNT - 1};
    assert_int_equal(formats_cifar_open(&source, &limits, &cifar, NULL), TAPER_ERR_LIMIT);
    free(bytes);
}

static void channels_lie_in_planes(void **state) {
    (void)state;
    uint8_t record[3073];
    record[0] = 7;
    for (int i = 0; i < 3072; i++) record[1 + i] = (uint8_t)(i / 1024 * 50 + i % 32);
    formats_memory memory = {record, sizeof record};
    taper_source source = formats_memory_source(&memory);
    formats_cifar cifar;
    taper_image image;
    assert_int_equal(formats_cifar_open(&source, NULL, &cifar, NULL), TAPER_OK);
    assert_int_equal(formats_cifar_read(&source, &cifar, 0, &image, NULL), TAPER_OK);
    const uint8_t *pixels = image.pixels;
    for (int y = 0; y < 32; y++)
        for (int x = 0; x < 32; x++)
            for (int c = 0; c < 3; c++) assert_int_equal(pixels[(y * 32 + x) * 3 + c], c * 50 + x);
    formats_image_free(&image);
}

static taper_status open_bytes(const uint8_t *bytes, size_t n, formats_cifar *cifar) {
    formats_memory memory = {bytes, n};
    taper_source source = formats_memory_source(&memory);
    taper_error error = {.status = TAPER_OK};
    taper_status status = formats_cifar_open(&source, NULL, cifar, &error);
    assert_true(status == TAPER_OK || error.text[0]);
    return status;
}

static void structure_decides(void **state) {
    (void)state;
    uint8_t *bytes = calloc(2, 3074);
    formats_cifar cifar;
    memset(bytes, 200, 2 * 3074);
    bytes[0] = 9;
    assert_int_equal(open_bytes(bytes, 3073, &cifar), TAPER_OK);
    bytes[0] = 10;
    assert_int_equal(open_bytes(bytes, 3073, &cifar), TAPER_ERR_CORRUPT);
    /* CIFAR-100: coarse and fine label */
    bytes[0] = 19;
    bytes[1] = 99;
    bytes[3074] = 0;
    bytes[3075] = 42;
    assert_int_equal(open_bytes(bytes, 2 * 3074, &cifar), TAPER_OK);
    assert_int_equal(cifar.count, 2);
    assert_int_equal(cifar.classes, 100);
    formats_memory memory = {bytes, 2 * 3074};
    taper_source source = formats_memory_source(&memory);
    uint8_t label;
    assert_int_equal(formats_cifar_read_label(&source, &cifar, 1, &label, NULL), TAPER_OK);
    assert_int_equal(label, 42);
    bytes[3075] = 100;
    assert_int_equal(open_bytes(bytes, 2 * 3074, &cifar), TAPER_ERR_CORRUPT);
    bytes[3075] = 42;
    bytes[3074] = 20;
    assert_int_equal(open_bytes(bytes, 2 * 3074, &cifar), TAPER_ERR_CORRUPT);
    free(bytes);
}

static void every_truncation_is_told(void **state) {
    (void)state;
    uint8_t *bytes = calloc(2, 3073);
    formats_cifar cifar;
    for (size_t n = 0; n < 2 * 3073; n++) {
        taper_status expected = n == 3073 || n == 3074 ? TAPER_OK : TAPER_ERR_CORRUPT;
        assert_int_equal(open_bytes(bytes, n, &cifar), expected);
    }
    free(bytes);
}

static void writers_refuse_other_images(void **state) {
    (void)state;
    uint8_t *bytes, label = 10;
    size_t n;
    taper_image image = picture_noise(32, 32, 3, 8, 1);
    assert_int_equal(formats_cifar_encode(&image, &label, 1, &bytes, &n, NULL), TAPER_ERR_ARG);
    label = 9;
    image.height = 31;
    assert_int_equal(formats_cifar_encode(&image, &label, 1, &bytes, &n, NULL), TAPER_ERR_ARG);
    assert_null(bytes);
    formats_image_free(&image);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(encoding_loses_nothing),      cmocka_unit_test(channels_lie_in_planes),
        cmocka_unit_test(structure_decides),           cmocka_unit_test(every_truncation_is_told),
        cmocka_unit_test(writers_refuse_other_images),
    };
    return cmocka_run_group_tests_name("cifar", tests, NULL, NULL);
}
