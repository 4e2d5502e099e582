/* test_rivals.c -- the rival codecs on made images of many sizes, and curves that do not depend on
 * threads. */
#include "cli/compare/rd_curve.h"
#include "cli/compare/rival_fit.h"
#include "codec/taper_quality.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <cmocka.h>

/* Gradients with an edge and a little grain, another one for each number. */
static taper_image make_image(uint32_t width, uint32_t height, uint8_t channels, uint32_t number) {
    taper_image image = {width, height, channels, 8, malloc((size_t)width * height * channels)};
    assert_non_null(image.pixels);
    uint8_t *p = image.pixels;
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            for (uint32_t c = 0; c < channels; c++) {
                uint32_t level =
                    40 + x * (90 + 20 * c) / width + y * (60 + 10 * number % 50) / height;
                uint32_t grain =
                    ((((y * width + x) * channels + c + number * 977) * 2654435761u) >> 28) & 7;
                if (3 * x + y * 2 > width + height + number % 9) level = 210 - level / 2;
                *p++ = (uint8_t)(level + grain);
            }
    return image;
}

static void test_the_table_names_every_rival(void **state) {
    (void)state;
    static const char *const wanted[] = {"jpeg", "jpeg2000", "webp", "avif", "jxl"};
    for (size_t i = 0; i < 5; i++) {
        const cli_rival *rival = cli_rival_find(wanted[i]);
        assert_non_null(rival);
        assert_ptr_equal(rival, cli_rivals[i]);
        taper_error error;
        if (cli_rival_load(rival, &error) != TAPER_OK) { /* what the build found is here, too */
            print_message("%s: %s\n", rival->name, error.text);
            assert_non_null(strstr(error.text, "built without"));
            assert_non_null(strstr(error.text, rival->package));
            continue;
        }
        assert_int_equal(cli_rival_load(rival, &error), TAPER_OK);
        char version[300] = "";
        rival->version(version, sizeof version);
        assert_true(strlen(version) > 6);
        assert_true(rival->n_ladder >= 8);
        assert_true(rival->n_settings * rival->n_ladder <= CLI_RD_MAX_POINTS);
    }
    assert_null(cli_rivals[5]);
    assert_null(cli_rival_find("gif"));
    assert_non_null(cli_rival_jpeg.encode);
}

/* At the best quality a rival must come close to the image, and cost more than at the worst. */
static void check_coding(const cli_rival *rival, size_t setting, const taper_image *image) {
    size_t bytes[2];
    double db[2];
    for (int best = 0; best < 2; best++) {
        cli_rival_coded coded;
        taper_error error = {0};
        double mse;
        double quality = rival->ladder[best ? rival->n_ladder - 1 : 0];
        taper_status status = cli_rival_code(rival, image, setting, quality, &coded, &error);
        if (status != TAPER_OK)
            fail_msg("%s, %ux%u: %s", rival->name, image->width, image->height, error.text);
        assert_int_equal(taper_quality_mse(image, &coded.decoded, &mse, NULL), TAPER_OK);
        assert_true(coded.file.size > 0 && coded.file.data);
        assert_true((rival->payload_is != NULL) == (coded.payload_bytes > 0));
        assert_true(coded.payload_bytes < coded.file.size);
        bytes[best] = coded.file.size;
        db[best] = taper_quality_psnr_db(mse);
        cli_rival_coded_free(&coded);
        assert_null(coded.file.data);
    }
    if (image->width > 4 && image->height > 4) assert_true(bytes[1] > bytes[0]);
    if (image->width > 16 && image->height > 16 && !(db[1] >= 30 && db[1] > db[0] + 3))
        fail_msg("%s setting %zu, %ux%ux%d: %.2f and %.2f dB", rival->name, setting, image->width,
                 image->height, image->channels, db[0], db[1]);
}

static void test_every_rival_codes_every_size(void **state) {
    (void)state;
    static const uint32_t size[][2] = {{32, 32}, {1, 1}, {7, 5}, {33, 17}, {2, 40}, {64, 48}};
    for (size_t r = 0; cli_rivals[r]; r++)
        for (size_t i = 0; i < 6 && cli_rival_load(cli_rivals[r], NULL) == TAPER_OK; i++)
            for (uint8_t channels = 1; channels <= 3; channels += 2)
                for (size_t s = 0; s < (channels == 1 ? 1 : cli_rivals[r]->n_settings); s++) {
                    taper_image image = make_image(size[i][0], size[i][1], channels, 3);
                    check_coding(cli_rivals[r], s, &image);
                    free(image.pixels);
                }
}

/* The bytes after each SOS header up to the next marker that is neither a stuffed zero nor a
 * restart, found here by another walk than the rival's: from the end of the file. */
static void test_the_payload_of_jpeg_is_its_scans(void **state) {
    (void)state;
    taper_image image = make_image(32, 32, 3, 1);
    cli_rival_coded coded;
    assert_int_equal(cli_rival_code(&cli_rival_jpeg, &image, 0, 50, &coded, NULL), TAPER_OK);
    const uint8_t *p = coded.file.data;
    size_t n = coded.file.size;
    assert_true(p[0] == 0xFF && p[1] == 0xD8 && p[n - 2] == 0xFF && p[n - 1] == 0xD9);
    assert_memory_equal(p + 6, "JFIF", 5);
    size_t start = n - 2;
    while (!(p[start] == 0xFF && p[start + 1] == 0xDA)) start--;
    int progressive = 0, sequential_scans = 0;
    for (size_t i = 0; i + 1 < n; i++) {
        if (p[i] == 0xFF && p[i + 1] == 0xC2) progressive = 1;
        if (p[i] == 0xFF && p[i + 1] == 0xDA) sequential_scans++;
    }
    assert_false(progressive); /* so small an image is smaller without */
    assert_int_equal(sequential_scans, 1);
    assert_int_equal(coded.payload_bytes,
                     n - 2 - (start + 2 + (size_t)(p[start + 2] << 8 | p[start + 3])));
    cli_rival_coded_free(&coded);
    free(image.pixels);
}

static void test_prepare_reduces_and_drops_alpha(void **state) {
    (void)state;
    uint16_t deep[2 * 4] = {65535, 0, 257, 9, 128, 129, 65406, 9};
    taper_image image = {2, 1, 4, 16, deep}, out;
    assert_int_equal(cli_rival_prepare(&image, &out, NULL), TAPER_OK);
    assert_true(out.channels == 3 && out.depth == 8);
    assert_memory_equal(out.pixels, ((uint8_t[]){255, 0, 1, 0, 1, 254}), 6);
    free(out.pixels);
}

/* --- curves ----------------------------------------------------------------------------------- */

enum { IMAGES = 23 };
typedef struct made_set {
    size_t broken[2];
} made_set; /* images that cannot be read */

static taper_status read_made(void *user, size_t i, taper_image *out, taper_error *error) {
    const made_set *set = user;
    if (i == set->broken[0])
        nanosleep(&(struct timespec){0, 200000000}, NULL); /* fails after the other */
    if (i == set->broken[0] || i == set->broken[1])
        return formats_fail(error, TAPER_ERR_CORRUPT, "image %zu", i);
    *out = make_image(32 + (uint32_t)i % 5, 32, 3, (uint32_t)i);
    return TAPER_OK;
}

static cli_rd_job made_job(made_set *set, unsigned threads, const size_t *start, size_t runs) {
    return (cli_rd_job){
        .user = set, .runs = runs, .run_start = start, .threads = threads, .read = read_made};
}

static void test_curves_do_not_depend_on_threads(void **state) {
    (void)state;
    made_set set = {{SIZE_MAX, SIZE_MAX}};
    size_t runs, *start = cli_rd_even_runs(IMAGES, &runs);
    cli_rd_curve file[2], payload[2];
    for (int many = 0; many < 2; many++) {
        cli_rd_job job = made_job(&set, many ? 5 : 1, start, runs);
        assert_int_equal(
            cli_rd_rival(&cli_rival_jpeg, &job, &file[many], &payload[many], NULL, NULL), TAPER_OK);
    }
    assert_int_equal(file[0].n, file[1].n);
    assert_memory_equal(file[0].point, file[1].point, file[0].n * sizeof *file[0].point);
    assert_memory_equal(payload[0].point, payload[1].point,
                        payload[0].n * sizeof *payload[0].point);
    for (size_t i = 0; i < file[0].n; i++) {
        const cli_rd_point *p = &file[0].point[i];
        assert_true(p->bpp > 0 && p->ms_ssim > 0 && p->ms_ssim <= 1 && p->ssim <= 1);
        assert_true(p->psnr_of_mean_mse_db <= p->psnr_db + 1e-9); /* Jensen */
        if (i)
            assert_true(p->psnr_db > p[-1].psnr_db && p->bytes_per_image > p[-1].bytes_per_image);
    }
    double pixels = 0;
    for (uint32_t i = 0; i < IMAGES; i++) pixels += (32 + i % 5) * 32;
    assert_float_equal(file[0].point[0].bpp, file[0].point[0].bytes_per_image * IMAGES * 8 / pixels,
                       1e-9);
    taper_bd_rate delta;
    assert_int_equal(cli_rd_delta(&file[0], &payload[0], &delta, NULL), TAPER_OK);
    assert_true(delta.percent < -20); /* headers are most of so small a file */
    free(start);
}

static void test_the_first_failure_is_told(void **state) {
    (void)state;
    made_set set = {{7, 19}};
    size_t runs, *start = cli_rd_even_runs(IMAGES, &runs), failed = 0;
    for (unsigned threads = 1; threads < 6; threads += 4) {
        taper_error error;
        cli_rd_curve file, payload;
        cli_rd_job job = made_job(&set, threads, start, runs);
        assert_int_equal(cli_rd_rival(&cli_rival_jpeg, &job, &file, &payload, &failed, &error),
                         TAPER_ERR_CORRUPT);
        assert_int_equal(failed, 7);
        assert_string_equal(error.text, "image 7");
    }
    free(start);
}

static void test_runs_cover_every_image_once(void **state) {
    (void)state;
    static const size_t count[] = {0, 1, 5, 4096, 4097, 100000};
    for (size_t k = 0; k < 6; k++) {
        size_t runs, *start = cli_rd_even_runs(count[k], &runs);
        assert_non_null(start);
        assert_int_equal(start[0], 0);
        assert_int_equal(start[runs], count[k]);
        for (size_t r = 0; r < runs; r++) assert_true(start[r] < start[r + 1]);
        assert_true(runs <= 4200);
        free(start);
    }
}

/* Each fits, is no worse than that of fewer bytes nor than any measured quality that fits, and is
 * what its bytes decode to. */
static void check_fits(const cli_rival *rival, bool is_payload) {
    enum { N = 4 };
    taper_image image = make_image(96, 64, 3, 5), decoded;
    cli_rival_fit fit[N];
    size_t smallest;
    double budget[N] = {4, 900, 1500, 1e9}, mse;
    assert_int_equal(cli_rival_fit_all(rival, &image, is_payload, budget, N, fit, &smallest, NULL),
                     TAPER_OK);
    assert_null(fit[0].bytes);
    assert_true(smallest > 4 && smallest < 900);
    for (size_t i = 1; i < N; i++) {
        assert_non_null(fit[i].bytes);
        assert_true((double)fit[i].counted <= budget[i] && fit[i].counted >= smallest);
        assert_true(is_payload ? fit[i].counted < fit[i].size : fit[i].counted == fit[i].size);
        if (i > 1) assert_true(fit[i].mse <= fit[i - 1].mse);
        assert_int_equal(cli_rival_fit_decode(rival, &image, &fit[i], &decoded, NULL), TAPER_OK);
        assert_int_equal(taper_quality_mse(&image, &decoded, &mse, NULL), TAPER_OK);
        assert_float_equal(mse, fit[i].mse, 1e-12);
        free(decoded.pixels);
        for (size_t q = 0; q < rival->n_ladder; q++) {
            cli_rival_coded coded;
            assert_int_equal(cli_rival_code(rival, &image, 0, rival->ladder[q], &coded, NULL),
                             TAPER_OK);
            assert_int_equal(taper_quality_mse(&image, &coded.decoded, &mse, NULL), TAPER_OK);
            if ((double)(is_payload ? coded.payload_bytes : coded.file.size) <= budget[i])
                assert_true(fit[i].mse <= mse);
            cli_rival_coded_free(&coded);
        }
    }
    for (size_t i = 0; i < N; i++) cli_rival_fit_free(&fit[i]);
    free(image.pixels);
}

static void test_the_best_within_given_bytes(void **state) {
    (void)state;
    check_fits(&cli_rival_jpeg, false);
    check_fits(&cli_rival_jpeg, true);
    if (cli_rival_load(&cli_rival_jpeg2000, NULL) == TAPER_OK)
        check_fits(&cli_rival_jpeg2000, false);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_table_names_every_rival),
        cmocka_unit_test(test_every_rival_codes_every_size),
        cmocka_unit_test(test_the_payload_of_jpeg_is_its_scans),
        cmocka_unit_test(test_prepare_reduces_and_drops_alpha),
        cmocka_unit_test(test_curves_do_not_depend_on_threads),
        cmocka_unit_test(test_the_first_failure_is_told),
        cmocka_unit_test(test_runs_cover_every_image_once),
        cmocka_unit_test(test_the_best_within_given_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
