/* test_jpeg.c -- JPEG input: kinds, damage, limits. Files are made by libjpeg in the test. */
#include "cmocka_all.h"
#include "formats/images/jpeg.h"
#include "formats/images/jpeg_noise.h"
#include "pictures.h"
#include <stdio.h>
#include <string.h>

#include <jpeglib.h>

typedef struct jpeg_plan {
    int quality, progressive, subsampled, restart, cmyk;
    int two_scans; /* progressive without refinement: all of DC, all of AC; for grey */
    int arithmetic;
    int apart; /* a scan for each component */
} jpeg_plan;

/* Encode; the result is libjpeg's malloc'd memory, to be freed. */
static unsigned char *encode(const taper_image *image, jpeg_plan plan, unsigned long *n) {
    struct jpeg_compress_struct c;
    struct jpeg_error_mgr errors;
    unsigned char *bytes = NULL;
    *n = 0;
    c.err = jpeg_std_error(&errors);
    jpeg_create_compress(&c);
    jpeg_mem_dest(&c, &bytes, n);
    c.image_width = image->width;
    c.image_height = image->height;
    c.input_components = image->channels;
    c.in_color_space = plan.cmyk ? JCS_CMYK : image->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&c);
    jpeg_set_quality(&c, plan.quality, TRUE);
    if (!plan.subsampled) c.comp_info[0].h_samp_factor = c.comp_info[0].v_samp_factor = 1;
    c.restart_interval = (unsigned)plan.restart;
    static const jpeg_scan_info scans[2] = {{1, {0}, 0, 0, 0, 0}, {1, {0}, 1, 63, 0, 0}};
    if (plan.progressive) jpeg_simple_progression(&c);
    static const jpeg_scan_info three[3] = {
        {1, {0}, 0, 63, 0, 0}, {1, {1}, 0, 63, 0, 0}, {1, {2}, 0, 63, 0, 0}};
    c.arith_code = plan.arithmetic;
    if (plan.apart) {
        c.scan_info = three;
        c.num_scans = 3;
    }
    if (plan.two_scans) {
        c.scan_info = scans;
        c.num_scans = 2;
    }
    jpeg_start_compress(&c, TRUE);
    while (c.next_scanline < c.image_height) {
        JSAMPROW row =
            (JSAMPROW)image->pixels + (size_t)c.next_scanline * image->width * image->channels;
        jpeg_write_scanlines(&c, &row, 1);
    }
    jpeg_finish_compress(&c);
    jpeg_destroy_compress(&c);
    return bytes;
}

static void decoded_pixels_are_close(void **state) {
    (void)state;
    for (unsigned channels = 1; channels <= 3; channels += 2)
        for (int variant = 0; variant < 8; variant++) {
            jpeg_plan plan = {98, variant & 1, variant >> 1 & 1, variant >> 2 & 1, 0, 0, 0, 0};
            taper_image image = picture_scene(45, 37, channels, 0), back;
            /* smooth in all channels, so that subsampling costs little */
            for (size_t i = 0; i < formats_image_bytes(&image); i++)
                ((uint8_t *)image.pixels)[i] =
                    (uint8_t)(64 + i / channels % 45 * 2 + i / channels / 45);
            unsigned long n;
            unsigned char *bytes = encode(&image, plan, &n);
            assert_true(formats_jpeg_detect(bytes, n));
            assert_int_equal(formats_jpeg_decode(bytes, n, NULL, &back, NULL, NULL), TAPER_OK);
            assert_int_equal(back.width, 45);
            assert_int_equal(back.height, 37);
            assert_int_equal(back.channels, channels);
            assert_int_equal(back.depth, 8);
            for (size_t i = 0; i < formats_image_bytes(&image); i++)
                assert_in_range(((uint8_t *)back.pixels)[i] + 4 - ((uint8_t *)image.pixels)[i], 0,
                                8);
            free(bytes);
            formats_image_free(&image);
            formats_image_free(&back);
        }
}

static void every_truncation_is_told(void **state) {
    (void)state;
    for (int variant = 0; variant < 4; variant++) {
        jpeg_plan plan = {60, variant & 1, 1, variant >> 1, 0, 0, 0, 0};
        taper_image image = picture_scene(24, 20, 3, 0), back;
        unsigned long n;
        unsigned char *bytes = encode(&image, plan, &n);
        for (unsigned long cut = 0; cut < n - 2; cut++) { /* behind it the end marker alone */
            uint8_t *part = malloc(cut ? cut : 1);
            memcpy(part, bytes, cut);
            taper_error error = {.status = TAPER_OK};
            taper_status status = formats_jpeg_decode(part, cut, NULL, &back, NULL, &error);
            assert_int_equal(status, TAPER_ERR_TRUNCATED);
            assert_null(back.pixels);
            assert_true(error.text[0] != '\0');
            free(part);
        }
        /* a middle piece missing, the end marker in place: not a grey half either */
        unsigned char *patched = malloc(n);
        memcpy(patched, bytes, n);
        memcpy(patched + n - 60, "\xFF\xD9", 2);
        taper_error error = {.status = TAPER_OK};
        if (!plan.progressive)
            assert_int_equal(formats_jpeg_decode(patched, n - 58, NULL, &back, NULL, &error),
                             TAPER_ERR_CORRUPT);
        free(patched);
        free(bytes);
        formats_image_free(&image);
    }
}

/* Without an end marker, or with other bytes in its place, be they those of another picture: what
 * the whole file gives, if no scan is missing. */
static void whole_data_need_no_end(void **state) {
    (void)state;
    static const char trailer[] = "TRAILER\0\xFF\xD8\xFF\xE1\xFF\xF0 more \xFF\xC0\xFF";
    for (int variant = 0; variant < 4; variant++) {
        jpeg_plan plan = {60, variant & 1, 1, variant >> 1, 0, 0, 0, 0};
        taper_image image = picture_scene(24, 20, 3, 0), whole, back;
        unsigned long n;
        unsigned char *bytes = encode(&image, plan, &n);
        assert_int_equal(formats_jpeg_decode(bytes, n, NULL, &whole, NULL, NULL), TAPER_OK);
        for (size_t more = 0; more < sizeof trailer; more++) {
            uint8_t *part = malloc(n - 2 + more);
            memcpy(part, bytes, n - 2);
            memcpy(part + n - 2, trailer, more);
            assert_int_equal(formats_jpeg_decode(part, n - 2 + more, NULL, &back, NULL, NULL),
                             TAPER_OK);
            assert_true(image_equal(&whole, &back));
            formats_image_free(&back);
            free(part);
        }
        /* the last scan is missing: taken with the end marker only */
        unsigned long last = n - 2;
        while (plan.progressive && (bytes[last] != 0xFF || bytes[last + 1] != 0xDA)) last--;
        if (plan.progressive) {
            assert_int_equal(formats_jpeg_decode(bytes, last, NULL, &back, NULL, NULL),
                             TAPER_ERR_TRUNCATED);
            memcpy(bytes + last, "\xFF\xD9", 2);
            assert_int_equal(formats_jpeg_decode(bytes, last + 2, NULL, &back, NULL, NULL),
                             TAPER_OK);
            formats_image_free(&back);
        }
        free(bytes);
        formats_image_free(&image);
        formats_image_free(&whole);
    }
}

/* Scans for each component, and the arithmetic coder, which takes what is not there for zeros: a
 * cut is told, or it gives what the whole file gives. */
static void no_cut_gives_another_picture(void **state) {
    (void)state;
    for (int variant = 0; variant < 4; variant++) {
        jpeg_plan plan = {60, variant == 2, 0, 0, 0, 0, variant > 0, variant == 0 || variant == 3};
        taper_image image = picture_scene(24, 20, 3, 0), whole, back;
        unsigned long n, taken = 0;
        unsigned char *bytes = encode(&image, plan, &n);
        assert_int_equal(formats_jpeg_decode(bytes, n, NULL, &whole, NULL, NULL), TAPER_OK);
        for (unsigned long cut = 0; cut < n; cut++) {
            taper_error error = {.status = TAPER_OK};
            taper_status status = formats_jpeg_decode(bytes, cut, NULL, &back, NULL, &error);
            if (status != TAPER_OK)
                assert_int_equal(status, TAPER_ERR_TRUNCATED);
            else
                assert_true(image_equal(&whole, &back));
            taken += status == TAPER_OK;
            formats_image_free(&back);
        }
        assert_in_range(taken, plan.arithmetic ? 0 : 2, 4);
        free(bytes);
        formats_image_free(&image);
        formats_image_free(&whole);
    }
}

static void every_flipped_bit_is_survived(void **state) {
    (void)state;
    taper_image image = picture_scene(12, 10, 3, 0), back;
    unsigned long n;
    unsigned char *bytes = encode(&image, (jpeg_plan){50, 1, 1, 0, 0, 0, 0, 0}, &n);
    const taper_limits limits = {.size = sizeof(taper_limits), .max_pixels = 1 << 22};
    for (unsigned long bit = 0; bit < 8 * n; bit++) {
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        taper_error error = {.status = TAPER_OK};
        taper_status status = formats_jpeg_decode(bytes, n, &limits, &back, NULL, &error);
        assert_true((status == TAPER_OK) == (back.pixels != NULL));
        assert_true(status == TAPER_OK || (error.status == status && error.text[0]));
        formats_image_free(&back);
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    free(bytes);
    formats_image_free(&image);
}

/* The error that quantisation has left is known without the original, for all kinds of files. */
static void noise_is_estimated(void **state) {
    (void)state;
    static const int quality[] = {75, 80, 85, 92};
    for (unsigned channels = 1; channels <= 3; channels += 2)
        for (int variant = 0; variant < 8; variant++) {
            const jpeg_plan plan = {quality[variant % 4],         variant / 4, 0, 0, 0, 0, 0,
                                    channels == 3 && variant == 2};
            taper_image image = picture_scene(160, 136, channels, 0), back;
            formats_metadata metadata;
            uint64_t random = 7;
            uint8_t *pixel = image.pixels;
            double sum = 0;
            for (size_t i = 0; i < formats_image_samples(&image); i++) {
                const int grain = (int)(picture_random(&random) >> 58) + 80 + pixel[i] / 4;
                pixel[i] = (uint8_t)grain;
            }
            unsigned long n;
            unsigned char *bytes = encode(&image, plan, &n);
            assert_int_equal(formats_jpeg_decode(bytes, n, NULL, &back, &metadata, NULL), TAPER_OK);
            for (size_t i = 0; i < formats_image_samples(&image); i++) {
                const double d = (double)pixel[i] - ((uint8_t *)back.pixels)[i];
                sum += d * d;
            }
            const double mse = sum / (double)formats_image_samples(&image);
            print_message("%u channels, quality %d: %.2f, estimated %.2f\n", channels, plan.quality,
                          mse, metadata.quantisation_mse);
            assert_true(metadata.quantisation_mse > mse * 0.6 &&
                        metadata.quantisation_mse < mse * 1.6);
            formats_metadata_free(&metadata);
            free(bytes);
            formats_image_free(&image), formats_image_free(&back);
        }
}

/* Damage that the decoder tells leaves no estimate, and none is made of what is no JPEG. */
static void noise_of_damage_is_unknown(void **state) {
    (void)state;
    taper_image image = picture_scene(24, 20, 3, 0);
    unsigned long n;
    unsigned char *bytes = encode(&image, (jpeg_plan){60, 0, 1, 0, 0, 0, 0, 0}, &n);
    assert_true(formats_jpeg_noise(bytes, n) > 0);
    for (unsigned long cut = 0; cut < n / 2; cut++)
        assert_true(formats_jpeg_noise(bytes, cut) >= 0);
    assert_true(formats_jpeg_noise("no JPEG", 7) == 0);
    for (unsigned long bit = 0; bit < 8 * n; bit += 3) {
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
        assert_true(formats_jpeg_noise(bytes, n) >= 0);
        bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
    }
    free(bytes);
    formats_image_free(&image);
}

/* Without a profile: R = (1 - C)(1 - K); the file has 255 where there is no ink. */
static void cmyk_becomes_srgb(void **state) {
    (void)state;
    static const uint8_t ink[4] = {200, 100, 50, 204}, expected[3] = {160, 80, 40};
    taper_image image, back;
    assert_int_equal(formats_image_make(&image, 16, 16, 4, 8, NULL, NULL), TAPER_OK);
    for (size_t i = 0; i < formats_image_samples(&image); i++)
        ((uint8_t *)image.pixels)[i] = ink[i % 4];
    unsigned long n;
    unsigned char *bytes = encode(&image, (jpeg_plan){100, 0, 0, 0, 1, 0, 0, 0}, &n);
    assert_int_equal(formats_jpeg_decode(bytes, n, NULL, &back, NULL, NULL), TAPER_OK);
    assert_int_equal(back.channels, 3);
    for (size_t i = 0; i < formats_image_samples(&back); i++)
        assert_in_range(((uint8_t *)back.pixels)[i], expected[i % 3] - 1, expected[i % 3] + 1);
    formats_image_free(&back);
    free(bytes);
    formats_image_free(&image);
}

/* Where the frame header's height stands: behind FF C0 (or C2), length and precision. */
static size_t height_at(const unsigned char *bytes, unsigned long n) {
    for (size_t i = 2; i + 9 < n; i += 2 + (size_t)(bytes[i + 2] << 8 | bytes[i + 3]))
        if (bytes[i + 1] == 0xC0 || bytes[i + 1] == 0xC2) return i + 5;
    fail_msg("no frame header");
    return 0;
}

static void limits_hold_before_memory_is_taken(void **state) {
    (void)state;
    taper_image image = picture_scene(10, 9, 3, 0), back;
    unsigned long n;
    unsigned char *bytes = encode(&image, (jpeg_plan){80, 1, 0, 0, 0, 0, 0, 0}, &n);
    taper_error error;
    taper_limits limits = {.size = sizeof(taper_limits), .max_pixels = 89};
    assert_int_equal(formats_jpeg_decode(bytes, n, &limits, &back, NULL, &error), TAPER_ERR_LIMIT);
    assert_int_equal(error.fact, TAPER_FACT_MAX_PIXELS);
    limits.max_pixels = 90;
    assert_int_equal(formats_jpeg_decode(bytes, n, &limits, &back, NULL, &error), TAPER_OK);
    formats_image_free(&back);
    size_t at = height_at(bytes, n);
    memcpy(bytes + at, "\xEA\x60\xEA\x60", 4); /* 60,000 x 60,000 */
    assert_int_equal(formats_jpeg_decode(bytes, n, NULL, &back, NULL, &error), TAPER_ERR_LIMIT);
    memcpy(bytes + at, "\x3E\x80\x3E\x80", 4); /* 16,000 x 16,000 out of a few hundred bytes */
    assert_int_equal(formats_jpeg_decode(bytes, n, NULL, &back, NULL, &error), TAPER_ERR_TRUNCATED);
    assert_non_null(strstr(error.text, "cannot hold"));
    /* coefficients of a progressive file do not fit, though the pixels would */
    memcpy(bytes + at, "\x03\x00\x03\x00", 4);
    limits = (taper_limits){.size = sizeof(taper_limits), .max_memory = 768 * 768 * 3 + 1000};
    if (formats_jpeg_decode(bytes, n, &limits, &back, NULL, &error) != TAPER_ERR_LIMIT)
        fail_msg("%s", error.text);
    assert_int_equal(error.fact, TAPER_FACT_MAX_MEMORY);
    free(bytes);
    formats_image_free(&image);
}

/* A scan may be repeated legally when it leaves nothing to refine. */
static void endless_scans_are_stopped(void **state) {
    (void)state;
    taper_image image = picture_scene(16, 16, 1, 0), back;
    unsigned long n, start = 0, end = 0;
    unsigned char *bytes = encode(&image, (jpeg_plan){50, 1, 0, 0, 0, 1, 0, 0}, &n);
    for (unsigned long i = 2; i + 1 < n && !end; i++) {
        if (bytes[i] != 0xFF) continue;
        if (start && (bytes[i + 1] == 0xC4 || bytes[i + 1] == 0xDA)) end = i;
        if (!start && bytes[i + 1] == 0xDA) start = i;
    }
    assert_true(start && end > start);
    enum { REPEATS = 1000 };
    for (int repeats = 10; repeats <= REPEATS; repeats += REPEATS - 10) {
        unsigned char *many = malloc(n + REPEATS * (end - start));
        size_t size = start;
        memcpy(many, bytes, start);
        for (int i = 0; i < repeats; i++, size += end - start)
            memcpy(many + size, bytes + start, end - start);
        memcpy(many + size, bytes + end, n - end);
        size += n - end;
        taper_error error = {.status = TAPER_OK};
        taper_status status = formats_jpeg_decode(many, size, NULL, &back, NULL, &error);
        assert_int_equal(status, repeats == 10 ? TAPER_OK : TAPER_ERR_LIMIT);
        assert_true(repeats == 10 || strstr(error.text, "scans"));
        formats_image_free(&back);
        free(many);
    }
    free(bytes);
    formats_image_free(&image);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decoded_pixels_are_close),
        cmocka_unit_test(every_truncation_is_told),
        cmocka_unit_test(whole_data_need_no_end),
        cmocka_unit_test(no_cut_gives_another_picture),
        cmocka_unit_test(every_flipped_bit_is_survived),
        cmocka_unit_test(noise_is_estimated),
        cmocka_unit_test(noise_of_damage_is_unknown),
        cmocka_unit_test(cmyk_becomes_srgb),
        cmocka_unit_test(limits_hold_before_memory_is_taken),
        cmocka_unit_test(endless_scans_are_stopped),
    };
    return cmocka_run_group_tests_name("jpeg", tests, NULL, NULL);
}
