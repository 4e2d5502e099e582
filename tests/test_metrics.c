/* test_metrics.c -- PSNR, SSIM and MS-SSIM against other implementations on pairs that both can
 * make.
 *
 * The pair, as NumPy writes it (w, h, c: size and channels):
 *     y,x,k = numpy.meshgrid(range(h), range(w), range(c), indexing='ij')
 *     t = ((x*(x+2*k) + y*y*(k+1)) >> 5) & 511;  a = where(t < 256, t, 511 - t)
 *     i = (y*w + x)*c + k;  n = (((i*1103515245 + 12345) & 0xffffffff) >> 16) & 31
 *     b = clip((a + 8)//16*16 + n - 15, 0, 255)
 * MSE, PSNR and SSIM are those of scikit-image 0.19.3 (Debian 12, python3-skimage):
 *     skimage.metrics.mean_squared_error(a, b); peak_signal_noise_ratio(a, b, data_range=255);
 *     structural_similarity(a, b, channel_axis=-1, gaussian_weights=True, sigma=1.5,
 *                           use_sample_covariance=False, data_range=255)
 * MS-SSIM is that of pytorch-msssim 1.0.0 (github.com/VainF/pytorch-msssim, commit b057b072) under
 * PyTorch 1.13.1 in float64: ms_ssim(ta, tb, data_range=255). It insists on five scales; for the
 * small pairs its _ssim and avg_pool2d(x, 2) were called scale by scale, odd sides first padded
 * with mode='replicate', and the weights of the scales in use divided by their sum. Its window is a
 * float32 one, so it agrees to about 2e-6. */
#include "codec/taper_quality.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

typedef struct reference {
    uint32_t width, height;
    uint8_t channels;
    int scales;
    double mse, psnr_db, ssim, ms_ssim;
} reference;

static const reference k_reference[] = {
    {192, 176, 3, 5, 102.471008917, 28.024793486, 0.824431233, 0.987067388},
    {192, 176, 1, 5, 103.272993608, 27.990935946, 0.752678679, 0.974493331},
    {48, 37, 3, 2, 102.641891892, 28.017557125, 0.486953821, 0.815700959},
    {41, 64, 1, 3, 100.962652439, 28.089196093, 0.468122033, 0.834696692},
    {32, 32, 3, 2, 96.771158854, 28.273344190, 0.467700381, 0.768207670},
};

static taper_image new_image(uint32_t width, uint32_t height, uint8_t channels, uint8_t depth) {
    taper_image image = {width, height, channels, depth, NULL};
    image.pixels = calloc((size_t)width * height * channels, depth / 8u);
    assert_non_null(image.pixels);
    return image;
}

static void make_pair(uint32_t width, uint32_t height, uint8_t channels, taper_image *a,
                      taper_image *b) {
    *a = new_image(width, height, channels, 8);
    *b = new_image(width, height, channels, 8);
    uint8_t *pa = a->pixels, *pb = b->pixels;
    uint32_t i = 0;
    for (uint32_t y = 0; y < height; y++)
        for (uint32_t x = 0; x < width; x++)
            for (uint32_t k = 0; k < channels; k++, i++) {
                uint32_t t = ((x * (x + 2 * k) + y * y * (k + 1)) >> 5) & 511;
                int level = (int)(t < 256 ? t : 511 - t);
                int noisy =
                    (level + 8) / 16 * 16 + (int)(((i * 1103515245u + 12345u) >> 16) & 31) - 15;
                pa[i] = (uint8_t)level;
                pb[i] = (uint8_t)(noisy < 0 ? 0 : noisy > 255 ? 255 : noisy);
            }
}

static int near(double value, double wanted, double tolerance) {
    if (fabs(value - wanted) <= tolerance) return 1; /* false for NaN */
    print_error("%.9f where %.9f was wanted\n", value, wanted);
    return 0;
}

static void test_agrees_with_other_implementations(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof k_reference / sizeof *k_reference; i++) {
        const reference *want = &k_reference[i];
        taper_image a, b;
        taper_quality q = {.size = sizeof q};
        taper_error error;
        make_pair(want->width, want->height, want->channels, &a, &b);
        assert_int_equal(taper_quality_measure(&a, &b, &q, &error), TAPER_OK);
        assert_true(near(q.mse, want->mse, 1e-8));
        assert_true(near(q.psnr_db, want->psnr_db, 1e-8));
        assert_true(near(q.ssim, want->ssim, 3e-6));
        assert_true(near(q.ms_ssim, want->ms_ssim, 4e-6));
        assert_int_equal(q.scales, want->scales);
        free(a.pixels);
        free(b.pixels);
    }
}

static void test_equal_images_are_perfect_at_any_size(void **state) {
    (void)state;
    static const uint32_t size[][2] = {{1, 1}, {2, 7}, {10, 300}, {11, 11}, {12, 13}, {161, 160}};
    for (size_t i = 0; i < sizeof size / sizeof *size; i++) {
        taper_image a, b;
        taper_quality q = {.size = sizeof q};
        make_pair(size[i][0], size[i][1], 3, &a, &b);
        assert_int_equal(taper_quality_measure(&a, &a, &q, NULL), TAPER_OK);
        assert_true(q.mse == 0 && q.psnr_db == TAPER_PSNR_CEILING_DB);
        assert_true(near(q.ssim, 1, 1e-5) && near(q.ms_ssim, 1, 1e-5));
        assert_int_equal(taper_quality_measure(&a, &b, &q, NULL), TAPER_OK);
        if (i > 0) assert_true(q.mse > 0 && q.ssim < 1 && q.ms_ssim < 1 && q.ms_ssim >= 0);
        free(a.pixels);
        free(b.pixels);
    }
}

static void test_flat_images_have_a_known_ssim(void **state) {
    (void)state;
    taper_image a = new_image(20, 20, 1, 8), b = new_image(20, 20, 1, 8);
    memset(a.pixels, 100, 400);
    memset(b.pixels, 110, 400);
    taper_quality q = {.size = sizeof q};
    assert_int_equal(taper_quality_measure(&a, &b, &q, NULL), TAPER_OK);
    double c1 = 2.55 * 2.55; /* variances are 0: the luminance factor alone */
    assert_true(near(q.ssim, (2 * 100 * 110.0 + c1) / (100.0 * 100 + 110.0 * 110 + c1), 1e-5));
    assert_true(near(q.mse, 100, 0) && near(q.psnr_db, 10 * log10(650.25), 1e-12));
    free(a.pixels);
    free(b.pixels);
}

/* The same picture at 16 bits, every sample up to half a level off, with an alpha channel of no
 * meaning. */
static taper_image deepen(const taper_image *shallow) {
    taper_image deep = new_image(shallow->width, shallow->height, 4, 16);
    const uint8_t *from = shallow->pixels;
    uint16_t *to = deep.pixels;
    for (size_t i = 0; i < (size_t)deep.width * deep.height; i++) {
        for (size_t c = 0; c < 3; c++) {
            long level = from[i * 3 + c] * 257L + (long)(i % 257) - 128;
            to[i * 4 + c] = (uint16_t)(level < 0 ? 0 : level > 65535 ? 65535 : level);
        }
        to[i * 4 + 3] = (uint16_t)(i * 99);
    }
    return deep;
}

static void test_depth_and_alpha_do_not_count(void **state) {
    (void)state;
    taper_image a, b;
    make_pair(30, 22, 3, &a, &b);
    taper_image deep = deepen(&b);
    taper_quality shallow = {.size = sizeof shallow}, reduced = {.size = sizeof reduced};
    assert_int_equal(taper_quality_measure(&a, &b, &shallow, NULL), TAPER_OK);
    assert_int_equal(taper_quality_measure(&a, &deep, &reduced, NULL), TAPER_OK);
    assert_true(near(reduced.mse, shallow.mse, 1e-9) &&
                near(reduced.ms_ssim, shallow.ms_ssim, 1e-12));
    double mse;
    assert_int_equal(taper_quality_mse(&a, &deep, &mse, NULL), TAPER_OK);
    assert_true(near(mse, shallow.mse, 1e-9));
    free(a.pixels);
    free(b.pixels);
    free(deep.pixels);
}

static void test_pairs_that_do_not_match_are_refused(void **state) {
    (void)state;
    taper_image a = new_image(8, 9, 3, 8), narrow = new_image(7, 9, 3, 8),
                grey = new_image(8, 9, 1, 8);
    taper_image odd_depth = a, nothing = {0};
    odd_depth.depth = 12;
    taper_error error;
    taper_quality q = {.mse = -1};
    assert_int_equal(taper_quality_measure(&a, &narrow, &q, &error), TAPER_ERR_ARG);
    assert_non_null(strstr(error.text, "8x9"));
    assert_int_equal(taper_quality_measure(&a, &grey, &q, &error), TAPER_ERR_ARG);
    assert_non_null(strstr(error.text, "grey"));
    assert_int_equal(taper_quality_measure(&a, &odd_depth, &q, &error), TAPER_ERR_ARG);
    assert_int_equal(taper_quality_measure(&nothing, &nothing, &q, &error), TAPER_ERR_ARG);
    assert_true(q.mse == -1);
    free(a.pixels);
    free(narrow.pixels);
    free(grey.pixels);
}

static void test_scales_follow_the_size(void **state) {
    (void)state;
    assert_int_equal(taper_quality_scales(1, 1), 1);
    assert_int_equal(taper_quality_scales(20, 20), 1);
    assert_int_equal(taper_quality_scales(21, 21), 2);
    assert_int_equal(taper_quality_scales(32, 32), 2);
    assert_int_equal(taper_quality_scales(161, 161), 5);
    assert_int_equal(taper_quality_scales(160, 4000), 4);
    assert_int_equal(taper_quality_scales(UINT32_MAX, UINT32_MAX), 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_agrees_with_other_implementations),
        cmocka_unit_test(test_equal_images_are_perfect_at_any_size),
        cmocka_unit_test(test_flat_images_have_a_known_ssim),
        cmocka_unit_test(test_depth_and_alpha_do_not_count),
        cmocka_unit_test(test_pairs_that_do_not_match_are_refused),
        cmocka_unit_test(test_scales_follow_the_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
