/* test_pnm.c -- PBM, PGM, PPM and PAM: known files, round trips, streams of images, damage. */
#include "cmocka_all.h"
#include "formats/images/pnm.h"
#include "pictures.h"
#include <stdio.h>
#include <string.h>

/* A file given as text, and what it holds. */
typedef struct known_file {
    const char *bytes;
    size_t n;
    uint32_t width, height;
    uint8_t channels, depth;
    unsigned samples[6];
} known_file;

#define TEXT(s) s, sizeof s - 1

static const known_file known[] = {
    {TEXT("P1\n3 2\n010\n1 0 1\n"), 3, 2, 1, 8, {255, 0, 255, 0, 255, 0}},
    {TEXT("P1 # a comment\n# more\n3 # and more\n2\n0 1 0 101"),
     3,
     2,
     1,
     8,
     {255, 0, 255, 0, 255, 0}},
    {TEXT("P2 2 2 15 0 15 7\n#x\n8\n"), 2, 2, 1, 8, {0, 255, 119, 136}},
    {TEXT("P2 2 1 1000 0 500"), 2, 1, 1, 16, {0, 32768}},
    {TEXT("P3\n1 2\n255\n1 2 3\n254 255 0\n"), 1, 2, 3, 8, {1, 2, 3, 254, 255, 0}},
    {TEXT("P4\n3 2\n\xA0\x40"), 3, 2, 1, 8, {0, 255, 0, 255, 0, 255}},
    {TEXT("P4 9 1\n\x80\x80"), 9, 1, 1, 8, {0, 255, 255, 255, 255, 255}},
    {TEXT("P5\n3 1\n255\n\x00\x7F\xFF"), 3, 1, 1, 8, {0, 127, 255}},
    {TEXT("P5\n2 1\n3\n\x01\x02"), 2, 1, 1, 8, {85, 170}},
    {TEXT("P5\n2 1\n65535\n\x12\x34\xFF\xFF"), 2, 1, 1, 16, {0x1234, 0xFFFF}},
    {TEXT("P5 2 1 256\n\x00\x80\x01\x00"), 2, 1, 1, 16, {32768, 65535}},
    {TEXT("P6\n1 1\n255\nabc"), 1, 1, 3, 8, {'a', 'b', 'c'}},
    {TEXT("P7\nWIDTH 1\nHEIGHT 1\n# c\nMAXVAL 255\nDEPTH 4\nTUPLTYPE RGB_ALPHA\nENDHDR\nabc\x01"),
     1,
     1,
     4,
     8,
     {'a', 'b', 'c', 1}},
    {TEXT("P7\nDEPTH 2\nHEIGHT 1\nWIDTH 2\nMAXVAL 1\nENDHDR\n\x01\x00\x01\x01"),
     2,
     1,
     2,
     8,
     {255, 0, 255, 255}},
    {TEXT("P7\nDEPTH 2\nHEIGHT 1\nWIDTH 1\nMAXVAL 7\nENDHDR\n\x03\x07"), 1, 1, 1, 8, {109}},
    {TEXT("P7\nWIDTH 2\nHEIGHT 1\nDEPTH 1\nMAXVAL 1\nTUPLTYPE BLACKANDWHITE\nENDHDR\n\x01\x00"),
     2,
     1,
     1,
     8,
     {255, 0}},
};

static void known_files_decode(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        const known_file *f = &known[k];
        taper_image image;
        taper_error error = {.status = TAPER_OK};
        size_t consumed;
        if (formats_pnm_decode(f->bytes, f->n, NULL, &image, &consumed, &error) != TAPER_OK)
            fail_msg("file %zu: %s", k, error.text);
        assert_int_equal(consumed, f->n);
        assert_int_equal(image.width, f->width);
        assert_int_equal(image.height, f->height);
        assert_int_equal(image.channels, f->channels);
        assert_int_equal(image.depth, f->depth);
        size_t samples = formats_image_samples(&image);
        for (size_t i = 0; i < samples && i < 6; i++) {
            unsigned got =
                image.depth == 8 ? ((uint8_t *)image.pixels)[i] : ((uint16_t *)image.pixels)[i];
            if (got != f->samples[i]) fail_msg("file %zu sample %zu: %u", k, i, got);
        }
        formats_image_free(&image);
    }
}

/* All truncations fail, except where the cut leaves a whole image: white space at the end, or in a
 * plain file a shorter last number. */
static void every_truncation_is_told(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        const known_file *f = &known[k];
        int plain = f->bytes[1] <= '3';
        for (size_t cut = 0; cut < f->n; cut++) {
            char *part = malloc(cut ? cut : 1);
            memcpy(part, f->bytes, cut);
            taper_image image;
            taper_error error = {.status = TAPER_OK};
            taper_status status = formats_pnm_decode(part, cut, NULL, &image, NULL, &error);
            if (status == TAPER_OK)
                assert_true(plain && cut + 3 > f->n);
            else
                assert_int_equal(status, TAPER_ERR_TRUNCATED);
            assert_true((status == TAPER_OK) == (image.pixels != NULL));
            assert_true(status == TAPER_OK || error.text[0]);
            formats_image_free(&image);
            free(part);
        }
    }
}

static void bad_files_are_told(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        taper_status status;
    } bad[] = {
        {TEXT("P0 1 1\n"), TAPER_ERR_CORRUPT},
        {TEXT("P8 1 1\n"), TAPER_ERR_CORRUPT},
        {TEXT("Q5 1 1 255\nx"), TAPER_ERR_CORRUPT},
        {TEXT("P5 0 1 255\n"), TAPER_ERR_CORRUPT},
        {TEXT("P5 1 1 0\nx"), TAPER_ERR_CORRUPT},
        {TEXT("P5 1 1 65536\nxx"), TAPER_ERR_CORRUPT},
        {TEXT("P5 -1 1 255\nx"), TAPER_ERR_CORRUPT},
        {TEXT("P5 1 x 255\nx"), TAPER_ERR_CORRUPT},
        {TEXT("P5 1 1 9\n\x0A"), TAPER_ERR_CORRUPT}, /* a sample above maxval */
        {TEXT("P2 1 1 9 10"), TAPER_ERR_CORRUPT},
        {TEXT("P1 2 1 02"), TAPER_ERR_CORRUPT},
        {TEXT("P5 1 1 255x"), TAPER_ERR_CORRUPT}, /* no white space before the raster */
        {TEXT("P5 4294967296 1 255\nx"), TAPER_ERR_CORRUPT},
        {TEXT("P5 60000 60000 255\nx"), TAPER_ERR_LIMIT},
        {TEXT("P6 4294967295 4294967295 65535\nx"), TAPER_ERR_LIMIT},
        {TEXT("P5 16000 16000 255\nx"), TAPER_ERR_TRUNCATED}, /* before memory is taken */
        {TEXT("P1 16000 16000 1"), TAPER_ERR_TRUNCATED},
        {TEXT("P7\nWIDTH 1\nHEIGHT 1\nDEPTH 5\nMAXVAL 255\nENDHDR\nabcde"), TAPER_ERR_UNSUPPORTED},
        {TEXT("P7\nWIDTH 1\nDEPTH 1\nMAXVAL 255\nENDHDR\na"), TAPER_ERR_CORRUPT},
        {TEXT("P7\nNONSENSE 1 and more\nDEPTH 1\nMAXVAL 255\nENDHDR\na"), TAPER_ERR_CORRUPT},
    };
    for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
        taper_image image;
        taper_error error = {.status = TAPER_OK};
        taper_status status =
            formats_pnm_decode(bad[k].bytes, bad[k].n, NULL, &image, NULL, &error);
        if (status != bad[k].status) fail_msg("file %zu: status %d, %s", k, status, error.text);
        assert_int_equal(error.status, status);
        assert_null(image.pixels);
    }
}

static void encoding_loses_nothing(void **state) {
    (void)state;
    for (unsigned channels = 1; channels <= 4; channels++)
        for (unsigned depth = 8; depth <= 16; depth += 8)
            for (int pam = 0; pam <= 1; pam++) {
                taper_image image = picture_noise(7, 5, channels, depth, 11), back;
                uint8_t *bytes;
                size_t n, consumed;
                taper_status status = pam ? formats_pam_encode(&image, &bytes, &n, NULL)
                                          : formats_pnm_encode(&image, &bytes, &n, NULL);
                assert_int_equal(status, TAPER_OK);
                assert_true(formats_pnm_detect(bytes, n));
                assert_int_equal(formats_pnm_decode(bytes, n, NULL, &back, &consumed, NULL),
                                 TAPER_OK);
                assert_int_equal(consumed, n);
                assert_true(image_equal(&image, &back));
                free(bytes);
                formats_image_free(&image);
                formats_image_free(&back);
            }
}

static void streams_hold_one_image_after_another(void **state) {
    (void)state;
    uint8_t stream[4096];
    size_t n = 0;
    for (unsigned k = 0; k < 4; k++) {
        taper_image image = picture_noise(3 + k, 4, k % 2 ? 3 : 1, k < 2 ? 8 : 16, k + 1);
        uint8_t *bytes;
        size_t size;
        assert_int_equal(formats_pnm_encode(&image, &bytes, &size, NULL), TAPER_OK);
        memcpy(stream + n, bytes, size);
        n += size;
        free(bytes);
        formats_image_free(&image);
    }
    size_t at = 0;
    for (unsigned k = 0; k < 4; k++) {
        taper_image image = picture_noise(3 + k, 4, k % 2 ? 3 : 1, k < 2 ? 8 : 16, k + 1), back;
        size_t consumed;
        assert_int_equal(formats_pnm_decode(stream + at, n - at, NULL, &back, &consumed, NULL),
                         TAPER_OK);
        assert_true(image_equal(&image, &back));
        at += consumed;
        formats_image_free(&image);
        formats_image_free(&back);
    }
    assert_int_equal(at, n);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_files_decode),
        cmocka_unit_test(every_truncation_is_told),
        cmocka_unit_test(bad_files_are_told),
        cmocka_unit_test(encoding_loses_nothing),
        cmocka_unit_test(streams_hold_one_image_after_another),
    };
    return cmocka_run_group_tests_name("pnm", tests, NULL, NULL);
}
