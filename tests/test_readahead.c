/* test_readahead.c -- images read ahead by threads come in the set's order, each as a plain read
 * gives it, failures included; stopping early is fine. */
#include "cli/common/readahead.h"
#include "cmocka_all.h"
#include "formats/atomic_file.h"
#include "formats/images/pnm.h"
#include "pictures.h"
#include "scratch.h"

enum { IMAGES = 700, EVERY_BROKEN = 50 }; /* more than the ring holds */

static char folder[SCRATCH_PATH];

static int make_set(void **state) {
    (void)state;
    scratch_make(folder);
    for (unsigned i = 0; i < IMAGES; i++) {
        char name[32];
        uint8_t *bytes;
        size_t n;
        taper_image image = picture_noise(1 + i % 7, 1 + i % 5, i % 2 ? 3 : 1, 8, i + 1);
        snprintf(name, sizeof name, "%04u.pnm", i);
        assert_int_equal(formats_pnm_encode(&image, &bytes, &n, NULL), TAPER_OK);
        if (i % EVERY_BROKEN == EVERY_BROKEN - 1) n--; /* listed, but its pixels end early */
        scratch_write(folder, name, bytes, n);
        free(bytes);
        formats_image_free(&image);
    }
    return 0;
}

static int remove_set(void **state) {
    (void)state;
    scratch_remove(folder);
    return 0;
}

static formats_imageset *open_set(void) {
    formats_imageset *set;
    const char *path = folder;
    assert_int_equal(formats_imageset_open(&set, &path, 1, NULL, NULL, NULL, NULL), TAPER_OK);
    assert_int_equal(formats_imageset_count(set), IMAGES);
    return set;
}

/* Take n images and compare each with a plain read. Returns how many failed. */
static unsigned compare_images(const formats_imageset *set, cli_readahead *ahead, size_t n) {
    unsigned failed = 0;
    for (size_t i = 0; i < n; i++) {
        taper_image a, b;
        taper_error why_a = {0}, why_b = {0};
        taper_status status = cli_readahead_next(ahead, &a, NULL, &why_a);
        assert_int_equal(status, formats_imageset_read(set, i, &b, NULL, &why_b));
        assert_string_equal(why_a.text, why_b.text);
        if (status == TAPER_OK)
            assert_true(image_equal(&a, &b));
        else
            failed++;
        formats_image_free(&a);
        formats_image_free(&b);
    }
    return failed;
}

static void test_order(void **state) {
    (void)state;
    static const unsigned threads[] = {1, 2, 5, 100};
    formats_imageset *set = open_set();
    for (size_t t = 0; t < sizeof threads / sizeof threads[0]; t++) {
        cli_readahead *ahead;
        assert_int_equal(cli_readahead_new(&ahead, set, threads[t], 0, NULL), TAPER_OK);
        assert_int_equal(compare_images(set, ahead, IMAGES), IMAGES / EVERY_BROKEN);
        cli_readahead_free(ahead);
    }
    formats_imageset_close(set);
}

static void test_stopping_early(void **state) {
    (void)state;
    static const size_t taken[] = {0, 1, 33, 300};
    formats_imageset *set = open_set();
    for (size_t t = 0; t < sizeof taken / sizeof taken[0]; t++) {
        cli_readahead *ahead;
        assert_int_equal(cli_readahead_new(&ahead, set, 3, 1, NULL), TAPER_OK);
        compare_images(set, ahead, taken[t]);
        cli_readahead_free(ahead);
    }
    cli_readahead_free(NULL);
    formats_imageset_close(set);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_stopping_early),
    };
    return cmocka_run_group_tests(tests, make_set, remove_set);
}
